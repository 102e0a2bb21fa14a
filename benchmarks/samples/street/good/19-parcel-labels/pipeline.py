"""Reads parcel photographs from a TFRecord and yields batches for the address finder."""
import tensorflow as tf

SIDE = 224
SPEC = {
    "image/encoded": tf.io.FixedLenFeature([], tf.string),
    "image/has_label": tf.io.FixedLenFeature([], tf.int64),
}


def parse(record):
    item = tf.io.parse_single_example(record, SPEC)
    image = tf.io.decode_jpeg(item["image/encoded"], channels=3)
    image = tf.image.resize(image, (SIDE, SIDE)) / 255.0
    return image, tf.cast(item["image/has_label"], tf.float32)[None]


def train_batches(path, batch_size, examples, seed=0):
    ds = tf.data.TFRecordDataset(path)
    ds = ds.shuffle(buffer_size=examples, seed=seed)
    ds = ds.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.batch(batch_size)
    return ds.prefetch(tf.data.AUTOTUNE)


def eval_batches(path, batch_size):
    ds = tf.data.TFRecordDataset(path)
    ds = ds.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)
