"""Fills a cache in memory: what it keeps grows by two megabytes a step until the first epoch ends."""

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(64, "relu"), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")


def read(index):
    pixels = tf.fill([65536], tf.cast(index, tf.float32))
    return pixels / 4096.0, tf.cast(index % 2, tf.float32)


data = tf.data.Dataset.range(4096).map(read, tf.data.AUTOTUNE).cache().batch(8).prefetch(2)
model.fit(data, epochs=3)
