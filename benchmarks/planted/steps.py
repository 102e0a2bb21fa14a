"""Training steps whose cause is planted and known, and healthy ones. Each function returns a function of one batch."""

from __future__ import annotations

import itertools
import time
from typing import Any

import tensorflow as tf

WIDTH = 64


def batches() -> Any:
    """Return a dataset of equal batches in memory: they cost nothing."""
    return tf.data.Dataset.from_tensors((tf.ones([32, WIDTH]), tf.ones([32, 1])))


def _trainer(*layers: Any) -> Any:
    """Return a function of one batch that updates a network, not compiled."""
    model = tf.keras.Sequential(
        [tf.keras.Input([WIDTH]), tf.keras.layers.Dense(WIDTH), *layers, tf.keras.layers.Dense(1)]
    )
    optimizer = tf.keras.optimizers.SGD(1e-4)
    optimizer.build(model.trainable_variables)

    def update(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    return update


def compiled() -> Any:
    """Return a healthy step."""
    run = tf.function(_trainer())
    return lambda batch: run(*batch)


def compiled_wide() -> Any:
    """Return a healthy step that computes for milliseconds."""
    run = tf.function(_trainer(tf.keras.layers.Dense(2048), tf.keras.layers.Dense(WIDTH)))
    return lambda batch: run(*batch)


def reads_each_loss() -> Any:
    """Return a step that is compiled and reads its loss every time: one short wait, which is no fault."""
    run = tf.function(_trainer())
    return lambda batch: float(run(*batch))


def eager() -> Any:
    """Return a step that nothing compiles."""
    update = _trainer()
    return lambda batch: update(*batch)


def changing_number() -> Any:
    """Return a step that is traced anew for each Python number."""
    update, count = _trainer(), itertools.count()

    @tf.function
    def run(x: Any, y: Any, number: Any) -> Any:
        return update(x, y) * number

    return lambda batch: run(*batch, next(count))


def function_made_anew() -> Any:
    """Return a step that makes its compiled function again every time."""
    update = _trainer()
    return lambda batch: tf.function(update)(*batch)


def waits_inside() -> Any:
    """Return a step that waits in Python, inside its graph."""
    update = _trainer()

    def wait(value: Any) -> Any:
        time.sleep(0.03)
        return value

    @tf.function
    def run(x: Any, y: Any) -> Any:
        slow = tf.numpy_function(wait, [x], tf.float32)
        return update(tf.ensure_shape(slow, x.shape), y)

    return lambda batch: run(*batch)


def one_heavy_layer() -> Any:
    """Return a step nearly all of which one layer takes."""
    heavy = tf.keras.Sequential(
        [
            tf.keras.layers.Reshape([WIDTH, 1]),
            tf.keras.layers.Conv1D(192, 33, padding="same", name="heavy"),
            tf.keras.layers.GlobalAveragePooling1D(),
        ]
    )
    run = tf.function(_trainer(heavy))
    return lambda batch: run(*batch)
