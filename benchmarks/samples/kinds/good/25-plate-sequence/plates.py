import os
import numpy as np
import tensorflow as tf


def _read(f, size):
    img = tf.io.decode_png(tf.io.read_file(f), channels=1)
    return tf.image.resize(img, size) / 255.0


def plate_dataset(files, labels, batch_size=32, size=(32, 96), shuffle=True):
    ds = tf.data.Dataset.from_tensor_slices((files, labels))
    if shuffle:
        ds = ds.shuffle(len(files))
    ds = ds.map(lambda f, y: (_read(f, size), y), num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)


def fake_plates(folder, n):
    rng = np.random.default_rng(0)
    files, labels = [], []
    for i in range(n):
        lab = i % 3
        img = rng.integers(0, 80, (160, 480, 1)).astype("uint8")
        img[30:130, 140 * lab:140 * lab + 120] = 220
        f = os.path.join(folder, "plate_%04d.png" % i)
        tf.io.write_file(f, tf.io.encode_png(img))
        files.append(f)
        labels.append(lab)
    return files, labels
