"""Predict which order lines will be picked wrongly."""
from operator import itemgetter

import numpy as np
import tensorflow as tf
import yaml

import features

with open("picks.yaml") as f:
    plan = yaml.safe_load(f)

orders, batch, holdout, seed = itemgetter("orders", "batch", "holdout", "seed")(plan)
tf.keras.utils.set_random_seed(seed)

columns = {name: features.make(**column) for name, column in plan["columns"].items()}
x = {name: column.sample(orders) for name, column in columns.items()}
y = (x["weight"] + x["zone"] > 2).astype("float32")

inputs = {name: tf.keras.Input((1,), name=name, dtype=values.dtype.name) for name, values in x.items()}
tensor = tf.keras.layers.Concatenate()([columns[name].encode(inputs[name]) for name in columns])
for spec in plan["layers"]:
    options = dict(spec)
    layer = getattr(tf.keras.layers, options.pop("type"))
    tensor = layer(**options)(tensor)
model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(tensor))
model.compile(
    "adam",
    tf.keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[tf.keras.metrics.AUC(curve="PR", from_logits=True, name=plan["watch"].removeprefix("val_"))],
)

cut = int(orders * (1 - holdout))
train = {name: values[:cut] for name, values in x.items()}, y[:cut]
valid = {name: values[cut:] for name, values in x.items()}, y[cut:]
stop = tf.keras.callbacks.EarlyStopping(plan["watch"], mode="max", patience=1)
for name in plan["order"]:
    match plan["phases"][name]:
        case {"epochs": epochs, "step": step}:
            model.optimizer.learning_rate = float(step)
            log = model.fit(*train, validation_data=valid, batch_size=batch, epochs=epochs, callbacks=[stop], verbose=0)
            print(name, {k: round(float(np.mean(v)), 4) for k, v in log.history.items()})
