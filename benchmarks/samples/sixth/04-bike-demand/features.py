import numpy as np
import tensorflow as tf


def hourly_rides(days=60):
    rng = np.random.default_rng(5)
    hours = np.arange(days * 24)
    return (np.sin(hours / 24 * 2 * np.pi) + 2 + 0.1 * rng.normal(size=len(hours))).astype("float32")


def windows(series, cfg):
    x, y = [], []
    for i in range(0, len(series) - cfg.history - cfg.horizon, 3):
        x.append(series[i:i + cfg.history, None])
        y.append(series[i + cfg.history:i + cfg.history + cfg.horizon])
    return np.array(x), np.array(y)


def datasets(cfg):
    series = hourly_rides()
    cut = len(series) - cfg.test_days * 24
    x, y = windows(series[:cut], cfg)
    train = tf.data.Dataset.from_tensor_slices((x, y))
    if cfg.shuffle:
        train = train.shuffle(len(x), seed=1)
    test = tf.data.Dataset.from_tensor_slices(windows(series[cut:], cfg))
    return train.batch(cfg.batch_size), test.batch(cfg.batch_size)
