"""What a shuffle buffer does: how far samples move, what it holds, when the first batch comes."""

from __future__ import annotations

import time

import numpy as np
import tensorflow as tf
from harness import compare, fact, memory_mb, section

section("mean displacement of 10,000 sorted samples")
for buffer in (1, 10, 100, 1000, 10_000):
    order = np.array(list(tf.data.Dataset.range(10_000).shuffle(buffer, seed=1).as_numpy_iterator()))
    fact(f"shuffle({buffer})", round(float(np.mean(np.abs(order - np.arange(10_000)))), 1))

section("memory of 1,000 elements of 256 kB")
before = memory_mb()
held = iter(
    tf.data.Dataset.range(4000).map(lambda x: tf.fill((64_000,), tf.cast(x, tf.float32))).shuffle(1000)
)
next(held)
fact("shuffle(1000)", f"{memory_mb() - before:.0f} MB more")
del held


section("memory of a cache, 1,000 elements of 256 kB")
before = memory_mb()
cached = tf.data.Dataset.range(1000).map(lambda x: tf.fill((64_000,), tf.cast(x, tf.float32))).cache()
for _ in cached:
    pass
fact("cache() after one pass", f"{memory_mb() - before:.0f} MB more")
del cached


def first(dataset: tf.data.Dataset) -> float:
    start = time.perf_counter()
    next(iter(dataset))
    return time.perf_counter() - start


large = tf.data.Dataset.range(4000).map(lambda x: tf.fill((64_000,), tf.cast(x, tf.float32)))
compare(
    "time to the first batch, elements of 256 kB",
    {f"shuffle({n})": lambda n=n: first(large.shuffle(n).batch(8)) for n in (10, 100, 1000, 2000)},
)

image = tf.io.encode_jpeg(np.random.default_rng(0).integers(0, 255, (256, 256, 3), dtype=np.uint8))


def decode(encoded: tf.Tensor) -> tf.Tensor:
    return tf.io.decode_jpeg(encoded, channels=3)


names = tf.data.Dataset.from_tensors(image).repeat(2000)
compare(
    "time to the first batch, 500 images",
    {
        "decode, then shuffle": lambda: first(names.map(decode).shuffle(500).batch(8)),
        "shuffle, then decode": lambda: first(names.shuffle(500).map(decode).batch(8)),
    },
)
