import csv
import random

import tensorflow as tf

STOPS = 12


def write_log(path, n=480, seed=3):
    rnd = random.Random(seed)
    with open(path, "w", newline="") as fh:
        out = csv.writer(fh)
        for _ in range(n):
            hour, stop = rnd.random() * 24, rnd.randrange(STOPS)
            out.writerow([f"{hour:.3f}", stop, f"{abs(hour - 12) / 12 + stop * 0.02:.4f}"])


class ArrivalFeed:
    """Reads the log line by line so that it never sits in memory."""

    def __init__(self, path, batch_size):
        self.path = path
        self.batch_size = batch_size

    def _read(self):
        with open(self.path, newline="") as fh:
            for hour, stop, delay in csv.reader(fh):
                onehot = [0.0] * STOPS
                onehot[int(stop)] = 1.0
                yield [float(hour) / 24.0] + onehot, float(delay)

    def as_dataset(self):
        spec = (tf.TensorSpec((STOPS + 1,), tf.float32), tf.TensorSpec((), tf.float32))
        ds = tf.data.Dataset.from_generator(self._read, output_signature=spec)
        return ds.batch(self.batch_size).prefetch(2)
