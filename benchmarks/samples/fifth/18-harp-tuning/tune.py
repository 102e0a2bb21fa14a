import ast
import os
import sys

import numpy as np
from box import Box
from tensorflow import keras

PREFIX = "HARP__"


def env_lines(path):
    if os.path.exists(path):
        with open(path) as f:
            for line in map(str.strip, f):
                if line and not line.startswith("#"):
                    yield line.split("=", 1)
    yield from os.environ.items()


def literal(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def load(path="harp.yaml", env="harp.env"):
    cfg = Box.from_yaml(filename=path, default_box=True, box_dots=True)
    for name, text in env_lines(env):
        if name.startswith(PREFIX):
            cfg[name[len(PREFIX):].lower().replace("__", ".")] = literal(text)
    return cfg


def plucks(s):
    base = np.linspace(s.lowest, s.lowest * 8, s.count)
    pull = np.random.normal(s["tension.mean"], s["tension.spread"], (32, s.count))
    return (pull * base / base.max()).astype("float32"), pull.mean(axis=1).astype("float32")


def main(argv):
    cfg = load(*argv)
    keras.utils.set_random_seed(9)
    x, y = plucks(cfg.strings)
    net = keras.Sequential([keras.Input((cfg.strings.count,))])
    for _ in range(cfg.net.depth):
        net.add(keras.layers.Dense(cfg.net.width, activation=cfg.net.get("act", "relu")))
        if cfg.net.batchnorm:
            net.add(keras.layers.BatchNormalization())
    net.add(keras.layers.Dense(1))
    kw = {"clipnorm": cfg.fit.clip_norm} if cfg.fit.clip_norm else {}
    net.compile(keras.optimizers.Adam(cfg.fit.rate, **kw), "mse")
    log = net.fit(x, y, epochs=cfg.fit.epochs, batch_size=cfg.fit.batch, verbose=0)
    print(net.count_params(), kw, cfg.fit.rate, round(log.history["loss"][-1], 5))


if __name__ == "__main__":
    main(sys.argv[1:])
