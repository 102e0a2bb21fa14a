import glob
import os

import numpy as np
import tensorflow as tf


def _read_chips(cfg):
    files = sorted(glob.glob(os.path.join(cfg["root"], "*.npz")))
    if files:
        chips = [np.load(f) for f in files]
        return np.stack([c["image"] for c in chips]), np.stack([c["mask"] for c in chips])
    # no download yet: random chips so that the pipeline can be tried out
    rng = np.random.default_rng(0)
    size, channels = cfg["chip_size"], cfg["channels"]
    images = rng.random((32, size, size, channels), dtype="float32")
    masks = (images[..., :1] > 0.6).astype("float32")
    return images, masks


def _flip(image, mask):
    both = tf.concat([image, mask], axis=-1)
    both = tf.image.random_flip_left_right(both)
    both = tf.image.random_flip_up_down(both)
    return both[..., :-1], both[..., -1:]


def make_splits(cfg):
    images, masks = _read_chips(cfg)
    n_val = int(len(images) * cfg["val_split"])
    train = tf.data.Dataset.from_tensor_slices((images[n_val:], masks[n_val:]))
    val = tf.data.Dataset.from_tensor_slices((images[:n_val], masks[:n_val]))
    train = train.shuffle(cfg["shuffle_buffer"])
    if cfg.get("augment", False):
        train = train.map(_flip, num_parallel_calls=tf.data.AUTOTUNE)
    train = train.batch(cfg["batch_size"]).prefetch(tf.data.AUTOTUNE)
    return train, val.batch(cfg["batch_size"])
