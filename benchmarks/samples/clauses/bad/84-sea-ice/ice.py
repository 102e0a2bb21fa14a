import numpy as np
import tensorflow as tf


class Ice:
    def __init__(self, rows):
        self.rows = rows

    def dataset(self):
        return tf.data.Dataset.from_tensors((self.rows[:, :-1], self.rows[:, -1]))


def main():
    ice = Ice(np.random.rand(20000, 15).astype("float32"))
    model = tf.keras.Sequential([tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(ice.dataset(), epochs=20)


main()
