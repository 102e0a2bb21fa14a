"""Results unpacked into the wrong number of names, and errors never raised."""

from __future__ import annotations

import builtins
from collections.abc import Iterator

from cfgfix.code.model.expressions import text
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import Call, Collection, Dictionary, Expr, Name, Starred
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Function
from cfgfix.rules.hit import Hit


def results_unpacked_otherwise(program: Program) -> Iterator[Hit]:
    """Find calls whose result is unpacked into more or fewer names than it has parts."""
    for module in program.modules:
        for scope in module.summary.scopes:
            for event in scope.events_of("assign"):
                value = event.value
                if len(event.targets) != 1 or not isinstance(value, Call):
                    continue
                target = event.targets[0]
                if not isinstance(target, Collection) or any(
                    isinstance(item, Starred) for item in target.items
                ):
                    continue
                function = _certain_callee(program, scope, value)
                parts = _returned_parts(function) if function is not None else None
                if function is None or parts is None:
                    continue
                made, count, shown = parts
                problem = _unpacking_problem(target, made, count)
                if problem is None:
                    continue
                yield hit_in(
                    scope,
                    value.name_place,
                    value.block,
                    {"function": function.name, "made": shown, "problem": problem},
                    related=(Step(function, made.place, made.block, "returns it"),),
                )


def _unpacking_problem(target: Collection, made: Event, count: int) -> str | None:
    names = len(target.items)
    if count != names:
        return f"{names} names are given: ValueError"
    if not isinstance(made.value, Dictionary):
        return None
    for item, (key, _) in zip(target.items, made.value.entries, strict=True):
        written = getattr(key, "value", None)
        if isinstance(item, Collection) and isinstance(written, str) and len(written) != len(item.items):
            return f"only its keys are unpacked, and {written!r} does not fall into {len(item.items)} parts: ValueError"
    return "only its keys are unpacked, not its values"


def _certain_callee(program: Program, scope: Scope, call: Call) -> Scope | None:
    """Return the function that a call by a plain name certainly enters, or None."""
    if not isinstance(call.func, Name):
        return None
    value = program.static_value(call.func, scope)
    if not isinstance(value, Function) or value.partial or value.fixed:
        return None
    function = value.scope
    if function.kind != "function" or function.decorators or function.generator:
        return None
    outer = function.module.summary.scopes[function.parent]
    same = [
        other
        for other in function.module.summary.scopes
        if other.parent == outer.number and other.name == function.name
    ]
    return function if len(same) == 1 and not outer.binding(function.name) else None


def _returned_parts(function: Scope) -> tuple[Event, int, str] | None:
    """Return the first `return` of a function, with the number and kind of its parts.

    Return None where its returns differ or have no known parts.
    """
    returns = function.events_of("return")
    found: tuple[Event, int, str] | None = None
    for event in returns:
        parts = _count_and_kind(event.value)
        if parts is None or (found is not None and found[1:] != parts):
            return None
        found = found or (event, *parts)
    return found


def _count_and_kind(value: Expr | None) -> tuple[int, str] | None:
    if isinstance(value, Collection) and value.kind == "tuple":
        if any(isinstance(item, Starred) for item in value.items):
            return None
        return len(value.items), f"a tuple of {len(value.items)}"
    if isinstance(value, Dictionary):
        keys = [key for key, _ in value.entries]
        return None if any(key is None for key in keys) else (len(keys), f"a dict of {len(keys)}")
    return None


_ERRORS = frozenset(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, Exception) and not issubclass(value, Warning)
)


def errors_never_raised(program: Program) -> Iterator[Hit]:
    """Find errors that a statement makes and does not raise."""
    for module in program.all_modules(words=(b"Error(", b"Exception(")):
        for scope in module.summary.scopes:
            for event in scope.events_of("expr"):
                value = event.value
                if (
                    isinstance(value, Call)
                    and isinstance(value.func, Name)
                    and value.func.name in _ERRORS
                    and _is_builtin(program, scope, value.func.name)
                ):
                    yield hit_in(scope, value.name_place, value.block, {"shown": text(value.func)})


def _is_builtin(program: Program, scope: Scope, name: str) -> bool:
    here: Scope | None = scope
    while here is not None:
        if name in here.names or name in here.imports or name in here.children:
            return False
        here = program.outer(here)
    return True
