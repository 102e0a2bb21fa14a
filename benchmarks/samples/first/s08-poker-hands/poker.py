"""Guess the class of a poker hand.  Any top level number can be set as POKER_NAME=..."""
import os

import numpy as np
import yaml
from tensorflow import keras


def read(path="poker.yml"):
    cfg = yaml.safe_load(open(path, encoding="utf-8"))
    for name in ("hands", "epochs", "batch"):
        if text := os.environ.get(f"POKER_{name.upper()}"):
            cfg[name] = int(text)
    return cfg


def pace(spec):
    match spec:
        case {"kind": "cosine", "start": start, "steps": steps}:
            return keras.optimizers.schedules.CosineDecay(start, steps)
        case {"kind": "halving", "start": start, "every": every}:
            return keras.optimizers.schedules.ExponentialDecay(start, every, 0.5)
        case {"start": start}:
            return start
    raise SystemExit(f"no schedule: {spec}")


def network(spec):
    match spec:
        case {"type": "mlp", "units": [*units]}:
            hidden = [keras.layers.Dense(n, activation="relu") for n in units]
        case {"type": "linear"}:
            hidden = []
        case other:
            raise SystemExit(f"no net: {other}")
    return keras.Sequential([keras.Input((10,)), *hidden, keras.layers.Dense(10, activation="softmax")])


def solver(cfg):
    rate = pace(cfg["schedule"])
    match cfg["optimizer"]:
        case "adam":
            return keras.optimizers.Adam(rate)
        case "adamw":
            return keras.optimizers.AdamW(rate, weight_decay=cfg["decay"])
        case "sgd":
            return keras.optimizers.SGD(rate)


def main():
    cfg = read()
    rng = np.random.default_rng(0)
    keras.utils.set_random_seed(0)
    cards = rng.integers(0, 13, (cfg["hands"], 10)).astype("float32")
    ranks = rng.integers(0, 10, cfg["hands"])
    model = network(cfg["net"])
    model.compile(solver(cfg), "sparse_categorical_crossentropy", metrics=cfg["metrics"])
    log = model.fit(cards, ranks, epochs=cfg["epochs"], batch_size=cfg["batch"], verbose=0)
    print(type(model.optimizer._learning_rate).__name__, log.history["loss"][-1])


main()
