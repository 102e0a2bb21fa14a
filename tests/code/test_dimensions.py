"""Sizes of tensors that are asked for as in TensorFlow 1 (DEP076)."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

CELL = """\
import tensorflow as tf


class Cell(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, shape):
        last = shape[-1].value  # found
        self.kernel = self.add_weight(shape=(last, self.units), name="kernel")

    def call(self, x):
        steps, width = x.get_shape()[1].value, x.shape[2].value  # found
        while steps < width.value:
            steps += 1
        return tf.matmul(x, self.kernel)[:, : x.shape[1:][0].value]


def merged(a, b):
    if a.shape[0].value != 3:  # found
        return b
    return a


print(merged(Cell(2)(tf.ones([2, 3, 4])), tf.ones([1])))
"""


def test_sizes_that_are_asked_for_a_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_marked(tmp_path, monkeypatch, "DEP076", CELL, severity="error")


@pytest.mark.parametrize("name", ["disable_v2_behavior", "disable_v2_tensorshape"])
def test_shapes_of_tensorflow_1_are_switched_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    start = f"import tensorflow as tf\nimport a\n\ntf.compat.v1.{name}()\n"
    check_marked(tmp_path, monkeypatch, "DEP076", CELL.replace("  # found", ""), start)
