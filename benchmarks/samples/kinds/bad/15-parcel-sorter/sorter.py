import pathlib
import numpy as np
import tensorflow as tf
import yaml
from tensorflow.keras import layers

conf = yaml.safe_load(pathlib.Path(__file__).with_name("conf.yaml").read_text())


def parcels(n, seed, classes):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    x = rng.normal(0, 0.6, (n, 16, 16, 1))
    for i, k in enumerate(y):
        x[i, 2 * k:2 * k + 3, 3:13] += 0.5
    return x.astype("float32"), y


def make_model(filters, classes):
    inp = layers.Input((16, 16, 1))
    h = inp
    for f in filters:
        h = layers.Conv2D(f, 3, padding="same")(h)
        h = layers.ReLU()(h)
        h = layers.MaxPooling2D()(h)
    h = layers.Flatten()(h)
    return tf.keras.Model(inp, layers.Dense(classes, name="scores")(h))


tf.keras.utils.set_random_seed(1)
x, y = parcels(1500, 0, conf["model"]["classes"])
xv, yv = parcels(400, 1, conf["model"]["classes"])

model = make_model(**conf["model"])
t = conf["train"]
model.compile(optimizer=t["optimizer"], loss=t["loss"], metrics=["accuracy"])
model.fit(x, y, validation_data=(xv, yv), epochs=t["epochs"], batch_size=t["batch"], verbose=2)

probs = tf.nn.softmax(model.predict(xv, verbose=0), axis=-1).numpy()
print("confident share %.2f" % np.mean(probs.max(1) > 0.8))
