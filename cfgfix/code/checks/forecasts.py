"""Forecast targets that lie inside the window they are predicted from."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, dotted, is_name, is_none, text
from cfgfix.code.model.hit import Step, hit_at, hit_in
from cfgfix.code.model.nodes import Attribute, Binary, Call, Collection, Expr, Literal, Name, Slice, Subscript
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.rules.hit import Hit

_WINDOWS = (
    "keras.utils.timeseries_dataset_from_array",
    "keras.preprocessing.timeseries_dataset_from_array",
)
_SAME = frozenset(
    {
        "array",
        "asarray",
        "reshape",
        "expand_dims",
        "astype",
        "to_numpy",
        "float32",
        "copy",
        "convert_to_tensor",
        "cast",
    }
)
_DEPTH = 6


def in_own_window(program: Program) -> Iterator[Hit]:
    """Find windows of a series whose target is one of their own values."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named(*_WINDOWS):
        key = id(site.scope), site.call.number
        data, targets = site.call.argument(0, "data"), site.call.argument(1, "targets")
        if key in seen or data is None or targets is None or is_none(targets) or site.call.opaque:
            continue
        seen.add(key)
        if written_for_one(program, site.scope):
            continue
        first, second = _series_name(site.scope, data), _series_name(site.scope, targets)
        if first is not None and first == second:
            yield hit_at(
                site,
                flow=(),
                values={
                    "target": text(targets),
                    "which": "the first value of its own window",
                    "mend": "targets has to begin one window later",
                },
            )
    for module in program.modules:
        for scope in module.summary.scopes:
            yield from _cut_by_hand(scope)


def _series_name(scope: Scope, expr: Expr) -> str | None:
    """Return the name of the series that an array starts as, or None."""
    for _ in range(_DEPTH):
        if isinstance(expr, Subscript):
            index = (
                expr.index.items[0] if isinstance(expr.index, Collection) and expr.index.items else expr.index
            )
            starts = isinstance(index, Slice) and (index.lower is None or constant(index.lower) == 0)
            if isinstance(index, Literal) and isinstance(index.value, str) and index is expr.index:
                # A column is a series of its own; whether it is moved cannot be seen.
                return None
            if not starts:
                return None
            expr = expr.base
        elif isinstance(expr, Call):
            last = (dotted(expr.func) or expr.method or "").rpartition(".")[2]
            if last not in _SAME:
                return None
            module_call = (
                isinstance(expr.func, Attribute)
                and isinstance(expr.func.base, Name)
                and expr.func.base.name in ("np", "numpy", "tf")
            )
            inner = expr.args[0] if module_call and expr.args else expr.receiver
            if inner is None:
                return None
            expr = inner
        elif isinstance(expr, Attribute) and expr.attribute == "values":
            expr = expr.base
        elif isinstance(expr, Name):
            bound = scope.binding(expr.name)
            value = bound[0].value if len(bound) == 1 and bound[0].kind == "assign" else None
            own = value is not None and any(is_name(target, expr.name) for target in bound[0].targets)
            if not own or value is None or not isinstance(value, (Name, Subscript, Call)):
                return expr.name if len(bound) <= 1 else None
            inner_name = _series_name(scope, value)
            return inner_name if inner_name is not None else expr.name
        else:
            return None
    return None


def _cut_by_hand(scope: Scope) -> Iterator[Hit]:
    """Yield targets that a loop cuts from inside the window beside them."""
    appended = [call for call in scope.calls_of("append") if len(call.args) == 1]
    for loop in scope.events_of("for"):
        if not loop.targets or not isinstance(loop.targets[0], Name) or not loop.bodies:
            continue
        body = loop.bodies[0][0]
        here = [call for call in appended if call.block == body]
        cut = [(call, _window_bounds(scope, call.args[0], body)) for call in here]
        windows = [(call, window) for call, window in cut if window is not None]
        taken = [(call, _index_of_one(scope, call.args[0], body)) for call in here]
        ones = [(call, one) for call, one in taken if one is not None]
        for _, (base, low, high) in windows:
            for call, (other, at) in ones:
                last, first = _linear_difference(high, at), _linear_difference(at, low)
                if other != base or len(windows) > 1 or last is None or first is None:
                    continue
                if last == {"": 1} or first == {}:
                    yield hit_in(
                        scope,
                        call.name_place,
                        call.block,
                        {
                            "target": text(call.args[0]),
                            "which": "the last value of its own window"
                            if last == {"": 1}
                            else "the first value of its own window",
                            "mend": "the target has to be taken from behind the window",
                        },
                        related=(Step(scope, windows[0][0].name_place, windows[0][0].block, "the window"),),
                    )


_Linear = dict[str, int]


def _value_in_block(scope: Scope, expr: Expr, block: int) -> Expr:
    """Return the value assigned to a name in the same block, or the expression itself."""
    if isinstance(expr, Name):
        bound = scope.binding(expr.name)
        if (
            len(bound) == 1
            and bound[0].kind == "assign"
            and bound[0].block == block
            and bound[0].value is not None
        ):
            return bound[0].value
    return expr


def _window_bounds(scope: Scope, expr: Expr, block: int) -> tuple[str, _Linear, _Linear] | None:
    expr = _value_in_block(scope, expr, block)
    if not isinstance(expr, Subscript):
        return None
    index = expr.index
    if isinstance(index, Collection):
        if (
            len(index.items) != 2
            or not isinstance(index.items[1], Slice)
            or index.items[1].lower
            or index.items[1].upper
        ):
            return None
        index = index.items[0]
    if not isinstance(index, Slice) or index.lower is None or index.upper is None or index.step is not None:
        return None
    low, high = _linear_sum(scope, index.lower, block), _linear_sum(scope, index.upper, block)
    return (text(expr.base), low, high) if low is not None and high is not None else None


def _index_of_one(scope: Scope, expr: Expr, block: int) -> tuple[str, _Linear] | None:
    expr = _value_in_block(scope, expr, block)
    if not isinstance(expr, Subscript):
        return None
    index = expr.index
    if isinstance(index, Collection):
        if len(index.items) != 2 or not isinstance(index.items[1], (Literal, Name)):
            return None
        index = index.items[0]
    if isinstance(index, (Slice, Collection)):
        return None
    at = _linear_sum(scope, index, block)
    return (text(expr.base), at) if at is not None else None


def _linear_sum(scope: Scope, expr: Expr, block: int, depth: int = 5) -> _Linear | None:
    """Return a sum as a count for each name; its constant has the empty name.

    None for anything but sums of names and integers.
    """
    if depth == 0:
        return None
    if isinstance(expr, Literal):
        return ({"": expr.value} if expr.value else {}) if type(expr.value) is int else None
    if isinstance(expr, (Name, Attribute)):
        given = _value_in_block(scope, expr, block)
        return _linear_sum(scope, given, block, depth - 1) if given is not expr else {text(expr): 1}
    if isinstance(expr, Binary) and expr.operator in ("+", "-"):
        left = _linear_sum(scope, expr.left, block, depth - 1)
        right = _linear_sum(scope, expr.right, block, depth - 1)
        if left is None or right is None:
            return None
        return (
            _linear_difference(left, right)
            if expr.operator == "-"
            else _linear_difference(left, {key: -value for key, value in right.items()})
        )
    return None


def _linear_difference(first: _Linear, second: _Linear) -> _Linear | None:
    found = {key: first.get(key, 0) - second.get(key, 0) for key in {*first, *second}}
    return {key: value for key, value in found.items() if value}
