import os
import time

import numpy as np
import keras
import yaml

from model import compile_from, occupancy_model

HERE = os.path.dirname(os.path.abspath(__file__))


def rides(rows, stops, seed):
    rng = np.random.default_rng(seed)
    stop = rng.integers(0, stops, (rows, 1))
    hour = rng.uniform(0, 24, rows)
    rain = rng.random(rows) < 0.3
    weekend = rng.random(rows) < 0.28
    event = rng.random(rows) < 0.05
    popularity = rng.uniform(0.2, 1.0, stops)[stop[:, 0]]
    y = popularity * (1 + np.exp(-((hour - 8) ** 2) / 4)) + 0.2 * rain - 0.3 * weekend
    y = y + 0.5 * event + rng.normal(0, 0.05, rows)
    context = np.stack([hour / 24, rain, weekend, event], axis=1)
    return stop.astype("int32"), context.astype("float32"), y.astype("float32")


def main():
    with open(os.path.join(HERE, "tram.yaml")) as handle:
        config = yaml.safe_load(handle)
    keras.utils.set_random_seed(config["data"]["seed"])
    stop, context, y = rides(**config["data"])
    model = occupancy_model(config["data"]["stops"], **config["model"])
    compile_from(model, config["train"])

    started = time.perf_counter()
    model.fit(
        [stop, context],
        y,
        batch_size=config["train"]["batch_size"],
        epochs=config["train"]["epochs"],
        validation_split=0.1,
        verbose=2,
    )
    print(f"fit took {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()
