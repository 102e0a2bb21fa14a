import numpy as np
import tensorflow as tf


def load_signs(samples, image, classes):
    rng = np.random.default_rng(2)
    labels = [classes[i % len(classes)] for i in range(samples)]
    table = tf.keras.layers.StringLookup(vocabulary=classes, num_oov_indices=0)
    x = rng.random((samples, image, image, 1)).astype("float32")
    return x, table(labels).numpy()


def build(image, n_classes):
    return tf.keras.Sequential([
        tf.keras.Input((image, image, 1)),
        tf.keras.layers.Conv2D(8, 3, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(n_classes),
    ])
