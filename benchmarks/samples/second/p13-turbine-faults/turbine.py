"""TURBINE_SITE=north python turbine.py"""
import os
import pathlib
import tomllib
from collections import ChainMap

import numpy as np
from tensorflow import keras

CONF = pathlib.Path(__file__).resolve().parent / "conf"


def read(*parts):
    with CONF.joinpath(*parts).open("rb") as fp:
        return tomllib.load(fp)


def settings():
    site = os.environ.get("TURBINE_SITE", "north")
    return ChainMap(read("sites", site + ".toml"), read("base.toml"))


def autoencoder(cfg):
    enc = cfg["encoder"]
    layers = [keras.Input((cfg["window"],)), keras.layers.GaussianNoise(cfg["noise"])]
    layers += [keras.layers.Dense(n, activation=enc["activation"]) for n in enc["units"]]
    layers.append(keras.layers.Dense(enc["latent"]))
    layers += [keras.layers.Dense(n, activation=enc["activation"]) for n in reversed(enc["units"])]
    layers.append(keras.layers.Dense(cfg["window"]))
    return keras.Sequential(layers)


def main():
    cfg = settings()
    keras.utils.set_random_seed(13)
    x = np.random.default_rng(13).normal(size=(64, cfg["window"])).astype("float32")
    net = autoencoder(cfg)
    optimizer = getattr(keras.optimizers, cfg["optimizer"])(cfg["rate"])
    net.compile(optimizer, cfg["loss"])
    log = net.fit(x, x, batch_size=cfg["batch"], epochs=cfg["epochs"], verbose=0)
    error = np.abs(net.predict(x, verbose=0) - x).mean(axis=1)
    try:
        limit = np.quantile(error, cfg["quantile"])
    except KeyError:
        limit = error.max()
    print("window", cfg["window"], "loss", log.history["loss"], "limit", limit)


if __name__ == "__main__":
    main()
