import numpy as np
import tensorflow as tf

BINS = 64
N = 600


def spectra(seed=40):
    """Short spectra of hives; swarming hives are marked 1 (labels are noisy)."""
    rng = np.random.default_rng(seed)
    swarm = (rng.random(N) < 0.5).astype("float32")
    x = rng.normal(size=(N, BINS))
    x[:, 20:24] += 0.7 * swarm[:, None]
    return x.astype("float32"), swarm[:, None]


def splits(batch=32, val_share=0.25):
    x, y = spectra()
    n_val = int(N * val_share)
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    ds = ds.shuffle(N, seed=40, reshuffle_each_iteration=False)
    val = ds.take(n_val).batch(batch)
    train = ds.skip(n_val).shuffle(N - n_val, seed=41).batch(batch)
    return train.prefetch(tf.data.AUTOTUNE), val.prefetch(tf.data.AUTOTUNE)
