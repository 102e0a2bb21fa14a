"""What enable_op_determinism costs, and which settings it overrules."""

from __future__ import annotations

import subprocess
import sys

from harness import compare, fact, section

PIPELINE = """
import os, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

if sys.argv[1] == "1":
    tf.config.experimental.enable_op_determinism()
    tf.random.set_seed(1)


def wait(value):
    time.sleep(0.004)
    return value


best = 99.0
for _ in range(3):
    # numpy_function counts as stateful, like every random operation; waiting needs no CPU, so a busy machine does not matter.
    data = tf.data.Dataset.range(120).map(
        lambda x: tf.numpy_function(wait, [x], tf.int64), num_parallel_calls=2
    )
    start = time.perf_counter()
    for _ in data:
        pass
    best = min(best, time.perf_counter() - start)
print(best)
"""

NODES = """
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

if sys.argv[1] == "1":
    tf.config.experimental.enable_op_determinism()
    tf.random.set_seed(1)
data = tf.data.Dataset.range(300).map(lambda _: tf.random.uniform([]), num_parallel_calls=2).batch(10)
iterator = iter(data.prefetch(2))
next(iterator)
model = tf.data.experimental.get_model_proto(iterator)
print(" <- ".join(node.name for node in sorted(model.nodes.values(), key=lambda node: node.id)))
"""

OVERRULED = """
import os, sys, time, warnings
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
import tensorflow as tf

if sys.argv[1] == "1":
    tf.config.experimental.enable_op_determinism()
    keras.utils.set_random_seed(1)
warnings.simplefilter("ignore")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
model.compile("adam", "mse", jit_compile=True)


def wait(value):
    time.sleep(0.02 if value % 4 == 0 else 0.0)
    return value


options = tf.data.Options()
options.deterministic = False
options.threading.private_threadpool_size = 8
data = tf.data.Dataset.range(32).map(
    lambda x: tf.numpy_function(wait, [x], tf.int64), num_parallel_calls=8
)
order = [int(x) for x in data.with_options(options)]
print(model.jit_compile, "|", "in order" if order == sorted(order) else "out of order")
"""


def run(program: str, *, on: bool) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, "1" if on else "0"], capture_output=True, text=True, check=True
    )
    return done.stdout.strip().splitlines()[-1]


compare(
    "a stateful map with 2 calls that wait 4 ms, 120 elements",
    {
        "determinism off": lambda: float(run(PIPELINE, on=False)),
        "determinism on": lambda: float(run(PIPELINE, on=True)),
    },
    rounds=3,
    waits=True,
)
section("the pipeline of map(tf.random.uniform, num_parallel_calls=2).batch(10).prefetch(2)")
for name, on in (("determinism off", False), ("determinism on", True)):
    fact(name, run(NODES, on=on))
section("what is overruled: jit_compile=True, options.deterministic=False")
for name, on in (("determinism off", False), ("determinism on", True)):
    fact(name, run(OVERRULED, on=on))
