"""A plain Python generator handed to fit: each batch is put together in 20 ms."""

import time

import numpy as np
import tensorflow as tf

random = np.random.default_rng(7)


def collate(rows):
    time.sleep(0.02)
    return np.stack(rows)


def batches():
    while True:
        rows = [random.random(12).astype("f") for _ in range(16)]
        x = collate(rows)
        yield x, x.mean(1, keepdims=True)


net = tf.keras.Sequential([tf.keras.layers.Dense(32, "tanh"), tf.keras.layers.Dense(1)])
net.compile("rmsprop", "mse")
net.fit(batches(), steps_per_epoch=150, epochs=2, verbose=0)
