import os

import numpy as np
import tensorflow as tf

EXPORT_DIR = "export"
VERSION = 3

model = tf.keras.models.Sequential([tf.keras.layers.Input((5,)), tf.keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
x = np.random.rand(32, 5).astype("float32")
model.fit(x, x[:, :1], epochs=1, batch_size=8, verbose=2)
os.makedirs(EXPORT_DIR, exist_ok=True)
model.export(os.path.join(EXPORT_DIR, str(VERSION)))
