"""Elements whose function costs more to call than to run: TFD013 as a warning over the ways in which people write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

RECORDS = """\
import tensorflow as tf
from tensorflow.io import FixedLenFeature, parse_single_example

SPEC = {"x": FixedLenFeature([8], tf.float32), "y": FixedLenFeature([], tf.int64)}


def parse(record):
    parsed = parse_single_example(serialized=record, features=SPEC)
    label = parsed.pop("y")
    return parsed, tf.one_hot(label, 10)


def image(record):
    parsed = tf.io.parse_single_example(record, {"image": FixedLenFeature([], tf.string)})
    return tf.image.decode_jpeg(parsed["image"])


def raw(record):
    parsed = tf.io.parse_single_example(record, {"image": FixedLenFeature([], tf.string)})
    return tf.io.decode_raw(parsed["image"], tf.uint8)


class Reader:
    def __init__(self, files):
        self.files = files

    def _parse(self, record):
        parsed = tf.io.parse_single_example(record, SPEC)
        return tf.reshape(parsed["x"], [2, 4]), parsed["y"]

    def read(self, size):
        ds = tf.data.TFRecordDataset(self.files)
        ds = ds.map(self._parse, num_parallel_calls=tf.data.AUTOTUNE)  # found
        ds = ds.shuffle(100).repeat()
        return ds.batch(size, drop_remainder=True)

    def images(self, size):
        return tf.data.TFRecordDataset(self.files).map(image).batch(size)

    def raws(self, size):
        return tf.data.TFRecordDataset(self.files).map(raw).batch(size)

    def later(self, size):
        return tf.data.TFRecordDataset(self.files).map(parse).map(lambda x, y: tf.io.decode_jpeg(x["x"])).batch(size)


def together(record):
    return tf.io.parse_example(record, SPEC)


ds = tf.data.TFRecordDataset(["a"]).map(parse).batch(4)  # found
ds = tf.data.TFRecordDataset(["a"]).batch(4).map(together)
lines = tf.data.TextLineDataset("a.csv").map(lambda line: tf.io.decode_csv(line, [0.0, 0.0])).batch(4)  # found
Reader(["a"]).read(4)
"""
ROWS = """\
import numpy as np
import tensorflow as tf
from tensorflow import keras

x, y = np.load("x.npy"), np.load("y.npy")


def scale(row, label):
    return tf.cast(row, tf.float32) / 255.0, label


model = keras.Sequential([keras.Input((32,)), keras.layers.Dense(1)])
ds = tf.data.Dataset.from_tensor_slices((x, y)).map(scale).batch(8)  # found
model.compile("adam", "mse")
model.fit(ds, epochs=2)
"""


@pytest.mark.parametrize("text", [RECORDS, ROWS], ids=["records", "rows"])
def test_small_elements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    check_marked(tmp_path, monkeypatch, "TFD013", text)


def test_elements_of_unknown_size_are_information(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images = ROWS.replace("keras.Input((32,))", "keras.layers.Conv2D(8, 3, input_shape=(32, 32, 3))")
    check_marked(tmp_path, monkeypatch, "TFD013", images.replace("  # found", ""))
    check_marked(tmp_path, monkeypatch, "TFD013", images, severity="info")
