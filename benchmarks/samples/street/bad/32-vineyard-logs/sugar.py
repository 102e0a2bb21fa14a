import time

import numpy as np
from tensorflow import keras

from feeder import LogFeeder
from logs import FEATURES, write_log


def build():
    model = keras.Sequential(
        [
            keras.Input((len(FEATURES),)),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dense(1),
        ]
    )
    model.compile(keras.optimizers.Adam(3e-3), loss="mse", metrics=["mae"])
    return model


def main():
    keras.utils.set_random_seed(32)
    path = write_log("logs/season.csv")
    order = np.random.default_rng(32).permutation(20000)
    train = LogFeeder(path, order[:17000], seed=1)
    val = LogFeeder(path, order[17000:], batch_size=250)
    model = build()
    start = time.perf_counter()
    model.fit(train, validation_data=val, epochs=2, verbose=2)
    print("training took %.1f s" % (time.perf_counter() - start))


if __name__ == "__main__":
    main()
