import numpy as np

STARS = 5
VOCAB = 400
LENGTH = 30


def fake_reviews(n, seed):
    """Token ids plus the star class: 0 for one star up to 4 for five."""
    rng = np.random.default_rng(seed)
    stars = rng.integers(1, STARS + 1, size=n)
    tokens = rng.integers(1, VOCAB, size=(n, LENGTH))
    mood = (stars * 60)[:, None] + rng.integers(0, 40, size=(n, 8))
    tokens[:, :8] = np.clip(mood, 1, VOCAB - 1)
    return tokens.astype("int32"), (stars - 1).astype("int32")
