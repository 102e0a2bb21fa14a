"""Run every experiment over the defaults and list the losses."""
import glob
import os
from copy import deepcopy

import numpy as np
import yaml
from tensorflow import keras

HERE = os.path.dirname(os.path.abspath(__file__))


def load(path):
    with open(path) as fh:
        return yaml.safe_load(fh) or {}


def deep_update(dst, src):
    for k, v in src.items():
        if isinstance(v, dict):
            dst[k] = deep_update(dst.get(k, {}), v)
        else:
            dst[k] = v
    return dst


def optimizer(o):
    name = o["name"]
    if name == "rmsprop":
        return keras.optimizers.RMSprop(o["learning_rate"], rho=o.get("rho", 0.9))
    if name == "sgd":
        return keras.optimizers.SGD(o["learning_rate"], momentum=o.get("momentum", 0.0))
    return keras.optimizers.Adam(o["learning_rate"])


def weave(cfg):
    keras.utils.set_random_seed(1)
    loom, w = cfg["loom"], cfg["weave"]
    x = np.random.rand(loom["rows"], loom["threads"]).astype("float32")
    model = keras.Sequential([
        keras.Input((loom["threads"],)),
        keras.layers.Dense(w["width"], activation=w["activation"],
                           kernel_regularizer=keras.regularizers.L2(w["tightness"])),
        keras.layers.Dense(1),
    ])
    model.compile(optimizer(cfg["optimizer"]), "mse")
    return model.fit(x, x[:, :1], epochs=cfg["epochs"], verbose=0).history["loss"][-1]


def main():
    default = load(os.path.join(HERE, "default.yaml"))
    for path in sorted(glob.glob(os.path.join(HERE, "experiments", "exp_*.yaml"))):
        cfg = deep_update(deepcopy(default), load(path))
        if not cfg.pop("enabled", True):
            continue
        print(f"{cfg['name']:<12} {weave(cfg):.5f}", flush=True)


if __name__ == "__main__":
    main()
