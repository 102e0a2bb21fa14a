"""Losses of a variational autoencoder that mix a mean and a sum."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.model.expressions import constant, dotted, text, walk
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import Binary, Call, Expr, Name, Unary
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.rules.hit import Hit

_ERROR = re.compile(
    r"(?i)(?:^|\.)(?:binary_crossentropy|sigmoid_cross_entropy_with_logits|mse|mean_squared_error|mae|mean_absolute_error"
    r"|squared_difference|square|abs|binarycrossentropy|meansquarederror)$"
)
_DEPTH = 6


def mean_beside_sum(program: Program) -> Iterator[Hit]:
    """Find a mean error that is added to a summed divergence."""
    for module in program.modules:
        for scope in module.summary.scopes:
            if scope.kind == "function":
                yield from _in_function(scope)


def _in_function(scope: Scope) -> Iterator[Hit]:
    for event in scope.events_of("assign", "return"):
        total = event.value
        if not isinstance(total, Binary) or total.operator != "+":
            continue
        for recon, divergence in ((total.left, total.right), (total.right, total.left)):
            found = _plain_expression(scope, recon, event)
            other = _plain_expression(scope, divergence, event)
            if found is None or other is None or not _is_mean_error(scope, found[0]):
                continue
            if _is_summed_divergence(scope, other[0]):
                yield hit_in(
                    scope,
                    found[1].place,
                    found[1].block,
                    {"recon": text(recon), "kl": text(divergence)},
                    related=(
                        Step(scope, other[1].place, other[1].block, "the divergence is a sum"),
                        Step(scope, event.place, event.block, "added here"),
                    ),
                )


def _plain_expression(scope: Scope, expr: Expr, before: Event) -> tuple[Expr, Event] | None:
    """Return the expression and the statement behind names that are bound once.

    Return None where a name is bound otherwise.
    """
    event = before
    for _ in range(_DEPTH):
        if not isinstance(expr, Name):
            return expr, event
        bound = scope.binding(expr.name)
        if (
            len(bound) != 1
            or bound[0].kind != "assign"
            or bound[0].value is None
            or len(bound[0].targets) != 1
        ):
            return None
        event = bound[0]
        expr = bound[0].value
    return None


def _is_mean_error(scope: Scope, expr: Expr) -> bool:
    """Tell whether an expression is an unweighted mean of a reconstruction error.

    The mean is over all elements.
    """
    if (
        not isinstance(expr, Call)
        or not _is_call(expr, "reduce_mean", "mean")
        or len(expr.args) != 1
        or expr.keywords
    ):
        return False
    inner: Expr | None = expr.args[0]
    if isinstance(inner, Name):
        bound = scope.binding(inner.name)
        inner = bound[0].value if len(bound) == 1 and bound[0].kind == "assign" else None
    return (
        isinstance(inner, Call)
        and _ERROR.search(dotted(inner.func) or "") is not None
        and not any(isinstance(part, Call) and _is_call(part, "reduce_sum", "sum") for part in walk(inner))
    )


def _is_summed_divergence(scope: Scope, expr: Expr) -> bool:
    """Tell whether an expression is a summed KL divergence, or its mean over samples.

    The formula is -0.5 * sum(1 + log_var - mean ** 2 - exp(log_var)).
    """
    parts = [expr]
    for part in walk(expr):
        if isinstance(part, Name):
            bound = scope.binding(part.name)
            if len(bound) == 1 and bound[0].kind == "assign" and bound[0].value is not None:
                parts.append(bound[0].value)
    whole = " ".join(text(part, 12) for part in parts)
    if "exp(" not in whole or not re.search(r"log_?var|logvar|z_log|log_sigma|sigma", whole, re.IGNORECASE):
        return False
    calls = [part for item in parts for part in walk(item) if isinstance(part, Call)]
    if not any(_is_call(call, "reduce_sum", "sum") for call in calls):
        return False
    if any(
        _is_call(call, "reduce_mean", "mean") and any(_holds_sum(scope, arg) for arg in call.args) is False
        for call in calls
    ):
        return False
    return _no_weight(expr)


def _holds_sum(scope: Scope, expr: Expr) -> bool:
    if isinstance(expr, Name):
        bound = scope.binding(expr.name)
        expr = bound[0].value if len(bound) == 1 and bound[0].value is not None else expr
    return any(isinstance(part, Call) and _is_call(part, "reduce_sum", "sum") for part in walk(expr))


def _no_weight(expr: Expr) -> bool:
    """Tell whether a divergence has no factor but a half."""
    while isinstance(expr, (Binary, Unary)):
        if isinstance(expr, Unary):
            expr = expr.operand
            continue
        if expr.operator not in ("*", "+", "-"):
            return False
        if expr.operator == "*":
            numbers = [constant(side) for side in (expr.left, expr.right)]
            halves = [number for number in numbers if isinstance(number, float) and abs(number) == 0.5]
            if len(halves) != 1:
                return False
            expr = expr.right if numbers[0] is halves[0] else expr.left
            continue
        return True
    return True


def _is_call(call: Call, *names: str) -> bool:
    last = (dotted(call.func) or call.method or "").rpartition(".")[2]
    return last in names
