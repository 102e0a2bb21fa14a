import numpy as np

from .flags import FLAGS


def queue(count=32):
    x = np.random.rand(count, 4, FLAGS.lanes).astype("float32")
    y = x.sum(axis=(1, 2), keepdims=False)[:, None] * (FLAGS.hour / 24)
    if FLAGS["coins"].value:
        x += 0.1 * np.random.randn(*x.shape).astype("float32")
    return x, y
