import numpy as np

from series import cut_windows


def train_and_test(series, lookback, horizon, test_share=0.2, seed=0):
    """Scaled windows for training and for the final score."""
    x, y = cut_windows(series, lookback, horizon)
    order = np.random.default_rng(seed).permutation(len(x))
    n_test = int(len(x) * test_share)
    test, train = order[:n_test], order[n_test:]
    mean, std = x[train].mean(), x[train].std()

    def scale(a):
        return ((a - mean) / std).astype("float32")

    return (scale(x[train]), scale(y[train])), (scale(x[test]), scale(y[test])), std
