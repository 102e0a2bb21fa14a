import numpy as np

SIDE = 96
GRADES = 4


def coins(n, seed):
    rng = np.random.default_rng(seed)
    grade = rng.integers(0, GRADES, n)
    yy, xx = np.mgrid[:SIDE, :SIDE] - SIDE / 2
    disc = (np.hypot(xx, yy) < SIDE * 0.42)[None]
    relief = np.sin(np.hypot(xx, yy) / 3.0)[None] * (0.45 - 0.11 * grade[:, None, None])
    img = disc * (0.5 + relief) + rng.normal(0, 0.04, (n, SIDE, SIDE))
    return img[..., None].astype("float32"), grade.astype("int64")
