import tensorflow as tf

from . import settings


def parse(line):
    parts = tf.io.decode_csv(line, [0.0] * 5)
    return tf.stack(parts[:4]), parts[4:]


def rows():
    lines = tf.data.TextLineDataset(settings.TABLE).skip(1)
    return lines.map(parse, num_parallel_calls=tf.data.AUTOTUNE).cache().shuffle(500).batch(20).repeat().prefetch(2)
