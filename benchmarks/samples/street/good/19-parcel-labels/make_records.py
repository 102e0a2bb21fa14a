import pathlib

import numpy as np
import tensorflow as tf


def _example(jpeg, flag):
    feature = {
        "image/encoded": tf.train.Feature(bytes_list=tf.train.BytesList(value=[jpeg])),
        "image/has_label": tf.train.Feature(int64_list=tf.train.Int64List(value=[flag])),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature))


def write(path, n, seed):
    path = pathlib.Path(path)
    if path.exists():
        return str(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    with tf.io.TFRecordWriter(str(path)) as writer:
        for _ in range(n):
            img = np.full((96, 96, 3), rng.integers(90, 160), dtype="uint8")
            flag = int(rng.random() < 0.5)
            if flag:
                top, left = rng.integers(5, 50, 2)
                img[top : top + 30, left : left + 40] = 245
            jpeg = tf.io.encode_jpeg(img, quality=85).numpy()
            writer.write(_example(jpeg, flag).SerializeToString())
    return str(path)
