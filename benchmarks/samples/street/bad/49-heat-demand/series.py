import numpy as np


def hourly_demand(hours=1500, seed=49):
    """District heating load: daily shape on top of a slow random drift."""
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    drift = np.cumsum(rng.normal(0, 0.9, hours))
    daily = 2.0 * np.sin(2 * np.pi * t / 24)
    return (50 + drift + daily + rng.normal(0, 0.3, hours)).astype("float32")


def cut_windows(series, lookback, horizon):
    n = len(series) - lookback - horizon + 1
    rows = np.arange(n)[:, None]
    x = series[rows + np.arange(lookback)[None, :]]
    y = series[rows + lookback + np.arange(horizon)[None, :]].mean(axis=1, keepdims=True)
    return x, y
