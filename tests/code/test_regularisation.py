"""Penalties that a step leaves out: TFF061 over the ways in which people write models and steps."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

FUNCTIONAL = """\
from tensorflow import GradientTape
from tensorflow import keras
from tensorflow.keras import layers, regularizers
import tensorflow as tf


def block(x, filters):
    return layers.Conv2D(filters, 3, kernel_regularizer=regularizers.l2(1e-4))(x)


def build():
    inputs = keras.Input((8, 8, 3))
    x = block(inputs, 4)
    return keras.Model(inputs, layers.Dense(1)(layers.Flatten()(x)))


class Trainer:
    def __init__(self):
        self.net = build()
        self.optimizer = keras.optimizers.Adam()

    @tf.function
    def train_step(self, x, y):
        with GradientTape() as tape:  # found
            out = self.net(x, training=True)
            loss = tf.reduce_mean(keras.losses.mean_squared_error(y, out))
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss


Trainer().train_step(tf.ones([1, 8, 8, 3]), tf.ones([1, 1]))
"""
CLASSES = """\
import tensorflow as tf
from b import Net

net = Net()
optimizer = tf.keras.optimizers.SGD(0.1)


def loss_of(x, y):
    return tf.reduce_mean(tf.square(net(x) - y))


def grad(x, y):
    with tf.GradientTape() as tape:  # found
        loss = loss_of(x, y)
    return tape.gradient(loss, net.trainable_variables)


for x in tf.data.Dataset.from_tensors(tf.ones([2, 2])):
    optimizer.apply_gradients(zip(grad(x, x), net.trainable_variables))
"""
NET = """\
import tensorflow as tf


class Block(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.dense = tf.keras.layers.Dense(units, activation="relu", kernel_regularizer=tf.keras.regularizers.L2(0.01))

    def call(self, x):
        return self.dense(x)


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.block = Block(4)
        self.out = tf.keras.layers.Dense(2)

    def call(self, x):
        return self.out(self.block(x))
"""


@pytest.mark.parametrize("texts", [(FUNCTIONAL,), (CLASSES, NET)], ids=["functional", "classes"])
def test_penalties_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: tuple[str, ...]) -> None:
    check_marked(tmp_path, monkeypatch, "TFF061", *texts)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("net(x) - y))", "net(x) - y)) + tf.add_n(net.losses)"),
        (
            "    return tape",
            "    loss += sum(tf.nn.l2_loss(v) for v in net.trainable_variables)\n    return tape",
        ),
        ("SGD(0.1)", "AdamW(0.1, weight_decay=1e-4)"),
        ("net = Net()", "net = tf.keras.Sequential([tf.keras.layers.Dense(2)])"),
    ],
    ids=["added", "by hand", "decay", "another model"],
)
def test_penalties_that_are_not_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    assert old in CLASSES
    text = CLASSES.replace(old, new).replace("  # found", "")
    check_marked(tmp_path, monkeypatch, "TFF061", text, NET)
