import numpy as np
import keras
from keras import layers


def wings(n, kinds, offset, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, kinds, n)
    x = rng.normal(0, 0.5, (n, 16, 16, 1))
    for i, k in enumerate(y):
        x[i, (2 * k + offset) % 14:(2 * k + offset) % 14 + 2, 3:13, 0] += 1.2
        x[i, :, (3 * k + offset) % 13, 0] -= 0.8
    return x.astype("float32"), y.astype("int32")


def make_backbone():
    return keras.Sequential(
        [
            keras.Input((16, 16, 1)),
            layers.Conv2D(12, 3, activation="relu"),
            layers.Conv2D(24, 3, strides=2, activation="relu"),
            layers.Flatten(),
            layers.Dense(24, activation="relu"),
        ],
        name="backbone",
    )


def pretrain(backbone, epochs=3):
    x, y = wings(400, 3, offset=0, seed=1)
    model = keras.Sequential([backbone, layers.Dense(3, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=epochs, verbose=0)
    return backbone
