"""Names that loops of Python count with."""

from __future__ import annotations

from cfgfix.code.model.expressions import dotted, is_name
from cfgfix.code.model.nodes import Attribute, Binary, Call, Collection, Expr, Literal, Name
from cfgfix.code.model.summary import Event, Scope


def counter_of(event: Event) -> str | None:
    """Return the counter of a `for` over `range` or `enumerate`, or None."""
    value = event.value
    if value is None or not isinstance(value, Call):
        return None
    call = value
    name = (dotted(call.func) or "").rpartition(".")[2]
    if name in ("tqdm", "track") and call.args and isinstance(call.args[0], Call):
        call = call.args[0]
        name = (dotted(call.func) or "").rpartition(".")[2]
    target = event.targets[0]
    if (
        name in ("range", "trange")
        and isinstance(target, Name)
        and (isinstance(call.func, Name) or name == "trange")
    ):
        return str(target.name)
    if (
        name == "enumerate"
        and isinstance(call.func, Name)
        and isinstance(target, Collection)
        and target.items
        and isinstance(target.items[0], Name)
    ):
        return str(target.items[0].name)
    return None


def is_count(expr: Expr, scope: Scope) -> bool:
    """Tell whether an expression is a number that a loop counts, or computed from one."""
    if isinstance(expr, Literal):
        return type(expr.value) in (int, float)
    if isinstance(expr, Binary):
        return expr.operator in _OPERATORS and is_count(expr.left, scope) and is_count(expr.right, scope)
    if isinstance(expr, Attribute):
        return _is_own_count(expr, scope)
    if not isinstance(expr, Name):
        return False
    if scope.name in _HOOKS and len(scope.params) > 1 and scope.params[1].name == expr.name:
        return not scope.binding(expr.name)
    bound = [event for event in scope.binding(expr.name) if event.kind != "augment"]
    return bool(bound) and all(
        (event.kind == "for" and counter_of(event) == expr.name)
        or (event.kind == "assign" and isinstance(event.value, Literal) and is_count(event.value, scope))
        for event in bound
    )


def _is_own_count(expr: Attribute, scope: Scope) -> bool:
    """Tell whether an attribute of `self` is a number that methods count up."""
    if not scope.params or not is_name(expr.base, scope.params[0].name) or scope.parent < 0:
        return False
    owner = scope.module.summary.scopes[scope.parent]
    if owner.kind != "class":
        return False
    counted = False
    for number in owner.children.values():
        method = owner.module.summary.scopes[number]
        own = method.params[0].name if method.kind == "function" and method.params else ""
        for event in method.events() if own else ():
            if not any(
                isinstance(target, Attribute)
                and target.attribute == expr.attribute
                and is_name(target.base, own)
                for target in event.targets
            ):
                continue
            if event.kind == "augment":
                counted = True
            elif not isinstance(event.value, Literal) or type(event.value.value) not in (int, float):
                return False
    return counted


_HOOKS = frozenset(
    f"on_{part}_{end}"
    for part in ("epoch", "batch", "train_batch", "test_batch", "predict_batch")
    for end in ("begin", "end")
)
"""Methods of callbacks that Keras gives a number first."""
_OPERATORS = frozenset({"+", "-", "*", "//", "/", "%", "**"})
"""Operators that make a number of numbers."""
