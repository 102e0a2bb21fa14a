import numpy as np
import tensorflow as tf


def cells(size, n, noise, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:size, 0:size]
    masks = np.zeros((n, size, size, 1), "float32")
    for m in masks:
        for _ in range(rng.integers(1, 4)):
            cy, cx, r = rng.uniform(0, size, 2).tolist() + [rng.uniform(3, 7)]
            m[(yy - cy) ** 2 + (xx - cx) ** 2 < r * r] = 1.0
    images = masks * 0.7 + rng.normal(0, noise, masks.shape)
    return images.astype("float32"), masks


def datasets(data, seed):
    train = cells(data.image_size, data.images, data.noise, seed)
    val = cells(data.image_size, data.val_images, data.noise, seed)
    train_ds = tf.data.Dataset.from_tensor_slices(train).shuffle(data.images, seed=seed)
    val_ds = tf.data.Dataset.from_tensor_slices(val)
    return train_ds.batch(data.batch_size), val_ds.batch(data.batch_size).repeat()
