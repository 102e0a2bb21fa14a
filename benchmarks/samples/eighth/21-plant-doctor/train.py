"""Leaves with rust, with mildew or with nothing."""
import argparse

import numpy as np
import tensorflow as tf

import confs


def photos(cfg, classes):
    rng = np.random.default_rng(len(cfg["root"]))
    y = np.arange(48) % len(classes)
    x = rng.random((48, cfg["size"], cfg["size"], 3)) + 0.2 * y[:, None, None, None]
    return x.astype("float32"), y


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("config", nargs="?", default="configs/leaf.yaml")
    cfg = confs.load(parser.parse_args().config)

    tf.keras.utils.set_random_seed(0)
    x, y = photos(cfg["data"], cfg["classes"])
    model = tf.keras.Sequential([tf.keras.Input(x.shape[1:])])
    for spec in cfg["model"]["layers"]:
        model.add(confs.make(tf.keras.layers, spec))
    model.add(tf.keras.layers.Dense(len(cfg["classes"]), activation="softmax"))
    model.compile(
        confs.make(tf.keras.optimizers, cfg["optimizer"]),
        "sparse_categorical_crossentropy",
        metrics=[tf.keras.metrics.SparseCategoricalAccuracy("acc")],
    )
    history = model.fit(
        x, y, cfg["data"]["batch"], cfg["epochs"], validation_split=0.25, verbose=0,
        callbacks=[confs.make(tf.keras.callbacks, c) for c in cfg["callbacks"]],
    )
    print(cfg["classes"], "loss %.5f" % history.history["loss"][-1])


if __name__ == "__main__":
    main()
