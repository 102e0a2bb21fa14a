"""Sort bricks by shape."""
import functools
import operator
import os
from pathlib import Path

import numpy as np
import tensorflow as tf
import yaml
from tensorflow import keras

TREE = yaml.safe_load(Path("sorter.yaml").read_text())
_RAISE = object()


def dig(path, default=_RAISE):
    try:
        return functools.reduce(operator.getitem, path.split("."), TREE)
    except KeyError:
        if default is _RAISE:
            raise
        return default


def plant(path, value):
    *parents, leaf = path.split(".")
    functools.reduce(operator.getitem, parents, TREE)[leaf] = value


for name, text in os.environ.items():
    if name.startswith("SORTER__"):
        plant(name.removeprefix("SORTER__").lower().replace("__", "."), yaml.safe_load(text))


def bricks():
    rng = np.random.default_rng(dig("seed"))
    channels = 1 if dig("camera.grey") else 3
    side = dig("camera.side")
    images = rng.random((40, side, side, channels), dtype="float32")
    data = tf.data.Dataset.from_tensor_slices((images, rng.integers(0, dig("net.bricks"), 40)))
    return data.shuffle(40).batch(dig("learn.tray")).prefetch(tf.data.AUTOTUNE)


def net():
    layers = [keras.layers.Conv2D(width, 3, activation="relu") for width in dig("net.widths")]
    if rate := dig("net.dropout", 0.0):
        layers.append(keras.layers.Dropout(rate))
    layers += [keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(dig("net.bricks"), dig("net.last"))]
    return keras.Sequential(layers)


if __name__ == "__main__":
    keras.utils.set_random_seed(dig("seed"))
    model = net()
    pace = keras.optimizers.schedules.CosineDecay(**dig("learn.schedule"))
    model.compile(keras.optimizers.Adam(pace), "sparse_categorical_crossentropy")
    log = model.fit(bricks(), epochs=dig("learn.rounds"), verbose=0)
    print(round(log.history["loss"][-1], 4))
