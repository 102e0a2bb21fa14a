"""Kernel measurements from the sorting line: length, width, weight, colour ..."""
import numpy as np

VARIETIES = ["durum", "spelt", "einkorn", "emmer", "rye"]


def load_measurements(n=1500, seed=3):
    rng = np.random.default_rng(seed)
    centres = rng.normal(0.0, 2.0, size=(len(VARIETIES), 9))
    variety = rng.integers(0, len(VARIETIES), size=n)
    x = centres[variety] + rng.normal(0.0, 0.8, size=(n, 9))
    return x.astype("float32"), variety.astype("int64")


def split(x, y, holdout=0.2, seed=11):
    order = np.random.default_rng(seed).permutation(len(x))
    cut = int(len(x) * (1.0 - holdout))
    train, test = order[:cut], order[cut:]
    return (x[train], y[train]), (x[test], y[test])
