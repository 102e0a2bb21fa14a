import configparser

import tensorflow as tf

from pipeline import Pipeline, parcels

config = configparser.ConfigParser()
config.read("config.ini")

pipe = Pipeline(config["data"])
x, y = parcels(config["data"].getint("rows"))

model = tf.keras.Sequential([tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1)])
model.compile("adam", "mae", jit_compile=False)
model.fit(pipe.training(x, y), epochs=config["train"].getint("epochs"), verbose=0)

weights = model.predict(pipe.inference(x), verbose=0)
with open("weights.csv", "w") as fh:
    for row, w in zip(x, weights):
        fh.write(",".join(f"{v:.3f}" for v in [*row, *w]) + "\n")
print("parcels", len(x), "lines written", sum(1 for _ in open("weights.csv")))
