"""Which voice is singing?"""
import os
import string

import numpy as np
import yaml
from tensorflow import keras

os.environ.setdefault("CHOIR_REHEARSALS", "2")


def load(path):
    with open(path) as sheet:
        text = string.Template(sheet.read()).substitute(os.environ)
    return yaml.safe_load(text)


def chorus(cfg):
    rng = np.random.default_rng(0)
    x = rng.random((cfg["singers"], cfg["frames"]), dtype="float32")
    return x, np.eye(cfg["voices"], dtype="float32")[rng.integers(0, cfg["voices"], cfg["singers"])]


if __name__ == "__main__":
    cfg = load("choir.yaml")
    if cfg["seed"] is not None:
        keras.utils.set_random_seed(cfg["seed"])
    x, y = chorus(cfg)
    net = keras.Sequential([
        keras.Input((cfg["frames"],)),
        keras.layers.Dense(cfg["voices"], activation="softmax", kernel_regularizer=cfg["regularizer"]),
    ])
    loss = keras.losses.CategoricalCrossentropy(label_smoothing=float(cfg["blur"]))
    net.compile(keras.optimizers.SGD(cfg["pace"]), loss)
    stop = keras.callbacks.EarlyStopping(**cfg["stop"])
    log = net.fit(x, y, epochs=cfg["rehearsals"], batch_size=6, callbacks=[stop], verbose=0)
    print(len(log.history["loss"]), log.history["loss"][-1])
