import numpy as np


def load(series, seed):
    rng = np.random.default_rng(seed)
    price = np.cumsum(rng.normal(size=320)).astype("float32")
    n, stride = series.getint("lookback"), series.getint("stride")
    if series.getboolean("normalise"):
        price = (price - price.mean()) / price.std()
    starts = range(0, len(price) - n - 1, stride)
    x = np.stack([price[s:s + n, None] for s in starts])
    return x, np.array([price[s + n] for s in starts])
