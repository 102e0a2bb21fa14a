"""Project decorators that return nothing, so that the decorated name is None."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.model.expressions import dotted, place_of, text
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.module import absolute
from cfgfix.code.model.nodes import Attribute, Call, Expr, Name, Place
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import ClassValue, Function
from cfgfix.rules.hit import Hit

MAX_IMPORTS = 4
"""Most modules that hand a name on."""


def return_nothing(program: Program) -> Iterator[Hit]:
    """Find used functions and classes whose decorator returns nothing."""
    for module in program.modules:
        scopes = module.summary.scopes
        for scope in scopes:
            if not scope.decorators or scope.kind not in ("class", "function") or scope.parent < 0:
                continue
            outer = scopes[scope.parent]
            if outer.kind == "class" or len(outer.defined(scope.name)) != 1:
                continue
            found = _returning_nothing(program, scope.decorators[0], outer)
            use = _use_of_name(program, scope) if found is not None else None
            if found is None or use is None:
                continue
            user, place, how = use
            yield hit_in(
                found,
                found.place,
                0,
                {
                    "decorator": text(scope.decorators[0]).partition("(")[0],
                    "name": scope.name,
                    "how": how,
                },
                related=(Step(user, place, -1, f"{how}: TypeError"),),
            )


def _returning_nothing(program: Program, decorator: Expr, outer: Scope) -> Scope | None:
    """Return the function through which a decorator returns nothing, or None.

    It is the decorator itself, or the inner function that a decorator with arguments returns.
    """
    called = isinstance(decorator, Call)
    function = _function_named(program, decorator.func if isinstance(decorator, Call) else decorator, outer)
    if function is None or function.generator or function.is_async or function.decorators:
        return None
    if not called:
        return function if _never_returns(function) else None
    returned = [event.value for event in function.events() if event.kind == "return"]
    if len(returned) != 1 or not isinstance(returned[0], Name):
        return None
    number = function.children.get(returned[0].name)
    inner = function.module.summary.scopes[number] if number is not None else None
    if inner is None or inner.kind != "function" or inner.decorators or inner.generator or inner.is_async:
        return None
    return inner if _never_returns(inner) and inner.params else None


def _never_returns(function: Scope) -> bool:
    """Tell whether a function reaches its end and never returns a value."""
    events = list(function.events())
    if any(event.kind == "return" and event.value is not None for event in events):
        return False
    return not any(event.kind == "raise" and event.block == 0 for event in events)


def _function_named(program: Program, expr: Expr, scope: Scope) -> Scope | None:
    """Return the function or method of the project that an expression names, or None."""
    value = program.static_value(expr, scope)
    if isinstance(value, Function):
        return value.scope
    owner = _class_of(program, expr.base, scope) if isinstance(expr, Attribute) else None
    return (
        program.method(owner, expr.attribute) if owner is not None and isinstance(expr, Attribute) else None
    )


def _class_of(program: Program, expr: Expr, scope: Scope) -> Scope | None:
    """Return the class whose object a module assigns to a name, or None."""
    if not isinstance(expr, Name):
        return None
    holder: Scope | None = scope.module.scope
    name = expr.name
    for _ in range(MAX_IMPORTS):
        if holder is None:
            return None
        bound = holder.binding(name)
        source = next(
            (
                source
                for event in bound
                if event.kind == "import"
                for as_name, source in event.imports
                if as_name == name
            ),
            None,
        )
        if len(bound) != 1:
            return None
        if source is None:
            break
        head, _, name = absolute(source, holder.module).rpartition(".")
        module = program.module(head, holder.module) if head else None
        holder = module.scope if module is not None else None
    else:
        return None
    made = bound[0].value if bound[0].kind == "assign" else None
    value = program.static_value(made.func, holder) if isinstance(made, Call) else None
    return value.scope if isinstance(value, ClassValue) else None


def _use_of_name(program: Program, scope: Scope) -> tuple[Scope, Place, str] | None:
    """Return where a name is called or used as a base class, and how, or None."""
    for module in program.modules:
        for user in module.summary.scopes:
            places = [(base, "a class is derived from it") for base in user.bases]
            around = module.summary.scopes[user.parent] if user.parent >= 0 else user
            for expr, how in places:
                if _is_named(program, expr, around, scope):
                    return around, place_of(expr, around) or user.place, how
            for call in user.calls:
                if _is_named(program, call.func, user, scope):
                    return user, call.name_place, "it is called"
    return None


def _is_named(program: Program, expr: Expr, where: Scope, scope: Scope) -> bool:
    """Tell whether an expression names a given class or function."""
    if (dotted(expr) or "").rpartition(".")[2] != scope.name:
        return False
    value = program.static_value(expr, where)
    return isinstance(value, (ClassValue, Function)) and value.scope is scope
