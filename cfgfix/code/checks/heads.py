"""Reshapes meant to swap axes of a tensor, which leave the values in their order."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import only_value
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, dotted, is_name, text
from cfgfix.code.model.hit import hit_at
from cfgfix.code.model.nodes import Attribute, Call, Collection, Expr, Literal, Name, Slice, Subscript
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Made, Site, alternatives
from cfgfix.rules.hit import Hit

_RESHAPES = ("tensorflow.reshape", "keras.ops.reshape", "keras.backend.reshape")
_SHAPES = frozenset({"shape", "shape_list", "get_shape", "int_shape"})
_SPLITS = re.compile(r"(?:split|separate|divide|break|chop)\w*head")
_HEADS = re.compile(r"head|(?:^|[._])h$|n_h\b")
_LENGTH = re.compile(r"len|seq|time|steps|tokens|(?:^|[._])t$|(?:^|[._])n$|-1")
_DENSE = re.compile(r"keras\.layers\.(?:Dense|Dropout|LayerNormalization)")


def swapped_by_reshape(program: Program) -> Iterator[Hit]:
    """Find reshapes that are given a tensor's axes in swapped order.

    The common form puts attention heads before positions.
    """
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named(*_RESHAPES):
        key = id(site.scope), site.call.number
        shape = site.call.argument(1, "shape")
        given = site.call.argument(0, "tensor") or site.call.keyword("x")
        if key in seen or given is None or site.call.opaque or written_for_one(program, site.scope):
            continue
        seen.add(key)
        shape = only_value(site.scope, shape)
        if not isinstance(shape, Collection) or not 3 <= len(shape.items) <= 4:
            continue
        found = _axes_by_sizes(program, site, given, shape.items) or _axes_by_name(site, given, shape.items)
        if found is not None:
            yield hit_at(
                site,
                flow=(),
                values={"first": text(found[0]), "second": text(found[1]), "tensor": text(given)},
            )


def _axes_by_sizes(
    program: Program, site: Site, given: Expr, items: tuple[Expr, ...]
) -> tuple[Expr, Expr] | None:
    """Return the two swapped axes of a reshape, told by their sizes, or None."""
    scope = site.scope
    sources = _tensors_alike(program, site, given)
    axes = [_axis_of_size(scope, item) for item in items]
    if axes[0] is None or axes[0][1] != 0 or axes[2] is None or axes[2][1] != 1:
        return None
    if axes[0][0] not in sources or axes[2][0] not in sources:
        return None
    if len(items) == 4:
        if constant(items[1]) == 1 or constant(items[3]) == 1:
            return None
        if axes[1] is not None and axes[1][1] < 2:
            return None
    elif axes[1] is None or axes[1][1] != 2 or axes[1][0] not in sources:
        return None
    return items[1], items[2]


def _tensors_alike(program: Program, site: Site, given: Expr) -> set[str]:
    """Return the names of tensors with the same first two axes as a given tensor."""
    found: set[str] = set()
    here: Expr | None = given
    for _ in range(3):
        if isinstance(here, (Name, Attribute)):
            name = dotted(here)
            if name is None:
                break
            bound = site.scope.binding(name) if isinstance(here, Name) else []
            is_parameter = any(item.name == name for item in site.scope.params)
            # What the call itself sets stands behind it.
            before = [
                event for event in bound if event.value is not site.call and event.place < site.call.place
            ]
            if len(before) > (0 if is_parameter else 1):
                break
            found.add(name)
            here = (
                before[0].value
                if before and before[0].kind == "assign" and len(before[0].targets) == 1
                else None
            )
            if here is not None and not is_name(before[0].targets[0], name):
                break
        elif isinstance(here, Call) and len(here.args) >= 1 and _keeps_axes(program, site.scope, here):
            here = here.args[0]
        else:
            break
    return found


def _keeps_axes(program: Program, scope: Scope, call: Call) -> bool:
    """Tell whether a call runs a layer that changes nothing but the last axis."""
    for site in flow_of(program).within(scope):
        if site.call is call:
            values = alternatives(site.callee)
            return bool(values) and all(
                isinstance(value, Made) and _DENSE.fullmatch(value.name) is not None for value in values
            )
    return False


def _axis_of_size(scope: Scope, expr: Expr) -> tuple[str, int] | None:
    """Return the tensor and axis number whose size an expression is, or None."""
    if isinstance(expr, Subscript):
        number = constant(expr.index)
        of = _shape_of(scope, expr.base)
        return (of, number) if of is not None and type(number) is int else None
    if not isinstance(expr, Name):
        return None
    bound = scope.binding(expr.name)
    if len(bound) != 1 or any(item.name == expr.name for item in scope.params):
        return None
    return _axis_bound(scope, bound[0], expr.name)


def _axis_bound(scope: Scope, event: Event, name: str) -> tuple[str, int] | None:
    if event.kind != "assign" or event.value is None or len(event.targets) != 1:
        return None
    target = event.targets[0]
    if is_name(target, name):
        return None if isinstance(event.value, Name) else _axis_of_size(scope, event.value)
    if not isinstance(target, Collection):
        return None
    position = next((number for number, item in enumerate(target.items) if is_name(item, name)), None)
    if position is None:
        return None
    if isinstance(event.value, Collection):
        items = event.value.items
        item = items[position] if len(items) == len(target.items) else None
        return _axis_of_size(scope, item) if isinstance(item, Subscript) else None
    of = _shape_of(scope, event.value)
    return (of, position) if of is not None else None


def _shape_of(scope: Scope, expr: Expr) -> str | None:
    """Return the name of the tensor whose shape an expression is, or None."""
    expr_or_none = only_value(scope, expr)
    if expr_or_none is None:
        return None
    expr = expr_or_none
    if isinstance(expr, Attribute) and expr.attribute == "shape":
        return dotted(expr.base)
    if isinstance(expr, Call):
        last = (dotted(expr.func) or "").rpartition(".")[2]
        if last in ("unstack", "list", "tuple") and expr.args:
            return _shape_of(scope, expr.args[0])
        if last in _SHAPES and len(expr.args) == 1:
            return dotted(expr.args[0])
    if isinstance(expr, Subscript) and isinstance(expr.index, Slice) and expr.index.lower is None:
        # `tf.shape(x)[:3]`
        return _shape_of(scope, expr.base) if expr.index.step is None else None
    return None


def _axes_by_name(site: Site, given: Expr, items: tuple[Expr, ...]) -> tuple[Expr, Expr] | None:
    """Return the two swapped axes of a head-splitting function, by name, or None."""
    scope = site.scope
    if len(items) != 4 or not _SPLITS.search(scope.name.lower()) or not isinstance(given, Name):
        return None
    if scope.binding(given.name) and any(
        event.place < site.call.place for event in scope.binding(given.name) if event.value is not site.call
    ):
        return None
    if not _HEADS.search(text(items[1]).lower()) or _HEADS.search(text(items[2]).lower()):
        return None
    if not _LENGTH.search(text(items[2]).lower()) or isinstance(items[1], Literal):
        return None
    return items[1], items[2]
