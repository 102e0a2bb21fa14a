"""Logarithms of probabilities that may be 0 and make a cross entropy NaN."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import GRAPH, hot_paths
from cfgfix.code.model.expressions import dotted, is_name, text, walk
from cfgfix.code.model.hit import at, hit_at
from cfgfix.code.model.nodes import Binary, Call, Expr, Literal, Name, Unary
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit

_LOGS = ("tensorflow.math.log", "tensorflow.log", "keras.backend.log", "keras.ops.log")
_GUARDS = (
    "clip",
    "maximum",
    "epsilon",
    "where",
    "softplus",
    "xlogy",
    "multiply_no_nan",
    "is_nan",
    "is_finite",
)
"""Words in the names of what keeps a probability from 0, or takes the NaN out again."""
_CASTS = frozenset({"cast", "convert_to_tensor", "reshape", "flatten", "squeeze"})
_DEPTH = 6


def logarithm_of_zero(program: Program) -> Iterator[Hit]:
    """Find binary cross entropies that take logarithms of unclipped outputs."""
    by_scope: dict[int, list[Site]] = {}
    for site in flow_of(program).named(*_LOGS):
        known = by_scope.setdefault(id(site.scope), [])
        if site.call.args and all(site.call is not other.call for other in known):
            known.append(site)
    hot = hot_paths(program)
    for sites in by_scope.values():
        scope = sites[0].scope
        if scope.kind != "function" or _is_guarded(scope) or written_for_one(program, scope):
            continue
        for first in sites:
            given = first.call.args[0]
            if not isinstance(given, Name) or not _is_own(scope, given.name):
                continue
            second = next((other for other in sites if _is_rest(other.call.args[0], given.name)), None)
            if second is None or not (_is_weighed(scope, first) and _is_weighed(scope, second)):
                continue
            if hot.reach_of(first, GRAPH) is None or _is_given_safe(program, scope, given.name):
                continue
            yield hit_at(
                first,
                values={"name": given.name, "rest": text(second.call.args[0])},
                related=(at(second, label=f"{text(second.call.args[0])} becomes 0 as well"),),
            )
            break


def _is_own(scope: Scope, name: str) -> bool:
    """Tell whether a name is a parameter that is only cast or reshaped."""
    return any(item.name == name for item in scope.params) and all(
        isinstance(event.value, Call)
        and (dotted(event.value.func) or "").rpartition(".")[2] in _CASTS
        and bool(event.value.args)
        and is_name(event.value.args[0], name)
        for event in scope.binding(name)
    )


def _is_rest(expr: Expr, name: str) -> bool:
    """Tell whether an expression is `1 - p` for a name `p`."""
    return (
        isinstance(expr, Binary)
        and expr.operator == "-"
        and isinstance(expr.left, Literal)
        and expr.left.value == 1
        and is_name(expr.right, name)
    )


def _is_weighed(scope: Scope, log: Site) -> bool:
    """Tell whether a logarithm is a factor of a product."""
    for event in scope.events():
        for part in walk(event.value) if event.value is not None else ():
            if (
                isinstance(part, Binary)
                and part.operator == "*"
                and any(_without_casts(side) is log.call for side in (part.left, part.right))
            ):
                return True
    return False


def _without_casts(expr: Expr) -> Expr:
    return expr.operand if isinstance(expr, Unary) else expr


def _is_guarded(scope: Scope) -> bool:
    """Tell whether a function guards against zeros, such as by clipping."""
    return any(word in (dotted(call.func) or call.method or "") for call in scope.calls for word in _GUARDS)


def _is_given_safe(program: Program, scope: Scope, name: str) -> bool:
    """Tell whether a caller may pass a probability that is kept from 0."""
    number = next((at for at, item in enumerate(scope.params) if item.name == name), 0)
    for site in flow_of(program).callers(scope):
        offset = int(any(target.receiver is not None for target in site.targets))
        given = site.call.argument(number - offset, name)
        if given is None or _is_guarded(site.scope):
            return True
        if any(isinstance(part, Binary) and part.operator == "+" for part in walk(given)):
            return True
    return False
