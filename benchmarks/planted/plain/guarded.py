"""A functional Keras model over data that is cached, in a `main()` behind the usual guard."""

import sys

import numpy as np
import tensorflow as tf


def build():
    inputs = tf.keras.Input([28, 28, 1])
    x = tf.keras.layers.Conv2D(16, 3, activation="relu")(inputs)
    x = tf.keras.layers.MaxPooling2D()(x)
    x = tf.keras.layers.Conv2D(32, 3, activation="relu")(x)
    x = tf.keras.layers.GlobalAveragePooling2D()(x)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(10, activation="softmax")(x))


def main():
    random = np.random.default_rng(1)
    images = random.random([2048, 28, 28, 1], "f")
    labels = random.integers(0, 10, 2048)
    data = tf.data.Dataset.from_tensor_slices((images, labels)).cache().shuffle(2048).batch(64).prefetch(tf.data.AUTOTUNE)
    model = build()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(data, epochs=20, verbose=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
