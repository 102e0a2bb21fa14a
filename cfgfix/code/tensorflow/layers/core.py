"""Dense layers, embeddings, normalization, dropout, merges and what only changes the shape."""

from __future__ import annotations

from cfgfix.code.tensorflow.layers.activations import activated, activation_named
from cfgfix.code.tensorflow.layers.sizes import (
    Arguments,
    Inputs,
    LayerSizes,
    MisfitError,
    OpenSizeError,
    Rule,
    Shape,
    UnknownSize,
    channels,
    elements,
    known_elements,
    only_input,
    product,
    shape_text,
)


def _dense_sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
    shape = only_input(inputs)
    width = channels(shape)
    units = arguments.number("units")
    weights = width * units + (units if arguments.flag("use_bias", True) else 0)
    made = LayerSizes(((*shape[:-1], units),), trainable=weights, for_weights=True)
    return activated(made, activation_named(arguments.value("activation")))


def _embedding_sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
    width = arguments.number("output_dim")
    return LayerSizes(((*only_input(inputs), width),), trainable=arguments.number("input_dim") * width, for_weights=True)  # fmt: skip


# Normalization


def _of_axes(arguments: Arguments, shape: Shape, default: int) -> int:
    """Return the product of the dimensions along a layer's `axis` argument."""
    given = arguments.value("axis", default)
    sizes = []
    for axis in given if isinstance(given, (list, tuple)) else [given]:
        if not isinstance(axis, int) or axis == 0 or not -len(shape) <= axis <= len(shape):
            raise UnknownSize
        size = shape[axis - 1 if axis > 0 else axis]
        if size is None:
            raise OpenSizeError(f"gets {shape_text(shape)} (? is left open), and its weights need that size")
        sizes.append(size)
    return product(sizes)


def _batch_normalization(arguments: Arguments, inputs: Inputs) -> LayerSizes:
    shape = only_input(inputs)
    count = _of_axes(arguments, shape, -1)
    trained = count * (arguments.flag("center", True) + arguments.flag("scale", True))
    return LayerSizes(
        (shape,), trainable=trained, fixed=2 * count, inputs=True, work=known_elements(shape)
    )  # fmt: skip


def _layer_normalization(arguments: Arguments, inputs: Inputs) -> LayerSizes:
    shape = only_input(inputs)
    count = _of_axes(arguments, shape, -1)
    scaled = arguments.flag("scale", True)
    trained = count * (arguments.flag("center", True) + scaled)
    return LayerSizes((shape,), trainable=trained, inputs=True, extra=known_elements(shape) if scaled else 0)


def _group_normalization(arguments: Arguments, inputs: Inputs) -> LayerSizes:
    shape = only_input(inputs)
    count = _of_axes(arguments, shape, -1)
    trained = count * (arguments.flag("center", True) + arguments.flag("scale", True))
    return LayerSizes((shape,), trainable=trained, inputs=True)


def _rms_normalization(arguments: Arguments, inputs: Inputs) -> LayerSizes:
    shape = only_input(inputs)
    return LayerSizes((shape,), trainable=_of_axes(arguments, shape, -1), inputs=True)


def _same_size(_arguments: Arguments, inputs: Inputs) -> LayerSizes:
    return LayerSizes((only_input(inputs),), reuses=True)


def _same_kept(_arguments: Arguments, inputs: Inputs) -> LayerSizes:
    return LayerSizes((only_input(inputs),), inputs=True)


def _recomputed_sizes(_arguments: Arguments, inputs: Inputs) -> LayerSizes:
    """Return the sizes of a layer that keeps nothing for the backward pass."""
    return LayerSizes((only_input(inputs),))


def _dropout_sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
    shape = only_input(inputs)
    rate = arguments.value("rate")
    if isinstance(rate, (int, float)) and not rate:
        return LayerSizes((shape,), reuses=True)
    return LayerSizes((shape,), masks=known_elements(shape))


# Shapes


def _flatten_sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
    arguments.channels_last()
    shape = only_input(inputs)
    made: Shape = (None,) if None in shape else (elements(shape),)
    return LayerSizes((made,), reuses=True)


def _reshape_sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
    shape = only_input(inputs)
    wanted = arguments.value("target_shape")
    if not isinstance(wanted, (list, tuple)) or not all(type(size) is int for size in wanted):
        raise UnknownSize
    if None not in shape and -1 not in wanted and product(wanted) != elements(shape):
        raise MisfitError(
            f"makes {shape_text(tuple(wanted))} of {shape_text(shape)}, which are {elements(shape)} numbers"
        )
    return LayerSizes((reshaped(shape, tuple(wanted)),), reuses=True)


def reshaped(shape: Shape, wanted: tuple[int, ...]) -> Shape:
    """Return the shape of a tensor after it is reshaped.

    One dimension of the wanted shape may be -1, for the rest of the elements.

    Raises:
        UnknownSize: It does not fit, or is not known.
    """
    if -1 not in wanted:
        return wanted
    if wanted.count(-1) > 1:
        raise UnknownSize
    if None in shape:
        return tuple(None if size == -1 else size for size in wanted)
    known = product([size for size in wanted if size != -1])
    total = elements(shape)
    if known <= 0 or total % known:
        raise UnknownSize
    return tuple(total // known if size == -1 else size for size in wanted)


def _permute_sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
    shape = only_input(inputs)
    dims = arguments.value("dims")
    if not isinstance(dims, (list, tuple)) or sorted(dims) != list(range(1, len(shape) + 1)):
        raise UnknownSize
    return LayerSizes((tuple(shape[dim - 1] for dim in dims),))


def _repeat_vector(arguments: Arguments, inputs: Inputs) -> LayerSizes:
    return LayerSizes(((arguments.number("n"), *only_input(inputs)),))


# Merges


def merged(inputs: Inputs) -> Shape:
    """Return the shape of an element-wise operation on tensors, after broadcasting.

    Raises:
        UnknownSize: They do not fit.
    """
    if not inputs:
        raise UnknownSize
    rank = max(map(len, inputs))
    if any(len(shape) != rank for shape in inputs):
        raise UnknownSize
    made: list[int | None] = []
    for sizes in zip(*inputs, strict=True):
        wide = {size for size in sizes if size != 1}
        if len(wide - {None}) > 1:
            raise MisfitError(f"gets {' and '.join(map(shape_text, inputs))}")
        if len(wide) > 1:
            raise UnknownSize
        made.append(wide.pop() if wide else 1)
    return tuple(made)


def _sum_sizes(_arguments: Arguments, inputs: Inputs) -> LayerSizes:
    return LayerSizes((merged(inputs),), passes=True)


def _product_sizes(_arguments: Arguments, inputs: Inputs) -> LayerSizes:
    return LayerSizes((merged(inputs),), inputs=True)


def concatenated(inputs: Inputs, axis: object) -> Shape:
    """Return the shape of tensors concatenated along an axis.

    The batch counts as the first axis, as in Keras.

    Raises:
        UnknownSize: They do not fit.
    """
    if not inputs or type(axis) is not int:
        raise UnknownSize
    rank = len(inputs[0])
    position = axis - 1 if axis > 0 else axis + rank
    if axis == 0 or not 0 <= position < rank or any(len(shape) != rank for shape in inputs):
        raise UnknownSize
    for number in range(rank):
        beside = {shape[number] for shape in inputs}
        if number != position and len(beside - {None}) > 1:
            raise MisfitError(f"gets {' and '.join(map(shape_text, inputs))}, which differ beside the axis")
        if number != position and len(beside) > 1:
            raise UnknownSize
    along = [shape[position] for shape in inputs]
    known = [size for size in along if size is not None]
    total = sum(known) if len(known) == len(along) else None
    return (*inputs[0][:position], total, *inputs[0][position + 1 :])


def _concatenate_sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
    return LayerSizes((concatenated(inputs, arguments.value("axis", -1)),))


def _dot_sizes(arguments: Arguments, inputs: Inputs) -> LayerSizes:
    if len(inputs) != 2:
        raise UnknownSize
    axes = arguments.value("axes")
    first, second = (axes, axes) if isinstance(axes, int) else axes if isinstance(axes, (list, tuple)) else (0, 0)  # fmt: skip
    one_shape, other = inputs
    places = []
    for axis, shape in ((first, one_shape), (second, other)):
        position = axis - 1 if axis > 0 else axis + len(shape)
        if axis == 0 or not 0 <= position < len(shape):
            raise UnknownSize
        places.append(position)
    left = one_shape[: places[0]] + one_shape[places[0] + 1 :]
    right = other[: places[1]] + other[places[1] + 1 :]
    return LayerSizes(((*left, *right) or (1,),), inputs=True)


LAYERS: dict[str, Rule] = {
    "Dense": _dense_sizes,
    "Embedding": _embedding_sizes,
    "BatchNormalization": _batch_normalization,
    "LayerNormalization": _layer_normalization,
    "GroupNormalization": _group_normalization,
    "RMSNormalization": _rms_normalization,
    "UnitNormalization": _same_kept,
    "ActivityRegularization": _same_size,
    "Masking": _same_kept,
    "Rescaling": _recomputed_sizes,
    "Dropout": _dropout_sizes,
    "SpatialDropout1D": _recomputed_sizes,
    "SpatialDropout2D": _recomputed_sizes,
    "SpatialDropout3D": _recomputed_sizes,
    "GaussianDropout": _same_kept,
    "GaussianNoise": _recomputed_sizes,
    "AlphaDropout": _dropout_sizes,
    "Flatten": _flatten_sizes,
    "Reshape": _reshape_sizes,
    "Permute": _permute_sizes,
    "RepeatVector": _repeat_vector,
    "Add": _sum_sizes,
    "Subtract": _sum_sizes,
    "Average": _sum_sizes,
    "Multiply": _product_sizes,
    "Maximum": _product_sizes,
    "Minimum": _product_sizes,
    "Concatenate": _concatenate_sizes,
    "Dot": _dot_sizes,
}
"""These layers, by name."""
