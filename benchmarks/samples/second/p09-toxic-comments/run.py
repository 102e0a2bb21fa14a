"""python run.py small | base | large"""
import os.path
import sys

import numpy as np
import yaml
from tensorflow import keras

import encoder


def read_config(name):
    path = os.path.join(os.path.dirname(__file__), "configs", name + ".yml")
    with open(path, encoding="utf-8") as f:
        return yaml.load(f, Loader=yaml.SafeLoader)


def main(name="small"):
    cfg = read_config(name)
    keras.utils.set_random_seed(9)
    rng = np.random.default_rng(9)
    tokens, fit = cfg["tokens"], cfg["fit"]
    x = rng.integers(0, tokens["vocab"], (32, tokens["length"]))
    y = rng.integers(0, 2, (32, 1))
    net = encoder.build(tokens, cfg["encoder"])
    optimizer = keras.optimizers.get(fit["optimizer"])
    optimizer.learning_rate = fit["rate"]
    net.compile(optimizer, "binary_crossentropy", metrics=["AUC"])
    log = net.fit(x, y, batch_size=fit["batch"], epochs=fit["epochs"], verbose=0)
    print("loss", log.history["loss"])


if __name__ == "__main__":
    main(*sys.argv[1:])
