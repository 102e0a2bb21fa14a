import numpy as np

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
MAX_LEN = 12
REGIONS = {"north": ["elv", "ja", "ik"], "south": ["gua", "rio", "na"], "east": ["ov", "ka", "isk"]}


def names(n, seed):
    rng = np.random.default_rng(seed)
    keys = list(REGIONS)
    out, labels = [], []
    for _ in range(n):
        k = int(rng.integers(len(keys)))
        stem = "".join(rng.choice(list(ALPHABET), rng.integers(3, 6)))
        out.append(stem + str(rng.choice(REGIONS[keys[k]])))
        labels.append(k)
    return out, labels


def encode(name):
    ids = [ALPHABET.index(c) + 1 for c in name[:MAX_LEN]]
    return np.array(ids + [0] * (MAX_LEN - len(ids)), dtype="int32")
