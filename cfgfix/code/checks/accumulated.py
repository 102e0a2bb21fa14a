"""Gradients summed over several batches and never reset to zero."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.expressions import dotted, is_name, walk
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
    Call,
    Collection,
    Comprehension,
    Expr,
    Name,
    Place,
    Subscript,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.rules.hit import Hit

_GOES_ON = frozenset({"zip", "enumerate", "len", "range", "list", "tuple", "reversed", "apply_gradients"})
_STARTS_ANEW = frozenset({"assign", "assign_sub", "reset", "clear", "scatter_update", "initialize", "load"})


def never_reset(program: Program) -> Iterator[Hit]:
    """Find sums of gradients that are applied, and that nothing sets back to zero."""
    told: set[tuple[str, str]] = set()
    for module in program.modules:
        for scope in module.summary.scopes:
            for name, place, block in _added_to(scope):
                key = (module.path, name)
                if key in told:
                    continue
                applied = _applied_gradients(program, scope, name)
                if (
                    applied is None
                    or not _is_made_once(program, scope, name, applied)
                    or _is_reset(program, scope, name)
                ):
                    continue
                told.add(key)
                where, call = applied
                yield hit_in(
                    where,
                    call.name_place,
                    call.block,
                    {"name": f"self{name}" if name.startswith(".") else name, "line": place.line},
                    related=(Step(scope, place, block, "added up here"),),
                )


def _added_to(scope: Scope) -> Iterator[tuple[str, Place, int]]:
    """Yield the lists whose elements a scope adds to, each with place and block.

    Examples: `total.assign_add(g)` in a loop, or `[a + g for a, g in zip(total, new)]`.
    """
    for event in scope.events_of("assign"):
        name = _list_name(event.targets[0])
        if name is not None and _adds_to_itself(event, name):
            yield name, event.place, event.block
    for call in scope.calls_of("assign_add"):
        held = call.receiver
        if isinstance(held, Subscript):
            name = _list_name(held.base)
            if name is not None:
                yield name, call.name_place, call.block
        elif isinstance(held, Name):
            for event in scope.binding(held.name):
                if (
                    event.kind == "for"
                    and event.value is not None
                    and any(inside(scope, call.block, number) for number, _ in event.bodies)
                ):
                    source = _gone_through(event.targets[0], event.value, held.name)
                    name = _list_name(source) if source is not None else None
                    if name is not None:
                        yield name, call.name_place, call.block


def _gone_through(target: Expr, value: Expr, name: str) -> Expr | None:
    """Return the expression that a loop variable iterates over, or None.

    In `for a, b in zip(first, second)` it is `first` for `a`.
    """
    if is_name(target, name):
        return value
    if not isinstance(target, Collection) or not isinstance(value, Call):
        return None
    called = dotted(value.func)
    if called == "zip" and len(value.args) == len(target.items):
        for item, source in zip(target.items, value.args, strict=True):
            found = _gone_through(item, source, name)
            if found is not None:
                return found
    if called == "enumerate" and len(target.items) == 2 and value.args:
        return _gone_through(target.items[1], value.args[0], name)
    return None


def _list_name(expr: Expr) -> str | None:
    """Return the name of a variable or attribute, or None.

    An attribute's name begins with a dot.
    """
    if isinstance(expr, Attribute):
        return f".{expr.attribute}"
    return expr.name if isinstance(expr, Name) else None


def _is_of(expr: Expr, name: str) -> bool:
    return _list_name(expr) == name


def _scopes_of_list(program: Program, scope: Scope, name: str) -> Iterator[Scope]:
    """Yield the scopes that may use a list: of its module, or of all for an attribute."""
    modules = program.modules if name.startswith(".") else (scope.module,)
    for module in modules:
        yield from module.summary.scopes


def _applied_gradients(program: Program, scope: Scope, name: str) -> tuple[Scope, Call] | None:
    """Return the call that applies a list as gradients, with its scope, or None."""
    for where in _scopes_of_list(program, scope, name):
        for call in where.calls_of("apply_gradients", "apply"):
            for given in (*call.args, *(value for _, value in call.keywords)):
                if any(_is_of(part, name) for part in _with_names(where, given)):
                    return where, call
    return None


def _with_names(scope: Scope, expr: Expr) -> Iterator[Expr]:
    """Yield the parts of an expression and of the values assigned to its names."""
    for part in walk(expr):
        yield part
        if isinstance(part, Comprehension):
            for _, over, _ in part.generators:
                yield from walk(over)
        if isinstance(part, Name):
            for event in scope.binding(part.name):
                if event.kind == "assign" and event.value is not None:
                    yield from walk(event.value)
                    if isinstance(event.value, Comprehension):
                        for _, over, _ in event.value.generators:
                            yield from walk(over)


def _adds_to_itself(event: Event, name: str) -> bool:
    """Tell whether an assignment adds something to each element of a list."""
    value = event.value
    if not isinstance(value, Comprehension) or len(value.generators) != 1:
        return False
    target, over, _ = value.generators[0]
    total = value.parts[-1]
    if not isinstance(total, Binary) or total.operator != "+" or not isinstance(over, Call):
        return False
    elements = [side.name for side in (total.left, total.right) if isinstance(side, Name)]
    sources = [_gone_through(target, over, element) for element in elements]
    return any(source is not None and _is_of(source, name) for source in sources)


_BEGINS = frozenset({"__init__", "build", "compile"})
"""Methods that run before the training."""


def _is_made_once(program: Program, scope: Scope, name: str, applied: tuple[Scope, Call]) -> bool:
    """Tell whether a list is created once, before the training loop."""
    made = [
        (where, event)
        for where in _scopes_of_list(program, scope, name)
        for event in where.events()
        if event.kind != "for" and not _adds_to_itself(event, name)
        for target in event.targets
        if _is_of(target, name)
    ]
    if name.startswith("."):
        return bool(made) and all(where.name in _BEGINS for where, _ in made)
    if len(made) != 1:
        return False
    where, event = made[0]
    if where is not applied[0]:
        return where.kind == "module" or where is program.outer(applied[0])
    loops = [
        number
        for number in where.block_numbers(applied[1].block)
        if where.blocks[number].kind in ("for", "while") and not inside(where, event.block, number)
    ]
    return bool(loops)


def _is_reset(program: Program, scope: Scope, name: str) -> bool:
    """Tell whether a list is reset, or passed to a call that may reset it."""
    for where in _scopes_of_list(program, scope, name):
        for event in where.events():
            if any(isinstance(target, Subscript) and _is_of(target.base, name) for target in event.targets):
                return True
            if event.kind == "for" and event.value is not None and _resets_in(where, event, name):
                return True
        for call in where.calls:
            held = call.receiver
            if (
                call.method in _STARTS_ANEW
                and held is not None
                and any(_is_of(part, name) for part in walk(held))
            ):
                return True
            if (dotted(call.func) or "").rpartition(".")[2] not in _GOES_ON and any(
                _is_of(given, name) for given in (*call.args, *(value for _, value in call.keywords))
            ):
                return True
        if _resets_in_comprehension(where, name):
            return True
    return False


def _resets_in(scope: Scope, event: Event, name: str) -> bool:
    """Tell whether a `for` loop over a list resets its variables."""
    value = event.value
    if value is None or not any(_is_of(part, name) for part in walk(value)):
        return False
    bodies = [number for number, _ in event.bodies]
    return any(
        call.method in _STARTS_ANEW and any(inside(scope, call.block, number) for number in bodies)
        for call in scope.calls
    )


def _resets_in_comprehension(scope: Scope, name: str) -> bool:
    for event in scope.events():
        for part in walk(event.value) if event.value is not None else ():
            if (
                isinstance(part, Comprehension)
                and any(_is_of(inner, name) for _, over, _ in part.generators for inner in walk(over))
                and any(
                    isinstance(inner, Call) and inner.method in _STARTS_ANEW
                    for item in part.parts
                    for inner in walk(item)
                )
            ):
                return True
    return False
