import numpy as np

USERS, BOOKS = 60, 90


def read_ratings(n=4000, seed=8):
    """Columns user_id (1..USERS), book_id (1..BOOKS), rating."""
    rng = np.random.default_rng(seed)
    user = rng.integers(1, USERS + 1, n)
    book = rng.integers(1, BOOKS + 1, n)
    taste = rng.normal(size=(USERS + 1, 3))
    style = rng.normal(size=(BOOKS + 1, 3))
    rating = 3 + 0.6 * (taste[user] * style[book]).sum(axis=1)
    return user, book, (rating + rng.normal(0, 0.2, n)).astype("float32")
