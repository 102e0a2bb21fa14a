"""Schedules that decay the last rate by the factor for all epochs."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import dotted, place_of, walk
from cfgfix.code.model.hit import at, hit_in
from cfgfix.code.model.nodes import Binary, Boolean, Call, Compare, Conditional, Expr, Name, Place
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Function, Instance, Value, alternatives
from cfgfix.rules.hit import Hit

_POWERS = frozenset({"pow", "power"})
_EXPONENTIALS = frozenset({"exp"})


def compounded_decay(program: Program) -> Iterator[Hit]:
    """Find schedules that multiply the previous rate by the decay of all epochs."""
    seen: set[int] = set()
    for site in flow_of(program).named("keras.callbacks.LearningRateScheduler"):
        for function in _functions_of_schedule(program, site.argument(0, "schedule")):
            scope = function.scope
            if id(scope) in seen or function.partial or written_for_one(program, scope):
                continue
            seen.add(id(scope))
            taken = [item.name for item in scope.params if item.kind == "plain"]
            taken = taken[int(function.receiver is not None) :]
            if len(taken) < 2:
                # Keras gives the rate only to a schedule that takes it.
                continue
            found = _compounding_place(scope, *taken[:2])
            if found is not None:
                place, block = found
                yield hit_in(
                    scope,
                    place,
                    block,
                    {"rate": taken[1], "epoch": taken[0]},
                    related=(at(site, label="the callback gives it the rate of the last epoch"),),
                )


def _functions_of_schedule(program: Program, value: Value | None) -> Iterator[Function]:
    """Yield the functions behind a schedule; for an object its `__call__`."""
    for item in alternatives(value):
        if isinstance(item, Function):
            yield item
        elif isinstance(item, Instance):
            method = program.method(item.scope, "__call__")
            if method is not None:
                yield Function(method, item)


def _compounding_place(scope: Scope, epoch: str, rate: str) -> tuple[Place, int] | None:
    """Return where a function multiplies its rate by a power of its epoch."""
    bound = scope.binding(rate)
    if scope.binding(epoch) or any(
        event.kind != "augment" and not _has_name(event.value, rate) for event in bound
    ):
        return None
    counts = _made_of(scope, epoch, rate)
    for event in scope.events():
        value = event.value
        if value is None or event.kind not in ("assign", "augment", "return") or _of_one_epoch(scope, event):
            continue
        if event.kind == "augment":
            if event.operator not in ("*", "/") or not any(
                _has_name(target, rate) for target in event.targets
            ):
                continue
            wrong = _grows_with_epoch(value, counts) if event.operator == "*" else _is_sum(value, counts)
            if wrong:
                return event.place, event.block
            continue
        for part in _products_in(value):
            if _wrong_product(part, rate, counts):
                return place_of(part, scope) or event.place, event.block
    return None


def _products_in(value: Expr) -> Iterator[Expr]:
    """Yield the products and quotients in an expression, outermost first.

    Those in a conditional expression are left out.
    """
    pending = [value]
    while pending:
        here = pending.pop()
        if isinstance(here, Binary):
            if here.operator in ("*", "/"):
                yield here
            pending += (here.left, here.right)
        elif isinstance(here, Call):
            pending += (*here.args, *(given for _, given in here.keywords))


def _wrong_product(part: Expr, rate: str, counts: set[str]) -> bool:
    above, below = _factors_and_divisors(part)
    if not any(isinstance(item, Name) and item.name == rate for item in above):
        return False
    return any(_grows_with_epoch(item, counts) for item in above) or any(
        _is_sum(item, counts) for item in below
    )


def _factors_and_divisors(part: Expr) -> tuple[list[Expr], list[Expr]]:
    """Return the factors and the divisors of a product."""
    above: list[Expr] = []
    below: list[Expr] = []
    pending = [(part, True)]
    while pending:
        here, up = pending.pop()
        if isinstance(here, Binary) and here.operator in ("*", "/"):
            pending.append((here.left, up))
            pending.append((here.right, up if here.operator == "*" else not up))
        else:
            (above if up else below).append(here)
    return above, below


def _grows_with_epoch(factor: Expr, counts: set[str]) -> bool:
    """Tell whether a factor is a power with the epoch in its exponent."""
    if isinstance(factor, Binary) and factor.operator == "**":
        return _counts_epoch(factor.right, counts)
    if isinstance(factor, Call):
        name = (dotted(factor.func) or "").rpartition(".")[2]
        if name in _POWERS and len(factor.args) == 2:
            return _counts_epoch(factor.args[1], counts)
        if name in _EXPONENTIALS and len(factor.args) == 1:
            return _counts_epoch(factor.args[0], counts)
    return False


def _is_sum(divisor: Expr, counts: set[str]) -> bool:
    """Tell whether a divisor is a sum that grows with the epoch."""
    return isinstance(divisor, Binary) and divisor.operator == "+" and _counts_epoch(divisor, counts)


def _counts_epoch(expr: Expr, counts: set[str]) -> bool:
    """Tell whether an expression contains the epoch and neither tests nor cycles it.

    Tests are comparisons; cycles are remainders by `%`.
    """
    parts = list(walk(expr))
    return any(isinstance(part, Name) and part.name in counts for part in parts) and not any(
        isinstance(part, (Boolean, Compare, Conditional))
        or (isinstance(part, Binary) and part.operator == "%")
        for part in parts
    )


def _made_of(scope: Scope, epoch: str, rate: str) -> set[str]:
    """Return the names of the epoch and of values computed from it without the rate."""
    counts = {epoch}
    for event in scope.events_of("assign"):
        if (
            event.value is not None
            and _counts_epoch(event.value, counts)
            and not _has_name(event.value, rate)
        ):
            counts |= {target.name for target in event.targets if isinstance(target, Name)}
    return counts


def _of_one_epoch(scope: Scope, event: Event) -> bool:
    """Tell whether a test of single epochs, such as `==` or `%`, guards a statement."""
    for block in scope.block_chain(event.block):
        for part in walk(block.test) if block.test is not None else ():
            if isinstance(part, Binary) and part.operator == "%":
                return True
            if isinstance(part, Compare) and any(item.operator in ("==", "in", "is") for item in part.rights):
                return True
    return False


def _has_name(expr: Expr | None, name: str) -> bool:
    return expr is not None and any(isinstance(part, Name) and part.name == name for part in walk(expr))
