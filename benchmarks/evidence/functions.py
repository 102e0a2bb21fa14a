"""What eager mode, graphs and XLA cost for one training step, and what new shapes cost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tensorflow as tf
from harness import compare

rng = np.random.default_rng(0)


def step_of(width: int, depth: int, batch: int) -> Callable[[], tf.Tensor]:
    weights = [tf.Variable(rng.normal(size=(width, width)).astype("float32") / width) for _ in range(depth)]
    data = tf.constant(rng.normal(size=(batch, width)).astype("float32"))

    def step() -> tf.Tensor:
        with tf.GradientTape() as tape:
            hidden = data
            for weight in weights:
                hidden = tf.nn.relu(hidden @ weight)
            loss = tf.reduce_mean(hidden**2)
        for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
            weight.assign_sub(0.001 * gradient)
        return loss

    return step


def times(function: Callable[[], tf.Tensor], count: int) -> None:
    for _ in range(count):
        function()


for width, depth, batch, count in ((64, 8, 32, 60), (256, 8, 64, 30), (1024, 4, 256, 4)):
    eager = step_of(width, depth, batch)
    graph = tf.function(step_of(width, depth, batch))
    xla = tf.function(step_of(width, depth, batch), jit_compile=True)
    compare(
        f"{count} steps, width {width}, depth {depth}, batch {batch}",
        {
            "eager": lambda eager=eager, count=count: times(eager, count),
            "graph": lambda graph=graph, count=count: times(graph, count),
            "XLA": lambda xla=xla, count=count: times(xla, count),
        },
    )

weight = tf.Variable(rng.normal(size=(80, 80)).astype("float32"))


def work(batch: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.nn.softmax(batch @ weight) ** 2)


lengths = [int(n) for n in rng.choice(np.arange(40, 120), 40)]


def over(maker: Callable[[], Callable[[tf.Tensor], tf.Tensor]], padded: Callable[[int], int]) -> None:
    function = maker()
    for length in lengths:
        function(tf.ones((8, padded(length), 80)))


open_signature = [tf.TensorSpec([8, None, 80], tf.float32)]
compare(
    f"40 steps, {len(set(lengths))} lengths, tracing and compiling included",
    {
        "XLA, raw lengths": lambda: over(lambda: tf.function(work, jit_compile=True), lambda n: n),
        "XLA, open input_signature": lambda: over(
            lambda: tf.function(work, jit_compile=True, input_signature=open_signature), lambda n: n
        ),
        "XLA, multiples of 16": lambda: over(
            lambda: tf.function(work, jit_compile=True), lambda n: -(-n // 16) * 16
        ),
        "XLA, padded": lambda: over(lambda: tf.function(work, jit_compile=True), lambda _: 120),
        "graph, raw lengths": lambda: over(lambda: tf.function(work), lambda n: n),
        "graph, reduce_retracing": lambda: over(
            lambda: tf.function(work, reduce_retracing=True), lambda n: n
        ),
        "graph, padded": lambda: over(lambda: tf.function(work), lambda _: 120),
        "eager": lambda: over(lambda: work, lambda n: n),
    },
    rounds=3,
)


def epoch(*, drop: bool) -> None:
    function = tf.function(work, jit_compile=True)
    for batch in tf.data.Dataset.from_tensors(tf.ones((16, 80))).repeat(100).batch(32, drop_remainder=drop):
        function(batch)


compare(
    "first epoch of 100 samples in batches of 32 under XLA",
    {"with the partial batch": lambda: epoch(drop=False), "without it": lambda: epoch(drop=True)},
    rounds=3,
)
