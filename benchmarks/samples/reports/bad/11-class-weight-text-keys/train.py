import json

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(17)


def defects(n=500):
    kind = rng.choice(3, n, p=[0.75, 0.08, 0.17])
    feats = rng.normal(loc=kind[:, None] * 0.4, size=(n, 6)).astype("float32")
    return feats, kind


with open("weights.json") as fh:
    weights = json.load(fh)

x, y = defects()
model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(24, "relu"), tf.keras.layers.Dense(3, "softmax")])
model.compile(loss="sparse_categorical_crossentropy", optimizer="sgd", metrics=["accuracy"])
model.fit(x, y, epochs=4, class_weight=weights, verbose=2)
print(np.bincount(model.predict(x, verbose=0).argmax(1), minlength=3))
