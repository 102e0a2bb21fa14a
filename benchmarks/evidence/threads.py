"""What a private pool of tf.data threads does for work that computes."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from harness import compare, drain

image = tf.io.encode_jpeg(np.random.default_rng(0).integers(0, 255, (256, 256, 3), dtype=np.uint8))


def decode(encoded: tf.Tensor) -> tf.Tensor:
    return tf.image.resize(tf.io.decode_jpeg(encoded, channels=3), (160, 160))


def run(pool: int | None) -> float:
    options = tf.data.Options()
    if pool is not None:
        options.threading.private_threadpool_size = pool
    images = tf.data.Dataset.from_tensors(image).repeat(192)
    dataset = images.map(decode, num_parallel_calls=tf.data.AUTOTUNE).batch(8).prefetch(2)
    return drain(dataset.with_options(options))


compare(
    "CPU-bound decoding of 192 images",
    {"shared pool": lambda: run(None), **{f"pool of {n}": lambda n=n: run(n) for n in (2, 8, 32)}},
)
