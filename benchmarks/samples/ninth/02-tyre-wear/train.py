"""Predict the wear of racing tyres from lap telemetry.

    python train.py configs/gru.json
"""
import json
import sys

import numpy as np
import tensorflow as tf

from models import create


def load_laps(laps, lookback, sensors, **_):
    series = np.cumsum(np.random.normal(size=(laps + lookback, sensors)), axis=0).astype("float32")
    x = np.stack([series[i:i + lookback] for i in range(laps)])
    y = series[lookback:, :1]
    return x / 10.0, y / 10.0


def make_optimizer(spec):
    options = dict(spec)
    cls = {"sgd": tf.keras.optimizers.SGD, "rmsprop": tf.keras.optimizers.RMSprop}[options.pop("name")]
    lr = options.pop("lr")
    return cls(learning_rate=lr, **options)


def main(path):
    with open(path) as f:
        cfg = json.load(f)
    tf.keras.utils.set_random_seed(2)
    x, y = load_laps(**cfg["data"])
    model = create(cfg["model"], x.shape[1:])
    model.compile(optimizer=make_optimizer(cfg["optim"]), loss=cfg["loss"])
    history = model.fit(x, y, verbose=0, **cfg["fit"])
    print(path, round(history.history["val_loss"][-1], 5))


if __name__ == "__main__":
    for path in sys.argv[1:]:
        main(path)
