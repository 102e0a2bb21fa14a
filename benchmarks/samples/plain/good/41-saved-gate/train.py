import pathlib
import tempfile

import numpy as np
import tensorflow as tf

from layers import FeatureGate


def plots(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 14)).astype("float32")
    y = (x[:, 0] - x[:, 1] + 0.5 * x[:, 2]).astype("float32")
    return x, y[:, None]


def build():
    inputs = tf.keras.Input((14,))
    x = FeatureGate(14, sharpness=4.0)(inputs)
    x = tf.keras.layers.Dense(16, activation="relu")(x)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(1)(x))


def main():
    tf.keras.utils.set_random_seed(46)
    x, y = plots(600, 1)
    x_test, y_test = plots(200, 2)
    model = build()
    model.compile(tf.keras.optimizers.Adam(1e-2), "mse")
    model.fit(x, y, epochs=8, batch_size=32, verbose=0)
    print("before saving", model.evaluate(x_test, y_test, verbose=0))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "gate.keras"
        model.save(path)
        restored = tf.keras.models.load_model(path)
    print("after loading", restored.evaluate(x_test, y_test, verbose=0))


if __name__ == "__main__":
    main()
