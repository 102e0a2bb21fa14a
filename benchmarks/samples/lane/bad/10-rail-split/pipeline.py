import numpy as np
import tensorflow as tf


def rail_scans(n=600, width=40, seed=14):
    """Ultrasound traces; labels are noisy, one in four is wrong."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    traces = rng.normal(0, 1, (n, width))
    traces[:, 18:22] += label[:, None] * 0.9
    flip = rng.random(n) < 0.25
    observed = np.where(flip, 1 - label, label)
    return traces.astype("float32"), observed.astype("int32")


class ScanPipeline:
    def __init__(self, traces, labels, batch_size=32, holdout=0.25, seed=5):
        self.n = len(traces)
        self.batch_size = batch_size
        self.n_holdout = int(self.n * holdout)
        self.source = tf.data.Dataset.from_tensor_slices((traces, labels))
        self.source = self.source.shuffle(self.n, seed=seed)

    def _finish(self, ds):
        return ds.batch(self.batch_size).prefetch(tf.data.AUTOTUNE)

    def train(self):
        return self._finish(self.source.skip(self.n_holdout))

    def holdout(self):
        return self._finish(self.source.take(self.n_holdout))
