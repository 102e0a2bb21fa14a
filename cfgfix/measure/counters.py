"""Numbers that compiled functions write and Python reads, and types of TensorFlow, got without starting its runtime.

A program may still want to set threads, devices or memory growth, which TensorFlow refuses once its runtime has started.
"""

from __future__ import annotations

import os
from dataclasses import dataclass


class Counter:
    """A number on the CPU that compiled functions write and Python reads.

    It belongs to no distribution strategy, whatever scope it is made in.
    """

    def __init__(self, dtype: str) -> None:
        import tensorflow as tf

        self._dtype = tf.as_dtype(dtype)
        with tf.init_scope(), tf.device("/CPU:0"):
            self._handle = tf.raw_ops.VarHandleOp(
                dtype=self._dtype, shape=[], shared_name=f"cfgfix_counter_{id(self)}"
            )
            tf.raw_ops.AssignVariableOp(resource=self._handle, value=tf.zeros([], self._dtype))

    def add(self, value: object) -> None:
        """Add a value to the counter; works inside a compiled function, too."""
        import tensorflow as tf

        tf.raw_ops.AssignAddVariableOp(resource=self._handle, value=tf.cast(value, self._dtype))

    def set(self, value: object) -> None:
        """Set the counter to a value."""
        import tensorflow as tf

        tf.raw_ops.AssignVariableOp(resource=self._handle, value=tf.cast(value, self._dtype))

    def read(self) -> float:
        """Return the present value of the counter."""
        import tensorflow as tf

        value = tf.raw_ops.ReadVariableOp(resource=self._handle, dtype=self._dtype)
        return float(value._numpy())  # noqa: SLF001 - `numpy` is watched


class Clocks:
    """Counters that compiled functions write: seconds waited, shape, rows and batches."""

    def __init__(self) -> None:
        self.waited = Counter("float64")
        """Seconds."""
        self.shape = Counter("int64")
        """The number of the last batch's shapes."""
        self.rows = Counter("int64")
        self.batches = Counter("int64")


def iterator_kind() -> type:
    """Return the class of a dataset's iterators outside of functions."""
    from tensorflow.python.data.ops import iterator_ops

    kind: type = iterator_ops.OwnedIterator
    return kind


@dataclass(frozen=True, slots=True)
class DistributedKinds:
    """The classes of distributed datasets and of their iterators."""

    datasets: tuple[type, ...]
    iterators: tuple[type, ...]


def distributed_kinds() -> DistributedKinds:
    """Return TensorFlow's classes of distributed datasets and of their iterators.

    No classes where this TensorFlow keeps them elsewhere.
    """
    try:
        from tensorflow.python.distribute import input_lib

        return DistributedKinds(
            (input_lib.DistributedDataset, input_lib.DistributedDatasetsFromFunction),
            (input_lib.DistributedIterator,),
        )
    except (ImportError, AttributeError):
        return DistributedKinds((), ())


def dataset_of(distributed: object) -> object:
    """Return the dataset from which a distributed dataset was made, or None."""
    one = getattr(distributed, "_original_dataset", None)
    several = getattr(distributed, "_datasets", None)
    return several[0] if one is None and several else one


def resident_bytes() -> float | None:
    """Return the resident memory of this process in bytes, or None where unknown."""
    try:
        with open("/proc/self/statm", encoding="ascii") as stream:
            return float(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return None


def tensor_kind() -> type:
    """Return the class of tensors outside of functions."""
    from tensorflow.python.framework import ops

    kind: type = ops.EagerTensor
    return kind


def device_bytes() -> dict[str, float]:
    """Return the bytes that this process holds on each GPU now, by device name.

    Call this only once the runtime has started.
    """
    import tensorflow as tf

    found = {}
    for device in tf.config.list_logical_devices("GPU"):
        name = device.name.removeprefix("/device:")
        try:
            found[name] = float(tf.config.experimental.get_memory_info(name)["current"])
        except (ValueError, tf.errors.OpError):
            continue
    return found


__all__ = [
    "Clocks",
    "Counter",
    "DistributedKinds",
    "dataset_of",
    "device_bytes",
    "distributed_kinds",
    "iterator_kind",
    "resident_bytes",
    "tensor_kind",
]
