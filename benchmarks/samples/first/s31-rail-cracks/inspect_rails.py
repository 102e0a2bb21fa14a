"""Cracks from the vibration of the rail."""
import numpy as np
from tensorflow import keras

from rails.conf import Conf
from rails.net import build, solver


def main():
    conf = Conf.open("rails.yaml")
    keras.utils.set_random_seed(3)
    sensor, training = conf / "sensor", conf / "training"
    x = np.random.rand(24, sensor["window"], sensor["channels"]).astype("float32")
    y = np.random.randint(0, sensor["classes"], 24)
    model = build(conf)
    model.compile(solver(conf), training["loss"])
    log = model.fit(x, y, epochs=training("epochs", 1), batch_size=training("batch_size", 32), verbose=0)
    print(len(log.history["loss"]), log.history["loss"][-1])


if __name__ == "__main__":
    main()
