"""What the trial of a loader sees of the pipeline itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

tf = pytest.importorskip("tensorflow")

from cfgfix.measure.dataset_graph import read_graph
from cfgfix.measure.trials import batchings

MAKERS: dict[str, tuple[int, Callable[[Any], Any]]] = {
    "none": (0, lambda ds: ds.map(lambda x: x + 1)),
    "once": (1, lambda ds: ds.batch(4).prefetch(1)),
    "of batches": (2, lambda ds: ds.batch(4).map(lambda x: x + 1).batch(2)),
    "padded and in parallel": (2, lambda ds: ds.padded_batch(4).batch(2, num_parallel_calls=2).prefetch(1)),
    "taken apart between": (1, lambda ds: ds.batch(4).unbatch().batch(2)),
    "in a window": (1, lambda ds: ds.window(4).flat_map(lambda part: part.batch(4)).batch(2)),
    "in one of two": (0, lambda ds: tf.data.Dataset.zip((ds.batch(2), ds.batch(2).batch(2)))),
}


@pytest.mark.parametrize(("count", "make"), MAKERS.values(), ids=MAKERS)
def test_steps_that_make_batches_of_batches_are_counted(count: int, make: Callable[[Any], Any]) -> None:
    assert batchings(read_graph(make(tf.data.Dataset.range(64)))) == count


def test_a_pipeline_whose_graph_is_not_known_has_none() -> None:
    assert batchings(None) == 0
