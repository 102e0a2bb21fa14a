import time

import numpy as np
import tensorflow as tf
import yaml


def build(units, layers):
    net = tf.keras.Sequential([tf.keras.Input((16,))])
    for _ in range(layers):
        net.add(tf.keras.layers.Dense(units, activation="relu"))
    net.add(tf.keras.layers.Dense(1))
    return net


c = yaml.safe_load(open("conf.yaml"))
model = build(**c["model"])
model.compile(**c["compile"])
x = np.random.rand(6000, 16).astype("float32")
y = x.mean(1)
model.fit(x, y, epochs=1, verbose=0)
t = time.time()
model.fit(x, y, epochs=2, verbose=0)
print("seconds", round(time.time() - t, 2))
