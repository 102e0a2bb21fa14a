"""Forecast the inflow of a reservoir."""
import sys

import numpy as np
from tensorflow import keras

from plan import Plan


def windows(series, past, future):
    last = len(series) - past - future + 1
    x = np.stack([series[i:i + past] for i in range(last)])
    y = np.stack([series[i + past:i + past + future, 0] for i in range(last)])
    return x, y


def main(argv):
    plan = Plan.load(argv[1] if len(argv) > 1 else "plan.yaml")
    keras.utils.set_random_seed(plan.seed)
    series = np.random.default_rng(plan.seed).random((80, 2), dtype="float32")
    x, y = windows(series, plan.window.past, plan.window.future)
    cell = {"gru": keras.layers.GRU, "lstm": keras.layers.LSTM}[plan.train.cell]
    model = keras.Sequential([keras.Input(x.shape[1:]), cell(plan.units), keras.layers.Dense(plan.window.future)])
    model.compile(keras.optimizers.Adam(plan.train.learning_rate, clipnorm=plan.train.clipnorm), "mse")
    log = model.fit(x, y, epochs=plan.train.epochs, batch_size=plan.train.batch_size, verbose=0)
    print("loss", log.history["loss"][-1], "steps ahead", y.shape[1])


if __name__ == "__main__":
    main(sys.argv)
