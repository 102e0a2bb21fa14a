"""Tag traditional tunes: a short stage first, the real one after it."""
import json
from collections import ChainMap
from functools import partial
from string import Template

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def read(path):
    def clean(pairs):
        return {k: v for k, v in pairs if not k.startswith("_")}

    with open(path) as f:
        return json.load(f, object_pairs_hook=clean)


def tunes(rate, n_classes, n=48):
    rng = np.random.default_rng(0)
    y = np.arange(n) % n_classes
    t = np.arange(rate // 4) / rate
    x = np.sin(2 * np.pi * 220 * (1 + y[:, None]) * t) + 0.1 * rng.normal(size=(n, len(t)))
    return x.astype("float32"), y


def features(x, *, sample_rate, **stft):
    spec = tf.abs(tf.signal.stft(x, **stft))
    return tf.math.log1p(spec).numpy()


def build(shape, cfg):
    dense = partial(layers.Dense, **cfg["dense"])
    inputs = layers.Input(shape)
    x = dense()(inputs)
    x = x + layers.MultiHeadAttention(**cfg["attention"])(x, x)
    x = dense(units=32)(layers.GlobalAveragePooling1D()(x))
    return tf.keras.Model(inputs, layers.Dense(cfg["num_classes"])(x))


def main():
    cfg = read("tagger.json")
    assert cfg["num_classes"] == len(cfg["genres"]) + 1
    name = Template(cfg["run_name"]).substitute(genre_count=len(cfg["genres"]))
    tf.keras.utils.set_random_seed(1)
    waves, y = tunes(cfg["frontend"]["sample_rate"], cfg["num_classes"])
    x = features(waves, **cfg["frontend"])
    model = build(x.shape[1:], cfg)

    for stage in cfg["stages"]:
        knobs = ChainMap(stage.get("overrides", {}), cfg["defaults"])
        schedule = cfg.get(stage["name"] + "_schedule")
        rate = tf.keras.optimizers.schedules.deserialize(schedule) if schedule else knobs["learning_rate"]
        model.compile(
            tf.keras.optimizers.AdamW(rate, weight_decay=knobs["weight_decay"]),
            tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        )
        history = model.fit(x, y, knobs["batch_size"], stage["epochs"], verbose=0)
        print(name, stage["name"], "loss %.5f" % history.history["loss"][-1])


if __name__ == "__main__":
    main()
