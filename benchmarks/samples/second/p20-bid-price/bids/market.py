import numpy as np

from bids import cfg

SEED = cfg.get("seed", 1)


def auctions():
    rng = np.random.default_rng(SEED)
    x = rng.random((128, 7), dtype="float32")
    return x, x @ np.arange(7, dtype="float32")[:, None]
