"""Guess when the pigeon is home."""
import sys

import numpy as np
import tensorflow as tf

from pigeons.models import open_flight

PARTS = {"flat": tf.keras.layers.Dense, "recurrent": tf.keras.layers.SimpleRNN}


def build(wing, messages):
    model = tf.keras.Sequential([tf.keras.Input((messages, 2))])
    if wing.kind == "flat":
        model.add(tf.keras.layers.Flatten())
    model.add(PARTS[wing.kind](wing.units, **wing.layer))
    model.add(tf.keras.layers.Dense(1))
    return model


def main(path):
    flight = open_flight(path)
    tf.keras.utils.set_random_seed(6)
    loft, train = flight.loft, flight.train
    x = np.random.rand(loft.birds, loft.messages, 2).astype("float32") * loft.homing_rate
    model = build(flight.wing, loft.messages)
    rule = getattr(tf.keras.optimizers, train.optimizer)
    args = {k: float(v) if k == "learning_rate" else v for k, v in train.optimizer_args.items()}
    model.compile(rule(**args), "mse")
    savers = []
    if train.checkpoint:
        savers.append(tf.keras.callbacks.ModelCheckpoint(
            train.checkpoint, monitor="loss", save_best_only=True, save_weights_only=train.weights_only))
    log = model.fit(x, x.sum(axis=(1, 2))[:, None], epochs=train.passes, callbacks=savers, verbose=0)
    print(x.shape, "loss", log.history["loss"])


if __name__ == "__main__":
    main(sys.argv[1])
