import tensorflow as tf


def splits(features, target, holdout=0.2, batch=32, seed=8):
    n = len(features)
    n_val = int(n * holdout)
    ds = tf.data.Dataset.from_tensor_slices((features, target))
    ds = ds.shuffle(n, seed=seed)
    val = ds.take(n_val)
    train = ds.skip(n_val)
    return train.batch(batch).prefetch(1), val.batch(batch).prefetch(1)
