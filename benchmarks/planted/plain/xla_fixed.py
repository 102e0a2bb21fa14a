"""Keras with jit_compile and batches of one shape: all is well, and XLA is on already."""

import numpy as np
import tensorflow as tf

x, y = np.ones([640, 64], "f"), np.zeros([640], "i")
model = tf.keras.Sequential([tf.keras.layers.Dense(512, "relu"), tf.keras.layers.Dense(512, "relu"), tf.keras.layers.Dense(10)])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=True)
data = tf.data.Dataset.from_tensor_slices((x, y)).cache().batch(64, drop_remainder=True).repeat().prefetch(2)
model.fit(data, steps_per_epoch=200, epochs=2, verbose=0)
