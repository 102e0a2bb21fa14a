import numpy as np


def nights(n, seed):
    rng = np.random.default_rng(seed)
    dew = rng.normal(2, 4, n)
    cloud = rng.random(n)
    wind = rng.gamma(2.0, 1.5, n)
    evening = rng.normal(7, 4, n)
    low = evening - 6 * (1 - cloud) + 0.6 * wind + 0.3 * dew
    frost = (low + rng.normal(0, 2.5, n) < 1).astype("float32")
    x = np.stack([dew / 4, cloud, wind / 3, evening / 5], axis=1)
    return x.astype("float32"), frost[:, None]
