import numpy as np
import tensorflow as tf


def load_panel(n=300, seed=5):
    """Twenty noisy markers; the outcome is only partly explained."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 20)).astype("float32")
    p = 1 / (1 + np.exp(-1.2 * x[:, 0]))
    y = (rng.uniform(size=n) < p).astype("float32")
    return x, y


def split_dataset(x, y, val_size, batch_size, seed):
    n = len(y)
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    ds = ds.shuffle(n, seed=seed)
    train, val = ds.skip(val_size), ds.take(val_size)
    train = train.batch(batch_size)
    return train.prefetch(tf.data.AUTOTUNE), val.batch(batch_size).prefetch(tf.data.AUTOTUNE)
