import pathlib

import numpy as np
import tensorflow as tf


def ensure_photos(folder, count=500, size=(160, 160)):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for i in range(count):
        label = i % 2
        img = np.full((*size, 3), 70 + 90 * label, "uint8")
        img += rng.integers(0, 40, size=(1, 1, 3), dtype="uint8")
        name = folder / f"{'oak' if label else 'elm'}_{i:04d}.jpg"
        name.write_bytes(tf.io.encode_jpeg(img).numpy())
    return sorted(str(f) for f in folder.glob("*.jpg"))


def load(path, label):
    img = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    img = tf.image.resize(img, (160, 160)) / 127.5 - 1.0
    return tf.ensure_shape(img, (160, 160, 3)), label


def make_dataset(paths, batch_size=20):
    labels = [float("oak_" in p) for p in paths]
    ds = tf.data.Dataset.from_tensor_slices((paths, labels))
    ds = ds.map(load, num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.shuffle(buffer_size=len(paths))
    return ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)
