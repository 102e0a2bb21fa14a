"""python forecast.py oder"""
import pathlib
import sys

import numpy as np
from tensorflow import keras

from soil import defaults, net

FARMS = pathlib.Path(__file__).parent / "farms"


def windows(series, size, lag):
    stop = len(series) - size - lag
    x = np.stack([series[i:i + size] for i in range(stop)])
    y = np.stack([series[i + size + lag] for i in range(stop)])
    return x, y


def main(farm="oder"):
    cfg = defaults.load(FARMS / f"{farm}.yaml")
    keras.utils.set_random_seed(6)
    series = np.random.default_rng(6).random((80, cfg["sensor"]["depths"]), dtype="float32")
    x, y = windows(series, cfg["sensor"]["window"], cfg["sensor"]["lag"])
    model = net.build(cfg)
    log = model.fit(x, y, epochs=cfg["train"]["epochs"], batch_size=cfg["train"]["batch"],
                    callbacks=list(net.callbacks(cfg)), verbose=0)
    print("weights", model.count_params(), "loss", log.history["loss"])


if __name__ == "__main__":
    main(*sys.argv[1:])
