"""python main.py [cranes.json | cranes_night.json]"""
import sys

from tensorflow import keras

import lift
from config import CraneConfig


def train(cfg):
    keras.utils.set_random_seed(9)
    x, y = lift.samples(cfg)
    cfg.batch_size = 64
    net = lift.network(cfg)
    net.compile(keras.optimizers.Adam(cfg.learning_rate), keras.losses.Huber(**cfg.huber))
    log = net.fit(x, y, batch_size=cfg.batch_size, epochs=cfg.epochs, callbacks=lift.callbacks(cfg), verbose=0)
    print("loss", log.history["loss"][-1])


if __name__ == "__main__":
    train(CraneConfig.from_json(sys.argv[1] if len(sys.argv) > 1 else "cranes.json"))
