"""Kiln peak temperature, in hundreds of degrees."""
import json

import numpy as np
import keras

from metrics import within_tolerance, worst_error

CONFIG = json.loads(
    """
    {"hidden": [32, 16], "epochs": 8, "batch": 40, "lr": 0.005,
     "rows": 600, "holdout": 120}
    """
)


def firings(n, seed=12):
    rng = np.random.default_rng(seed)
    load = rng.uniform(0.2, 1.0, n)
    fuel = rng.uniform(0.5, 1.5, n)
    hours = rng.uniform(4, 12, n)
    humidity = rng.uniform(0, 1, n)
    peak = 6 + 3 * fuel - 2 * load + 0.15 * hours - 0.4 * humidity
    x = np.stack([load, fuel, hours / 12.0, humidity], axis=1)
    return x.astype("float32"), peak.astype("float32").reshape(-1, 1)


def network(hidden):
    model = keras.Sequential([keras.Input((4,))])
    for units in hidden:
        model.add(keras.layers.Dense(units, activation="relu"))
    model.add(keras.layers.Dense(1))
    return model


def main():
    keras.utils.set_random_seed(9)
    x, y = firings(CONFIG["rows"])
    hold = CONFIG["holdout"]
    model = network(CONFIG["hidden"])
    model.compile(
        optimizer=keras.optimizers.Adam(CONFIG["lr"]),
        loss="huber",
        metrics=[within_tolerance, worst_error],
    )
    model.fit(
        x[:-hold], y[:-hold],
        validation_data=(x[-hold:], y[-hold:]),
        epochs=CONFIG["epochs"], batch_size=CONFIG["batch"], verbose=2,
    )


if __name__ == "__main__":
    main()
