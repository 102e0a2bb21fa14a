import numpy as np

SRC = {c: i + 1 for i, c in enumerate("abcdefghij")}
START, BASE, STEPS = 1, 2, 6


def pairs(n, seed):
    """Letters are written out as digits in reverse order."""
    rng = np.random.default_rng(seed)
    letters = rng.integers(0, 10, (n, STEPS))
    source = letters + 1
    target = letters[:, ::-1] + BASE
    return source.astype("int32"), target.astype("int32")


def teacher_inputs(target):
    start = np.full((len(target), 1), START, "int32")
    return np.concatenate([start, target[:, :-1]], axis=1)
