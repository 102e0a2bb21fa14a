import numpy as np
import tensorflow as tf

CLASSES = 4
SIZE = 24


def raw_scene(rng):
    """32x32 scene: background 0, crops 1..3 in blocks."""
    mask = np.zeros((32, 32), "uint8")
    for _ in range(5):
        k = rng.integers(1, CLASSES)
        r, c = rng.integers(0, 24, 2)
        mask[r:r + 9, c:c + 9] = k
    image = mask[..., None] * 60.0 + rng.normal(0, 8, (32, 32, 1))
    return image.astype("float32"), mask[..., None]


def scenes(n, seed):
    rng = np.random.default_rng(seed)
    pairs = [raw_scene(rng) for _ in range(n)]
    return np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])


def resize_pair(image, mask):
    image = tf.image.resize(image, (SIZE, SIZE)) / 255.0
    mask = tf.image.resize(mask, (SIZE, SIZE))
    return image, tf.cast(mask, tf.int32)


def dataset(images, masks, training):
    ds = tf.data.Dataset.from_tensor_slices((images, masks))
    ds = ds.map(resize_pair, num_parallel_calls=tf.data.AUTOTUNE).cache()
    if training:
        ds = ds.shuffle(len(images))
    return ds.batch(16).prefetch(tf.data.AUTOTUNE)
