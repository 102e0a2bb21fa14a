import json
import sys

import numpy as np
import yaml
from tensorflow import keras

from settings import pick


def make_callbacks(path, flour):
    with open(path) as f:
        table = yaml.safe_load(f)
    out = []
    for key, spec in table.items():
        if not key.startswith(flour + "_"):
            continue
        spec = dict(spec)
        out.append(getattr(keras.callbacks, spec.pop("class"))(**spec))
    return out


def dough(conf):
    with open("flour.json") as f:
        facts = json.load(f)[conf["flour"]]
    rng = np.random.default_rng(conf["seed"])
    x = rng.random((conf["loaves"], len(conf["readings"]))).astype("float32")
    y = x @ np.full((x.shape[1], 1), sum(facts.values()), "float32")
    return x, y


def main(name):
    conf = pick(name)
    keras.utils.set_random_seed(conf["seed"])
    x, y = dough(conf)
    hidden = keras.layers.Dense.from_config(conf["hidden"])
    model = keras.Sequential([keras.Input(x.shape[1:]), hidden, keras.layers.Dense(1)])
    model.compile(keras.optimizers.deserialize(conf["optimizer"]), "mse")
    log = model.fit(x, y, epochs=conf["epochs"], verbose=0,
                    callbacks=make_callbacks(conf["callbacks"], conf["flour"]))
    print(name, log.history["loss"])


if __name__ == "__main__":
    main(*sys.argv[1:] or ["rye"])
