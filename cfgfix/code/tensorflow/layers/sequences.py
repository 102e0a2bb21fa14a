"""Layers over time: recurrent ones and attention."""

from __future__ import annotations

from cfgfix.code.tensorflow.layers.sizes import (
    Arguments,
    Inputs,
    LayerSizes,
    MisfitError,
    Rule,
    UnknownSize,
    channels,
    known_elements,
    only_input,
    product,
    shape_text,
)
from cfgfix.code.tensorflow.layers.windows import window_steps

_GATES = {"LSTM": (4, 2, 6), "GRU": (3, 1, 5), "SimpleRNN": (1, 1, 2)}
"""Gates, states, and what is kept of each step in units, as the fused layers of cuDNN keep it."""


def _recurrent_rule(name: str) -> Rule:
    gates, states, kept = _GATES[name]

    def sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
        if len(inputs) == 1 and len(inputs[0]) != 2:
            raise MisfitError(
                f"takes 2 dimensions of each sample, and gets {len(inputs[0])} ({shape_text(inputs[0])})"
            )
        if not inputs or len(inputs[0]) != 2:
            raise UnknownSize
        steps, width = inputs[0][0], channels(inputs[0])
        units = arguments.number("units")
        weights = gates * units * (width + units)
        if arguments.flag("use_bias", True):
            twice = name == "GRU" and arguments.flag("reset_after", True)
            weights += gates * units * (2 if twice else 1)
        whole = (steps, units)
        first = whole if arguments.flag("return_sequences", False) else (units,)
        states_given = ((units,),) * states if arguments.flag("return_state", False) else ()
        return LayerSizes(
            (first, *states_given),
            trainable=weights,
            for_weights=True,
            outputs_kept=True,
            extra=kept * known_elements(whole),
        )

    return sizes


def _convolutional_lstm(rank: int) -> Rule:
    def sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
        arguments.channels_last()
        shape = only_input(inputs)
        if len(shape) != rank + 2 or arguments.flag("return_state", False):
            raise UnknownSize
        filters = arguments.number("filters")
        kernel = arguments.sizes("kernel_size", rank)
        strides = arguments.sizes("strides", rank, 1)
        dilation = arguments.sizes("dilation_rate", rank, 1)
        padding = arguments.word("padding", "valid")
        space = tuple(
            window_steps(size, window, stride, spread, padding)
            for size, window, stride, spread in zip(shape[1:-1], kernel, strides, dilation, strict=True)
        )
        weights = 4 * product(kernel) * filters * (channels(shape) + filters)
        weights += 4 * filters if arguments.flag("use_bias", True) else 0
        whole = (shape[0], *space, filters)
        made = whole if arguments.flag("return_sequences", False) else whole[1:]
        return LayerSizes(
            (made,), trainable=weights, for_weights=True, outputs_kept=True, extra=6 * known_elements(whole)
        )

    return sizes


def _multi_head_attention(arguments: Arguments, inputs: Inputs) -> LayerSizes:
    if not 1 <= len(inputs) <= 3 or any(len(shape) != 2 for shape in inputs):
        raise UnknownSize
    if arguments.value("attention_axes") is not None:
        raise UnknownSize
    query = inputs[0]
    value = inputs[1] if len(inputs) > 1 else query
    key = inputs[2] if len(inputs) > 2 else value
    heads, width = arguments.number("num_heads"), arguments.number("key_dim")
    value_width = width if arguments.value("value_dim") is None else arguments.number("value_dim")
    wanted = arguments.value("output_shape")
    if wanted is not None and type(wanted) is not int:
        raise UnknownSize
    out = channels(query) if wanted is None else arguments.number("output_shape")
    biased = arguments.flag("use_bias", True)
    projections = (
        (channels(query), heads * width),
        (channels(key), heads * width),
        (channels(value), heads * value_width),
        (heads * value_width, out),
    )
    weights = sum(one_side * other + (other if biased else 0) for one_side, other in projections)
    steps, other_steps = query[0], value[0]
    scores = known_elements((heads, steps, other_steps))
    kept = (
        known_elements((steps, heads * width))
        + known_elements((other_steps, heads * width))
        + known_elements((other_steps, heads * value_width))
        + known_elements((steps, heads * value_width))
        + scores
    )
    dropout = arguments.value("dropout", 0.0)
    return LayerSizes(
        ((steps, out),),
        trainable=weights,
        for_weights=True,
        extra=kept,
        masks=scores if dropout else 0,
        work=scores,
    )


def _attention_rule(*, additive: bool) -> Rule:
    def sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
        if not 2 <= len(inputs) <= 3 or any(len(shape) != 2 for shape in inputs):
            raise UnknownSize
        query, value = inputs[0], inputs[1]
        scaled = arguments.flag("use_scale", additive)
        weights = (channels(query) if additive else 1) if scaled else 0
        if not additive and arguments.word("score_mode", "dot") != "dot":
            weights += 1
        scores = known_elements((query[0], value[0]))
        return LayerSizes(((query[0], value[-1]),), trainable=weights, inputs=True, extra=scores)

    return sizes


LAYERS: dict[str, Rule] = {
    **{name: _recurrent_rule(name) for name in _GATES},
    **{f"ConvLSTM{rank}D": _convolutional_lstm(rank) for rank in (1, 2, 3)},
    "MultiHeadAttention": _multi_head_attention,
    "Attention": _attention_rule(additive=False),
    "AdditiveAttention": _attention_rule(additive=True),
}
"""These layers, by name."""
