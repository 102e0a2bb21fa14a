"""What is read of a batch, and of what a training step returns for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cfgfix.measure.counters import dataset_of, distributed_kinds

if TYPE_CHECKING:
    import tensorflow as tf

KEPT_SCALARS = 4
"""Scalars of each step that are kept."""


def scalars_of(given: Any) -> dict[str, Any]:
    """Return the first float scalars in the result of a training step, by name."""
    named = dict(given) if isinstance(given, dict) else {"loss": given}
    if isinstance(given, (tuple, list)):
        named = {("loss" if place == 0 else f"output {place}"): part for place, part in enumerate(given)}
    found = {}
    for name, part in list(named.items())[:KEPT_SCALARS]:
        if getattr(getattr(part, "dtype", None), "is_floating", False) and part.shape.rank == 0:
            found[str(name)] = part
    return found


def shape_number(element: Any) -> Any:
    """Return a number that is the same for all batches of the same shapes.

    Inside a compiled function the number can be a tensor, else it is an integer.
    """
    import tensorflow as tf

    total: Any = 0
    place = 1
    for part in (part for parts in _replicas_of(element) for part in parts):
        shape = getattr(part, "shape", None)
        if shape is None or shape.rank is None:
            continue
        dims = list(shape) if shape.is_fully_defined() else tf.unstack(tf.shape(part, tf.int64))
        for dim in dims:
            place = place * 31 % 1_000_003
            total = total + dim * place
    return total


def rows_of(element: Any) -> int:
    """Return the number of rows of a batch, by its first tensor with a shape.

    0 where no tensor of the batch has a shape.
    """
    for parts in _replicas_of(element):
        ranked = [part for part in tensors_in(parts) if part.shape.rank]
        if ranked:
            return sum(int(part.shape[0] or 0) for part in (ranked if len(parts) > 1 else ranked[:1]))
    return 0


def _replicas_of(element: object) -> list[tuple[object, ...]]:
    """Return each part of a batch as a tuple of the values that its replicas get.

    A part that is not distributed makes a tuple of one value.
    """
    import tensorflow as tf

    return [
        part.values if isinstance(part, tf.distribute.DistributedValues) else (part,)
        for part in tf.nest.flatten(element)
    ]


def tensors_in(element: object) -> list[tf.Tensor]:
    """Return the tensors and arrays of a batch; variables are left out."""
    import numpy as np
    import tensorflow as tf

    found = []
    for part in tf.nest.flatten(element):
        if isinstance(part, np.ndarray):
            found.append(tf.TensorSpec(part.shape, tf.float32))
        elif hasattr(getattr(part, "shape", None), "rank") and not isinstance(part, tf.Variable):
            found.append(part)
    return found


def rows_in(element: object) -> tf.Tensor:
    """Return the number of rows of a batch inside a compiled function, as a tensor."""
    import tensorflow as tf

    for parts in _replicas_of(element):
        flat = [part for part in tf.nest.flatten(parts, expand_composites=True) if tf.is_tensor(part)]
        ranked = [part for part in flat if part.dtype != tf.variant and part.shape.rank]
        if ranked:
            counted = ranked if len(parts) > 1 else ranked[:1]
            return tf.add_n([tf.shape(part, tf.int64)[0] for part in counted])
    return tf.constant(0, tf.int64)


def variables_of(sources: Any) -> list[Any]:
    """Return the variables among the sources of a gradient."""
    import tensorflow as tf

    return [
        part
        for part in tf.nest.flatten(sources)
        if isinstance(part, (tf.Variable, tf.keras.Variable)) and hasattr(part, "dtype")
    ]


def datasets_in(values: Sequence[object]) -> list[tuple[object, object]]:
    """Return the datasets among arguments, each with the spec of its elements.

    For a distributed dataset, the first of the pair is the dataset that was distributed.
    """
    import tensorflow as tf

    kinds = distributed_kinds().datasets
    found: list[tuple[object, object]] = []
    for value in values:
        if isinstance(value, tf.data.Dataset):
            found.append((value, value.element_spec))
        elif isinstance(value, kinds):
            found.append((dataset_of(value), getattr(value, "element_spec", None)))
    return found


def holds_data(source: object) -> bool:
    """Return whether an object is a dataset that was made outside of any function."""
    return hasattr(getattr(source, "_variant_tensor", None), "numpy")
