import numpy as np
import tensorflow as tf
import yaml

from norm import PixelNorm

cfg = yaml.safe_load(open("train.yaml"))
tf.keras.utils.set_random_seed(0)
tf.keras.mixed_precision.set_global_policy(cfg["precision"])

inp = tf.keras.Input((16, 16, 2))
x = inp
for _ in range(2):
    x = tf.keras.layers.Conv2D(cfg["channels"], 3, padding="same", activation="relu")(x)
    x = PixelNorm(cfg["eps"])(x)
x = tf.keras.layers.Conv2D(1, 1)(x)
out = tf.keras.layers.Activation("sigmoid", dtype="float32")(x)
model = tf.keras.Model(inp, out)

# halos on an empty background
img = np.zeros((48, 16, 16, 2), "float32")
img[:, 5:10, 5:10] = np.random.rand(48, 5, 5, 2)
mask = (img.sum(-1, keepdims=True) > 0.8).astype("float32")

model.compile(tf.keras.optimizers.Adam(cfg["lr"]), "binary_crossentropy")
model.fit(img, mask, epochs=cfg["epochs"], batch_size=8, verbose=2)
print("finite output:", bool(np.isfinite(model.predict(img[:4], verbose=0)).all()))
