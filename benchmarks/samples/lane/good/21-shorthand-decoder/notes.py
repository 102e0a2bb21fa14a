import numpy as np

WORDS = 6000
STEPS = 20


def dictations(n=1200, seed=22):
    """Pairs of stroke codes and word ids, one word for each stroke."""
    rng = np.random.default_rng(seed)
    words = np.minimum(rng.zipf(1.4, (n, STEPS)), WORDS - 1)
    strokes = (words * 7 + 3) % 500
    return strokes.astype("int32"), words.astype("int32")
