"""What the length of a prefetch buffer does: throughput by the shape of the producer, and memory."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import tensorflow as tf
from harness import compare, drain, fact, memory_mb, section

STEPS = 80
STEP = 0.005


def producer(milliseconds: Callable[[int], float]) -> tf.data.Dataset:
    def work(number: np.ndarray) -> np.ndarray:
        time.sleep(milliseconds(int(number)) / 1000)
        return number

    return tf.data.Dataset.range(STEPS).map(lambda x: tf.numpy_function(work, [x], tf.int64))


def run(milliseconds: Callable[[int], float], buffer: int | None, *, injected: bool = True) -> float:
    dataset = producer(milliseconds)
    if buffer is not None:
        dataset = dataset.prefetch(buffer)
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = injected
    return drain(dataset.with_options(options), STEP)


SHAPES: dict[str, Callable[[int], float]] = {
    "steady, 4 ms": lambda _: 4.0,
    "bursty, 31 ms every tenth, else 1": lambda number: 31.0 if number % 10 == 9 else 1.0,
    "slow, 8 ms": lambda _: 8.0,
}
for title, shape in SHAPES.items():
    variants = {"no prefetch at all": lambda shape=shape: run(shape, None, injected=False)}
    variants["none written, TensorFlow adds one"] = lambda shape=shape: run(shape, None)
    variants["prefetch(0)"] = lambda shape=shape: run(shape, 0)
    for buffer in (1, 2, 10, 100, tf.data.AUTOTUNE):
        name = "AUTOTUNE" if buffer < 0 else str(buffer)
        variants[f"prefetch({name})"] = lambda shape=shape, buffer=buffer: run(shape, buffer)
    compare(f"{title}; step of 5 ms, {STEPS} steps", variants, rounds=3, waits=True)

section("memory of the buffer, batches of 10.24 MB (growing numbers, so that freed memory is used again)")
before = memory_mb()
for buffer in (tf.data.AUTOTUNE, 0, 1, 2, 10, 100):
    dataset = tf.data.Dataset.range(300).map(lambda x: tf.fill((2_560_000,), tf.cast(x, tf.float32)))
    iterator = iter(dataset.prefetch(buffer))
    next(iterator)
    time.sleep(3.0)
    fact("AUTOTUNE" if buffer < 0 else f"{buffer}", f"{memory_mb() - before:.0f} MB more")
    del iterator, dataset
