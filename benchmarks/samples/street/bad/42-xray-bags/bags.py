import numpy as np

SIDE = 64


def bag_scans(n, seed):
    rng = np.random.default_rng(seed)
    img = rng.random((n, SIDE, SIDE, 1), dtype="float32") * 0.5
    flagged = rng.random(n) < 0.4
    for i in np.flatnonzero(flagged):
        r, c = rng.integers(4, SIDE - 16, 2)
        img[i, r : r + 12, c : c + 4] += 0.5
    return img, flagged.astype("float32")[:, None]
