"""The size of dataset elements in bytes, from the images that mapped functions make, and their number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from cfgfix.code.inference.interpreter.objects import (
    External,
    FunctionObject,
    Made,
    Mapping,
    Scalar,
    Spot,
    Value,
)
from cfgfix.code.inference.interpreter.objects import Sequence as Listed
from cfgfix.code.model.nodes import Place
from cfgfix.config.dialects.derived import DTYPE_BYTES
from cfgfix.config.dialects.parameters import meaning_of
from cfgfix.usage.sinks import BoundCall

DATASET = "tensorflow.data.Dataset."
MAX_STEPS = 60
"""Most steps of one pipeline that are followed."""
_RESIZED = "tensorflow.image.resize"
_CUT = frozenset({"tensorflow.image.resize_with_crop_or_pad", "tensorflow.image.resize_with_pad"})
_DECODED = frozenset(
    f"tensorflow.{module}.decode_{form}"
    for module in ("image", "io")
    for form in ("jpeg", "png", "image", "bmp", "and_crop_jpeg")
)
_SMALLER = (
    "tensorflow.io.encode_",
    "tensorflow.image.encode_",
    "tensorflow.io.serialize_",
    "tensorflow.reduce_",
    "tensorflow.math.reduce_",
)
"""Calls behind which an element is no image any more."""
_KEPT = frozenset(
    {"map", "filter", "shuffle", "repeat", "cache", "prefetch", "take", "skip", "shard", "with_options"}
)
"""Steps behind which elements are what they were, or what a function makes of them."""
_COUNTED = frozenset({"map", "shuffle", "cache", "prefetch", "with_options"})
"""Steps behind which there are as many elements as before."""
_SHAPES = {
    "numpy.zeros": (0, "shape"),
    "numpy.ones": (0, "shape"),
    "numpy.empty": (0, "shape"),
    "numpy.full": (0, "shape"),
    "numpy.arange": (0, "stop"),
    "numpy.random.rand": (0, "d0"),
    "numpy.random.randn": (0, "d0"),
    "numpy.random.random": (0, "size"),
    "numpy.random.normal": (2, "size"),
    "numpy.random.uniform": (2, "size"),
    "tensorflow.zeros": (0, "shape"),
    "tensorflow.ones": (0, "shape"),
    "tensorflow.random.normal": (0, "shape"),
    "tensorflow.random.uniform": (0, "shape"),
}
"""Calls that make an array, with the position and name of the parameter that gives its shape or first dimension."""
Place2 = tuple[int, Place]


def element_sizes(calls: Sequence[BoundCall]) -> Iterator[tuple[BoundCall, int | None]]:
    """Yield the calls that depend on the size of an element, with that size in bytes.

    The size is None where it is not known.

    Args:
        calls: The calls of one run.
    """
    steps = {_key_of_spot(bound.spot): bound for bound in calls if bound.callable.startswith(DATASET)}
    for bound in steps.values():
        meaning = meaning_of(bound.callable)
        if meaning is not None and meaning.element:
            yield bound, _element_bytes_before(bound, steps, calls)


def sample_counts(calls: Sequence[BoundCall]) -> Iterator[tuple[BoundCall, Value | None]]:
    """Yield the calls that depend on the number of samples, with that number.

    The number is None where it is not known.

    Args:
        calls: The calls of one run.
    """
    steps = {_key_of_spot(bound.spot): bound for bound in calls if bound.callable.startswith(DATASET)}
    for bound in steps.values():
        meaning = meaning_of(bound.callable)
        if meaning is not None and meaning.samples:
            yield bound, _sample_count(bound.call.receiver, steps)


def _sample_count(receiver: Value | None, steps: dict[Place2, BoundCall]) -> Value | None:
    """Return the number of elements of a dataset, as a value of the run.

    None where it is not known.
    """
    for _ in range(MAX_STEPS):
        step = (
            steps.get(_key_of_spot(receiver.spot)) if isinstance(receiver, Made) and receiver.spot else None
        )
        if step is None:
            return None
        name = step.callable.removeprefix(DATASET)
        if name == "range":
            return step.call.args[0] if len(step.call.args) == 1 else None
        if name == "from_tensor_slices":
            return _first_dimension(_argument_value(step, 0, "tensors"))
        if name not in _COUNTED:
            return None
        receiver = step.call.receiver
    return None


def _first_dimension(value: Value | None) -> Value | None:
    """Return the first dimension of an array or of arrays in a structure.

    None where it is not known.
    """
    if isinstance(value, (Listed, Mapping)):
        inner = value.items if isinstance(value, Listed) else value.entries.values()
        return next((found for item in inner if (found := _first_dimension(item)) is not None), None)
    for _ in range(MAX_STEPS):
        if not isinstance(value, Made) or not value.name.endswith((".astype", ".copy")):
            break
        value = value.receiver
    if not isinstance(value, Made) or value.name not in _SHAPES:
        return None
    position, parameter = _SHAPES[value.name]
    shape = value.keywords.get(parameter, value.args[position] if position < len(value.args) else None)
    if isinstance(shape, Listed):
        shape = shape.items[0] if shape.items and not shape.open else None
    return shape if isinstance(shape, Scalar) and isinstance(shape.value, int) else None


def _key_of_spot(spot: Spot) -> Place2:
    return id(spot.scope), spot.place


def _element_bytes_before(
    bound: BoundCall, steps: dict[Place2, BoundCall], calls: Sequence[BoundCall]
) -> int | None:
    """Return the size in bytes of an element before a dataset step.

    None where it is not known.
    """
    receiver = bound.call.receiver
    for _ in range(MAX_STEPS):
        step = (
            steps.get(_key_of_spot(receiver.spot)) if isinstance(receiver, Made) and receiver.spot else None
        )
        if step is None:
            return None
        name = step.callable.removeprefix(DATASET)
        if name not in _KEPT:
            return None
        function = _argument_value(step, 0, "map_func")
        if name == "map" and not isinstance(function, FunctionObject):
            return None
        if name == "map" and isinstance(function, FunctionObject):
            inner = [call for call in calls if _is_inside(call.spot, function)]
            if any(call.callable.startswith(_SMALLER) for call in inner):
                return None
            size = _of_image(inner)
            if size is not None:
                return size
        receiver = step.call.receiver
    return None


def _is_inside(spot: Spot, function: FunctionObject) -> bool:
    return spot.scope is function.scope or any(scope is function.scope for scope, _ in spot.calls)


def _of_image(calls: Sequence[BoundCall]) -> int | None:
    """Return the size in bytes of the image that a function makes.

    The last call that gives a size counts; None where no call does.
    """
    size: int | None = None
    channels = 1
    bytes_each = 4
    for call in calls:
        if call.callable in _DECODED:
            channels = _positive_integer(_argument_value(call, 1, "channels")) or channels
        elif call.callable == _RESIZED or call.callable in _CUT:
            size = _pixel_area(call)
        elif call.callable == "tensorflow.cast" and size is not None:
            bytes_each = DTYPE_BYTES.get(_dtype_name(_argument_value(call, 1, "dtype")), bytes_each)
    return size * channels * bytes_each if size is not None else None


def _pixel_area(call: BoundCall) -> int | None:
    if call.callable == _RESIZED:
        listed = _argument_value(call, 1, "size")
        items: list[Value | None] = [*listed.items] if isinstance(listed, Listed) and not listed.open else []
    else:
        items = [_argument_value(call, 1, "target_height"), _argument_value(call, 2, "target_width")]
    sides = [side for side in map(_positive_integer, items) if side is not None]
    return math.prod(sides) if len(sides) == 2 else None


def _argument_value(call: BoundCall, position: int, name: str) -> Value | None:
    """Return an argument of a call by name or position; None for none."""
    found = call.call.keywords.get(name)
    if found is None and position < len(call.call.args):
        found = call.call.args[position]
    return found


def _positive_integer(value: Value | None) -> int | None:
    if isinstance(value, Scalar) and isinstance(value.value, int) and not isinstance(value.value, bool):
        return value.value if value.value > 0 else None
    return None


def _dtype_name(value: Value | None) -> str:
    if isinstance(value, Scalar) and isinstance(value.value, str):
        return value.value
    return value.name.rpartition(".")[2] if isinstance(value, External) else ""
