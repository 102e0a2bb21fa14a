import numpy as np
import tensorflow as tf


class RandomMirror(tf.keras.layers.Layer):
    """Mirror half of the fruit pictures, left-right; swaps nothing at inference."""

    def call(self, x, training=False):
        if not training:
            return x
        coin = tf.random.uniform([tf.shape(x)[0]], maxval=2, dtype=tf.int32)
        flip = tf.reshape(tf.cast(coin, tf.bool), [-1, 1, 1, 1])
        return tf.where(flip, tf.reverse(x, axis=[2]), x)


class RandomShade(tf.keras.layers.Layer):
    def call(self, x, training=False):
        if not training:
            return x
        k = tf.random.uniform([tf.shape(x)[0], 1, 1, 1], maxval=1)
        return x * (0.8 + 0.4 * k)


def fruit(n, seed, left_only):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n).astype("float32")
    x = rng.uniform(0, 0.3, (n, 16, 16, 1))
    for i in range(n):
        c = rng.integers(0, 5) if left_only or rng.random() < 0.5 else rng.integers(9, 13)
        r = rng.integers(0, 12)
        x[i, r:r + 3, c:c + 3] += 0.5 + 0.3 * y[i]
    return x.astype("float32"), y


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(0)
    x, y = fruit(640, 0, left_only=True)
    model = tf.keras.Sequential([
        tf.keras.Input((16, 16, 1)),
        RandomMirror(),
        RandomShade(),
        tf.keras.layers.Conv2D(8, 3, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=4, batch_size=32, verbose=0)
    out = RandomMirror()(x[:400], training=True).numpy()
    print("mirrored share %.3f" % np.mean([not np.array_equal(a, b) for a, b in zip(out, x[:400])]))
    print("test", model.evaluate(*fruit(300, 1, left_only=False), verbose=0))
