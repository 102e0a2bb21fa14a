import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def applications(rows, seed):
    rng = np.random.default_rng(seed)
    table = {
        "income": rng.normal(3, 1, rows),
        "amount": rng.normal(10, 4, rows),
        "age": rng.uniform(18, 80, rows),
        "purpose": rng.choice(["car", "home", "study"], rows),
        "region": rng.choice(["north", "south", "west"], rows),
    }
    bad = (table["amount"] / np.maximum(table["income"], 0.5) + rng.normal(0, 1, rows) > 5).astype("int32")
    return table, bad


def encode(table, spec):
    parts = [np.asarray(table[name], "float32")[:, None] for name in spec["numeric"]]
    purpose = layers.StringLookup(output_mode="one_hot", **spec["categorical"]["purpose"])
    parts.append(purpose(tf.constant(table["purpose"])).numpy())
    region = layers.Hashing(output_mode="one_hot", **spec["categorical"]["region"])
    parts.append(region(tf.constant(table["region"])).numpy())
    for name, kwargs in spec["buckets"].items():
        bucket = layers.Discretization(output_mode="one_hot", **kwargs)
        parts.append(bucket(np.asarray(table[name], "float32")[:, None]).numpy())
    return np.concatenate(parts, axis=1).astype("float32")
