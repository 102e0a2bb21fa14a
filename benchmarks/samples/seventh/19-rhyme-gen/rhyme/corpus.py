import numpy as np
import tensorflow as tf

ALPHABET = "\n abcdefghijklmnopqrstuvwxyz"
SIZE = len(ALPHABET)
ENDINGS = ["ight", "ound", "ay", "ee"]


def lines(n, seed):
    rng = np.random.default_rng(seed)
    heads = ["the moon is l", "a dog will b", "we sing of m", "old hats and t", "no one can s"]
    return [f"{rng.choice(heads)}{rng.choice(ENDINGS)}\n" for _ in range(n)]


def encode(text, max_len):
    ids = [ALPHABET.index(c) for c in text][:max_len + 1]
    return ids + [0] * (max_len + 1 - len(ids))


def decode(ids):
    return "".join(ALPHABET[i] for i in ids)


def dataset(data, seed):
    ids = np.array([encode(t, data["max_len"]) for t in lines(data["lines"], seed)], "int32")
    ds = tf.data.Dataset.from_tensor_slices((ids[:, :-1], ids[:, 1:]))
    ds = ds.shuffle(len(ids), seed=seed).batch(data["batch_size"], drop_remainder=True)
    return ds.prefetch(tf.data.AUTOTUNE)
