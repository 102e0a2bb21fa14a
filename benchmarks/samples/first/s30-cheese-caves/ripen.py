"""One net for each cheese in caves/*.yaml."""
import enum
import glob
import logging
import os
from dataclasses import dataclass, field, fields

import numpy as np
import yaml
from tensorflow import keras

log = logging.getLogger("caves")


class Loss(enum.StrEnum):
    MSE = enum.auto()
    MAE = enum.auto()


@dataclass
class Cave:
    cheese: str
    weeks: int
    rate: float
    loss: Loss
    hidden: list
    laps: int
    flock: int
    tags: list = field(default_factory=list)

    def __post_init__(self):
        self.rate = float(self.rate)
        self.loss = Loss(str(self.loss).lower())
        for item in fields(self):
            text = os.getenv(f"CAVES_{item.name.upper()}")
            if text is not None:
                setattr(self, item.name, yaml.safe_load(text))


def caves(pattern="caves/*.yaml"):
    with open("caves/defaults.yml") as stream:
        defaults = yaml.safe_load(stream)
    for path in sorted(glob.glob(pattern)):
        with open(path) as stream:
            yield Cave(**(defaults | yaml.safe_load(stream)))


def ripen(cave):
    x = np.random.rand(cave.weeks, 3).astype("float32")
    net = keras.Sequential([keras.Input((3,)), *(keras.layers.Dense(n, "relu") for n in cave.hidden), keras.layers.Dense(1)])
    net.compile(keras.optimizers.Adam(cave.rate), cave.loss.value)
    return net.fit(x, x[:, :1], epochs=cave.laps, batch_size=cave.flock, verbose=0).history["loss"][-1]


if __name__ == "__main__":
    for cave in caves():
        keras.utils.clear_session()
        keras.utils.set_random_seed(2)
        print(cave.cheese, *cave.tags, round(ripen(cave), 4))
