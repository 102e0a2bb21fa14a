"""What Keras gives out for a tensor while a model is built of layers."""

from __future__ import annotations

import re

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
    """Return an argument as a layer's code gets it: a KerasTensor becomes unknown."""
    return UNKNOWN if holds_symbolic(value) else value


_MODELS_OR_LAYERS = re.compile(
    r"keras\.(?:Model(?:\.get_layer)?|Sequential\.get_layer|applications\.(?:\w+\.)?[A-Z]\w*(?:\.get_layer)?)"
)
"""What has such ends by itself; a Sequential as a whole has none before it is called (Keras 3.15.1, executed)."""


def is_end_of_graph(made: Made, attribute: str) -> bool:
    """Tell whether an attribute is where a model's or layer's graph begins or ends."""
    return attribute in ("input", "output") and _MODELS_OR_LAYERS.fullmatch(made.name) is not None
