"""Batch sizes taken from a static shape that leaves them open."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.flow.symbolic import holds_symbolic
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.expressions import constant, dotted, is_name
from cfgfix.code.model.hit import Step, at, hit_at
from cfgfix.code.model.nodes import Attribute, Binary, Call, Collection, Expr, Name, Place, Subscript
from cfgfix.code.model.program import Program, is_keras_part
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Instance, Site, alternatives
from cfgfix.rules.hit import Hit

_TAKES_A_SHAPE = {
    "tensorflow.reshape": 1,
    "tensorflow.zeros": 0,
    "tensorflow.ones": 0,
    "tensorflow.fill": 0,
    "tensorflow.eye": 0,
    "tensorflow.tile": 1,
    "tensorflow.broadcast_to": 1,
    "tensorflow.random.normal": 0,
    "tensorflow.random.uniform": 0,
}
"""Operations that refuse None in a shape, with the place of the shape."""
_NAMES = {"tensorflow.fill": "dims", "tensorflow.tile": "multiples", "tensorflow.eye": "num_rows"}
_SETS_BATCH = frozenset({"batch_size", "batch_shape", "batch_input_shape", "tensor"})
_DEPTH = 6


def open_batch(program: Program) -> Iterator[Hit]:
    """Find operations that receive the unknown batch size of a model's inputs."""
    if _batch_is_set(program):
        return
    seen: set[int] = set()
    for caller in flow_of(program).sites:
        if not caller.targets or not caller.args or not holds_symbolic(caller.args[0]):
            continue
        for value in alternatives(caller.callee):
            if not isinstance(value, Instance) or not is_keras_part(program, value.scope):
                continue
            method = program.method(value.scope, "call")
            if method is None or id(method) in seen or written_for_one(program, method):
                continue
            seen.add(id(method))
            yield from _of_call(program, method, caller)


def _batch_is_set(program: Program) -> bool:
    """Tell whether an input of a model says how large its batch is."""
    return any(
        name in _SETS_BATCH
        for site in flow_of(program).named("keras.Input", "keras.layers.Input", "keras.layers.InputLayer")
        for name, _ in site.call.keywords
    )


def _of_call(program: Program, scope: Scope, caller: Site) -> Iterator[Hit]:
    """Yield the first operation of a layer's `call` that gets the unknown batch size."""
    told = False
    for site in flow_of(program).within(scope):
        place = _TAKES_A_SHAPE.get(site.name)
        if place is None or told or site.call.opaque:
            continue
        shape = site.call.argument(place, _NAMES.get(site.name, "shape"))
        taken = _open_size(scope, shape, site) if shape is not None else None
        if taken is None:
            continue
        told = True
        yield hit_at(
            site,
            flow=(),
            values={"call": dotted(site.call.func) or site.call.method, "taken": taken[0]},
            related=(
                Step(scope, taken[1], 0, "None here: a model's inputs leave the size of the batch open"),
                at(caller, label="called with an input of a model here"),
            ),
        )


def _open_size(scope: Scope, shape: Expr, site: Site) -> tuple[str, Place] | None:
    """Return the text and place of the unknown batch size in a shape, or None."""
    items = (
        shape.items if isinstance(shape, Collection) else (shape,) if site.name == "tensorflow.eye" else ()
    )
    pending, depth = list(items), 0
    while pending and depth < 40:
        depth += 1
        here = pending.pop()
        if isinstance(here, Binary):
            pending += (here.left, here.right)
        elif isinstance(here, Name):
            bound = scope.binding(here.name)
            if len(bound) != 1 or bound[0].kind != "assign" or bound[0].value is None:
                continue
            event = bound[0]
            if not inside(scope, site.call.block, event.block) or event.value is None:
                continue
            target = event.targets[0]
            if is_name(target, here.name) and _is_first_size(scope, event.value):
                return here.name, event.place
            if (
                isinstance(target, Collection)
                and target.items
                and is_name(target.items[0], here.name)
                and _is_shape(scope, event.value)
            ):
                return here.name, event.place
        elif isinstance(here, Subscript) and _is_first_size(scope, here):
            return "shape[0]", here.place
    return None


def _is_first_size(scope: Scope, expr: Expr) -> bool:
    return isinstance(expr, Subscript) and constant(expr.index) == 0 and _is_shape(scope, expr.base)


def _is_shape(scope: Scope, expr: Expr) -> bool:
    """Tell whether an expression is the static shape of a layer's input."""
    if isinstance(expr, Call) and expr.method == "as_list" and expr.receiver is not None:
        expr = expr.receiver
    if isinstance(expr, Attribute) and expr.attribute == "shape":
        return isinstance(expr.base, Name) and _has_open_batch(scope, expr.base.name, _DEPTH)
    if isinstance(expr, Call) and expr.method == "get_shape" and isinstance(expr.receiver, Name):
        return _has_open_batch(scope, expr.receiver.name, _DEPTH)
    if isinstance(expr, Call) and (dotted(expr.func) or "").endswith("int_shape") and len(expr.args) == 1:
        return isinstance(expr.args[0], Name) and _has_open_batch(scope, expr.args[0].name, _DEPTH)
    return False


def _has_open_batch(scope: Scope, name: str, depth: int) -> bool:
    """Tell whether a name is a layer's input or the output of its sublayers for it."""
    first = next((item.name for item in scope.params[1:2]), "")
    bound = scope.binding(name)
    if depth == 0 or (name != first and not bound):
        return False
    for event in bound:
        value = event.value
        if (
            event.kind != "assign"
            or not isinstance(value, Call)
            or not any(is_name(item, name) for item in event.targets)
        ):
            return False
        layer = isinstance(value.func, Attribute) and is_name(value.func.base, "self")
        given = value.args[0] if value.args else None
        if not layer or not isinstance(given, Name):
            return False
        if given.name != name and not _has_open_batch(scope, given.name, depth - 1):
            return False
        if given.name == name and name != first and len(bound) > 1:
            return False
    return True
