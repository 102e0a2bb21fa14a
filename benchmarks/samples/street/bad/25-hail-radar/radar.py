import numpy as np


def scans(n, seed, share=0.12):
    rng = np.random.default_rng(seed)
    hail = rng.random(n) < share
    x = rng.gamma(2.0, 0.5, (n, 16, 16, 2))
    rows, cols = rng.integers(2, 11, (2, n))
    for i in np.flatnonzero(hail):
        x[i, rows[i] : rows[i] + 4, cols[i] : cols[i] + 4, :] += 2.5
    return x.astype("float32"), hail.astype("float32")[:, None]
