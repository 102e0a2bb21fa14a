import numpy as np

import conf


def crossings():
    rng = np.random.default_rng(10)
    columns = {name: rng.random(48) for name in ("wind", "wave", "cars", "hour")}
    x = np.stack([columns[name] for name in conf.get("features")], axis=1).astype("float32")
    return x, x.sum(axis=1, keepdims=True)
