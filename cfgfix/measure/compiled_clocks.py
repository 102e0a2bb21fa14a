"""The time that compiled functions wait for batches, taken by clocks inside of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cfgfix.measure.batches import (
    rows_in,
    shape_number,
)
from cfgfix.measure.counters import (
    Clocks,
)


class CompiledClocks:
    """Clocks around what compiled functions take from datasets."""

    def __init__(self) -> None:
        self._clocks: Clocks | None = None

    def take(self, take: Callable[[], Any]) -> Any:
        """Take an element inside a compiled function, with clocks before and after."""
        import tensorflow as tf

        begin = tf.timestamp()
        with tf.control_dependencies([begin]):
            element = take()
        parts = [
            part
            for part in tf.nest.flatten(getattr(element, "_variant_tensor", element), expand_composites=True)
            if tf.is_tensor(part)
        ]
        with tf.control_dependencies([tf.identity(part).op for part in parts[:1]]):
            end = tf.timestamp()
        self._clocks = clocks = self._clocks or Clocks()
        clocks.waited.add(end - begin)
        if isinstance(element, tf.experimental.Optional):
            given = element.has_value()
            rows = tf.cond(given, lambda: rows_in(element.get_value()), lambda: tf.constant(0, tf.int64))
            clocks.batches.add(given)
            clocks.rows.add(rows)
        elif parts and parts[0].dtype != tf.variant:
            clocks.shape.set(shape_number(element))
            clocks.batches.add(1)
            clocks.rows.add(rows_in(element))
        return element

    def read(self) -> tuple[float, float, float, float]:
        """Return seconds waited, rows, batches and the last shape number so far.

        Compiled functions wrote them; all are 0 where none did.
        """
        if self._clocks is None:
            return 0.0, 0.0, 0.0, 0.0
        read = self._clocks
        return read.waited.read(), read.rows.read(), read.batches.read(), read.shape.read()
