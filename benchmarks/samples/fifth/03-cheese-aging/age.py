"""Predict how long a cheese has been aging."""
import json
import sys
from operator import attrgetter
from types import SimpleNamespace

import numpy as np
from tensorflow import keras

climate = attrgetter("cellar.humidity", "cellar.temperature")


def read(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f, object_hook=lambda d: SimpleNamespace(**d))


def wheels(recipe):
    humidity, temperature = climate(recipe)
    rng = np.random.default_rng(recipe.seed)
    x = rng.normal(humidity, temperature / 100, (40, recipe.cellar.shelves)).astype("float32")
    y = rng.integers(0, len(vars(recipe.labels)), 40)
    return x, y


def body(recipe):
    yield keras.Input((recipe.cellar.shelves,))
    for name, width in vars(recipe.net).items():
        yield keras.layers.Dense(width, activation="relu", name=name)
    yield keras.layers.Dense(len(vars(recipe.labels)), activation="softmax")


def phase(model, recipe, name, data):
    fit = recipe.fit
    model.compile(
        keras.optimizers.Adam(getattr(fit, f"{name}_rate")),
        loss="sparse_categorical_crossentropy",
    )
    stop = keras.callbacks.EarlyStopping(**vars(recipe.stop))
    log = model.fit(*data, epochs=getattr(fit, name + "_epochs"), batch_size=fit.batch, callbacks=[stop], verbose=0)
    print(name, round(log.history["loss"][-1], 4))


if __name__ == "__main__":
    recipe = read(sys.argv[1] if len(sys.argv) > 1 else "recipe.json")
    keras.utils.set_random_seed(recipe.seed)
    model = keras.Sequential(list(body(recipe)))
    data = wheels(recipe)
    for name in ("warm", "main"):
        phase(model, recipe, name, data)
    guess = int(model.predict(data[0][:1], verbose=0).argmax())
    print({v: k for k, v in vars(recipe.labels).items()}[guess])
