import numpy as np


def sales(n=900, seed=11):
    """Random walk with weekly rhythm."""
    rng = np.random.default_rng(seed)
    walk = np.cumsum(rng.normal(0, 1.0, n))
    return (walk + 2.0 * np.sin(2 * np.pi * np.arange(n) / 7)).astype("float32")


def make_windows(series, length, horizon):
    views = np.lib.stride_tricks.sliding_window_view(series, length + horizon)
    return views[:, :length].copy(), views[:, length:].mean(axis=1, keepdims=True)


def split(x, y, val_share, gap, seed):
    n_val = int(len(x) * val_share)
    order = np.random.default_rng(seed).permutation(len(x))
    train, val = order[n_val:], order[:n_val]
    return (x[train], y[train]), (x[val], y[val])
