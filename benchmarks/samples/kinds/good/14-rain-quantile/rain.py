import numpy as np
import tensorflow as tf


def quantile_loss(q):
    def loss(y_true, y_pred):
        e = y_true - y_pred
        return tf.reduce_mean(tf.maximum(q * e, (q - 1) * e), axis=-1)
    loss.__name__ = "pinball_%02d" % int(q * 100)
    return loss


def coverage(y_true, y_pred):
    return tf.reduce_mean(tf.cast(y_true <= y_pred, tf.float32))


def gauges(n=1500, seed=2):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, (n, 4)).astype("float32")
    rain = rng.gamma(1 + 3 * x[:, 0], 1 + x[:, 1])
    return x, np.log1p(rain).astype("float32")[:, None]


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(0)
    x, y = gauges()
    for q in (0.5, 0.9):
        model = tf.keras.Sequential([
            tf.keras.Input((4,)),
            tf.keras.layers.Dense(24, activation="relu"),
            tf.keras.layers.Dense(1),
        ])
        model.compile("adam", loss=quantile_loss(q), metrics=[coverage])
        model.fit(x, y, epochs=8, batch_size=64, validation_split=0.2, verbose=0)
        print(q, model.evaluate(x, y, verbose=0))
