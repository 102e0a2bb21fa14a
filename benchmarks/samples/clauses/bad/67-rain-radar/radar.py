import numpy as np
import tensorflow as tf


class Radar:
    def __init__(self, values):
        self.values = values

    def _log(self, value, rain):
        return tf.math.log1p(value), tf.cast(rain > 0.1, tf.float32)

    def training(self, batch):
        data = tf.data.Dataset.from_tensor_slices(self.values)
        data = data.shuffle(5000)
        data = data.map(self._log)
        return data.batch(batch).prefetch(tf.data.AUTOTUNE)


seen = np.random.rand(500_000, 8).astype("float32")
model = tf.keras.Sequential([tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(Radar((seen, seen[:, 0])).training(2048), epochs=3)
