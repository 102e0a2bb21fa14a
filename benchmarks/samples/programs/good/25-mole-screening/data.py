import numpy as np
import tensorflow as tf


def images(n, seed):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    img = rng.random((n, 20, 20, 3), dtype="float32") * 0.6
    img[label == 1, 8:12, 8:12] += 0.35
    return img, label


def jitter(img, label):
    img = tf.image.random_flip_left_right(img)
    img = tf.image.random_brightness(img, 0.4)
    img = tf.image.random_contrast(img, 0.5, 1.5)
    return tf.clip_by_value(img, 0.0, 1.0), label


def make(n, seed, batch=20, shuffle=True, augment=True):
    ds = tf.data.Dataset.from_tensor_slices(images(n, seed)).cache()
    if shuffle:
        ds = ds.shuffle(n)
    if augment:
        ds = ds.map(jitter, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(batch).prefetch(tf.data.AUTOTUNE)
