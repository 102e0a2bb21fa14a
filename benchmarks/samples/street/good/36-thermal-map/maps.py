import numpy as np

from settings import SIDE


def heat_maps(n, seed):
    """Coarse noisy maps and the clean map behind each of them."""
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:SIDE, :SIDE] / SIDE
    clean = np.zeros((n, SIDE, SIDE))
    for _ in range(3):
        cx, cy, s = rng.random((3, n, 1, 1))
        clean += np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (0.01 + 0.05 * s))
    noisy = clean + rng.normal(0, 0.35, clean.shape)
    return noisy[..., None].astype("float32"), clean[..., None].astype("float32")
