import sys

import numpy as np
import tensorflow as tf
import yaml

import callbacks

cfg = yaml.safe_load(open(sys.argv[1] if len(sys.argv) > 1 else "config.yaml"))
tf.keras.utils.set_random_seed(cfg["seed"])

x = np.random.randn(1500, 6).astype("float32")
y = ((x[:, 0] * x[:, 1] + x[:, 2]) > 0).astype("float32")

model = tf.keras.Sequential([
    tf.keras.Input((6,)),
    tf.keras.layers.Dense(24, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(tf.keras.optimizers.Adam(0.01), "binary_crossentropy", metrics=["accuracy"])
hist = model.fit(x[:1200], y[:1200], validation_data=(x[1200:], y[1200:]), epochs=cfg["epochs"],
                 batch_size=cfg["batch_size"], callbacks=callbacks.from_config(cfg), verbose=0)
print("epochs run:", len(hist.epoch), "of", cfg["epochs"])
print("val_accuracy:", [round(v, 3) for v in hist.history["val_accuracy"]])
print("kept model:", model.evaluate(x[1200:], y[1200:], verbose=0)[1])
