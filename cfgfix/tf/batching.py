"""Padded batches: of one shape, or of a few, each of samples of like length, so that a step computes on little padding."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from cfgfix.core.errors import CfgfixError


def padded_batch_fixed(
    dataset: Any,
    batch_size: int,
    padded_shapes: Any,
    *,
    padding_values: Any = None,
    drop_remainder: bool = True,
    too_long: str = "error",
) -> Any:
    """Return batches whose shapes never change.

    Every dimension is fixed, and the last, smaller batch is left out.

    Args:
        dataset: A dataset of single elements.
        batch_size: Elements of a batch.
        padded_shapes: Shapes without the batch axis, in the structure of an element; every dimension a number.
        padding_values: One number for all components, or values in the structure of an element; each is converted to its
            component's dtype, which tf.data would demand exactly. Zero (or an empty text) by default.
        drop_remainder: Leave out a last, smaller batch; without it the batch axis is unknown.
        too_long: What happens to an element longer than its shape: `error` (tf.data raises when it comes), or `drop`.

    Raises:
        CfgfixError: A dimension is not fixed, or the structures do not fit.

    >>> import tensorflow as tf
    >>> data = tf.data.Dataset.range(1, 6).map(lambda n: (tf.ones([n]), n))
    >>> ready = padded_batch_fixed(data, 2, ([4], []), too_long="drop")
    >>> [item[1].numpy().tolist() for item in ready]
    [[1, 2], [3, 4]]
    """
    spec = dataset.element_spec
    shapes = tf.nest.map_structure(tf.TensorShape, like_spec(spec, padded_shapes))
    for shape in tf.nest.flatten(shapes):
        if not shape.is_fully_defined():
            raise CfgfixError(f"a fixed shape has no unknown dimension, but {shape} has one")
    packed = padding_of(spec, padding_values)
    if too_long == "drop":
        limits = tf.nest.flatten(shapes)

        def fits(*element: Any) -> Any:
            verdicts = [
                tf.reduce_all(tf.shape(part) <= tf.constant(shape.as_list(), tf.int32))
                for part, shape in zip(tf.nest.flatten(element), limits, strict=True)
                if shape.rank
            ]
            return tf.reduce_all(tf.stack(verdicts)) if verdicts else tf.constant(True)

        dataset = dataset.filter(fits)
    elif too_long != "error":
        raise CfgfixError(f"too_long is error or drop, not {too_long!r}")
    return dataset.padded_batch(
        batch_size, padded_shapes=shapes, padding_values=packed, drop_remainder=drop_remainder
    )


def padding_of(spec: Any, values: Any) -> Any:
    """Return the padding value of each component of an element.

    The values have the structure of an element, and its dtypes.

    Raises:
        CfgfixError: The values have another structure.
    """
    specs = tf.nest.flatten(spec)
    if values is None or isinstance(values, (int, float)):
        number = 0 if values is None else values
        flat = ["" if item.dtype == tf.string else number for item in specs]
    else:
        try:
            tf.nest.assert_same_structure(spec, values)
        except (TypeError, ValueError) as error:
            raise CfgfixError("padding_values has another structure than an element") from error
        flat = tf.nest.flatten(values)
    return tf.nest.pack_sequence_as(
        spec, [tf.constant(value, dtype=item.dtype) for value, item in zip(flat, specs, strict=True)]
    )


def like_spec(spec: Any, shapes: Any) -> Any:
    """Return shapes in the structure of an element.

    A shape is a list of numbers, which tf.nest would take apart.
    """
    if isinstance(spec, tf.TypeSpec):
        return tf.TensorShape(shapes)
    if isinstance(spec, dict):
        if not isinstance(shapes, dict) or set(shapes) != set(spec):
            raise CfgfixError(f"padded_shapes needs a shape for each of {', '.join(map(str, spec))}")
        return {name: like_spec(spec[name], shapes[name]) for name in spec}
    if not isinstance(shapes, (list, tuple)) or len(shapes) != len(spec):
        raise CfgfixError(f"padded_shapes needs {len(spec)} shapes")
    parts = [like_spec(inner, shape) for inner, shape in zip(spec, shapes, strict=True)]
    return type(spec)(*parts) if hasattr(spec, "_fields") else tuple(parts)


def batch_by_length(
    dataset: Any,
    batch_size: int,
    padded_shapes: Any,
    *,
    length: str | Callable[..., Any],
    lengths: Sequence[int],
    padding_values: Any = None,
    drop_remainder: bool = False,
) -> Any:
    """Return batches of samples of like length, padded to the next of a few lengths.

    Shuffle before it: samples keep their order within a length, and batches come as they fill. Every sample comes
    once in an epoch; the last batch of each length is smaller where the samples do not fill it.

    Args:
        dataset: A dataset of single elements, padded or not.
        batch_size: Elements of a batch.
        padded_shapes: Shapes without the batch axis, in the structure of an element; None stands for the length of the batch,
            and what is longer, which is padding, is cut off.
        length: The component with the length of an element, or a function of the element.
        lengths: The lengths to pad to, in rising order; `cfgfix profile` suggests them. A longer element is an error when it comes.
        padding_values: As `padded_batch_fixed` takes them.
        drop_remainder: Leave out smaller batches.

    Raises:
        CfgfixError: The lengths do not rise, or the structures do not fit.

    >>> import tensorflow as tf
    >>> data = tf.data.Dataset.range(1, 7).map(lambda n: {"x": tf.ones([n]), "n": n})
    >>> ready = batch_by_length(data, 3, {"x": [None], "n": []}, length="n", lengths=[3, 8])
    >>> [tuple(batch["x"].shape) for batch in ready]
    [(3, 3), (3, 8)]
    """
    edges = [int(number) for number in lengths]
    if not edges or edges[0] < 1 or any(low >= high for low, high in itertools.pairwise(edges)):
        raise CfgfixError(f"lengths must rise, from 1 on: {edges}")
    spec = dataset.element_spec
    shapes = tf.nest.map_structure(tf.TensorShape, like_spec(spec, padded_shapes))
    fixed = [shape.as_list() for shape in tf.nest.flatten(shapes)]
    if not any(None in shape for shape in fixed):
        raise CfgfixError("no shape has a None, which stands for the length of the batch")
    for part, shape in zip(tf.nest.flatten(spec), fixed, strict=True):
        if part.shape.rank is not None and (
            part.shape.rank != len(shape)
            or any(
                there and number and there > number for there, number in zip(part.shape, shape, strict=True)
            )
        ):
            raise CfgfixError(f"a component of the shape {part.shape} does not fit into {shape}")
    values = tf.nest.flatten(padding_of(spec, padding_values))
    if isinstance(length, str):
        if not isinstance(spec, dict) or length not in spec:
            raise CfgfixError(f"an element has no component {length!r}")
        name = length
        measured: Callable[..., Any] = lambda element: element[name]  # noqa: E731
    else:
        measured = length
    table = tf.constant(edges, tf.int64)

    def bucket(*element: Any) -> Any:
        size = tf.cast(measured(*element), tf.int64)
        check = tf.debugging.Assert(size <= edges[-1], ["an element is longer than", edges[-1], ":", size])
        with tf.control_dependencies([check] if check is not None else []):
            return tf.searchsorted(table, size[None], out_type=tf.int64)[0]

    def fitted(*element: Any) -> Any:
        size = table[bucket(*element)]
        parts = [
            _fit_component(part, shape, size, edges[-1], value)
            for part, shape, value in zip(tf.nest.flatten(element), fixed, values, strict=True)
        ]
        made = tf.nest.pack_sequence_as(element, parts)
        return made[0] if len(element) == 1 else made

    # Each element is brought to its length before the batches are made: what runs for a window runs anew for each batch.
    ready = dataset.map(fitted, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
    return ready.group_by_window(
        bucket,
        lambda _, window: window.batch(batch_size, drop_remainder=drop_remainder),
        window_size=batch_size,
    )


def _fit_component(part: Any, shape: Sequence[int | None], size: Any, longest: int, value: Any) -> Any:
    """Return a component of an element, cut and padded to a shape.

    None in the shape stands for `size`.
    """
    for axis, number in enumerate(shape):
        there = part.shape[axis]
        if number is None:
            part = part[(slice(None),) * axis + (slice(None, size),)]
        # What is as long as the longest length has nothing to be added.
        if (number is None and (there is None or there < longest)) or (
            number is not None and there != number
        ):
            # Too long an element leaves a negative number, which TensorFlow refuses.
            dims = tf.shape(part, tf.int64)
            missing = (size if number is None else number) - dims[axis]
            filling = tf.concat([dims[:axis], missing[None], dims[axis + 1 :]], 0)
            part = tf.concat([part, tf.fill(filling, value)], axis)
    part.set_shape(shape)
    return part
