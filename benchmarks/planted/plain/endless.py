"""Trains until it is stopped by hand; tidies up then."""

import itertools
import pathlib
import time

import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
try:
    for number in itertools.count():
        model.train_on_batch(tf.ones([8, 4]), tf.ones([8, 1]))
        time.sleep(0.2)
        pathlib.Path("steps.txt").write_text(str(number))
finally:
    pathlib.Path("tidied.txt").write_text("yes")
