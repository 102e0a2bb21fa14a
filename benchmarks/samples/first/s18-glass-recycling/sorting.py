"""Green glass or brown?"""
import json
import pathlib
from functools import partial

import numpy as np
import tensorflow as tf
from tensorflow import keras


class Job:
    def __init__(self, runtime, compile, fit):
        self.scope = getattr(tf.distribute, runtime["strategy"])().scope
        keras.mixed_precision.set_global_policy(runtime["precision"])
        keras.utils.set_random_seed(runtime["seed"])
        self.compile = partial(keras.Model.compile, **compile)
        self.fit = partial(keras.Model.fit, **fit)

    def run(self, x, y, held_out):
        with self.scope():
            model = keras.Sequential([
                keras.Input(x.shape[1:]),
                keras.layers.Dense(16, activation="relu"),
                keras.layers.Dense(1, activation="sigmoid", dtype="float32"),
            ])
            self.compile(model, optimizer=keras.optimizers.Adam(0.01))
        return self.fit(model, x, y, validation_data=held_out, verbose=0).history


job = Job(**json.loads(pathlib.Path("sorting.json").read_text()))
rng = np.random.default_rng(4)
x = rng.random((80, 6), dtype="float32")
y = (x[:, :1] > 0.8).astype("float32")
history = job.run(x[:64], y[:64], (x[64:], y[64:]))
print(sorted(history), history["loss"][-1])
