import numpy as np
import tensorflow as tf


def winters(data, seed):
    rng = np.random.default_rng(seed)
    depth = np.linspace(0.5, 2.0, len(data.lakes))
    lake = rng.integers(0, len(data.lakes), data.winters)
    trend = rng.normal(0, 1, data.winters)
    temp = trend[:, None] * 0.1 * np.arange(data.days) + rng.normal(0, 1, (data.winters, data.days))
    x = np.stack([temp, np.broadcast_to(depth[lake][:, None], temp.shape)], -1)
    freeze = 2.0 + depth[lake] + trend * 0.5
    return x.astype("float32"), freeze.astype("float32")[:, None]


def split(data, seed):
    x, y = winters(data, seed)
    cut = data.winters * 4 // 5
    mean, std = x[:cut].mean((0, 1)), x[:cut].std((0, 1))
    x = (x - mean) / std
    train = tf.data.Dataset.from_tensor_slices((x[:cut], y[:cut])).cache().shuffle(cut, seed=seed)
    test = tf.data.Dataset.from_tensor_slices((x[cut:], y[cut:]))
    return (train.batch(data.batch_size).prefetch(tf.data.AUTOTUNE),
            test.batch(data.batch_size).prefetch(tf.data.AUTOTUNE))
