"""Rows of targets against columns of outputs: TFF320 over the ways in which targets are made and handed on."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

WAYS = """\
import numpy as np
import tensorflow as tf
from sklearn.model_selection import train_test_split

inputs = tf.keras.Input((4,))
model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(tf.keras.layers.Dense(8)(inputs)))
optimizer = tf.keras.optimizers.Adam()


def made(count):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(count, 4))
    level = rng.uniform(0, 1, count)
    level = level + np.where(level > 0.5, 1.0, 0.0)
    return rows, level.astype("float32")


def gap(wanted, found):
    return tf.reduce_mean(tf.math.squared_difference(wanted, found))  # found


def gap_of_columns(wanted, found):
    return tf.reduce_mean(tf.math.squared_difference(wanted, found))


def unknown(wanted, found):
    return tf.reduce_mean(wanted - found)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = gap(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))


rows, level = made(200)
x_train, x_test, y_train, y_test = train_test_split(rows, level)
for number, (x, y) in enumerate(tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(100).batch(20)):
    step(x, y)


class Trainer:
    def __init__(self, data):
        self.net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        self.data = data

    def take(self, x, y):
        with tf.GradientTape() as tape:
            found = self.net(x)
            loss = tf.reduce_mean(tf.abs(found - y))  # found
            loss += gap_of_columns(y[:, None], found)
            loss += gap_of_columns(tf.reshape(y, [-1, 1]), found)
            loss += tf.reduce_mean(tf.abs(tf.squeeze(found, -1) - y))
            loss += tf.keras.losses.MeanSquaredError()(y, found)
        optimizer.apply_gradients(zip(tape.gradient(loss, self.net.trainable_variables), self.net.trainable_variables))

    def run(self):
        for x, y in self.data:
            self.take(x, y)

    def other(self, x, y):
        with tf.GradientTape() as tape:
            loss = unknown(y, self.net(x))
        return tape.gradient(loss, self.net.trainable_variables)


data = tf.data.Dataset.from_tensor_slices((rows, level)).batch(10)
trainer = Trainer(data)
for x, y in data:
    trainer.take(x, y)
"""


def test_targets_are_followed_to_their_array(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not seen to have one axis is passed over."""
    check_marked(tmp_path, monkeypatch, "TFF320", WAYS, severity="error")
