"""Trains the head, then everything; the second training saves by hand, every 10 steps."""

import time

import numpy as np
import tensorflow as tf

x = np.random.default_rng(0).random([640, 32]).astype("f")
y = x.sum(1, keepdims=True)
body = tf.keras.layers.Dense(64, "relu", name="body")
model = tf.keras.Sequential([body, tf.keras.layers.Dense(1, name="head")])


class Backup(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 10 == 0:
            time.sleep(0.08)


body.trainable = False
model.compile("adam", "mse")
model.fit(x, y, batch_size=16, epochs=1, verbose=0)
body.trainable = True
model.compile("adam", "mse")
model.fit(x, y, batch_size=16, epochs=30, verbose=0, callbacks=[Backup()])
