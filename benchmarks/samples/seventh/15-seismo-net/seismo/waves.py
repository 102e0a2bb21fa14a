import numpy as np
import tensorflow as tf


def events(cfg, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, cfg.noise, (cfg.events, cfg.samples, cfg.stations))
    quake = rng.integers(0, 2, cfg.events)
    t = np.arange(cfg.samples)
    for i in np.flatnonzero(quake):
        start = rng.integers(20, cfg.samples // 2)
        pulse = np.where(t >= start, np.sin(0.4 * (t - start)) * np.exp(-(t - start) / 30), 0)
        x[i] += pulse[:, None] * rng.uniform(0.7, 1.3, cfg.stations)
    return x.astype("float32"), quake.astype("float32")[:, None]


def datasets(cfg, seed):
    x, y = events(cfg, seed)
    n_test = int(cfg.test_share * cfg.events)
    train = tf.data.Dataset.from_tensor_slices((x[n_test:], y[n_test:]))
    train = train.shuffle(cfg.events - n_test, seed=seed).repeat()
    test = tf.data.Dataset.from_tensor_slices((x[:n_test], y[:n_test]))
    return (train.batch(cfg.batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE),
            test.batch(cfg.batch_size))
