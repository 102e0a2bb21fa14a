"""What Keras gives out for a tensor while a model is built of layers."""

from __future__ import annotations

from cfgfix.code.model.values import UNKNOWN, Items, Made, Value

SYMBOLIC = Made("keras.KerasTensor", None)
"""What layers give for what `keras.Input` gives."""
SYMBOLIC_NAMES = frozenset({"keras.Input", "keras.layers.Input", SYMBOLIC.name})


def is_symbolic(value: Value) -> bool:
    """Tell whether a value is a KerasTensor.

    Keras gives it out for a tensor while a model is built of layers.
    """
    return type(value) is Made and value.name in SYMBOLIC_NAMES


def holds_symbolic(value: Value) -> bool:
    """Tell whether something is such a tensor, or a list with one."""
    return is_symbolic(value) or (type(value) is Items and any(map(is_symbolic, value.items)))


def tensors_of(value: Value) -> Value:
    """Return what a layer's own code sees of an argument."""
    return UNKNOWN if holds_symbolic(value) else value
