import numpy as np
import tensorflow as tf

import config as C


def fake_grain(rng, kind):
    """A blob on a tray; the kind sets its colour and stretch."""
    yy, xx = np.mgrid[0:C.IMG_SIZE, 0:C.IMG_SIZE] / C.IMG_SIZE - 0.5
    stretch = 1.0 + 0.6 * kind
    blob = np.exp(-20 * (xx ** 2 * stretch + yy ** 2 / stretch))
    tint = np.array([1.0, 0.9 - 0.15 * kind, 0.2 + 0.1 * kind])
    img = blob[..., None] * tint + rng.normal(0, 0.05, (C.IMG_SIZE, C.IMG_SIZE, C.CHANNELS))
    return np.clip(img, 0, 1).astype("float32")


def arrays(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(C.GRAINS), n)
    images = np.stack([fake_grain(rng, k) for k in labels])
    return images, labels.astype("int32")


def augment(image, label):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_flip_up_down(image)
    image = tf.image.per_image_standardization(image)
    return image, label


def training_set():
    ds = tf.data.Dataset.from_tensor_slices(arrays(C.PICTURES, C.SEED))
    ds = ds.map(augment, num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.cache()
    ds = ds.shuffle(C.PICTURES, seed=C.SEED)
    return ds.batch(C.BATCH).prefetch(tf.data.AUTOTUNE)


def validation_set():
    ds = tf.data.Dataset.from_tensor_slices(arrays(C.VAL_PICTURES, C.SEED + 1))
    return ds.batch(C.BATCH)
