import tensorflow as tf


class Records:
    def __init__(self, width):
        self.features = {"x": tf.io.FixedLenFeature([width], tf.float32), "y": tf.io.FixedLenFeature([1], tf.int64)}

    def _row(self, text):
        row = tf.io.parse_single_example(text, self.features)
        return row["x"], row["y"]

    def read(self, files, batch):
        data = tf.data.Dataset.from_tensor_slices(files)
        data = data.interleave(tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE)
        data = data.map(self._row, num_parallel_calls=8)
        data = data.shuffle(2000)
        return data.batch(batch, drop_remainder=True).prefetch(4)
