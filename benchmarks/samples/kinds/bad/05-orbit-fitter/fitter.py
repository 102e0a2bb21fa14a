"""Fits a small MLP to residuals of satellite positions."""
import time
import numpy as np
import tensorflow as tf


class ResidualFitter:
    def __init__(self, width=48, lr=2e-3):
        self.net = tf.keras.Sequential([
            tf.keras.Input((3,)),
            tf.keras.layers.Dense(width, activation="tanh"),
            tf.keras.layers.Dense(width, activation="tanh"),
            tf.keras.layers.Dense(3),
        ])
        self.opt = tf.keras.optimizers.Adam(lr)
        self.opt.build(self.net.trainable_variables)
        self._infer = tf.function(lambda x: self.net(x, training=False), reduce_retracing=True)

    def _one_step(self, x, y):
        with tf.GradientTape() as tape:
            err = self.net(x, training=True) - y
            loss = tf.reduce_mean(tf.square(err))
        g = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(g, self.net.trainable_variables))
        return loss

    def fit_batch(self, x, y):
        step = tf.function(self._one_step)
        return step(x, y)

    def predict(self, x):
        return self._infer(tf.convert_to_tensor(x, tf.float32)).numpy()


def arcs(n, seed=1):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 6.28, size=(n, 1))
    inc = rng.uniform(0.1, 1.2, size=(n, 1))
    r = rng.uniform(0.9, 1.1, size=(n, 1))
    x = np.concatenate([t, inc, r], 1)
    y = np.concatenate([r * np.cos(t), r * np.sin(t) * np.cos(inc), r * np.sin(t) * np.sin(inc)], 1)
    return x.astype("float32"), y.astype("float32")


if __name__ == "__main__":
    tf.random.set_seed(2)
    x, y = arcs(1280)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1280).batch(64)
    fitter = ResidualFitter()
    t0 = time.time()
    for epoch in range(2):
        total = 0.0
        for xb, yb in ds:
            total += float(fitter.fit_batch(xb, yb))
        print(f"epoch {epoch} loss {total / len(ds):.4f}")
    xt, yt = arcs(300, seed=9)
    print("test mse %.4f" % np.mean((fitter.predict(xt) - yt) ** 2), "time %.1fs" % (time.time() - t0))
