import numpy as np
import tensorflow as tf


def photos(data, seed):
    rng = np.random.default_rng(seed)
    n, side = data.photos, data.side
    img = rng.normal(0.5, 0.05, (n, side, side, 3))
    label = rng.integers(0, data["items"], n)
    corner = rng.integers(0, side // 2, (n, 2))
    size = rng.integers(6, side // 2, (n, 2))
    for i in range(n):
        (y, x), (h, w) = corner[i], size[i]
        img[i, y:y + h, x:x + w] = 0.2 * label[i] * np.array([1, 0.5, 0.2])
    box = np.concatenate([corner, corner + size], 1) / side
    return img.astype("float32"), {"label": label.astype("int32"), "box": box.astype("float32")}


def brighten(image, target):
    return tf.image.random_brightness(image, 0.2), target


def mirror(image, target):
    if tf.random.uniform([]) > 0.5:
        image = tf.image.flip_left_right(image)
    return image, target


def pipelines(data):
    train = tf.data.Dataset.from_tensor_slices(photos(data, 0)).shuffle(data.photos)
    train = train.map(brighten, num_parallel_calls=data.workers)
    train = train.map(mirror, num_parallel_calls=data.workers)
    val = tf.data.Dataset.from_tensor_slices(photos(data, 1)).take(data.photos // 4)
    return (train.batch(data.batch_size).prefetch(tf.data.AUTOTUNE),
            val.batch(data.batch_size).prefetch(tf.data.AUTOTUNE))
