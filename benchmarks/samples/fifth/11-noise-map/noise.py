import configparser
import sys

import numpy as np
import tensorflow as tf


def streets(sec):
    rng = np.random.default_rng(sec.getint("seed"))
    x = rng.normal(60, 10, (sec.getint("count"), sec.getint("bands"))).astype("float32")
    if sec["quiet_only"]:
        x = x[x.mean(axis=1) < 60]
    return x / 100, (x.max(axis=1) / 100).astype("float32")


def build(bands, sec):
    net = tf.keras.Sequential([tf.keras.Input((bands,))])
    for n in map(int, sec["layers"].split(",")):
        net.add(tf.keras.layers.Dense(n, activation=sec.get("activation", "tanh")))
        net.add(tf.keras.layers.Dropout(sec.getfloat("dropout", fallback=0.0)))
    net.add(tf.keras.layers.Dense(1))
    return net


def main(path="noise.ini"):
    ini = configparser.ConfigParser()
    ini.read(path)
    tf.keras.utils.set_random_seed(ini["train"].getint("seed"))
    x, y = streets(ini["streets"])
    net = build(x.shape[1], ini["net"])
    train = ini["train"]
    net.compile(tf.keras.optimizers.Adam(train.getfloat("rate")), "mae")
    log = net.fit(
        x, y,
        epochs=train.getint("epochs"),
        shuffle=train.getboolean("shuffle"),
        callbacks=[tf.keras.callbacks.CSVLogger(ini.get("streets", "log"))],
        verbose=0,
    )
    print(len(x), "streets, loss", round(log.history["loss"][-1], ini.getint("report", "decimals")))


if __name__ == "__main__":
    main(*sys.argv[1:])
