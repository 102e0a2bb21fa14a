import sys

import numpy as np
import yaml
from tensorflow import keras

import make


def main(path):
    cfg = yaml.safe_load(open(path))
    keras.utils.set_random_seed(11)
    rng = np.random.default_rng(11)
    bars = (rng.random((32, cfg["steps"] + 1, cfg["kit"])) > 0.7).astype("float32")
    net = make.model(cfg)
    net.compile(optimizer=make.optimizer(cfg), loss="binary_crossentropy")
    log = net.fit(bars[:, :-1], bars[:, 1:], callbacks=make.callbacks(cfg), verbose=0, **cfg["fit"])
    print("val_loss", log.history["val_loss"])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "groove.yaml")
