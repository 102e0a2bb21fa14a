import numpy as np
import tensorflow as tf

from augment import augment

AUTOTUNE = tf.data.AUTOTUNE


def sky(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = rng.uniform(0, 0.3, (n, 24, 24, 1))
    for i, k in enumerate(y):
        r, c = rng.integers(0, 15, 2)
        h, w = (9, 5) if k else (5, 9)
        x[i, r:r + h, c:c + w] += 0.7
    return x.astype("float32"), y.astype("float32")


def train_pipeline(x, y, batch_size):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    ds = ds.map(augment, num_parallel_calls=AUTOTUNE)
    ds = ds.cache()
    ds = ds.shuffle(len(y))
    return ds.batch(batch_size).prefetch(AUTOTUNE)


def test_pipeline(x, y, batch_size):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    return ds.batch(batch_size).cache().prefetch(AUTOTUNE)
