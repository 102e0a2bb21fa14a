"""What the number of parallel calls does: throughput, time to the first batch, memory."""

from __future__ import annotations

import os
import time

import numpy as np
import tensorflow as tf
from harness import compare, drain, fact, memory_mb, section

CALLS = (1, 2, 4, 8, 16, 32, 64, tf.data.AUTOTUNE)
rng = np.random.default_rng(0)
image = tf.io.encode_jpeg(rng.integers(0, 255, (256, 256, 3), dtype=np.uint8)).numpy()


def decode(encoded: tf.Tensor) -> tf.Tensor:
    pixels = tf.image.convert_image_dtype(tf.io.decode_jpeg(encoded, channels=3), tf.float32)
    return tf.image.resize(pixels, (160, 160))


def pipeline(calls: int) -> tf.data.Dataset:
    return tf.data.Dataset.from_tensors(image).repeat(192).map(decode, num_parallel_calls=calls).batch(8)


def first(calls: int) -> float:
    start = time.perf_counter()
    next(iter(pipeline(calls)))
    return time.perf_counter() - start


def named(calls: int) -> str:
    return "AUTOTUNE" if calls < 0 else f"{calls} calls"


print(f"{len(os.sched_getaffinity(0))} CPUs")
compare("CPU-bound map, 192 images", {named(n): lambda n=n: drain(pipeline(n)) for n in CALLS})
compare("time to the first batch of 8", {named(n): lambda n=n: first(n) for n in CALLS})


def wait(value: np.ndarray) -> np.ndarray:
    time.sleep(0.003)
    return value


def waiting(calls: int, *, pool: int = 0, unbounded: bool = False) -> float:
    dataset = tf.data.Dataset.range(120).map(
        lambda x: tf.numpy_function(wait, [x], tf.int64),
        num_parallel_calls=calls,
        use_unbounded_threadpool=unbounded,
    )
    options = tf.data.Options()
    if pool:
        options.threading.private_threadpool_size = pool
    return drain(dataset.with_options(options))


compare(
    "functions that wait 3 ms, 120 elements",
    {
        "32 calls": lambda: waiting(32),
        "32 calls, pool of 32": lambda: waiting(32, pool=32),
        "32 calls, unbounded pool": lambda: waiting(32, unbounded=True),
    },
)

section("memory of calls in flight, elements of 16 MB (growing numbers, so that freed memory is used again)")
before = memory_mb()
for calls in (1, 2, 8, 32):
    dataset = tf.data.Dataset.range(64).map(
        lambda x: tf.fill((4_000_000,), tf.cast(x, tf.float32)), num_parallel_calls=calls
    )
    iterator = iter(dataset)
    next(iterator)
    time.sleep(0.5)
    fact(named(calls), f"{memory_mb() - before:.0f} MB more")
    del iterator, dataset
