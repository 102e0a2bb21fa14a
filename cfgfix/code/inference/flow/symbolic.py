"""What Keras gives out for a tensor while a model is built of layers."""

from __future__ import annotations

from cfgfix.code.model.values import KERAS_TENSOR, UNKNOWN, Items, Made, Value

SYMBOLIC = Made(KERAS_TENSOR, None)
"""What comes of what `keras.Input` gives; where a layer of Keras made it, another one knows the call."""
SYMBOLIC_NAMES = frozenset({"keras.Input", "keras.layers.Input", KERAS_TENSOR})

MERGES = {
    "keras.layers.add": "Add",
    "keras.layers.average": "Average",
    "keras.layers.concatenate": "Concatenate",
    "keras.layers.maximum": "Maximum",
    "keras.layers.minimum": "Minimum",
    "keras.layers.multiply": "Multiply",
    "keras.layers.subtract": "Subtract",
}
"""Functions that make a layer and call it at once, with the layer."""


def is_symbolic(value: Value) -> bool:
    """Tell whether a value is a KerasTensor.

    Keras gives it out for a tensor while a model is built of layers.
    """
    return type(value) is Made and value.name in SYMBOLIC_NAMES


def holds_symbolic(value: Value) -> bool:
    """Tell whether something is such a tensor, or a list with one."""
    return is_symbolic(value) or (type(value) is Items and any(map(is_symbolic, value.items)))


def as_layer_sees(value: Value) -> Value:
    """Return an argument as the code inside a layer gets it."""
    return UNKNOWN if holds_symbolic(value) else value
