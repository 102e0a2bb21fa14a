"""What Python is handed by a graph, and what it gives back: TFF191 and TFF192 over the ways in which people write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

BYTES = """\
import os

import numpy as np
import tensorflow as tf


class Reader:
    root = "data"

    def __init__(self, names):
        self.names = names

    def mask(self, name, size):
        folder, _, rest = name.partition("/")  # found
        return np.zeros(size)

    def picture(self, name):
        where = f"{self.root}/" + name  # found
        return np.load(where)

    def tensor(self, name):
        return np.load(name.numpy().split(".")[0])  # found

    def right(self, name):
        name = name.decode("utf-8")
        return np.load(name.split(".")[0])

    def whole(self, *names):
        return np.load(names[0].replace("a", "b"))

    def data(self):
        files = tf.data.Dataset.from_tensor_slices(self.names)
        files = files.map(lambda name: tf.numpy_function(self.mask, (name, 4), tf.float32))
        files = files.map(lambda name: tf.numpy_function(func=self.picture, inp=[name], Tout=tf.float32))
        files = files.map(lambda name: tf.py_function(self.tensor, [name], tf.float32))
        files = files.map(lambda name: tf.numpy_function(self.right, [name], tf.float32))
        files = files.map(lambda name: tf.numpy_function(self.whole, [name], tf.float32))
        return files.map(lambda name: tf.numpy_function(lambda item: item.endswith("x"), [name], tf.bool))  # found


Reader([]).data()
"""
NOTHING = """\
import numpy as np
import tensorflow as tf


def log(value):
    print(value)


def early(value):
    if value.size:
        return None
    np.save("a", value)


def some(value):
    if value.size:
        return value


def numbers(value):
    yield value


def prepare(value):
    tf.numpy_function(log, [value], Tout=[])
    tf.numpy_function(some, [value], tf.float32)
    tf.numpy_function(numbers, [value], tf.float32)
    tf.py_function(log, [value], Tout=tf.float32)  # found
    return tf.numpy_function(early, [value], (tf.float32, tf.int32))  # found


class Net(tf.keras.Model):
    def train_step(self, data):
        tf.numpy_function(self.keep, [data], tf.int64)  # found
        return {}

    def keep(self, data):
        np.save("b", data)


tf.data.Dataset.from_tensor_slices([1.0]).map(prepare)
net = Net()
net.compile("adam", "mse")
net.fit(tf.zeros((2, 2)))
"""


def test_bytes_that_are_used_as_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tell methods and sums that bytes refuse, and leave alone what was decoded."""
    check_marked(tmp_path, monkeypatch, "TFF191", BYTES)


def test_results_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tell functions that cannot give what their call promises."""
    check_marked(tmp_path, monkeypatch, "TFF192", NOTHING)
