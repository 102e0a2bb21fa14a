"""Values that are integers in every run: counts, conversions and options."""

from __future__ import annotations

from cfgfix.code.checks.counters import is_count
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, dotted, is_name
from cfgfix.code.model.nodes import Attribute, Binary, Call, Expr, Literal, Name
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope

_MAKE = frozenset({"int", "len", "time_ns", "getpid"})
_MAX_CALLERS = 8


def is_whole(program: Program, expr: Expr | None, scope: Scope, depth: int = 5) -> bool:
    """Tell whether an expression is an integer in every call."""
    if expr is None or depth == 0:
        return False
    if isinstance(expr, Literal):
        return type(expr.value) is int
    if is_count(expr, scope):
        return True
    if isinstance(expr, Binary):
        parts = (expr.left, expr.right)
        return expr.operator in ("+", "-", "*", "//") and all(
            is_whole(program, part, scope, depth - 1) for part in parts
        )
    if isinstance(expr, Call):
        return (dotted(expr.func) or "").rpartition(".")[2] in _MAKE
    if isinstance(expr, Attribute):
        return isinstance(expr.base, Name) and _is_option(program, expr, expr.base, scope)
    if not isinstance(expr, Name):
        return False
    bound = scope.binding(expr.name)
    position = next((number for number, item in enumerate(scope.params) if item.name == expr.name), None)
    if position is None:
        return (
            len(bound) == 1
            and bound[0].kind == "assign"
            and any(is_name(target, expr.name) for target in bound[0].targets)
            and is_whole(program, bound[0].value, scope, depth - 1)
        )
    return not bound and _in_every_call(program, scope, position, depth - 1)


def _in_every_call(program: Program, scope: Scope, position: int, depth: int) -> bool:
    parameter = scope.params[position]
    callers = flow_of(program).callers(scope)
    if not 0 < len(callers) <= _MAX_CALLERS:
        return False
    for caller in callers:
        offset = int(any(target.receiver is not None for target in caller.targets))
        given = caller.call.argument(position - offset, parameter.name)
        where = caller.scope if given is not None else scope
        value = given if given is not None else parameter.default
        if caller.call.opaque or not is_whole(program, value, where, depth):
            return False
    return True


def _is_option(program: Program, expr: Attribute, base: Name, scope: Scope) -> bool:
    """Tell whether an attribute is a command-line option converted with `int`."""
    if _whole_options(program).get(expr.attribute) is not True:
        return False
    here: Scope | None = scope
    while here is not None and not here.binding(base.name):
        here = program.outer(here)
    bound = here.binding(base.name) if here is not None else []
    value = bound[0].value if len(bound) == 1 else None
    if here is None or not isinstance(value, Call):
        return False
    return value.method == "parse_args" or any(
        target.scope.calls_of("parse_args")
        for site in flow_of(program).within(here)
        if site.call is value
        for target in site.targets
    )


@once
def _whole_options(program: Program) -> dict[str, bool]:
    """Return for each command-line option whether it is always converted with `int`."""
    found: dict[str, bool] = {}
    for module in program.modules:
        for scope in module.summary.scopes:
            for call in scope.calls_of("add_argument"):
                names = [constant(item) for item in call.args]
                texts = [item for item in names if isinstance(item, str)]
                name = next((item for item in texts if item.startswith("--")), texts[0] if texts else "")
                dest = constant(call.keyword("dest"))
                key = dest if isinstance(dest, str) else name.lstrip("-").replace("-", "_")
                whole = is_name(call.keyword("type"), "int") and call.keyword("nargs") is None
                found[key] = whole and found.get(key, True)
    return found
