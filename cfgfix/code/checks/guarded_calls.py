"""Values of arguments, and calls whose guards exclude each other."""

from __future__ import annotations

from cfgfix.code.inference.guards import literals
from cfgfix.code.model.expressions import text
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import (
    Constant,
    Dataset,
    Site,
    Value,
)


def is_consistent(path: list[Dataset]) -> bool:
    """Tell whether the steps of a pipeline may run together, by their guards."""
    return may_run_together([step.site for step in path if step.site is not None])


def may_run_together(sites: list[Site]) -> bool:
    """Tell whether calls may run together: no two under opposite guards."""
    sides: dict[tuple[int, str], bool] = {}
    blocks: dict[tuple[int, int], set[int]] = {}
    looked: set[tuple[int, int]] = set()
    for site in sites:
        scope = site.scope
        seen: set[int] = set()
        number = site.call.block
        if (id(scope), number) in looked:
            continue
        looked.add((id(scope), number))
        while number >= 0:
            block = scope.blocks[number]
            if block.kind == "if" and block.test is not None:
                if block.sides is None:
                    said = literals(block.test, block.branch)
                    block.sides = tuple([(text(part), side) for part, side in said])
                for shown, side in block.sides:
                    if sides.setdefault((id(scope), shown), side) != side:
                        return False
            elif block.kind in ("except", "try-else"):
                seen.add(number)
            number = block.parent
        for number in seen:
            # Two handlers of one try never both run.
            key2 = (id(scope), scope.blocks[number].parent)
            others = blocks.setdefault(key2, set())
            others.add(number)
            if (
                len({n for n in others if scope.blocks[n].kind == "except" and _same_try(scope, n, number)})
                > 1
            ):
                return False
    return True


def _same_try(scope: Scope, first: int, second: int) -> bool:
    """Tell whether two handlers belong to one `try`.

    Handlers of one `try` are numbered in a row, with no other `try` of the parent between them.
    """
    low, high = sorted((first, second))
    if low == high:
        return True
    return all(
        scope.blocks[n].kind != "try" or scope.blocks[n].parent != scope.blocks[low].parent
        for n in range(low + 1, high)
    )


def is_given(site: Site, position: int, name: str) -> bool | None:
    """Tell whether an argument is given.

    None where `*` or `**` may hide it.
    """
    if site.call.argument(position, name) is not None:
        return True
    return None if site.call.opaque else False


def number(value: Value | None) -> int | None:
    """Return the integer of a constant value, or None."""
    if isinstance(value, Constant) and isinstance(value.value, int) and not isinstance(value.value, bool):
        return value.value
    return None


def flag(value: Value | None) -> bool | None:
    """Return the bool of a constant value, or None."""
    if isinstance(value, Constant) and isinstance(value.value, bool):
        return value.value
    return None
