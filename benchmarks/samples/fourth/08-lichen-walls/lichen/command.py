import argparse

import numpy as np
import tensorflow as tf

from lichen import net, settings


def walls(labels, palette, count=32):
    x = np.random.rand(count, len(labels)).astype("float32")
    for i, (name, colour) in enumerate(labels.items()):
        x[:, i] += 0.1 * palette.index(colour) + 0.01 * len(name)
    return x, x.sum(axis=1, keepdims=True)


def watchers(table):
    for name, args in table.items():
        if args is not None:
            yield getattr(tf.keras.callbacks, name)(**args)


def train(cfg):
    x, y = walls(cfg["labels"], cfg["palette"])
    model = net.make(x.shape[1:], **cfg["net"])
    if cfg["weights"]:
        model.load_weights(cfg["weights"])
    rate = dict(cfg["rate"])
    schedule = getattr(tf.keras.optimizers.schedules, rate.pop("kind"))(**rate)
    model.compile(tf.keras.optimizers.Adam(schedule), "mse", metrics=["mae"])
    log = model.fit(x, y, callbacks=list(watchers(cfg["watch"])), **cfg["fit"])
    print("loss", log.history["loss"])
    model.save_weights("lichen.weights.h5")


def score(cfg):
    x, y = walls(cfg["labels"], cfg["palette"])
    model = net.make(x.shape[1:], **cfg["net"])
    model.load_weights("lichen.weights.h5")
    if cfg.get("teacher") is not None:
        y = tf.keras.models.load_model(cfg["teacher"])(x).numpy()
    wrong = np.abs(model.predict(x, verbose=0) - y)
    for _ in range(cfg["score"]["repeat"]):
        print("near", float((wrong < float(cfg["score"]["threshold"])).mean()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["train", "score"])
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="changes")
    args = parser.parse_args()
    cfg = settings.load(args.changes)
    tf.keras.utils.set_random_seed(cfg["seed"])
    globals()[args.command](cfg)
