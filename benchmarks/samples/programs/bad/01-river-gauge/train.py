import numpy as np
import tensorflow as tf

from layers import AffineCalibration, Clip

SENSORS = 4
tf.keras.utils.set_random_seed(7)


def readings(n=600):
    gain = np.array([0.5, 2.0, 1.4, 0.8], "float32")
    level = np.random.rand(n, 1).astype("float32")
    raw = (level - 0.1) / gain + 0.01 * np.random.randn(n, SENSORS).astype("float32")
    return raw, np.repeat(level, SENSORS, axis=1)


def build():
    inp = tf.keras.Input((SENSORS,), name="raw")
    x = AffineCalibration(SENSORS, name="calibration")(inp)
    x = Clip(-5.0, 5.0)(x)
    return tf.keras.Model(inp, x)


raw, level = readings()
model = build()
model.compile(tf.keras.optimizers.SGD(0.5), loss="mse")
history = model.fit(raw, level, epochs=5, batch_size=50, verbose=0)
print("loss per epoch", [round(v, 5) for v in history.history["loss"]])
print("gain", model.get_layer("calibration").gain.numpy())
