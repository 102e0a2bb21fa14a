"""All layers whose sizes are known, and those that wrap another one."""

from __future__ import annotations

from cfgfix.code.tensorflow.layers import activations, core, sequences, windows
from cfgfix.code.tensorflow.layers.sizes import (
    Arguments,
    Inputs,
    Layer,
    LayerSizes,
    Rule,
    UnknownSize,
    channels,
    elements,
    known_elements,
    only_input,
)
from cfgfix.core.records import replace


def layer_sizes(layer: Layer, inputs: Inputs) -> LayerSizes:
    """Return the sizes of a layer: its outputs, weights and kept elements.

    Raises:
        UnknownSize: The layer or one of its sizes is not known.
    """
    rule = LAYERS.get(layer.name)
    if rule is None:
        raise UnknownSize
    made = rule(layer.arguments, inputs)
    for shape in made.outputs:
        if None not in shape:
            elements(shape)
    return made


def _bidirectional_sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
    inner = arguments.layer("layer")
    if arguments.value("backward_layer") is not None:
        raise UnknownSize
    made = layer_sizes(inner, inputs)
    mode = arguments.value("merge_mode", "concat")
    if mode not in ("concat", "sum", "mul", "ave"):
        raise UnknownSize
    first = made.output
    outer = (*first[:-1], 2 * channels(first)) if mode == "concat" else first
    return replace(
        made,
        outputs=(outer, *made.outputs[1:], *made.outputs[1:]),
        trainable=2 * made.trainable,
        fixed=2 * made.fixed,
        extra=2 * made.extra,
    )


def _time_distributed(arguments: Arguments, inputs: Inputs) -> LayerSizes:
    shape = only_input(inputs)
    if len(shape) < 2:
        raise UnknownSize
    steps = shape[0]
    made = layer_sizes(arguments.layer("layer"), (shape[1:],))
    count = known_elements((steps,))
    return replace(
        made,
        outputs=tuple((steps, *output) for output in made.outputs),
        extra=made.extra * count if made.extra else 0,
        masks=made.masks * count if made.masks else 0,
        work=made.work * count if made.work else 0,
    )


LAYERS: dict[str, Rule] = {
    **activations.LAYERS,
    **core.LAYERS,
    **windows.LAYERS,
    **sequences.LAYERS,
    "Bidirectional": _bidirectional_sizes,
    "TimeDistributed": _time_distributed,
}
"""All of them, by name."""
