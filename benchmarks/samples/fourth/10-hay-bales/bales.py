"""Weigh hay bales by their photograph (here: by four numbers)."""
import gzip
import json
import sys

import numpy as np
import tensorflow as tf
from omegaconf import OmegaConf

OmegaConf.register_new_resolver("half", lambda n: n // 2)


def settings(argv):
    conf = OmegaConf.load("field.yaml")
    return OmegaConf.merge(conf, OmegaConf.from_dotlist([word.lstrip("+") for word in argv]))


def data(conf):
    parts = []
    for name in conf.fields:
        parts.append(np.random.rand(16, 4).astype("float32") + conf.by_field[name][conf.weather])
    x = np.concatenate(parts)
    return x, x.mean(axis=1, keepdims=True)


def archive(log, compress, level):
    text = json.dumps(log).encode()
    with open("log.json.gz" if compress else "log.json", "wb") as out:
        out.write(gzip.compress(text, level) if compress else text)


def main():
    conf = settings(sys.argv[1:])
    tf.keras.utils.set_random_seed(17)
    x, y = data(conf)
    model = tf.keras.Sequential([
        tf.keras.Input((4,)),
        tf.keras.layers.Dense(conf.net.width, activation=conf.net.bend),
        tf.keras.layers.Dense(conf.net.inner, activation=conf.net.bend),
        tf.keras.layers.Dense(1),
    ])
    optim = OmegaConf.to_container(conf.optim)
    rule = {"adamw": tf.keras.optimizers.AdamW, "lion": tf.keras.optimizers.Lion}[optim.pop("name")]
    model.compile(rule(**optim), "mse")
    stop = tf.keras.callbacks.EarlyStopping(conf.fit.stop.what, patience=conf.fit.stop.after)
    log = model.fit(x, y, batch_size=conf.fit.flock, epochs=conf.fit.rounds,
                    validation_split=conf.fit.split, callbacks=[stop], verbose=0)
    archive(log.history, **conf.archive)
    print("loss", log.history["loss"], "" if OmegaConf.is_missing(conf, "note") else conf.note)


if __name__ == "__main__":
    main()
