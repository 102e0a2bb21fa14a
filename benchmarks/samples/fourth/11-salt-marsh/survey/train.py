"""Which species live on a plot of the salt marsh?"""
import os

import numpy as np
import tensorflow as tf
from absl import app, flags

from survey import conf

FILE = flags.DEFINE_string("file", "marsh/birds.yaml", "Which survey.")
DRY = flags.DEFINE_boolean("dry", False, "Only build the model.")


def plots(data, seed):
    rng = np.random.default_rng(seed)
    x = rng.random((data.plots, 6), dtype="float32")
    if data.wet is True:
        x += 0.5
    return x, rng.integers(0, data.species, data.plots)


def rate(schedule):
    schedule = dict(schedule)
    return getattr(tf.keras.optimizers.schedules, schedule.pop("kind"))(**schedule)


def main(_):
    plain = conf.load(FILE.value)
    c = conf.fill(plain, plain["name"])
    tf.keras.utils.set_random_seed(c.seed)
    x, y = plots(c.data, c.seed)
    model = tf.keras.Sequential([
        tf.keras.Input((6,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(**c.head)])
    model.compile(tf.keras.optimizers.Adam(rate(c.train.schedule)), c.train.loss, metrics=["accuracy"])
    if DRY.value:
        return
    watchers = []
    if "watch" in c.train:
        watchers.append(tf.keras.callbacks.EarlyStopping(**c.train.watch))
    cut = len(x) * 4 // 5
    ds = tf.data.Dataset.from_tensor_slices((x[:cut], y[:cut])).shuffle(cut).repeat()
    log = model.fit(
        ds.batch(c.train.batch).prefetch(2), steps_per_epoch=cut / c.train.batch, epochs=c.train.epochs,
        validation_data=(x[cut:], y[cut:]), callbacks=watchers, verbose=0)
    os.makedirs(os.path.dirname(c.paths.model), exist_ok=True)
    model.save(c.paths.model)
    print(c.name, "loss", log.history["loss"])


if __name__ == "__main__":
    app.run(main)
