import numpy as np

PAD, VOCAB, TAGS, MAX_LEN = 0, 60, 5, 60


def sentences(n, seed):
    """Tag of a word depends on the word and on the word before it."""
    rng = np.random.default_rng(seed)
    words = np.zeros((n, MAX_LEN), "int32")
    tags = np.zeros((n, MAX_LEN), "int32")
    for i in range(n):
        length = rng.integers(3, 9)
        w = rng.integers(1, VOCAB, length)
        words[i, :length] = w
        tags[i, :length] = 1 + (w + np.concatenate([[0], w[:-1]])) % (TAGS - 1)
    return words, tags
