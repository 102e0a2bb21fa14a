import resource

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

from bags import SIDE, bag_scans


def screener():
    inputs = tf.keras.Input((SIDE, SIDE, 1))
    x = layers.Conv2D(32, 3, padding="same", activation="relu")(inputs)
    x = layers.Conv2D(32, 3, padding="same", activation="relu")(x)
    x = layers.MaxPooling2D(4)(x)
    x = layers.Conv2D(32, 3, padding="same", activation="relu")(x)
    x = layers.GlobalMaxPooling2D()(x)
    return tf.keras.Model(inputs, layers.Dense(1, activation="sigmoid")(x))


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Report:
    def __init__(self, model, threshold=0.5):
        self.model = model
        self.threshold = threshold

    def probabilities(self, scans):
        return self.model(scans, training=False).numpy()

    def print(self, scans, truth):
        p = self.probabilities(scans)
        hit = (p > self.threshold) == (truth > 0.5)
        caught = (p > self.threshold)[truth > 0.5].mean()
        print(f"agreement {hit.mean():.3f}, caught {caught:.3f}")


def main():
    tf.keras.utils.set_random_seed(42)
    x, y = bag_scans(640, 1)
    model = screener()
    model.compile(tf.keras.optimizers.Adam(2e-3), "binary_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=2, batch_size=32, verbose=2)
    print(f"peak after training {peak_mb():.0f} MB")
    x_test, y_test = bag_scans(3000, 2)
    Report(model).print(x_test, y_test)
    print(f"peak after the report {peak_mb():.0f} MB")


if __name__ == "__main__":
    main()
