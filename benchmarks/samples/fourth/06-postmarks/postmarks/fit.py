import pathlib
import sys

import numpy as np
import tensorflow as tf

from postmarks.setting import read

YEARS = (1850, 1950)


def paper(side, count, shades=1, noise=0.1, **more):
    stamp = 0.5 if more.get("stamp") == "round" else 0.0
    x = np.random.rand(count, side, side, shades).astype("float32") + stamp
    return x + noise, np.random.randint(*YEARS, size=(count, 1)).astype("float32") / 1000


def build(shape, net):
    model = tf.keras.Sequential([tf.keras.Input(shape)])
    for layer in net:
        model.add(getattr(tf.keras.layers, layer["class_name"]).from_config(layer["config"]))
    return model


def main(path):
    conf = read(path)
    tf.keras.utils.set_random_seed(conf["seed"])
    x, y = paper(**conf["paper"])
    model = build(x.shape[1:], conf["net"])
    model.compile(optimizer=tf.keras.optimizers.get(conf["optimizer"]), loss="mse")
    keep = conf["keep"]
    pathlib.Path(keep["path"]).parent.mkdir(exist_ok=True)
    log = model.fit(x, y, verbose=0, **conf["fit"], callbacks=[
        tf.keras.callbacks.ModelCheckpoint(keep["path"], monitor=keep["monitor"], save_best_only=keep["best_only"])])
    print(x.shape, "loss", log.history["loss"])


if __name__ == "__main__":
    main(sys.argv[1])
