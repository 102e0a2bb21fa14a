import os

import numpy as np
import tensorflow as tf


def dances(n, frames, seed):
    """Positions of a dancing bee; the target is the direction of the run."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(-np.pi, np.pi, n)
    t = np.linspace(0, 1, frames)
    along = t[None] * np.stack([np.cos(angle), np.sin(angle)], 0)[..., None]
    wiggle = 0.1 * np.sin(25 * t)[None] * np.stack([-np.sin(angle), np.cos(angle)], 0)[..., None]
    xy = np.moveaxis(along + wiggle, 0, -1) + rng.normal(0, 0.02, (n, frames, 2))
    return xy.astype("float32"), np.stack([np.cos(angle), np.sin(angle)], 1).astype("float32")


def load(data_dir, n, frames):
    path = os.path.join(data_dir, f"dances-{n}-{frames}.npz")
    if not os.path.exists(path):
        os.makedirs(data_dir, exist_ok=True)
        x, y = dances(n, frames, 5)
        np.savez(path, x=x, y=y)
    with np.load(path) as f:
        return f["x"], f["y"]


def datasets(data_dir, n, frames, batch_size):
    x, y = load(data_dir, n, frames)
    cut = n * 3 // 4
    train = tf.data.Dataset.from_tensor_slices((x[:cut], y[:cut])).shuffle(cut)
    val = tf.data.Dataset.from_tensor_slices((x[cut:], y[cut:]))
    return (train.batch(batch_size).prefetch(tf.data.AUTOTUNE),
            val.batch(batch_size).prefetch(tf.data.AUTOTUNE))
