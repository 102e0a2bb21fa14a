import sys

import numpy as np
import tensorflow as tf
from tensorflow import keras

from lib import load


def gate_counts(d):
    rng = np.random.default_rng(d.seed)
    x = rng.random((d.days * 4, d.gates)).astype("float32")
    y = x.sum(axis=1, keepdims=True)
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if d.get("shuffle", False):
        ds = ds.shuffle(len(x), seed=d.seed)
    return ds


def network(m, gates):
    net = keras.Sequential([keras.Input((gates,))])
    for _ in range(m.depth):
        net.add(keras.layers.Dense(m.units, activation=m.activation))
    net.add(keras.layers.Dense(1))
    return net


def main(path):
    cfg = load(path)
    keras.utils.set_random_seed(cfg.data.seed)
    ds = gate_counts(cfg.data).batch(cfg.train.batch)
    net = network(cfg.model, cfg.data.gates)
    net.compile(keras.optimizers.SGD(**cfg.train.sgd.as_dict()), loss=cfg.train.loss)
    hist = net.fit(ds, epochs=cfg.train.epochs, verbose=0)
    print(len(hist.history["loss"]), "epochs, loss", round(hist.history["loss"][-1], 5))
    net.save(cfg.out)


if __name__ == "__main__":
    main(sys.argv[1])
