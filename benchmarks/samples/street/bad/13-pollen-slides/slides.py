import pathlib

import numpy as np
import tensorflow as tf

TAXA = 4
RAW = 192
SIZE = 64


def write_slides(folder, n=480, seed=12):
    """Writes small JPEG slides once; the label is the first part of the name."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    for i in range(n):
        path = folder / f"{i % TAXA}_{i:05d}.jpg"
        if path.exists():
            continue
        img = rng.integers(0, 90, (RAW, RAW, 3))
        k = i % TAXA
        img[40 : 70 + 25 * k, 40 : 70 + 25 * k, k % 3] += 150
        data = tf.io.encode_jpeg(tf.constant(img.clip(0, 255), tf.uint8), quality=90)
        path.write_bytes(data.numpy())
    return sorted(str(p) for p in folder.glob("*.jpg"))


def read_slide(path):
    label = tf.strings.to_number(
        tf.strings.split(tf.strings.split(path, "/")[-1], "_")[0], tf.int32
    )
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    image = tf.image.resize(image, (SIZE, SIZE), antialias=True)
    return image / 255.0, label


def augment(image, label):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_brightness(image, 0.1)
    return tf.clip_by_value(image, 0.0, 1.0), label


def dataset(paths, batch, training):
    ds = tf.data.Dataset.from_tensor_slices(paths)
    if training:
        ds = ds.shuffle(len(paths), seed=12)
    ds = ds.map(read_slide)
    if training:
        ds = ds.map(augment)
    return ds.batch(batch)
