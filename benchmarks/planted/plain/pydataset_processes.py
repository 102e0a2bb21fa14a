"""A PyDataset with two processes; each batch computes 30 ms of Python."""

import time

import numpy as np
import tensorflow as tf


class Mixed(tf.keras.utils.PyDataset):
    def __len__(self):
        return 300

    def __getitem__(self, place):
        end = time.process_time() + 0.03
        while time.process_time() < end:
            pass
        return np.ones([4, 6], "f"), np.ones([4, 1], "f")


if __name__ == "__main__":
    model = tf.keras.Sequential([tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(Mixed(workers=2, use_multiprocessing=True), epochs=1, verbose=0)
