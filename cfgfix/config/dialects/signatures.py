"""The signatures of many dialects as one table, so that one walk over a document tries all of them.

Every key path that any signature asks for gets a bit. The paths form a tree by their steps; walking it along with a
document gives the bits of the paths that exist, and each signature is then a few operations on that number. The table
is plain data: it is made when a package is built, and loads like any other constant.
"""

from __future__ import annotations

from collections.abc import Iterable

from cfgfix.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Pattern = tuple[str | int | None, ...]
"""A key path in which None stands for any key and -1 for any list position."""


@dataclass(frozen=True, slots=True)
class Signature:
    """How a dialect's files are told apart.

    `every` must all exist (of a group, one); of `any_of` at least `least`; of `none_of` none.
    """

    every: tuple[tuple[Pattern, ...], ...]
    any_of: tuple[Pattern, ...]
    least: int
    none_of: tuple[Pattern, ...]


Step = tuple[int, "dict[str, Step]", "Step | None", "dict[int, Step]"]
"""Bits of the paths that end here, steps by key, the step of any key, steps by position (-1: any)."""
Row = tuple[tuple[int, ...], int, int, int, bool]
"""Bits of each group of `every`, of `any_of`, the least number of those, bits of `none_of`, whether it is of low confidence."""
Table = tuple[Step, tuple[Row, ...]]


def table(signatures: Iterable[tuple[Signature, bool]]) -> Table:
    """Return one table of all signatures.

    Each is given with whether its dialect is of low confidence. The rows keep the order.
    """
    bits: dict[Pattern, int] = {}

    def mask(patterns: Iterable[Pattern]) -> int:
        total = 0
        for pattern in patterns:
            total |= bits.setdefault(pattern, 1 << len(bits))
        return total

    rows = tuple(
        (
            tuple(mask(group) for group in signature.every),
            mask(signature.any_of),
            signature.least,
            mask(signature.none_of),
            low,
        )
        for signature, low in signatures
    )
    root: dict[str | int | None, Any] = {}
    for pattern, bit in bits.items():
        here = root
        for step in pattern:
            here = here.setdefault(step, {})
        here[_END] = here.get(_END, 0) | bit
    return _packed_step(root), rows


_END = ""
"""Key of the bits in the tree as it grows; no step is empty."""


def _packed_step(tree: dict[str | int | None, Any]) -> Step:
    named = {
        step: _packed_step(below) for step, below in tree.items() if isinstance(step, str) and step != _END
    }
    placed = {step: _packed_step(below) for step, below in tree.items() if isinstance(step, int)}
    return tree.get(_END, 0), named, _packed_step(tree[None]) if None in tree else None, placed
