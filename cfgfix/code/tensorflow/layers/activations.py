"""What activation functions keep for the backward pass."""

from __future__ import annotations

from cfgfix.code.tensorflow.layers.sizes import (
    Arguments,
    Inputs,
    Layer,
    LayerSizes,
    Named,
    Rule,
    Shape,
    UnknownSize,
    known_elements,
    only_input,
    product,
)
from cfgfix.core.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Activation:
    """What a function keeps: its input, its output, and how often the elements of that besides."""

    inputs: bool = False
    outputs: bool = False
    extra: float = 0
    is_linear: bool = False


_BY_OUTPUT = Activation(outputs=True)
_BY_INPUT = Activation(inputs=True)
LINEAR = Activation(is_linear=True)
ACTIVATIONS = {
    "linear": LINEAR,
    **dict.fromkeys(
        ("relu", "relu6", "sigmoid", "tanh", "softmax", "elu", "selu", "exponential", "exp", "hard_sigmoid", "log_softmax"),
        _BY_OUTPUT,
    ),
    **dict.fromkeys(("softplus", "softsign", "leaky_relu", "silu", "swish", "celu"), _BY_INPUT),
    "mish": Activation(inputs=True, extra=1),
    "hard_swish": Activation(inputs=True, extra=1),
    "hard_silu": Activation(inputs=True, extra=1),
    "gelu": Activation(extra=3),
}  # fmt: skip
"""By name, as TensorFlow 2.21 computes their gradients."""


def activation_named(value: object) -> Activation:
    """Return what an activation keeps for the backward pass.

    The activation is a name, a function or a layer.

    Raises:
        UnknownSize: It is none that is known.
    """
    if value is None:
        return LINEAR
    if isinstance(value, Layer):
        sizes = LAYERS.get(value.name)
        if sizes is None:
            raise UnknownSize
        made = sizes(value.arguments, ((1,),))
        return Activation(made.inputs, made.outputs_kept, made.extra, made.reuses)
    name = value.name.rpartition(".")[2] if isinstance(value, Named) else value
    found = ACTIVATIONS.get(name.lower()) if isinstance(name, str) else None
    if found is None:
        raise UnknownSize
    return found


def activated(sizes: LayerSizes, activation: Activation) -> LayerSizes:
    """Return the sizes of a layer together with its own activation."""
    if activation.is_linear:
        return sizes
    count = known_elements(sizes.output)
    return replace(
        sizes,
        outputs_kept=sizes.outputs_kept or activation.outputs,
        extra=sizes.extra + (activation.extra + activation.inputs) * count,
    )


def of_activation(activation: Activation, shape: Shape) -> LayerSizes:
    """Return the sizes of an activation as a separate layer."""
    return LayerSizes(
        (shape,),
        inputs=activation.inputs,
        outputs_kept=activation.outputs,
        extra=activation.extra * known_elements(shape) if activation.extra else 0,
        reuses=activation.is_linear,
    )


def _activation_sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
    return of_activation(activation_named(arguments.value("activation")), only_input(inputs))


def _for_every_argument(activation: Activation) -> Rule:
    return lambda _arguments, inputs: of_activation(activation, only_input(inputs))


def _prelu_sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
    shape = only_input(inputs)
    shared = arguments.value("shared_axes")
    axes = [] if shared is None else shared if isinstance(shared, (list, tuple)) else [shared]
    sizes = [
        1 if number + 1 in axes or number - len(shape) in axes else size for number, size in enumerate(shape)
    ]
    if None in sizes or not all(isinstance(axis, int) for axis in axes):
        raise UnknownSize
    weights = product([size for size in sizes if size is not None])
    return LayerSizes((shape,), trainable=weights, inputs=True)


LAYERS: dict[str, Rule] = {
    "Activation": _activation_sizes,
    "ReLU": _for_every_argument(_BY_OUTPUT),
    "Softmax": _for_every_argument(_BY_OUTPUT),
    "ELU": _for_every_argument(_BY_OUTPUT),
    "LeakyReLU": _for_every_argument(_BY_INPUT),
    "ThresholdedReLU": _for_every_argument(_BY_INPUT),
    "PReLU": _prelu_sizes,
}

"""The layers that are activations, by name."""
