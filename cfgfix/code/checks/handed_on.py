"""Constants that a call gets from those who call the function around it."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import MISSING, constant
from cfgfix.code.model.nodes import Expr, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Constant, Site, alternatives

_MOST_CALLERS = 32


def callers_of(program: Program, scope: Scope) -> Iterator[Site | None]:
    """Yield the calls that enter a function, or None where nothing does."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).callers(scope)[: 4 * _MOST_CALLERS]:
        key = id(site.scope), site.call.number
        if key not in seen and len(seen) < _MOST_CALLERS:
            seen.add(key)
            yield site
    if not seen:
        yield None


def constant_of(program: Program, scope: Scope, expr: Expr | None, caller: Site | None) -> object:
    """Return the constant that an expression is when one call enters its function.

    None where nothing is written, and `MISSING` for what is not known.
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
