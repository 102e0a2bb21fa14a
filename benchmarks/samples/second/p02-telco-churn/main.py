import sys

import numpy as np
from tensorflow import keras

import config
import model
from config import Config


def customers():
    rng = np.random.default_rng(Config.SEED)
    x = rng.normal(size=(96, Config.FEATURES)).astype("float32")
    return x, (x[:, 0] + rng.normal(size=96) > 1).astype("int32")


def main(path="churn.json"):
    config.load(path)
    keras.utils.set_random_seed(Config.SEED)
    x, y = customers()
    net = model.build()
    net.fit(x, y, batch_size=Config.BATCH_SIZE, epochs=Config.EPOCHS,
            class_weight=Config.CLASS_WEIGHT, verbose=0)
    score = net.predict(x, verbose=0)[:, 0]
    print("mean", score.mean(), "will leave:", int((score > Config.THRESHOLD).sum()))


if __name__ == "__main__":
    main(*sys.argv[1:])
