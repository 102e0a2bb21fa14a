import numpy as np
import tensorflow as tf

import config

RAW = 80


def raw_scans(n, seed):
    rng = np.random.default_rng(seed)
    bars = rng.integers(0, 2, (n, 1, RAW // 4)).repeat(4, axis=2)
    img = np.broadcast_to(bars, (n, RAW, RAW)).astype("float32").copy()
    blurred = rng.random(n) < 0.5
    kernel = np.ones(9) / 9
    for i in np.flatnonzero(blurred):
        line = np.convolve(img[i, 0], kernel, mode="same")
        img[i] = line[None, :]
    img += rng.normal(0, 0.05, img.shape)
    return img[..., None].astype("float32"), blurred.astype("float32")[:, None]


def load(n, seed, size, training):
    scans, labels = raw_scans(n, seed)
    ds = tf.data.Dataset.from_tensor_slices((scans, labels))
    ds = ds.map(
        lambda img, lab: (tf.image.resize(img, size), lab),
        num_parallel_calls=tf.data.AUTOTUNE,
    )
    if training:
        ds = ds.shuffle(n, seed=seed)
    return ds.batch(config.BATCH_SIZE).prefetch(tf.data.AUTOTUNE)
