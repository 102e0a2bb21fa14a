import numpy as np
import tensorflow as tf
import device

device.setup()

STOPS = 12
rng = np.random.default_rng(0)
stop = rng.integers(0, STOPS, 1500)
hour = rng.uniform(5, 24, 1500).astype("float32")
load = 20 + 10 * np.sin(hour / 4) + stop + rng.normal(size=1500)

inp_s = tf.keras.Input((), dtype="int32", name="stop")
inp_h = tf.keras.Input((1,), name="hour")
e = tf.keras.layers.Embedding(STOPS, 4)(inp_s)
h = tf.keras.layers.Concatenate()([e, tf.keras.layers.Rescaling(1 / 24.0)(inp_h)])
h = tf.keras.layers.Dense(32, activation="relu")(h)
model = tf.keras.Model([inp_s, inp_h], tf.keras.layers.Dense(1)(h))
model.compile(tf.keras.optimizers.Adam(1e-2), loss="mae")
model.fit({"stop": stop, "hour": hour[:, None]}, load, epochs=3, batch_size=50, verbose=2)
print("visible devices", [d.device_type for d in tf.config.get_visible_devices()])
