"""The values that callers pass to functions, and makers to objects."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import MISSING, constant, is_name
from cfgfix.code.model.nodes import Attribute, Expr, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Parameter, Scope
from cfgfix.code.model.values import UNKNOWN, Constant, Site, Value, alternatives

_MOST_CALLERS = 32


def callers_of(program: Program, scope: Scope) -> Iterator[Site | None]:
    """Yield the calls of a function, or a single None where there are none."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).callers(scope)[: 4 * _MOST_CALLERS]:
        key = id(site.scope), site.call.number
        if key not in seen and len(seen) < _MOST_CALLERS:
            seen.add(key)
            yield site
    if not seen:
        yield None


def constant_of(program: Program, scope: Scope, expr: Expr | None, caller: Site | None) -> object:
    """Return the constant of an expression for one call of its function.

    None without an expression, and `MISSING` where the constant is unknown.
    """
    if expr is None:
        return None
    known: object = constant(expr)
    if known is not MISSING or not isinstance(expr, Name):
        return known
    parameter = next((item for item in scope.params if item.name == expr.name), None)
    if parameter is None:
        values = alternatives(flow_of(program).value_of_name(scope, expr))
        return values[0].value if len(values) == 1 and isinstance(values[0], Constant) else MISSING
    if (
        caller is None
        or scope.binding(expr.name)
        or caller.call.opaque
        or parameter.kind not in ("plain", "keyword")
    ):
        return MISSING
    target = next((item for item in caller.targets if item.scope is scope), None)
    if target is None or target.partial or target.fixed:
        return MISSING
    names = [item.name for item in scope.params if item.kind == "plain"]
    position = names.index(expr.name) - int(target.receiver is not None) if parameter.kind == "plain" else -1
    written = caller.call.argument(position, expr.name)
    if written is None:
        return constant(parameter.default) if parameter.default is not None else MISSING
    known = constant(written)
    if known is not MISSING:
        return known
    values = alternatives(caller.argument(position, expr.name))
    return values[0].value if len(values) == 1 and isinstance(values[0], Constant) else MISSING


def values_of(program: Program, scope: Scope, expr: Expr) -> tuple[Value, ...]:
    """Return the possible values of a name or attribute, over all callers.

    A parameter has the arguments of all callers, and so has an attribute set from parameters.
    An unknown value is among them where a caller passes one.
    """
    given = _of_parameter(program, scope, expr) if isinstance(expr, Name) else None
    if given is not None:
        return given
    values = alternatives(flow_of(program).value_of_name(scope, expr))
    if UNKNOWN not in values or not isinstance(expr, Attribute):
        return values
    owner = program.owner(scope)
    if owner is None or not scope.params or not is_name(expr.base, scope.params[0].name):
        return values
    found: list[Value] = []
    for method, value in _attribute_stores(owner, expr.attribute):
        handed = _of_parameter(program, method, value) if isinstance(value, Name) else None
        if handed is None:
            handed = alternatives(flow_of(program).value_of_name(method, value))
        found += [item for item in handed if item not in found]
    return tuple(found) or values


def _attribute_stores(owner: Scope, attribute: str) -> Iterator[tuple[Scope, Expr]]:
    """Yield a class's assignments to an attribute: method and value."""
    for method, event, target in owner.module.stores():
        if (
            method.parent == owner.number
            and method.params
            and target.attribute == attribute
            and is_name(target.base, method.params[0].name)
            and event.value is not None
        ):
            yield method, event.value


def _of_parameter(program: Program, scope: Scope, expr: Name) -> tuple[Value, ...] | None:
    """Return the values that callers pass for a parameter.

    None for any other name, or without a caller.
    """
    parameter = next((item for item in scope.params if item.name == expr.name), None)
    if parameter is None or parameter.kind not in ("plain", "keyword") or scope.binding(expr.name):
        return None
    found: list[Value] = []
    for caller in callers_of(program, scope):
        if caller is None:
            return None
        for value in alternatives(_argument_handed(caller, scope, parameter)):
            if value not in found:
                found.append(value)
    return tuple(found)


def _argument_handed(caller: Site, scope: Scope, parameter: Parameter) -> Value:
    """Return the value that a call passes for a parameter."""
    target = next((item for item in caller.targets if item.scope is scope), None)
    if caller.call.opaque or target is None or target.partial or target.fixed:
        return UNKNOWN
    names = [item.name for item in scope.params if item.kind == "plain"]
    position = (
        names.index(parameter.name) - int(target.receiver is not None) if parameter.kind == "plain" else -1
    )
    value = caller.argument(position, parameter.name)
    return UNKNOWN if value is None else value
