"""Attributes that nothing sets: TFF190 over the ways in which people give objects attributes."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

LACKING = """\
import abc

import tensorflow as tf

from b import Reader, Shared


class Encoder(tf.keras.Model):
    def __init__(self, depth):
        super().__init__()
        self.blocks = [Block(depth) for _ in range(depth)]
        self.norm, self.scale = tf.keras.layers.LayerNormalization(), 2.0

    def call(self, inputs, training=False):
        def inner(x):
            return self.norms(x)  # found

        for block in self.blocks:
            inputs = block(inputs)
        return inner(inputs) * self.scale

    def train_step(self, data):
        self.step += 1
        return {"loss": self.compiled_loss(*data), "rate": self.optimizer.learning_rate, "depth": self.depth}  # found

    def forgotten(self):
        return self.never


class Block(tf.keras.layers.Layer):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.width), name="kernel")

    def call(self, x):
        return tf.matmul(x, self.kernel) + self.bias  # found


class Stop(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if logs["loss"] < self.least:  # found
            self.model.stop_training = True
        print(self.params)


class Trainer(Shared):
    def run(self):
        self.prepare()
        print(self.reader, self.first, self.wrong)  # found


model = Encoder(3)
model.fit(tf.zeros((4, 2)), tf.zeros((4, 2)), callbacks=[Stop()])
Trainer().run()
Reader("a").rows()
"""
SHARED = """\
import tensorflow as tf


class Shared:
    def prepare(self):
        self.reader = Reader("b")
        self.opened = self.reader.rows()
        print(self.run, self.__class__, self.opened)


class Reader:
    first: int = 1
    Row = tuple

    def __init__(self, path):
        self.path: str = path
        with open(path) as self.stream:
            self.rest = self.stream.read()

    def rows(self):
        print(self.first, self.Row, self.path, self.rest, self.length)
        try:
            return self.sometimes
        except AttributeError:
            return []

    @property
    def length(self):
        return len(self.rest) + self.extent  # found

    @staticmethod
    def apart(self):
        return self.anything


Shared.first = 3
"""
OPEN = """\
import tensorflow as tf
from somewhere import Mixin


class Settings:
    def __init__(self, values):
        for name, value in values.items():
            setattr(self, name, value)

    def show(self):
        print(self.rate)


class Mixed(Mixin, tf.keras.Model):
    def call(self, x):
        return self.head(x)


class Wide(tf.keras.layers.Dense):
    def call(self, x):
        return x @ self.kernel


class Lazy:
    def __getattr__(self, name):
        return name

    def show(self):
        print(self.rate)


Settings({}).show()
Mixed()(1)
Wide(3)(1)
Lazy().show()
"""


@pytest.mark.parametrize("texts", [(LACKING, SHARED), (OPEN,)], ids=["lacking", "open"])
def test_attributes_that_nothing_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: tuple[str, ...]
) -> None:
    """Tell attributes that no code sets, and leave alone what may be set out of sight."""
    check_marked(tmp_path, monkeypatch, "TFF190", *texts)
