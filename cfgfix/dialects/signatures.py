"""The signatures of many dialects as one table, so that one walk over a document tries all of them.

Every key path that any signature asks for gets a bit. The paths form a tree by their steps; walking it along with a
document gives the bits of the paths that exist, and each signature is then a few operations on that number. The table
is plain data: it is made when a package is built, and loads like any other constant.
"""

from __future__ import annotations

from collections.abc import Iterable

from cfgfix.dialects.dialect import Dialect, Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Step = tuple[int, "dict[str, Step]", "Step | None", "dict[int, Step]"]
"""Bits of the paths that end here, steps by key, the step of any key, steps by position (-1: any)."""
Row = tuple[tuple[int, ...], int, int, int, bool]
"""Bits of each group of `every`, of `any_of`, the least number of those, bits of `none_of`, whether it is of low confidence."""
Table = tuple[Step, tuple[Row, ...]]


def table(dialects: Iterable[Dialect]) -> Table:
    """Return the table of some dialects; its rows stand in their order."""
    bits: dict[Pattern, int] = {}

    def mask(patterns: Iterable[Pattern]) -> int:
        total = 0
        for pattern in patterns:
            total |= bits.setdefault(pattern, 1 << len(bits))
        return total

    rows = tuple(
        (
            tuple(mask(group) for group in dialect.signature.every),
            mask(dialect.signature.any_of),
            dialect.signature.least,
            mask(dialect.signature.none_of),
            dialect.confidence == "low",
        )
        for dialect in dialects
    )
    root: dict[str | int | None, Any] = {}
    for pattern, bit in bits.items():
        here = root
        for step in pattern:
            here = here.setdefault(step, {})
        here[_END] = here.get(_END, 0) | bit
    return _packed(root), rows


_END = ""
"""Key of the bits in the tree as it grows; no step is empty."""


def _packed(tree: dict[str | int | None, Any]) -> Step:
    named = {step: _packed(below) for step, below in tree.items() if isinstance(step, str) and step != _END}
    placed = {step: _packed(below) for step, below in tree.items() if isinstance(step, int)}
    return tree.get(_END, 0), named, _packed(tree[None]) if None in tree else None, placed
