import numpy as np

SIDE = 32


def leaves(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:SIDE, :SIDE]
    mask = np.zeros((n, SIDE, SIDE), "float32")
    for i in range(n):
        for _ in range(rng.integers(1, 4)):
            cy, cx = rng.integers(4, SIDE - 4, 2)
            mask[i][np.hypot(yy - cy, xx - cx) < rng.integers(2, 5)] = 1.0
    img = 0.6 + rng.normal(0, 0.08, (n, SIDE, SIDE, 3))
    img[..., 1] -= 0.35 * mask
    return img.astype("float32"), mask[..., None]
