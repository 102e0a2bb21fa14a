"""Loops over steps or data, and the calls in them that train."""

from __future__ import annotations

from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import inside, run_on_replicas
from cfgfix.code.model.expressions import text, walk
from cfgfix.code.model.nodes import Attribute, Call, Expr, Name, Subscript
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope, bind

APPLY_GRADIENTS = ("apply_gradients", "apply", "minimize")


def applies_gradients(program: Program, scope: Scope, seen: set[int]) -> bool:
    """Tell whether a scope, or one that it calls, applies gradients."""
    if id(scope) in seen or len(seen) > 20:
        return False
    seen.add(id(scope))
    if any(call.method in APPLY_GRADIENTS for call in scope.calls) or assigns_gradients(scope):
        return True
    if any(applies_gradients(program, item.scope, seen) for item in run_on_replicas(program, scope)):
        return True
    return any(
        applies_gradients(program, target.scope, seen)
        for site in flow_of(program).within(scope)
        for target in site.targets
    )


def assigns_gradients(scope: Scope, loop: int | None = None) -> bool:
    """Tell whether a scope changes variables by gradients without an optimizer.

    That is `w.assign_sub(rate * grad)`.

    Args:
        scope: The scope.
        loop: The loop in which it has to happen, or None.
    """
    if not any(call.method in _ASSIGNS for call in scope.calls):
        return False
    names: dict[str, None] = {}
    for event in scope.events():
        if (
            event.kind == "assign"
            and isinstance(event.value, Call)
            and event.value.method in ("gradient", "gradients")
        ):
            for target in event.targets:
                bind(target, names)
    for event in scope.events():
        # `for variable, grad in zip(variables, grads)`
        if event.kind == "for" and event.value is not None and _names_any(event.value, names):
            for target in event.targets:
                bind(target, names)
    return bool(names) and any(
        call.method in _ASSIGNS
        and (loop is None or inside(scope, call.block, loop))
        and any(_names_any(item, names) for item in call.args)
        for call in scope.calls
    )


_ASSIGNS = frozenset({"assign_sub", "assign_add", "assign"})


def _names_any(expr: Expr, names: dict[str, None]) -> bool:
    return any(isinstance(part, Name) and part.name in names for part in walk(expr))


def loops_over_data(program: Program, scope: Scope, block: int) -> bool:
    """Tell whether a loop goes over a dataset or over steps, rather than over epochs."""
    test = scope.blocks[block].test
    for kind, _, where, number in flow_of(program).consumed:
        if kind == "loop" and where is scope and number == block:
            return True
    if test is None:
        return False
    shown = text(test).lower()
    return (
        "step" in shown or "batch" in shown or "dataset" in shown or "loader" in shown
    ) and "epoch" not in shown.replace("per_epoch", "")


def outermost_name(expr: Expr | None) -> str:
    """Return the name at the head of attributes and subscripts, or an empty text."""
    while isinstance(expr, (Attribute, Subscript)):
        expr = expr.base
    return str(expr.name) if isinstance(expr, Name) else ""
