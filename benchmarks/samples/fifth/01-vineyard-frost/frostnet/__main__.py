import argparse
from pathlib import Path

import numpy as np
import tensorflow as tf
import yaml

from .schema import Experiment, build

keras = tf.keras


def night_readings(exp: Experiment):
    s = exp.sensors
    rng = np.random.default_rng(exp.seed)
    x = rng.normal(0, 1, (48, s.window, s.count)).astype("float32")
    x += rng.normal(0, s.noise, x.shape).astype("float32")
    y = (x.mean(axis=(1, 2)) < 0).astype("float32")
    return x, y


def make_model(exp: Experiment) -> keras.Model:
    inputs = keras.Input((exp.sensors.window, exp.sensors.count))
    h = keras.layers.Flatten()(inputs)
    for u in exp.net.units:
        h = keras.layers.Dense(u, activation=exp.net.act)(h)
        h = keras.layers.Dropout(exp.net.dropout)(h)
    model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(h))

    rate = exp.optim.lr
    if exp.optim.decay:
        rate = keras.optimizers.schedules.ExponentialDecay(rate, **exp.optim.decay)
    model.compile(keras.optimizers.Adam(rate, clipnorm=exp.optim.clipnorm), "binary_crossentropy")
    return model


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("conf", type=Path)
    conf = ap.parse_args().conf
    exp = build(Experiment, yaml.safe_load(conf.read_text()))
    keras.utils.set_random_seed(exp.seed)
    model = make_model(exp)
    log = model.fit(*night_readings(exp), epochs=exp.nights, verbose=0)
    label = " ".join(f"{k}={v}" for k, v in exp.tags.items())
    print(label, "loss", round(log.history["loss"][-1], 4))


if __name__ == "__main__":
    main()
