import numpy as np
import tensorflow as tf

from . import options

SPEC = {"spectrum": tf.io.FixedLenFeature([20], tf.float32), "iron": tf.io.FixedLenFeature([1], tf.float32)}


def write(folder, section):
    rng = np.random.default_rng(0)
    how = tf.io.TFRecordOptions(compression_type=section["compression"])
    for shard in range(section["shards"]):
        with tf.io.TFRecordWriter(f"{folder}/part-{shard}.tfrecord", how) as out:
            for row in rng.random((section["per_shard"], 20)):
                feature = {
                    "spectrum": tf.train.Feature(float_list=tf.train.FloatList(value=row)),
                    "iron": tf.train.Feature(float_list=tf.train.FloatList(value=[row.mean()])),
                }
                example = tf.train.Example(features=tf.train.Features(feature=feature))
                out.write(example.SerializeToString())


def parse(batch):
    row = tf.io.parse_example(batch, SPEC)
    return row["spectrum"], row["iron"]


def read(folder, section, extra):
    def records(path):
        return tf.data.TFRecordDataset(path, compression_type=section["compression"])

    data = tf.data.Dataset.list_files(f"{folder}/part-*.tfrecord")
    data = data.interleave(records, cycle_length=section["cycle_length"], num_parallel_calls=tf.data.AUTOTUNE)
    data = data.shuffle(section["shuffle_buffer"]).batch(section["batch_size"])
    data = data.map(parse, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
    return data.with_options(options.make(extra))
