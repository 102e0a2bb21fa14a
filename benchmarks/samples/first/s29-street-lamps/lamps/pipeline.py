from typing import NamedTuple

import tensorflow as tf


class Pipeline(NamedTuple):
    lamps: int
    buffer: int
    batch: int
    debug: bool = False

    def dataset(self):
        if self.debug:
            tf.data.experimental.enable_debug_mode()
        x = tf.random.uniform([self.lamps, 5], seed=1)
        data = tf.data.Dataset.from_tensor_slices((x, x[:, :1]))
        data = data.shuffle(self.buffer, seed=1).batch(self.batch)
        return data.map(lambda a, b: (a * 2.0 - 1.0, b), num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
