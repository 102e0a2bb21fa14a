"""Loops over steps or data, and the calls in them that train."""

from __future__ import annotations

from cfgfix.code.inference.hot_paths import run_on_replicas
from cfgfix.code.model.expressions import text
from cfgfix.code.model.nodes import Attribute, Expr, Name, Subscript
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope

APPLY_GRADIENTS = ("apply_gradients", "apply", "minimize")


def applies_gradients(program: Program, scope: Scope, seen: set[int]) -> bool:
    """Tell whether a scope, or one that it calls, applies gradients."""
    if id(scope) in seen or len(seen) > 20:
        return False
    seen.add(id(scope))
    if any(call.method in APPLY_GRADIENTS for call in scope.calls):
        return True
    if any(applies_gradients(program, item.scope, seen) for item in run_on_replicas(program, scope)):
        return True
    return any(
        applies_gradients(program, target.scope, seen)
        for site in program.flow.within(scope)
        for target in site.targets
    )


def loops_over_data(program: Program, scope: Scope, block: int) -> bool:
    """Tell whether a loop goes over a dataset or over steps, rather than over epochs."""
    test = scope.blocks[block].test
    for kind, _, where, number in program.flow.consumed:
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
