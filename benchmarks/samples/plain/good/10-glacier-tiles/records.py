import pathlib

import numpy as np
import tensorflow as tf

SPEC = {
    "tile": tf.io.FixedLenFeature([], tf.string),
    "ice": tf.io.FixedLenFeature([], tf.float32),
}


def write_records(path, n, seed):
    rng = np.random.default_rng(seed)
    with tf.io.TFRecordWriter(str(path)) as writer:
        for _ in range(n):
            ice = float(rng.integers(2))
            tile = rng.normal(0.3 + 0.4 * ice, 0.2, (8, 8, 1)).astype("float32")
            feature = {
                "tile": tf.train.Feature(bytes_list=tf.train.BytesList(value=[tile.tobytes()])),
                "ice": tf.train.Feature(float_list=tf.train.FloatList(value=[ice])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())
    return pathlib.Path(path)


def parse(record):
    row = tf.io.parse_single_example(record, SPEC)
    tile = tf.reshape(tf.io.decode_raw(row["tile"], tf.float32), (8, 8, 1))
    return tile, row["ice"]


def read_records(path, batch_size, shuffle=0):
    ds = tf.data.TFRecordDataset(str(path))
    ds = ds.map(parse, num_parallel_calls=tf.data.AUTOTUNE).cache()
    if shuffle:
        ds = ds.shuffle(shuffle)
        ds = ds.repeat()
    return ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)
