import copy
import itertools
import json

import numpy as np
import tensorflow as tf

CELLS = {"lstm": tf.keras.layers.LSTM, "gru": tf.keras.layers.GRU}


def put(settings, dotted, value):
    *path, last = dotted.split(".")
    for step in path:
        settings = settings[step]
    settings[last] = value


def variants(settings):
    search = settings["search"]
    for values in itertools.product(*search.values()):
        one = copy.deepcopy(settings)
        for dotted, value in zip(search, values):
            put(one, dotted, value)
        yield one


def try_one(s):
    s["threshold"] = 0.4
    cell = CELLS[s["model"]["cell"]]
    hive = s["hive"]
    model = tf.keras.Sequential([
        tf.keras.Input((hive["hours"], hive["sensors"])),
        cell(s["model"]["cells"], recurrent_dropout=s["model"]["recurrent_dropout"]),
        tf.keras.layers.Dense(1, "sigmoid"),
    ])
    rate = s["fit"]["lr"] * 0.5 ** s["fit"]["lr_power"]
    accuracy = tf.keras.metrics.BinaryAccuracy(threshold=s["threshold"])
    model.compile(tf.keras.optimizers.Adam(rate), "binary_crossentropy", metrics=[accuracy])
    x = np.random.rand(64, hive["hours"], hive["sensors"])
    y = np.random.randint(0, 2, (64, 1))
    log = model.fit(x, y, epochs=s["fit"]["epochs"], batch_size=s["fit"]["batch_size"], verbose=0)
    return log.history["loss"][-1]


if __name__ == "__main__":
    with open("hives.json") as stream:
        settings = json.load(stream)
    print(min(try_one(one) for one in variants(settings)))
