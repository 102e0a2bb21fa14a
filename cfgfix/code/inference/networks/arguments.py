"""Arguments of layers as plain values, from the values of a run."""

from __future__ import annotations

from typing import Any

from cfgfix.code.inference.interpreter.objects import External, Made, Scalar, Sequence, Value
from cfgfix.code.tensorflow.api import Api
from cfgfix.code.tensorflow.layers.sizes import UNKNOWN, Arguments, Layer, Named, Shape, UnknownSize

LAYERS = "keras.layers."
MAX_DEPTH = 4
"""Most lists inside one another in an argument."""


def plain_data(value: Value | None, api: Api, depth: int = MAX_DEPTH) -> Any:
    """Return a value of a run as plain data; `UNKNOWN` where it is not known.

    What a command line may change is not known.
    """
    if isinstance(value, Scalar):
        return UNKNOWN if value.optional else value.value
    if isinstance(value, Sequence):
        if value.open or not depth:
            return UNKNOWN
        items = [plain_data(item, api, depth - 1) for item in value.items]
        return UNKNOWN if UNKNOWN in items else items
    if isinstance(value, External):
        return Named(value.name)
    if isinstance(value, Made) and is_layer(value):
        return layer_of(value, api)
    return UNKNOWN


def is_layer(value: Value | None) -> bool:
    """Tell whether a value is a layer of Keras that the program has made."""
    return isinstance(value, Made) and value.name.startswith(LAYERS) and last_name(value.name)[:1].isupper()


def last_name(name: str) -> str:
    """Return the last part of a dotted name."""
    return name.rpartition(".")[2]


def layer_of(made: Made, api: Api) -> Layer:
    """Return a layer with its arguments by parameter."""
    return Layer(
        last_name(made.name), Arguments(arguments_by_parameter(made, api, f"{LAYERS}{last_name(made.name)}"))
    )


def arguments_by_parameter(made: Made, api: Api, name: str) -> dict[str, Any]:
    """Return the arguments of a call of a public class or function, by parameter."""
    found = by_parameter(made, api, name)
    return {parameter: plain_data(value, api) for parameter, value in found.items()}


def by_parameter(made: Made, api: Api, name: str) -> dict[str, Value]:
    """Return the values of a call's arguments, by parameter of the public name."""
    signature = api.constructor(name)
    order = signature.positions(api.newest) if signature is not None else ()
    found: dict[str, Value] = {
        order[number] if number < len(order) else str(number): value for number, value in enumerate(made.args)
    }
    found.update(made.keywords)
    return found


def shape_in(value: Any, *, batch: bool = False) -> Shape:
    """Return the shape in an argument.

    Args:
        value: The argument as plain data.
        batch: Whether its first dimension is that of the batch.

    Raises:
        UnknownSize: It is none.
    """
    sizes = [value] if type(value) is int else value
    if not isinstance(sizes, list) or not all(
        size is None or (type(size) is int and size > 0) for size in sizes
    ):
        raise UnknownSize
    if batch and not sizes:
        raise UnknownSize
    return tuple(sizes[1:] if batch else sizes)
