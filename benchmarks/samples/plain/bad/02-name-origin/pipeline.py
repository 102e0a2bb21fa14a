import numpy as np
import tensorflow as tf

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def sample_names(n, seed):
    """Invented surnames; the ending decides the origin."""
    rng = np.random.default_rng(seed)
    endings = ["ov", "ez", "sen", "ini"]
    names, labels = [], []
    for _ in range(n):
        k = int(rng.integers(4))
        stem = "".join(rng.choice(list(ALPHABET), size=int(rng.integers(2, 40))))
        names.append([ALPHABET.index(c) + 1 for c in stem + endings[k]])
        labels.append(k)
    return names, labels


def make_dataset(names, labels, batch_size):
    rt = tf.ragged.constant(names, dtype=tf.int32)
    ds = tf.data.Dataset.from_tensor_slices((rt, tf.constant(labels)))
    ds = ds.map(lambda r, y: (r, y)).shuffle(len(labels))
    ds = ds.padded_batch(batch_size, padded_shapes=([None], []), drop_remainder=True)
    return ds.prefetch(tf.data.AUTOTUNE)
