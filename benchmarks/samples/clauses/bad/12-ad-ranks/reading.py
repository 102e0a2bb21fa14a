from functools import partial

import tensorflow as tf


class Reader:
    opener = partial(tf.data.TFRecordDataset, compression_type="GZIP", buffer_size=8 << 20)

    def __init__(self, files, batch):
        self.files = files
        self.batch = batch

    def parse(self, rows):
        found = tf.io.parse_example(rows, {"x": tf.io.FixedLenFeature([20], tf.float32), "y": tf.io.FixedLenFeature([1], tf.float32)})
        return found["x"], found["y"]

    def read(self):
        data = tf.data.Dataset.from_tensor_slices(self.files).shuffle(len(self.files))
        data = data.interleave(self.opener, cycle_length=16, block_length=4)
        data = data.shuffle(4096).batch(self.batch)
        return data.map(self.parse, num_parallel_calls=tf.data.AUTOTUNE).prefetch(2)
