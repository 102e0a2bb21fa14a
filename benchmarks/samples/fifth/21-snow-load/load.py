"""Snow load on roofs; settings are flattened to dotted names and checked against TABLE."""
import json
import os

import numpy as np
import yaml
from tensorflow import keras

ints = lambda text: [int(p) for p in str(text).split(",")]  # noqa: E731

TABLE = {
    "roof.pitch": (float, 25.0),
    "roof.width": (float, None),
    "snow.density": (float, 0.2),
    "snow.noise": (float, 0.0),
    "snow.samples": (int, 20),
    "snow.winters": (list, []),
    "net.units": (ints, [8]),
    "net.slope": (float, 0.3),
    "train.rate": (float, 1e-3),
    "train.epochs": (int, 1),
    "train.batch": (int, 32),
    "train.metrics": (str.split, []),
}


def flat(tree, prefix=""):
    for key, value in tree.items():
        name = prefix + key
        if isinstance(value, dict):
            yield from flat(value, name + ".")
        else:
            yield name, value


def gather():
    found = {}
    with open("snow.json") as f:
        found |= flat(json.load(f))
    for name in sorted(os.listdir("conf.d")):
        if name.endswith((".yaml", ".yml")):
            with open(os.path.join("conf.d", name)) as f:
                found |= flat(yaml.safe_load(f))
    if strange := found.keys() - TABLE.keys():
        raise SystemExit(f"unknown: {sorted(strange)}")
    opts = {}
    for name, (kind, default) in TABLE.items():
        if name in found:
            opts[name] = kind(found[name])
        elif default is None:
            raise SystemExit(f"{name} must be set")
        else:
            opts[name] = default
    return opts


def main():
    opts = gather()
    opt = opts.__getitem__
    sub = lambda p: {k.split(".", 1)[1]: v for k, v in opts.items() if k.startswith(p + ".")}  # noqa: E731
    keras.utils.set_random_seed(2)
    roof, snow = sub("roof"), sub("snow")
    depth = np.random.rand(snow["samples"], len(snow["winters"])) + np.random.normal(0, snow["noise"] or 1e-9)
    load = depth.sum(axis=1) * snow["density"] * roof["width"] * np.cos(np.radians(roof["pitch"]))
    net = keras.Sequential([keras.Input((depth.shape[1],))])
    for u in opt("net.units"):
        net.add(keras.layers.Dense(u))
        net.add(keras.layers.LeakyReLU(opt("net.slope")))
    net.add(keras.layers.Dense(1))
    net.compile(keras.optimizers.Adam(opt("train.rate")), "mse", metrics=opt("train.metrics"))
    log = net.fit(depth, load, epochs=opt("train.epochs"), batch_size=opt("train.batch"), verbose=0)
    print({k: round(v[-1], 3) for k, v in log.history.items()})


if __name__ == "__main__":
    main()
