"""What compiled functions and Keras training steps do with Python, with state, and with settings made too late."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import time
import warnings
from collections.abc import Callable

import keras
import numpy as np
import tensorflow as tf
from harness import compare, fact, outcome, section

warnings.simplefilter("ignore")
one = tf.constant(1.0)


@tf.function
def numpy_of(value: tf.Tensor) -> object:
    return value.numpy()


@tf.function
def float_of(value: tf.Tensor) -> object:
    return float(value)


@tf.function
def printing(value: tf.Tensor) -> tf.Tensor:
    print("traced")
    return value + 1


section("Python inside a tf.function")
fact("value.numpy()", outcome(lambda: numpy_of(one)))
fact("float(value)", outcome(lambda: float_of(one)))
caught = io.StringIO()
with contextlib.redirect_stdout(caught):
    for number in range(5):
        printing(tf.constant(float(number)))
fact("print(), 5 calls: lines", caught.getvalue().count("traced"))
seen: list[object] = []
count = [0]


@tf.function
def collecting(value: tf.Tensor) -> tf.Tensor:
    seen.append(value)
    count[0] += 1
    return value


for number in range(5):
    collecting(tf.constant(float(number)))
fact("list.append and a counter, 5 calls: entries, count", (len(seen), count[0]))


class Step:
    rate = 0.1

    @tf.function
    def __call__(self, value: tf.Tensor) -> tf.Tensor:
        return value * self.rate


step = Step()
first = float(step(one))
step.rate = 0.5
fact("an attribute 0.1, changed to 0.5: results", (round(first, 3), round(float(step(one)), 3)))


@tf.function
def with_random(value: tf.Tensor) -> tf.Tensor:
    return value + np.random.rand()  # noqa: NPY002 - what is measured


fact("np.random.rand(), 5 calls: different values", len({float(with_random(one)) for _ in range(5)}))


@tf.function
def with_variable(value: tf.Tensor) -> tf.Tensor:
    return value + tf.Variable(1.0)


fact("tf.Variable made inside, called", outcome(lambda: with_variable(one)))

section("traces")


@tf.function
def scaled(value: tf.Tensor, factor: object) -> tf.Tensor:
    return value * factor


for number in range(30):
    scaled(one, float(number))
fact("30 Python numbers as an argument", scaled.experimental_get_tracing_count())
fresh = tf.function(lambda value, factor: value * factor)
for number in range(30):
    fresh(one, tf.constant(float(number)))
fact("30 numbers as tensors", fresh.experimental_get_tracing_count())
lengths = [int(n) for n in np.random.default_rng(0).choice(np.arange(40, 120), 40)]
for relaxed in (False, True):
    function = tf.function(tf.reduce_sum, reduce_retracing=relaxed)
    for length in lengths:
        function(tf.ones((4, length)))
    fact(
        f"{len(set(lengths))} lengths, reduce_retracing={relaxed}", function.experimental_get_tracing_count()
    )

section("operations under jit_compile on a CPU")
for name, function, argument in (
    ("numpy_function", lambda x: tf.numpy_function(lambda v: v, [x], tf.float32), one),
    ("tf.strings.length", tf.strings.length, tf.constant(["a"])),
    ("tf.print", lambda x: (tf.print(x, output_stream=sys.stderr), x)[1], one),
    ("tf.unique", lambda x: tf.unique(x)[0], tf.constant([1, 1, 2])),
    ("tf.boolean_mask", lambda x: tf.boolean_mask(x, x > 1.0), tf.constant([1.0, 2.0])),
):
    compiled = tf.function(function, jit_compile=True)
    fact(name, outcome(lambda compiled=compiled, argument=argument: compiled(argument)))

section("loss scaling in Keras 3")
scaler = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(1.0))
fact("get_scaled_loss", outcome(lambda: scaler.get_scaled_loss(one)))
weight = keras.Variable(1.0)
scaler.build([weight])
fact("scale_loss(1.0)", float(scaler.scale_loss(one)))
for name, optimizer in (
    ("SGD", keras.optimizers.SGD(1.0)),
    ("LossScaleOptimizer without scale_loss", keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(1.0))),
):
    weight = keras.Variable(1.0)
    optimizer.build([weight])
    optimizer.apply_gradients([(tf.constant(1.0), weight)])
    fact(f"weight 1.0, gradient 1.0, rate 1.0, {name}", round(float(weight.numpy()), 6))

section("a policy set after layers were made")
keras.mixed_precision.set_global_policy("float32")
before = keras.layers.Dense(2)
keras.mixed_precision.set_global_policy("mixed_float16")
after = keras.layers.Dense(2)
keras.mixed_precision.set_global_policy("float32")
fact("compute dtype of the layer made before, and after", (before.compute_dtype, after.compute_dtype))
keras.mixed_precision.set_global_policy("mixed_float16")
for name, settings in (("softmax", {}), ("softmax, dtype='float32'", {"dtype": "float32"})):
    output = keras.layers.Dense(2, activation="softmax", **settings)(tf.zeros([1, 2]))
    fact(f"output of Dense with {name} under mixed_float16", output.dtype.name)
keras.mixed_precision.set_global_policy("float32")

section("arguments of fit beside a dataset")
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
data = tf.data.Dataset.from_tensors((tf.zeros([4, 3]), tf.zeros([4, 1]))).repeat(3)


class Batches(keras.callbacks.Callback):
    steps = 0

    def on_train_batch_end(self, batch: int, logs: object = None) -> None:  # noqa: ARG002 - the arguments Keras calls with
        self.steps += 1


batches = Batches()
fact(
    "batch_size=32",
    outcome(lambda: model.fit(data, batch_size=32, epochs=1, verbose=0, callbacks=[batches])),
)
fact("steps of 3 batches with it", batches.steps)
with warnings.catch_warnings(record=True) as caught_warnings:
    warnings.simplefilter("always")
    model.fit(data, shuffle=True, epochs=1, verbose=0)
fact("shuffle=True, warnings", len([w for w in caught_warnings if "shuffle" in str(w.message)]))


def tiny(value: tf.Tensor) -> tf.Tensor:
    for _ in range(10):
        value = tf.nn.relu(value * 1.01)
    return value


def calls(make: Callable[[], Callable[[tf.Tensor], tf.Tensor]], *, anew: bool) -> None:
    function = make()
    for _ in range(10):
        (make() if anew else function)(one)


compare(
    "10 calls",
    {
        "a new tf.function for each": lambda: calls(lambda: tf.function(tiny), anew=True),
        "one tf.function": lambda: calls(lambda: tf.function(tiny), anew=False),
    },
    rounds=3,
)


def unrolled(value: tf.Tensor) -> tf.Tensor:
    for _ in range(500):
        value = value * 1.0001 + 0.1
    return value


def looped(value: tf.Tensor) -> tf.Tensor:
    for _ in tf.range(500):
        value = value * 1.0001 + 0.1
    return value


compare(
    "the first call of a loop of 500 turns",
    {
        "range": lambda: tf.function(unrolled)(one) and None,
        "tf.range": lambda: tf.function(looped)(one) and None,
    },
    rounds=3,
)
python_loop, graph_loop = tf.function(unrolled), tf.function(looped)
compare(
    "later calls of a loop of 500 turns",
    {"range": lambda: python_loop(one) and None, "tf.range": lambda: graph_loop(one) and None},
)

network = keras.Sequential([keras.Input((32,)), keras.layers.Dense(64, "relu"), keras.layers.Dense(1)])
sample = np.ones((1, 32), "float32")
direct = tf.function(lambda value: network(value, training=False))
compare(
    "20 single samples",
    {
        "model.predict": lambda: [network.predict(sample, verbose=0) for _ in range(20)] and None,
        "model(x)": lambda: [network(sample, training=False) for _ in range(20)] and None,
        "a compiled call": lambda: [direct(tf.constant(sample)) for _ in range(20)] and None,
    },
    rounds=3,
)


@tf.function
def small(value: tf.Tensor) -> tf.Tensor:
    return tf.reduce_mean(value * value)


batch = tf.ones((32, 64))


def losses(*, each: bool) -> float:
    start = time.perf_counter()
    total = tf.constant(0.0)
    for _ in range(200):
        loss = small(batch)
        if each:
            float(loss.numpy())
        else:
            total += loss
    float(total)
    return time.perf_counter() - start


compare(
    "200 small steps on a CPU",
    {"loss.numpy() in each": lambda: losses(each=True), "summed as a tensor": lambda: losses(each=False)},
)

EAGER = """
import os, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

if sys.argv[1] == "1":
    tf.config.run_functions_eagerly(True)
weights = [tf.Variable(tf.random.normal([64, 64]) * 0.05) for _ in range(8)]
data = tf.random.normal([32, 64])


@tf.function
def step():
    with tf.GradientTape() as tape:
        hidden = data
        for weight in weights:
            hidden = tf.nn.relu(tf.matmul(hidden, weight))
        loss = tf.reduce_mean(hidden * hidden)
    for weight, gradient in zip(weights, tape.gradient(loss, weights)):
        weight.assign_sub(1e-3 * gradient)


step()
best = 99.0
for _ in range(7):
    start = time.perf_counter()
    for _ in range(30):
        step()
    best = min(best, time.perf_counter() - start)
print(best)
"""


def eagerly(*, on: bool) -> float:
    done = subprocess.run(
        [sys.executable, "-c", EAGER, "1" if on else "0"], capture_output=True, text=True, check=True
    )
    return float(done.stdout.split()[-1])


compare(
    "run_functions_eagerly, 30 steps of a small model",
    {"off": lambda: eagerly(on=False), "on": lambda: eagerly(on=True)},
    rounds=2,
)
