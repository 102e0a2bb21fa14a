import numpy as np
import tensorflow as tf
from signsgd import SignMomentum

tf.keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(600, 7)).astype("float32")
y = (np.abs(x[:, 0]) + x[:, 1]).astype("float32")[:, None]

model = tf.keras.Sequential([
    tf.keras.Input((7,)),
    tf.keras.layers.Dense(32, activation="relu"),
    tf.keras.layers.Dense(1),
])
model.compile(optimizer=SignMomentum(1e-3, beta=0.95), loss="mse")
h = model.fit(x, y, epochs=10, batch_size=32, validation_split=0.1, verbose=0)
print("loss", [round(v, 3) for v in h.history["loss"]])
