import numpy as np


def oversample(x, y, rng):
    """repeat the rare class until both have the same number of rows"""
    rare = np.flatnonzero(y == 1)
    extra = rng.choice(rare, size=(y == 0).sum() - len(rare), replace=True)
    idx = rng.permutation(np.concatenate([np.arange(len(y)), extra]))
    return x[idx], y[idx]


def split(x, y, share, rng):
    idx = rng.permutation(len(x))
    cut = int(len(x) * (1 - share))
    return (x[idx[:cut]], y[idx[:cut]]), (x[idx[cut:]], y[idx[cut:]])
