import json

import tensorflow as tf
from signs import OPTIMIZERS

conf = json.load(open("conf.json"))
model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="softmax")])
model.compile(OPTIMIZERS[conf["optimizer"]](conf["rate"]), "sparse_categorical_crossentropy")
x = tf.random.normal([500, 4])
model.fit(x, tf.argmax(x[:, :3], -1), epochs=conf["epochs"])
