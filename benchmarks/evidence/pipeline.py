"""What rules about code rest on: order, caches, Python in pipelines, and what tf.function does with plain Python."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from harness import compare, drain, fact, outcome, section

AUTOTUNE = tf.data.AUTOTUNE
rng = np.random.default_rng(0)


def values(dataset: tf.data.Dataset) -> list[int]:
    return [int(x) for x in dataset.as_numpy_iterator()]


section("Python in a pipeline")
mapped = tf.data.Dataset.range(4).map(lambda x: tf.numpy_function(lambda v: v, [x], tf.int64))
fact("shape behind numpy_function", mapped.element_spec.shape)
fact("padded_batch behind it", outcome(lambda: mapped.padded_batch(2)))
old = tf.data.Dataset.from_generator(lambda: iter([[1, 2]]), output_types=tf.int32)
fact("shape of from_generator(output_types)", old.element_spec.shape)
drawn = tf.data.Dataset.range(64).map(lambda x: tf.cast(x, tf.float64) * 0 + np.random.random())  # noqa: NPY002 - the call that is measured
fact("distinct numbers of numpy.random in map, of 64", len(set(drawn.as_numpy_iterator())))
seeded = tf.data.Dataset.range(5).map(lambda _: tf.random.stateless_uniform([], seed=[1, 2]))
fact("distinct values with a constant stateless seed, of 5", len({float(x) for x in seeded}))
rows = rng.normal(size=(2000, 64)).astype("float32")


def by_row() -> Iterator[np.ndarray]:
    yield from rows


def by_batch() -> Iterator[np.ndarray]:
    for start in range(0, len(rows), 100):
        yield rows[start : start + 100]


spec = tf.TensorSpec([64], tf.float32)
compare(
    "2000 rows of 64 floats in batches of 100",
    {
        "from_generator by rows": lambda: drain(
            tf.data.Dataset.from_generator(by_row, output_signature=spec).batch(100)
        ),
        "from_generator by batches": lambda: drain(
            tf.data.Dataset.from_generator(by_batch, output_signature=tf.TensorSpec([None, 64], tf.float32))
        ),
        "from_tensor_slices": lambda: drain(tf.data.Dataset.from_tensor_slices(rows).batch(100)),
    },
)


def generated() -> Iterator[np.ndarray]:
    for number in range(500):
        yield (tf.constant(number) + 1).numpy()


def counted() -> Iterator[int]:
    yield from range(1, 501)


compare(
    "500 elements of a generator",
    {
        "tensors inside": lambda: drain(
            tf.data.Dataset.from_generator(generated, output_signature=tf.TensorSpec([], tf.int32)).batch(50)
        ),
        "plain Python": lambda: drain(
            tf.data.Dataset.from_generator(counted, output_signature=tf.TensorSpec([], tf.int32)).batch(50)
        ),
    },
)
compare(
    "2000 trivial elements, batched",
    {
        "py_function": lambda: drain(
            tf.data.Dataset.range(2000)
            .map(lambda x: tf.py_function(lambda v: v + 1, [x], tf.int64))
            .batch(50)
        ),
        "numpy_function": lambda: drain(
            tf.data.Dataset.range(2000)
            .map(lambda x: tf.numpy_function(lambda v: v + 1, [x], tf.int64))
            .batch(50)
        ),
        "TensorFlow": lambda: drain(tf.data.Dataset.range(2000).map(lambda x: x + 1).batch(50)),
    },
)

section("order")
fact(
    "range(6).repeat(2).shuffle(12), first six",
    values(tf.data.Dataset.range(6).repeat(2).shuffle(12, seed=3).take(6)),
)
cached = tf.data.Dataset.range(20).shuffle(20).cache()
fact("order is the same in two epochs behind cache", values(cached) == values(cached))
random_before = tf.data.Dataset.range(8).map(lambda _: tf.random.uniform([])).cache()
random_after = tf.data.Dataset.range(8).cache().map(lambda _: tf.random.uniform([]))
fact(
    "random map before cache: epochs equal",
    list(random_before.as_numpy_iterator()) == list(random_before.as_numpy_iterator()),
)
fact(
    "random map behind cache: epochs equal",
    list(random_after.as_numpy_iterator()) == list(random_after.as_numpy_iterator()),
)
batched = tf.data.Dataset.range(20).batch(5).shuffle(4)
fact(
    "members of a batch stay together under shuffle behind batch",
    all(int(b[-1]) - int(b[0]) == 4 for b in batched),
)
whole = tf.data.Dataset.range(10).shuffle(10)
fact(
    "elements in both take(7) and skip(7) of a shuffled set",
    len(set(values(whole.take(7))) & set(values(whole.skip(7)))),
)


def workers(*, first: bool) -> tuple[int, int]:
    parts = []
    for index in range(2):
        base = tf.data.Dataset.range(100)
        part = base.shard(2, index).shuffle(100) if first else base.shuffle(100).shard(2, index)
        parts.append(set(values(part)))
    return len(parts[0] & parts[1]), len(parts[0] | parts[1])


fact("shuffle before shard: in both, in either", workers(first=False))
fact("shard before shuffle: in both, in either", workers(first=True))
plain = tf.data.Dataset.range(5)
plain.shuffle(5, seed=1)
fact("ds.shuffle(5) as a statement changes nothing", values(plain) == [0, 1, 2, 3, 4])
fact("next(iter(ds)) twice gives the same", int(next(iter(plain))) == int(next(iter(plain))))
with tempfile.TemporaryDirectory() as folder:
    name = os.path.join(folder, "cache")
    values(tf.data.Dataset.range(3).cache(name))
    fact("another pipeline with the same cache file", values(tf.data.Dataset.range(10, 13).cache(name)))

section("AUTOTUNE is a number")
fact("min(8, AUTOTUNE)", min(8, AUTOTUNE))
fact("shuffle(min(100, AUTOTUNE))", outcome(lambda: values(plain.shuffle(min(100, AUTOTUNE)))))
fact("batch(min(8, AUTOTUNE))", outcome(lambda: list(plain.batch(min(8, AUTOTUNE)))))
fact("prefetch(min(100, AUTOTUNE))", outcome(lambda: values(plain.prefetch(min(100, AUTOTUNE)))))
fact(
    "interleave(cycle_length=2, num_parallel_calls=4)",
    outcome(
        lambda: values(plain.interleave(tf.data.Dataset.from_tensors, cycle_length=2, num_parallel_calls=4))
    ),
)
fact(
    "prefetch_to_device without the device, then map",
    outcome(
        lambda: values(plain.apply(tf.data.experimental.prefetch_to_device("/CPU:0")).map(lambda x: x + 1))
    ),
)

section("what runs")
data = rng.normal(size=(20000, 64)).astype("float32")
table = tf.data.Dataset.from_tensor_slices(data)
compare(
    "normalising 20000 rows",
    {
        "map then batch": lambda: drain(table.map(lambda x: (x - 1) / 2).batch(100)),
        "batch then map": lambda: drain(table.batch(100).map(lambda x: (x - 1) / 2)),
    },
    rounds=3,
)


def cardinality() -> None:
    tf.data.Dataset.range(20000).cardinality().numpy()


compare(
    "counting 20000 elements",
    {
        "by iteration": lambda: drain(tf.data.Dataset.range(20000)),
        "cardinality": cardinality,
    },
    rounds=3,
)


def fresh(count: int) -> None:
    for _ in range(count):
        next(iter(tf.data.Dataset.range(100).map(lambda x: x + 1).batch(10)))


def kept(count: int) -> None:
    iterator = iter(tf.data.Dataset.range(100).map(lambda x: x + 1).batch(10).repeat())
    for _ in range(count):
        next(iterator)


compare("20 batches", {"a new iterator each": lambda: fresh(20), "one iterator": lambda: kept(20)})


def odd(x: tf.Tensor) -> tf.Tensor:
    return x * 2 + 1


def large(x: tf.Tensor) -> tf.Tensor:
    return x > 3


def built(*, each: bool) -> None:
    made = None
    for _ in range(5):
        if each or made is None:
            made = tf.data.Dataset.range(200).map(odd).filter(large).batch(10)
        drain(made)


compare("five epochs", {"built in each": lambda: built(each=True), "built once": lambda: built(each=False)})
image = tf.io.encode_jpeg(rng.integers(0, 255, (256, 256, 3)).astype("uint8"))
images = tf.data.Dataset.from_tensors(image).repeat(300)
compare(
    "first batch with shuffle(200)",
    {
        "behind the decoding": lambda: drain(images.map(tf.io.decode_jpeg).shuffle(200).batch(8).take(1)),
        "before the decoding": lambda: drain(images.shuffle(200).map(tf.io.decode_jpeg).batch(8).take(1)),
    },
    rounds=3,
)


def nap(value: tf.Tensor) -> tf.Tensor:
    time.sleep(0.001)
    return value


slow = tf.data.Dataset.range(200).map(lambda x: tf.py_function(nap, [x], tf.int64))
quiet = tf.data.Options()
quiet.experimental_optimization.inject_prefetch = False
compare(
    "200 elements of 1 ms, 8 in a batch, steps of 8 ms, no automatic prefetch",
    {
        name: lambda ds=ds: drain(ds.with_options(quiet), 0.008)
        for name, ds in {
            "prefetch(2).batch(8)": slow.prefetch(2).batch(8),
            "batch(8).prefetch(2)": slow.batch(8).prefetch(2),
        }.items()
    },
    rounds=3,
)
with tempfile.TemporaryDirectory() as folder:
    paths = []
    for number in range(8):
        paths.append(str(Path(folder) / f"{number}.gz"))
        with tf.io.TFRecordWriter(paths[-1], "GZIP") as writer:
            for _ in range(200):
                writer.write(rng.bytes(2000))
    files = tf.data.Dataset.from_tensor_slices(paths)
    compare(
        "8 compressed files",
        {
            "interleave": lambda: drain(
                files.interleave(lambda p: tf.data.TFRecordDataset(p, "GZIP"), cycle_length=8)
            ),
            "interleave in parallel": lambda: drain(
                files.interleave(
                    lambda p: tf.data.TFRecordDataset(p, "GZIP"), cycle_length=8, num_parallel_calls=AUTOTUNE
                )
            ),
        },
        rounds=3,
    )

section("tf.function and Python")
calls: list[object] = []


@tf.function
def keeps(x: tf.Tensor) -> tf.Tensor:
    calls.append(x)
    return x


for number in range(5):
    keeps(tf.constant(number))
fact("entries in a list appended to in five calls", len(calls))
fact("the entry is symbolic", tf.is_symbolic_tensor(calls[0]))


@tf.function
def drawn_once() -> tf.Tensor:
    return tf.constant(np.random.random())  # noqa: NPY002 - the call that is measured


fact("numpy.random in a function: equal in every call", float(drawn_once()) == float(drawn_once()))
fact(".numpy() of a symbolic tensor", outcome(lambda: tf.function(lambda x: x.numpy())(tf.constant(1.0))))


@tf.function
def as_float(x: tf.Tensor) -> tf.Tensor:
    return float(x)


fact("float(tensor)", outcome(lambda: as_float(tf.constant(1))))


class Holder(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rate = 0.1

    @tf.function
    def use(self, x: tf.Tensor) -> tf.Tensor:
        return x * self.rate


holder = Holder()
before = float(holder.use(tf.constant(1.0)))
holder.rate = 0.5
fact("an attribute changed from 0.1 to 0.5 is used", float(holder.use(tf.constant(1.0))) != before)


@tf.function
def makes_variable() -> tf.Tensor:
    return tf.Variable(1.0) + 1


fact("tf.Variable made in every call", outcome(makes_variable))
for name, function in {
    "py_function": lambda x: tf.py_function(lambda v: v, [x], tf.float32),
    "text": lambda x: tf.strings.length(tf.strings.as_string(x)),
    "tf.print": lambda x: (tf.print(x), x)[1],
    "tf.unique": lambda x: tf.unique(x)[0],
    "tf.boolean_mask": lambda x: tf.boolean_mask(x, x > 0),
}.items():
    fact(
        f"{name} under XLA",
        outcome(lambda function=function: tf.function(function, jit_compile=True)(tf.ones([3]))),
    )


def body(x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.matmul(x, x))


def remade(count: int) -> None:
    for _ in range(count):
        tf.function(body)(tf.ones([8, 8]))


shared = tf.function(body)


def reused() -> None:
    for _ in range(10):
        shared(tf.ones([8, 8]))


compare(
    "ten steps",
    {"a tf.function made in each": lambda: remade(10), "made once": reused},
)


def unrolled(x: tf.Tensor) -> tf.Tensor:
    for _ in range(300):
        x = x * 1.0001
    return x


def looped(x: tf.Tensor) -> tf.Tensor:
    for _ in tf.range(300):
        x = x * 1.0001
    return x


def steady(graph: Callable[[tf.Tensor], tf.Tensor]) -> None:
    for _ in range(10):
        graph(tf.ones([4]))


def once(function: Callable[[tf.Tensor], tf.Tensor]) -> None:
    tf.function(function)(tf.ones([4]))


compare(
    "the first call of a loop of 300",
    {"range": lambda: once(unrolled), "tf.range": lambda: once(looped)},
    rounds=3,
)

section("Keras")
keras.mixed_precision.set_global_policy("float32")
first = keras.layers.Dense(2)
keras.mixed_precision.set_global_policy("mixed_float16")
second = keras.layers.Dense(2)
fact("a layer made before the policy computes in", first.compute_dtype)
fact("a layer made behind the policy computes in", second.compute_dtype)
soft = keras.Sequential([keras.Input([4]), keras.layers.Dense(3, activation="softmax")])
fact("softmax at the end gives", soft(np.ones([1, 4], "float32")).dtype.name)
full = keras.Sequential([keras.Input([4]), keras.layers.Dense(3, activation="softmax", dtype="float32")])
fact("with dtype=float32", full(np.ones([1, 4], "float32")).dtype.name)
keras.mixed_precision.set_global_policy("float32")
scaler = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(1.0))
fact("LossScaleOptimizer has get_scaled_loss", hasattr(scaler, "get_scaled_loss"))
weight = keras.Variable(1.0)
scaler.build([weight])
scaler.apply([tf.constant(1.0)], [weight])
fact("1.0 after one step of rate 1, gradient 1, loss not scaled", round(float(weight), 5))
fact("scale_loss(1.0)", float(scaler.scale_loss(tf.constant(1.0))))
model = keras.Sequential([keras.Input([4]), keras.layers.Dense(1)])
sample = np.ones([1, 4], "float32")
quick = tf.function(model)


def predictions(call: Callable[[np.ndarray], object], count: int = 20) -> None:
    for _ in range(count):
        call(sample)


graphs = {"range": tf.function(unrolled), "tf.range": tf.function(looped)}
compare(
    "later calls of the same loop",
    {name: lambda graph=graph: steady(graph) for name, graph in graphs.items()},
)


compare(
    "20 single samples",
    {
        "predict": lambda: predictions(lambda x: model.predict(x, verbose=0)),
        "model(x)": lambda: predictions(model),
        "compiled": lambda: predictions(quick),
    },
    rounds=3,
)
model.compile(loss="mse")
ready = tf.data.Dataset.from_tensors((np.ones([6, 4], "float32"), np.ones([6, 1], "float32")))
fact("fit(dataset, batch_size=32)", outcome(lambda: model.fit(ready, batch_size=32, verbose=0)))

section("the graph that runs")


def nodes(dataset: tf.data.Dataset) -> str:
    """Names of the nodes of the pipeline as TensorFlow rewrote it."""
    iterator = iter(dataset)
    for _ in range(30):
        next(iterator)
    model = tf.data.experimental.get_model_proto(iterator)
    return " <- ".join(node.name for node in sorted(model.nodes.values(), key=lambda node: node.id))


def twice(x: tf.Tensor) -> tf.Tensor:
    return x * 2


many = tf.data.Dataset.range(10000)
fact("map, batch", nodes(many.map(twice).batch(2)))
fact("batch, parallel map", nodes(many.batch(2).map(twice, num_parallel_calls=2)))
fact("prefetch twice", nodes(many.map(twice).prefetch(2).prefetch(2)))


@tf.function
def consume(dataset: tf.data.Dataset) -> tf.Tensor:
    total = tf.constant(0, tf.int64)
    for value in dataset:
        tf.py_function(nap, [value], tf.int64)
        total += value
    return total


def _run(dataset: tf.data.Dataset) -> None:
    consume(dataset)


compare(
    "a loop inside a tf.function, 100 elements of 1 ms, steps of 1 ms",
    {"no prefetch": lambda: _run(slow.take(100)), "prefetch(2)": lambda: _run(slow.take(100).prefetch(2))},
    rounds=3,
)
usual = min(drain(many.map(twice).batch(100)) for _ in range(3))
tf.data.experimental.enable_debug_mode()
debugged = min(drain(many.take(1000).map(twice).batch(100)) for _ in range(2))
fact("debug mode: time for each element, against the usual", round(debugged * 10 / usual, 1))
