"""A PyDataset whose batches are each read in 25 ms, with one worker."""

import time

import numpy as np
import tensorflow as tf


class Folder(tf.keras.utils.PyDataset):
    def __len__(self):
        return 400

    def __getitem__(self, place):
        time.sleep(0.025)
        return np.ones([8, 10], "f"), np.ones([8, 1], "f")


if __name__ == "__main__":
    model = tf.keras.Sequential([tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(Folder(workers=1, use_multiprocessing=False, max_queue_size=10), epochs=1, verbose=0)
