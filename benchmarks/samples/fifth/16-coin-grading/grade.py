import copy
import json
import os

import numpy as np
import tensorflow as tf

keras = tf.keras


def stack(specs, shape):
    model = keras.Sequential([keras.Input(shape)])
    for spec in copy.deepcopy(specs):
        cls = getattr(keras.layers, spec.pop("type"))
        for _ in range(spec.pop("repeat", 1)):
            model.add(cls(**spec))
    return model


def coins(cfg):
    edge = cfg["edge"]
    images = np.random.rand(cfg["coins"], edge, edge, 1).astype("float32")
    grades = np.arange(cfg["coins"]) % len(cfg["classes"])
    return images, grades


def run(cfg):
    keras.utils.set_random_seed(int(os.environ.get("SEED", 0)))
    x, y = coins(cfg["data"])
    model = stack(cfg["layers"], x.shape[1:])
    model.compile(
        optimizer=keras.optimizers.get(cfg["opt"]),
        loss=keras.losses.get(cfg["loss"]),
        metrics=[m if isinstance(m, str) else keras.metrics.get(m) for m in cfg["metrics"]],
    )
    log = model.fit(x, y, **cfg["fit"])
    for name, values in log.history.items():
        print(name, round(values[-1], 4))


if __name__ == "__main__":
    with open("coins.json") as fh:
        run(json.load(fh))
