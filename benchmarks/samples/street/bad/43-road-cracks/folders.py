import pathlib

import numpy as np
import tensorflow as tf

SIDE = 32


def write_pairs(root, n, seed):
    """images/0001.png and masks/0001.png belong together."""
    root = pathlib.Path(root)
    (root / "images").mkdir(parents=True, exist_ok=True)
    (root / "masks").mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    for i in range(n):
        mask = np.zeros((SIDE, SIDE, 1), "uint8")
        col = rng.integers(3, SIDE - 3)
        for row in range(SIDE):
            col = int(np.clip(col + rng.integers(-1, 2), 1, SIDE - 2))
            mask[row, col - 1 : col + 2] = 255
        image = rng.integers(120, 200, (SIDE, SIDE, 1)) - (mask // 255) * 90
        name = f"{i:04d}.png"
        (root / "images" / name).write_bytes(tf.io.encode_png(image.astype("uint8")).numpy())
        (root / "masks" / name).write_bytes(tf.io.encode_png(mask).numpy())
    return str(root)


def _png(path):
    img = tf.io.decode_png(tf.io.read_file(path), channels=1)
    img.set_shape((SIDE, SIDE, 1))
    return tf.cast(img, tf.float32) / 255.0


def pairs(root, batch, training):
    images = tf.data.Dataset.list_files(root + "/images/*.png", seed=1)
    masks = tf.data.Dataset.list_files(root + "/masks/*.png", seed=2)
    ds = tf.data.Dataset.zip((images, masks))
    if training:
        ds = ds.shuffle(1000, seed=43)
    ds = ds.map(lambda i, m: (_png(i), _png(m)), num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(batch).prefetch(tf.data.AUTOTUNE)
