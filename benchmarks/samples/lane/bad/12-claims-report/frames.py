import numpy as np
import tensorflow as tf

COLUMNS = ("age", "miles", "value", "prior")


def claims(n=900, seed=20):
    rng = np.random.default_rng(seed)
    table = {
        "age": rng.uniform(18, 80, n),
        "miles": rng.gamma(2.0, 5.0, n),
        "value": rng.uniform(2, 60, n),
        "prior": rng.poisson(0.6, n).astype(float),
    }
    risk = 0.08 * table["miles"] + 0.9 * table["prior"] - 0.02 * table["age"]
    labels = (risk + rng.normal(0, 0.15, n) > 0.45).astype("int32")
    return {k: v.astype("float32") for k, v in table.items()}, labels


def rows(table, labels, start, stop):
    return {k: v[start:stop] for k, v in table.items()}, labels[start:stop]


def to_dataset(table, labels, batch_size=64):
    x = np.stack([table[c] for c in COLUMNS], axis=1)
    ds = tf.data.Dataset.from_tensor_slices((x, labels))
    ds = ds.shuffle(buffer_size=len(labels))
    return ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)
