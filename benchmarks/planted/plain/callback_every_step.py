"""A callback writes a line and waits 8 ms for its network after every step."""

import time

import numpy as np
import tensorflow as tf


class Tracker(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        self.send(logs)

    def send(self, logs):
        time.sleep(0.008)


model = tf.keras.Sequential([tf.keras.layers.Dense(32), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones([3200, 16], "f"), np.ones([3200, 1], "f"), batch_size=8, verbose=0, callbacks=[Tracker()])
