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


def bound_in_loop(scope: Scope, block: int) -> set[str]:
    """Return the names that are bound by a loop or inside it."""
    from cfgfix.code.inference.hot_paths import inside

    found: set[str] = set()
    for event in scope.events():
        in_loop = inside(scope, event.block, block) or any(number == block for number, _ in event.bodies)
        if in_loop:
            for target in event.targets:
                found |= _targets(target)
            if event.kind == "define":
                found.add(scope.module.summary.scopes[event.inner].name)
    return found


def _targets(target: Expr) -> set[str]:
    if isinstance(target, Name):
        return {target.name}
    if isinstance(target, Collection):
        return {name for item in target.items for name in _targets(item)}
    if isinstance(target, Starred):
        return _targets(target.value)
    if isinstance(target, (Attribute, Subscript)):
        return _targets(target.base)
    return set()


def statement(site: Site) -> Event | None:
    """Return the statement that a call is by itself, or None.

    Nothing has what such a call returns.
    """
    for event in site.scope.events():
        if event.kind == "expr" and event.value is site.call:
            return event
    return None


def bound_once(scope: Scope, name: str, block: int) -> tuple[Expr, Scope, int] | None:
    """Return what the only statement that binds a name gives it, and where.

    None where others may bind it.
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
