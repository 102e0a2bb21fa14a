"""Second program: teach the loom."""
import importlib
import os
import sys

import numpy as np
import tensorflow as tf

from loom.cloth import Yarn, read


class Wide(tf.keras.layers.Dense):
    pass


class Narrow(tf.keras.layers.Dense):
    def __init__(self, ends, **more):
        super().__init__(max(1, ends // 2), **more)


def yarns(cloth):
    for part in ("warp", "weft"):
        yarn = Yarn(**cloth[part])
        yield globals()[yarn.kind.capitalize()](yarn.ends, activation="relu", **yarn.options)


def main():
    cloth = read(sys.argv[1])
    tf.keras.utils.set_random_seed(int(os.environ.get("LOOM_SEED", cloth["seed"])))
    with np.load(cloth["threads"]["spool"]) as spool:
        x, y = spool["x"], spool["y"]
    model = tf.keras.Sequential([tf.keras.Input((x.shape[1],)), *yarns(cloth), tf.keras.layers.Dense(1)])
    teach = dict(cloth["teach"])
    picks, rate = teach.pop("picks"), teach.pop("rate")
    model.compile(tf.keras.optimizers.Adam(rate, **teach), "mse")
    history = []
    for stage in cloth["stages"]:
        name = stage.pop("name")
        log = model.fit(x, y, batch_size=8, steps_per_epoch=picks, verbose=0, **stage)
        history += log.history["loss"]
        print(name, log.history["loss"])
    plugin = cloth["plugin"]
    importlib.import_module(plugin.pop("module")).finish(history, **plugin)


if __name__ == "__main__":
    main()
