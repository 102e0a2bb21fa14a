import numpy as np
import tensorflow as tf


def river_level(n=1500, seed=3):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    level = np.sin(2 * np.pi * t / 60) + 0.3 * np.sin(2 * np.pi * t / 17)
    return (level + rng.normal(0, 0.05, n)).astype("float32")


def window_dataset(series, window, batch_size, shuffle):
    data = series[:, None]
    return tf.keras.utils.timeseries_dataset_from_array(
        data=data[:-1],
        targets=series[window:],
        sequence_length=window,
        batch_size=batch_size,
        shuffle=shuffle,
        seed=3,
    ).prefetch(tf.data.AUTOTUNE)
