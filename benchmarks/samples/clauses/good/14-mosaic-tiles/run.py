import json

import tensorflow as tf
from pipeline import Pipeline

config = json.load(open("tiles.json"))
pipeline = Pipeline(config)
images, labels = tf.random.uniform([256, 32, 32, 3]), tf.random.uniform([256, 1])
model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(pipeline.training(images, labels), epochs=config["epochs"])
