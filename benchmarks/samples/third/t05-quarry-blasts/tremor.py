import tomllib
from pathlib import Path

import numpy as np
import tensorflow as tf


class Blast:
    def __init__(self, path):
        self._all = tomllib.loads(Path(path).read_text())
        for part in ("stations", "network", "training"):
            setattr(self, part, self._all[part])


def classes_of(count, n):
    return tf.one_hot(np.random.randint(0, n, count), n)


def train(b):
    samples = b.stations["rate_hz"] * b.stations["seconds"]
    x = np.random.rand(24, samples * b.stations["count"])
    y = classes_of(24, b.network["outputs"])
    model = tf.keras.Sequential([tf.keras.Input((x.shape[1],))])
    for units in b.network["layers"]:
        model.add(tf.keras.layers.Dense(units, b.network["hidden"]))
    model.add(tf.keras.layers.Dense(b.network["outputs"], activation=b.network["last"]))
    t = b.training
    rate = tf.keras.optimizers.schedules.CosineDecay(t["rate"]["start"], 100, alpha=t["rate"]["end"])
    optimizer = tf.keras.optimizers.get(t["optimizer"])
    optimizer.learning_rate = rate
    model.compile(optimizer, t["loss"], metrics=["categorical_accuracy"])
    model.fit(x, y, epochs=t["epochs"], batch_size=t["batch_size"], verbose=0)


if __name__ == "__main__":
    train(Blast("blast.toml"))
