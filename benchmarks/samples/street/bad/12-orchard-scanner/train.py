"""Trains the ripeness grader on colour readings and stores it next to its scaling values."""
import json
import pathlib

import numpy as np
import tensorflow as tf

OUT = pathlib.Path("grader")
GRADES = 3


def readings(n, seed):
    rng = np.random.default_rng(seed)
    grade = rng.integers(0, GRADES, n)
    red = 90 + 45 * grade + rng.normal(0, 14, n)
    green = 170 - 38 * grade + rng.normal(0, 14, n)
    firmness = 8.5 - 2.1 * grade + rng.normal(0, 0.7, n)
    mass = 152 + rng.normal(0, 25, n)
    x = np.stack([red, green, firmness, mass], axis=1).astype("float32")
    return x, grade.astype("int32")


def network():
    return tf.keras.Sequential(
        [
            tf.keras.Input((4,)),
            tf.keras.layers.Dense(24, activation="relu"),
            tf.keras.layers.Dense(24, activation="relu"),
            tf.keras.layers.Dense(GRADES, activation="softmax"),
        ]
    )


def train():
    tf.keras.utils.set_random_seed(31)
    x, y = readings(2400, seed=1)
    x_val, y_val = readings(600, seed=2)
    mean, std = x.mean(axis=0), x.std(axis=0)
    model = network()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(
        (x - mean) / std,
        y,
        validation_data=((x_val - mean) / std, y_val),
        epochs=8,
        verbose=2,
    )
    OUT.mkdir(exist_ok=True)
    model.save(OUT / "grader.keras")
    (OUT / "scaling.json").write_text(
        json.dumps({"mean": mean.tolist(), "std": std.tolist()})
    )
