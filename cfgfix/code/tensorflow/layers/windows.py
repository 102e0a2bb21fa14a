"""Layers over space: convolutions, pooling, padding, cropping, up-sampling and changes of images."""

from __future__ import annotations

import math

from cfgfix.code.tensorflow.layers.activations import activated, activation_named
from cfgfix.code.tensorflow.layers.sizes import (
    Arguments,
    Inputs,
    LayerSizes,
    MisfitError,
    Rule,
    Shape,
    UnknownSize,
    channels,
    only_input,
    product,
    shape_text,
)


def window_steps(size: int | None, kernel: int, stride: int, dilation: int, padding: str) -> int | None:
    """Return the number of steps that a window takes over a dimension.

    None where the dimension is not known.

    Raises:
        UnknownSize: The window does not fit, or the padding is not known.
    """
    if size is None:
        return None
    if padding in ("same", "causal"):
        return -(-size // stride)
    if padding != "valid":
        raise UnknownSize
    window = dilation * (kernel - 1) + 1
    if window > size:
        raise MisfitError(f"slides a window of {window} over {size} without padding")
    return (size - window) // stride + 1


def _spatial_shape(inputs: Inputs, rank: int) -> Shape:
    shape = only_input(inputs)
    if len(shape) != rank + 1:
        raise MisfitError(
            f"takes {rank + 1} dimensions of each sample, and gets {len(shape)} ({shape_text(shape)})"
        )
    return shape


def _window_space(
    shape: Shape, kernel: tuple[int, ...], strides: tuple[int, ...], dilation: tuple[int, ...], padding: str
) -> Shape:
    return tuple(
        window_steps(size, window, stride, spread, padding)
        for size, window, stride, spread in zip(shape[:-1], kernel, strides, dilation, strict=True)
    )


def _kernel_and_space(arguments: Arguments, shape: Shape, rank: int) -> tuple[tuple[int, ...], Shape]:
    """Return the kernel size of a convolution, and its spatial output shape."""
    kernel = arguments.sizes("kernel_size", rank)
    space = _window_space(
        shape,
        kernel,
        arguments.sizes("strides", rank, 1),
        arguments.sizes("dilation_rate", rank, 1),
        arguments.word("padding", "valid"),
    )
    return kernel, space


def _with_weights(
    arguments: Arguments, space: Shape, filters: int, weights: int, *, extra: float = 0
) -> LayerSizes:
    """Return the sizes of a layer with a kernel, a bias by default, and an activation."""
    bias = filters if arguments.flag("use_bias", True) else 0
    made = LayerSizes(((*space, filters),), trainable=weights + bias, for_weights=True, extra=extra)
    return activated(made, activation_named(arguments.value("activation")))


def _convolution_rule(rank: int) -> Rule:
    def sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
        arguments.channels_last()
        shape = _spatial_shape(inputs, rank)
        filters, groups = arguments.number("filters"), arguments.number("groups", 1)
        kernel, space = _kernel_and_space(arguments, shape, rank)
        if channels(shape) % groups:
            raise UnknownSize
        weights = product(kernel) * (channels(shape) // groups) * filters
        return _with_weights(arguments, space, filters, weights)

    return sizes


def _depthwise_rule(rank: int) -> Rule:
    def sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
        arguments.channels_last()
        shape = _spatial_shape(inputs, rank)
        count = channels(shape) * arguments.number("depth_multiplier", 1)
        kernel, space = _kernel_and_space(arguments, shape, rank)
        return _with_weights(arguments, space, count, product(kernel) * count)

    return sizes


def _separable_rule(rank: int) -> Rule:
    def sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
        arguments.channels_last()
        shape = _spatial_shape(inputs, rank)
        filters = arguments.number("filters")
        middle = channels(shape) * arguments.number("depth_multiplier", 1)
        kernel, space = _kernel_and_space(arguments, shape, rank)
        weights = product(kernel) * middle + middle * filters
        between = (
            math.inf if None in space else product([size for size in space if size is not None]) * middle
        )
        return _with_weights(arguments, space, filters, weights, extra=between)

    return sizes


def _transposed_rule(rank: int) -> Rule:
    def sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
        arguments.channels_last()
        shape = _spatial_shape(inputs, rank)
        filters = arguments.number("filters")
        kernel = arguments.sizes("kernel_size", rank)
        strides = arguments.sizes("strides", rank, 1)
        dilation = arguments.sizes("dilation_rate", rank, 1)
        padding = arguments.word("padding", "valid")
        if arguments.value("output_padding") is not None or padding not in ("same", "valid"):
            raise UnknownSize
        space = tuple(
            None
            if size is None
            else size * stride
            if padding == "same"
            else size * stride + max((one_kernel - 1) * spread + 1 - stride, 0)
            for size, one_kernel, stride, spread in zip(shape[:-1], kernel, strides, dilation, strict=True)
        )
        weights = product(kernel) * filters * channels(shape)
        return _with_weights(arguments, space, filters, weights)

    return sizes


def _pooling_rule(rank: int, *, largest: bool) -> Rule:
    def sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
        arguments.channels_last()
        shape = _spatial_shape(inputs, rank)
        pool = arguments.sizes("pool_size", rank, 2)
        strides = pool if arguments.value("strides") is None else arguments.sizes("strides", rank)
        space = _window_space(shape, pool, strides, (1,) * rank, arguments.word("padding", "valid"))
        return LayerSizes(((*space, shape[-1]),), inputs=largest, outputs_kept=largest)

    return sizes


def _global_pooling(rank: int, *, largest: bool) -> Rule:
    def sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
        arguments.channels_last()
        shape = _spatial_shape(inputs, rank)
        kept = arguments.flag("keepdims", False)
        made = (*(1,) * rank, shape[-1]) if kept else (shape[-1],)
        return LayerSizes((made,), inputs=largest, outputs_kept=largest)

    return sizes


def _edge_sizes(arguments: Arguments, name: str, rank: int) -> list[tuple[int, int]]:
    """Return the padding or cropping at both ends of each spatial dimension."""
    given = arguments.value(name, 1)
    if rank == 1 and isinstance(given, (list, tuple)) and len(given) == 2 and all(type(x) is int for x in given):  # fmt: skip
        return [(given[0], given[1])]
    parts = list(given) if isinstance(given, (list, tuple)) else [given] * rank
    found: list[tuple[int, int]] = []
    for part in parts:
        pair = tuple(part) if isinstance(part, (list, tuple)) else (part, part)
        if len(pair) != 2 or not all(type(number) is int and number >= 0 for number in pair):
            raise UnknownSize
        found.append((pair[0], pair[1]))
    if len(found) != rank:
        raise UnknownSize
    return found


def _padding_rule(rank: int, name: str, sign: int) -> Rule:
    def sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
        arguments.channels_last()
        shape = _spatial_shape(inputs, rank)
        space: list[int | None] = []
        for size, edges in zip(shape[:-1], _edge_sizes(arguments, name, rank), strict=True):
            made = None if size is None else size + sign * sum(edges)
            if made is not None and made < 1:
                raise MisfitError(f"cuts off {sum(edges)} of {size}")
            space.append(made)
        return LayerSizes(((*space, shape[-1]),))

    return sizes


def _up_sampling(rank: int) -> Rule:
    def sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
        arguments.channels_last()
        shape = _spatial_shape(inputs, rank)
        factors = arguments.sizes("size", rank, 2)
        space = (
            None if size is None else size * factor for size, factor in zip(shape[:-1], factors, strict=True)
        )
        return LayerSizes(((*space, shape[-1]),))

    return sizes


def _resized_sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
    arguments.channels_last()
    shape = _spatial_shape(inputs, 2)
    return LayerSizes(((arguments.number("height"), arguments.number("width"), shape[-1]),))


def _image_sizes(_arguments: Arguments, inputs: Inputs) -> LayerSizes:
    return LayerSizes((only_input(inputs),))


LAYERS: dict[str, Rule] = {
    **{f"Conv{rank}D": _convolution_rule(rank) for rank in (1, 2, 3)},
    **{f"Convolution{rank}D": _convolution_rule(rank) for rank in (1, 2, 3)},
    **{f"DepthwiseConv{rank}D": _depthwise_rule(rank) for rank in (1, 2)},
    **{f"SeparableConv{rank}D": _separable_rule(rank) for rank in (1, 2)},
    **{f"SeparableConvolution{rank}D": _separable_rule(rank) for rank in (1, 2)},
    **{f"Conv{rank}DTranspose": _transposed_rule(rank) for rank in (1, 2, 3)},
    **{f"Convolution{rank}DTranspose": _transposed_rule(rank) for rank in (2, 3)},
    **{f"MaxPooling{rank}D": _pooling_rule(rank, largest=True) for rank in (1, 2, 3)},
    **{f"MaxPool{rank}D": _pooling_rule(rank, largest=True) for rank in (1, 2, 3)},
    **{f"AveragePooling{rank}D": _pooling_rule(rank, largest=False) for rank in (1, 2, 3)},
    **{f"AvgPool{rank}D": _pooling_rule(rank, largest=False) for rank in (1, 2, 3)},
    **{f"GlobalMaxPooling{rank}D": _global_pooling(rank, largest=True) for rank in (1, 2, 3)},
    **{f"GlobalMaxPool{rank}D": _global_pooling(rank, largest=True) for rank in (1, 2, 3)},
    **{f"GlobalAveragePooling{rank}D": _global_pooling(rank, largest=False) for rank in (1, 2, 3)},
    **{f"GlobalAvgPool{rank}D": _global_pooling(rank, largest=False) for rank in (1, 2, 3)},
    **{f"ZeroPadding{rank}D": _padding_rule(rank, "padding", 1) for rank in (1, 2, 3)},
    **{f"Cropping{rank}D": _padding_rule(rank, "cropping", -1) for rank in (1, 2, 3)},
    **{f"UpSampling{rank}D": _up_sampling(rank) for rank in (1, 2, 3)},
    **dict.fromkeys(("Resizing", "CenterCrop", "RandomCrop"), _resized_sizes),
    **dict.fromkeys(
        (
            "RandomFlip",
            "RandomRotation",
            "RandomZoom",
            "RandomTranslation",
            "RandomContrast",
            "RandomBrightness",
        ),
        _image_sizes,
    ),
}
"""These layers, by name."""
