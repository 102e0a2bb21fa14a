"""Six models in a row, each trained for a while: a search over widths. Nothing is wrong with the steps."""

import numpy as np
import tensorflow as tf

x, y = np.ones([320, 64], "f"), np.ones([320, 1], "f")
for width in (600, 700, 800, 900, 1000, 1100):
    tf.keras.backend.clear_session()
    model = tf.keras.Sequential([tf.keras.layers.Dense(width, "relu"), tf.keras.layers.Dense(width, "relu"), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, y, batch_size=32, epochs=4, verbose=0)
