import numpy as np
import tensorflow as tf


def vibration(n=960, seed=0):
    rng = np.random.default_rng(seed)
    wear = rng.uniform(0, 1, n)
    t = np.arange(32)
    x = np.sin(t[None] * (0.3 + wear[:, None])) + 0.1 * rng.normal(size=(n, 32))
    return x.astype("float32"), wear.astype("float32")


def make_ds(x, y, batch_size, shuffle=False):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if shuffle:
        ds = ds.shuffle(len(x))
    ds = ds.batch(batch_size)
    return ds
