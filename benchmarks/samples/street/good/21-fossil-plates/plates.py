import numpy as np

from backbone import SIDE


def _draw(kind, rng):
    img = rng.normal(0.3, 0.08, (SIDE, SIDE))
    cx, cy = rng.integers(10, 22, 2)
    yy, xx = np.mgrid[:SIDE, :SIDE]
    r = np.hypot(xx - cx, yy - cy)
    if kind == 0:
        img += 0.5 * (np.abs(r - 7) < 1.5)
    elif kind == 1:
        img += 0.5 * (np.sin(r * 1.6) > 0.6) * (r < 9)
    elif kind == 2:
        img += 0.5 * ((np.abs(xx - cx) < 2) & (np.abs(yy - cy) < 9))
    elif kind == 3:
        img += 0.5 * ((np.abs(yy - cy) < 2) & (np.abs(xx - cx) < 9))
    else:
        img += 0.5 * (np.abs(xx - cx) + np.abs(yy - cy) < 8)
    return img


def plates(n, kinds, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(kinds), n)
    images = np.stack([_draw(kinds[k], rng) for k in labels])
    return images[..., None].astype("float32"), labels.astype("int64")
