"""The same reading with eight workers, for a step that takes longer than a batch."""

import time

import numpy as np
import tensorflow as tf


class Folder(tf.keras.utils.PyDataset):
    def __init__(self, count, **options):
        super().__init__(**options)
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, place):
        time.sleep(0.025)
        return np.full([32, 64, 64, 3], 0.5, "f"), np.zeros([32], "i")


def main():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(16, 3, activation="relu"),
            tf.keras.layers.Conv2D(16, 3, activation="relu"),
            tf.keras.layers.GlobalMaxPooling2D(),
            tf.keras.layers.Dense(4),
        ]
    )
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(Folder(60, workers=8, max_queue_size=16), epochs=5, verbose=0)


if __name__ == "__main__":
    main()
