from functools import partial
from typing import TypedDict

import numpy as np
from tensorflow import keras

from loader import settings


class Hold(TypedDict):
    length: float
    stack: int


def sample(holds: list[Hold], rng, n):
    cols = [rng.uniform(0, h["length"] * h["stack"], n) for h in holds]
    x = np.stack(cols, axis=1).astype("float32")
    return x / x.max(), (x.sum(axis=1) / x.max()).astype("float32")


def mlp(n, units, activation, out_activation=None, norm=False):
    model = keras.Sequential([keras.Input((n,))])
    if norm:
        model.add(keras.layers.LayerNormalization())
    for u in units:
        model.add(keras.layers.Dense(u, activation=activation))
    model.add(keras.layers.Dense(1, activation=out_activation))
    return model


def main():
    ship = settings()["ship"]
    keras.utils.set_random_seed(settings()["seed"])
    draw = partial(sample, ship["holds"], np.random.default_rng(settings()["seed"]))
    model = mlp(len(ship["holds"]), **settings()["net"])
    fit = settings()["fit"]
    model.compile(keras.optimizers.Adam(fit["rate"]), fit["loss"])
    stop = keras.callbacks.EarlyStopping("loss", patience=fit.get("patience", 0), min_delta=fit["min_delta"])
    fit["batch"] = 16
    log = model.fit(*draw(ship["voyages"]), epochs=fit["epochs"], batch_size=fit["batch"], callbacks=[stop], verbose=0)
    print(ship.get("name", "unnamed"), len(log.history["loss"]), "epochs", round(log.history["loss"][-1], 5))


if __name__ == "__main__":
    main()
