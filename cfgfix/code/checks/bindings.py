"""Statements that bind names."""

from __future__ import annotations

from cfgfix.code.model.expressions import is_name, walk
from cfgfix.code.model.nodes import (
    Attribute,
    Collection,
    Expr,
    Lambda,
    Name,
    Starred,
    Subscript,
)
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import (
    Site,
)


def names_in(expr: Expr, scope: Scope) -> set[str]:
    """Return the plain names in an expression; those inside a lambda too."""
    found: set[str] = set()
    for part in walk(expr):
        if isinstance(part, Name):
            found.add(part.name)
        elif isinstance(part, Lambda):
            inner = scope.module.summary.scopes[part.number]
            for event in inner.events():
                if event.value is not None:
                    found |= names_in(event.value, inner)
    return found


@once
def bound_in_loop(program: Program, scope: Scope, block: int) -> frozenset[str]:
    """Return the names that are bound by a loop or inside it."""
    del program
    from cfgfix.code.inference.hot_paths import inside

    found: set[str] = set()
    for event in scope.events():
        in_loop = inside(scope, event.block, block) or any(number == block for number, _ in event.bodies)
        if in_loop:
            for target in event.targets:
                found |= _target_names(target)
            if event.kind == "define":
                found.add(scope.module.summary.scopes[event.inner].name)
    return frozenset(found)


def _target_names(target: Expr) -> set[str]:
    if isinstance(target, Name):
        return {target.name}
    if isinstance(target, Collection):
        return {name for item in target.items for name in _target_names(item)}
    if isinstance(target, Starred):
        return _target_names(target.value)
    if isinstance(target, (Attribute, Subscript)):
        return _target_names(target.base)
    return set()


def statement(site: Site) -> Event | None:
    """Return the statement that consists of a call alone, or None.

    Such a statement drops the call's result.
    """
    for event in site.scope.events():
        if event.kind == "expr" and event.value is site.call:
            return event
    return None


def bound_once(scope: Scope, name: str, block: int) -> tuple[Expr, Scope, int] | None:
    """Return the value that a name's only binding gives it, with scope and block.

    None where other statements may bind the name.
    """
    if any(item.kind == "comprehension" for item in scope.block_chain(block)):
        return None
    here: Scope | None = scope
    while here is not None and (name not in here.names or (here.kind == "class" and here is not scope)):
        here = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
    if here is None or name in here.imports or name in here.children:
        return None
    if any(item.name == name for item in here.params) or any(
        name in item.outer for item in here.module.summary.scopes
    ):
        return None
    events = here.binding(name)
    if len(events) != 1 or events[0].kind not in ("assign", "annotate"):
        return None
    event = events[0]
    if event.value is None or not any(is_name(target, name) for target in event.targets):
        return None
    return event.value, here, event.block


def assignment_read(scope: Scope, name: Name, block: int) -> Event | None:
    """Return the assignment whose value a name has where it is read, or None.

    Assignments in the other branch of the same `if` do not count.
    """
    if name.name in scope.outer or any(name.name in item.outer for item in scope.module.summary.scopes):
        return None
    around = set(scope.block_numbers(block))
    loops = [number for number in around if scope.blocks[number].kind in ("for", "while")]
    found: Event | None = None
    for event in scope.binding(name.name):
        if event.place.end <= name.place.start:
            if event.block in around:
                found = event
            elif not _on_other_side(scope, event.block, block):
                # It may come there, or not.
                found = None
        elif any(number in loops for number in scope.block_numbers(event.block)) and (
            found is None or not set(loops) <= set(scope.block_numbers(found.block))
        ):
            return None
    if found is None or found.kind not in ("assign", "annotate") or found.value is None:
        return None
    return found if any(is_name(target, name.name) for target in found.targets) else None


def _on_other_side(scope: Scope, first: int, second: int) -> bool:
    """Tell whether two blocks are in different branches of one `if`."""
    return any(
        one.kind == other.kind == "if" and one.test is other.test and one.branch != other.branch
        for one in scope.block_chain(first)
        for other in scope.block_chain(second)
    )
