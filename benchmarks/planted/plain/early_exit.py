"""Healthy, with callbacks as usual, and ends by sys.exit(0)."""

import sys

import numpy as np
import tensorflow as tf

random = np.random.default_rng(0)
x = random.random([1280, 100]).astype("f")
y = (x.sum(1) > 50).astype("i")
model = tf.keras.Sequential([tf.keras.layers.Dense(800, "relu"), tf.keras.layers.Dense(800, "relu"), tf.keras.layers.Dense(2)])
model.compile(
    tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(1e-3, 300)),
    tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
stop = tf.keras.callbacks.EarlyStopping("loss", patience=10)
log = tf.keras.callbacks.CSVLogger("log.csv")
model.fit(x, y, batch_size=64, epochs=8, verbose=0, callbacks=[stop, log, tf.keras.callbacks.TerminateOnNaN()])
sys.exit(0)
