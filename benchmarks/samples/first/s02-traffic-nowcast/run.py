"""python run.py exp/morning.yaml fit.epochs=1"""
import sys

import numpy as np
from omegaconf import OmegaConf
from tensorflow import keras

from nowcast.net import build
from nowcast.schema import Root

SENSORS = 5


def main(experiment, *dotlist):
    cfg = OmegaConf.merge(
        OmegaConf.structured(Root),
        OmegaConf.load(experiment),
        OmegaConf.from_dotlist(list(dotlist)),
    )
    rng = np.random.default_rng(1)
    flow = rng.random((40, 12, SENSORS), dtype="float32")
    target = rng.random((40, cfg.horizon), dtype="float32")
    net = build(cfg.model, cfg.horizon, SENSORS)
    net.compile(keras.optimizers.Adam(cfg.fit.lr, clipnorm=cfg.fit.clip), "mae")
    log = net.fit(flow, target, batch_size=cfg.fit.batch, epochs=cfg.fit.epochs, verbose=0)
    print("mae", log.history["loss"][-1])


if __name__ == "__main__":
    main(*sys.argv[1:])
