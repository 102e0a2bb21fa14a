"""What thread pools do for work that computes: those of tf.data, and those of operations."""

from __future__ import annotations

import subprocess
import sys

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


STEP = """
import os, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(int(sys.argv[1]))
tf.config.threading.set_inter_op_parallelism_threads(int(sys.argv[2]))
inputs = tf.random.normal([128, 512])
weights = [tf.Variable(tf.random.normal([512, 512]) * 0.05) for _ in range(4)]


@tf.function
def step():
    with tf.GradientTape() as tape:
        hidden = inputs
        for weight in weights:
            hidden = tf.nn.relu(hidden @ weight)
        loss = tf.reduce_mean(hidden * hidden)
    for weight, gradient in zip(weights, tape.gradient(loss, weights)):
        weight.assign_sub(1e-4 * gradient)


step()
best = 9.0
for _ in range(9):
    start = time.perf_counter()
    for _ in range(20):
        step()
    best = min(best, time.perf_counter() - start)
print(best)
"""


def steps(intra: int, inter: int) -> float:
    """Seconds of 20 steps, the best of nine, in a process of its own: pools cannot change later."""
    done = subprocess.run(
        [sys.executable, "-c", STEP, str(intra), str(inter)], capture_output=True, text=True, check=True
    )
    return float(done.stdout.split()[-1])


compare(
    "intra-op threads, 20 steps of width 512",
    {
        "default": lambda: steps(0, 0),
        **{f"{n} threads": lambda n=n: steps(n, 0) for n in (1, 2, 8, 32)},
    },
    rounds=3,
)
compare(
    "inter-op threads, 20 steps of width 512",
    {"default": lambda: steps(0, 0), **{f"{n} threads": lambda n=n: steps(0, n) for n in (1, 32)}},
    rounds=3,
)
