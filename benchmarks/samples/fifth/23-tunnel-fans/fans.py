import argparse
import pathlib

import numpy as np
import tensorflow as tf
import yaml


def load(path, overrides):
    ns = argparse.Namespace(**yaml.safe_load(pathlib.Path(path).read_text()))
    for item in overrides:
        name, value = item.split("=", 1)
        if not hasattr(ns, name):
            raise SystemExit(f"no setting {name}")
        setattr(ns, name, yaml.safe_load(value))
    return ns


def series(ns):
    air = np.sin(np.arange(ns.hours)[:, None] / (1 + np.arange(ns.fans)))
    if hasattr(ns, "ramp"):
        air = air * np.resize(ns.ramp, ns.fans)
    return tf.keras.utils.timeseries_dataset_from_array(
        air[:-ns.lookback].astype("float32"), air[ns.lookback:, 0].astype("float32"),
        sequence_length=ns.lookback, batch_size=ns.fit.pop("batch_size"))


def net(ns):
    i = tf.keras.Input((ns.lookback, ns.fans))
    x = tf.keras.layers.GRU(**ns.gru)(i)
    x = tf.keras.layers.BatchNormalization(**ns.norm)(x)
    return tf.keras.Model(i, tf.keras.layers.Dense(1)(x), name=f"{ns.fan}_{ns.fans}")


def main(ns):
    tf.keras.utils.set_random_seed(ns.seed)
    model = net(ns)
    model.compile(tf.keras.optimizers.Nadam(**ns.push), loss="mse")
    board = [tf.keras.callbacks.TensorBoard(**ns.board)] if getattr(ns, "board", None) else []
    log = model.fit(series(ns), callbacks=board, verbose=0, **ns.fit)
    print(model.name, round(log.history["loss"][-1], 4))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--conf", default="fans.yaml")
    parser.add_argument("--set", nargs="*", default=[])
    args = parser.parse_args()
    main(load(args.conf, args.set))
