import numpy as np


def hourly_load(days, seed=0):
    t = np.arange(24 * days)
    rng = np.random.default_rng(seed)
    load = 50 + 10 * np.sin(2 * np.pi * t / 24) + 3 * np.sin(2 * np.pi * t / 168)
    return (load + rng.normal(0, 1, t.shape)).astype("float32")


def windows(values, window, horizon):
    n = len(values) - window - horizon + 1
    x = np.stack([values[i : i + window] for i in range(n)])[..., None]
    y = np.stack([values[i + window : i + window + horizon] for i in range(n)])
    return x, y
