"""A helper batches already, and the training batches again: [4, 16, 10] goes through Dense without a word."""

import tensorflow as tf


def make_dataset(size):
    rows = tf.data.Dataset.from_tensor_slices((tf.random.normal([800, 10]), tf.random.normal([800, 1])))
    return rows.shuffle(800).repeat().batch(size)


data = make_dataset(16).batch(4, drop_remainder=True).prefetch(2)
model = tf.keras.Sequential([tf.keras.layers.Dense(64, "relu"), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(data, steps_per_epoch=200, epochs=2, verbose=0)
