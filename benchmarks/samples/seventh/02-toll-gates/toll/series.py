import numpy as np
import tensorflow as tf


def counts(gates, hours):
    rng = np.random.default_rng(3)
    t = np.arange(hours)[:, None]
    phase = rng.uniform(0, 6, gates)
    level = rng.uniform(50, 200, gates)
    x = level * (1 + 0.5 * np.sin(2 * np.pi * t / 24 + phase)) + rng.normal(0, 8, (hours, gates))
    return np.maximum(x, 0).astype("float32")


def split(conf):
    data = conf["data"]
    raw = counts(data["gates"], data["hours"])
    mean, std = raw.mean(axis=0), raw.std(axis=0)
    scaled = (raw - mean) / std
    cut = int(len(scaled) * (1 - data["val_share"]))
    return scaled[:cut], scaled[cut:], (mean, std)


def windows(values, conf, training):
    data = conf["data"]
    back, ahead = data["lookback"], data["horizon"]
    n = len(values) - back - ahead + 1
    x = np.stack([values[i:i + back] for i in range(n)])
    y = np.stack([values[i + back:i + back + ahead] for i in range(n)])
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        ds = ds.shuffle(n)
    return ds.batch(data["batch_size"]).prefetch(tf.data.AUTOTUNE)
