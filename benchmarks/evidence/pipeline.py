"""What input pipelines do with the order, the place and the form of their transformations."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import tensorflow as tf
from harness import compare, drain, fact, outcome, section

AUTOTUNE = tf.data.AUTOTUNE
Dataset = tf.data.Dataset


def values(dataset: tf.data.Dataset) -> list[int]:
    return [int(item) for item in dataset]


def nodes(dataset: tf.data.Dataset) -> str:
    """The pipeline that really runs, from its end to its source."""
    iterator = iter(dataset)
    for _ in range(5):
        next(iterator)
    model = tf.data.experimental.get_model_proto(iterator)
    return " <- ".join(node.name for node in sorted(model.nodes.values(), key=lambda node: node.id))


def tunable(dataset: tf.data.Dataset) -> str:
    """Whether a parameter of the pipeline is left to AUTOTUNE."""
    iterator = iter(dataset)
    for _ in range(5):
        next(iterator)
    model = tf.data.experimental.get_model_proto(iterator)
    found = [item.tunable for node in model.nodes.values() for item in node.parameters]
    return "left to AUTOTUNE" if any(found) else "fixed"


section("shapes of Python functions and generators")
through = Dataset.range(3).map(lambda x: tf.py_function(lambda t: t, [x], tf.int64))
fact("py_function, shape", through.element_spec.shape)
fact("py_function, padded_batch(2)", outcome(lambda: list(through.padded_batch(2))))
untyped = Dataset.from_generator(lambda: iter([[1, 2]]), output_types=tf.int32)
fact("from_generator(output_types), shape", untyped.element_spec.shape)

section("AUTOTUNE in arithmetic")
endless = Dataset.range(10**6)
fact(
    "map(num_parallel_calls=min(8, AUTOTUNE))",
    tunable(endless.map(lambda x: x + 1, num_parallel_calls=min(8, AUTOTUNE))),
)
fact("map(num_parallel_calls=8)", tunable(endless.map(lambda x: x + 1, num_parallel_calls=8)))
fact("shuffle(min(100, AUTOTUNE))", outcome(lambda: list(Dataset.range(5).shuffle(min(100, AUTOTUNE)))))
fact("batch(min(32, AUTOTUNE))", outcome(lambda: list(Dataset.range(5).batch(min(32, AUTOTUNE)))))
fact(
    "interleave(cycle_length=2, num_parallel_calls=8)",
    outcome(
        lambda: Dataset.range(2).interleave(lambda _: Dataset.range(2), cycle_length=2, num_parallel_calls=8)
    ),
)

section("what stays of statements")
kept = Dataset.range(10)
kept.shuffle(10)
kept.batch(2)
fact("ds.shuffle(10) as a statement, then the first element", next(iter(kept)))
options = tf.data.Options()
options.deterministic = False
kept.with_options(options)
fact("ds.with_options(o) as a statement, then deterministic", kept.options().deterministic)
fact(
    "prefetch(2).prefetch(2), what runs",
    nodes(endless.map(lambda x: x, synchronous=True).prefetch(2).prefetch(2)),
)

fact("map(2 calls).batch(2), what runs", nodes(endless.map(lambda x: x + 1, num_parallel_calls=2).batch(2)))
fact("map(2 calls), what runs", nodes(endless.map(lambda x: x + 1, num_parallel_calls=2)))
fact("map one by one, what runs", nodes(endless.map(lambda x: x + 1, synchronous=True)))

section("a device that is not there")


def to_device() -> list[object]:
    moved = Dataset.range(4).apply(tf.data.experimental.prefetch_to_device("/cpu:0", 2))
    return list(moved.map(lambda x: x + 1).prefetch(2))


fact("map and prefetch behind prefetch_to_device", outcome(to_device))

section("order and mixing")
batches = Dataset.range(12).batch(3).shuffle(4, seed=1)
fact(
    "batch then shuffle: members of batches in 5 epochs",
    f"{len({tuple(item.numpy()) for _ in range(5) for item in batches})} different batches of 4",
)
cached = Dataset.range(50).shuffle(50).cache()
fact("shuffle then cache: two epochs are", "equal" if values(cached) == values(cached) else "different")
moved = Dataset.range(50).cache().shuffle(50)
fact("cache then shuffle: two epochs are", "equal" if values(moved) == values(moved) else "different")


def noisy(value: tf.Tensor) -> tf.Tensor:
    return value + tf.random.uniform([], 0, 10**6, tf.int64)


before, after = Dataset.range(20).map(noisy).cache(), Dataset.range(20).cache().map(noisy)
fact("random map then cache: two epochs are", "equal" if values(before) == values(before) else "different")
fact("cache then random map: two epochs are", "equal" if values(after) == values(after) else "different")
fact(
    "range(6).repeat(2).shuffle(12, seed=3), first 6",
    values(Dataset.range(6).repeat(2).shuffle(12, seed=3))[:6],
)
mixed = Dataset.range(1000).shuffle(1000)
both = set(values(mixed.take(700))) & set(values(mixed.skip(700)))
fact("shuffle, then take(700) and skip(700) of 1,000: in both parts", len(both))


def shares(dataset: tf.data.Dataset, *, shard_first: bool) -> tuple[int, int]:
    parts = [
        set(values(dataset.shard(2, n).shuffle(1000) if shard_first else dataset.shuffle(1000).shard(2, n)))
        for n in range(2)
    ]
    return len(parts[0] & parts[1]), len(parts[0] | parts[1])


fact(
    "shuffle then shard, 2 workers, 1,000 samples: in both, in either",
    shares(Dataset.range(1000), shard_first=False),
)
fact("shard then shuffle: in both, in either", shares(Dataset.range(1000), shard_first=True))
with tempfile.TemporaryDirectory() as folder:
    values(Dataset.range(3).cache(str(Path(folder) / "cache")))
    fact(
        "a file cache of range(3), then range(7) over it",
        values(Dataset.range(7).cache(str(Path(folder) / "cache"))),
    )

section("random numbers in a map")
by_python = Dataset.range(5).map(lambda x: tf.cast(x, tf.float32) * 0 + random.random())  # noqa: S311 - what is measured
fact("random.random(), 5 elements: different values", len({float(item) for item in by_python}))
by_numpy = Dataset.range(5).map(lambda x: tf.cast(x, tf.float32) * 0 + np.random.rand())  # noqa: NPY002 - what is measured
fact("np.random.rand(), 5 elements: different values", len({float(item) for item in by_numpy}))
by_seed = Dataset.range(64).map(
    lambda x: tf.random.stateless_uniform([], seed=[1, 2]) + tf.cast(x, tf.float32) * 0
)
fact("stateless_uniform(seed=[1, 2]), 64 elements: different values", len({float(item) for item in by_seed}))

rows = np.zeros((8000, 64), "float32")


def by_rows() -> tf.data.Dataset:
    return Dataset.from_generator(lambda: iter(rows), output_signature=tf.TensorSpec([64], tf.float32)).batch(
        256
    )


def by_batches() -> tf.data.Dataset:
    return Dataset.from_generator(
        lambda: (rows[n : n + 256] for n in range(0, len(rows), 256)),
        output_signature=tf.TensorSpec([None, 64], tf.float32),
    )


compare(
    "8,000 rows of 64 floats in batches of 256",
    {
        "from_generator, rows": lambda: drain(by_rows()),
        "from_generator, batches": lambda: drain(by_batches()),
        "from_tensor_slices": lambda: drain(Dataset.from_tensor_slices(rows).batch(256)),
    },
    rounds=3,
)

pixels = Dataset.from_tensor_slices(np.zeros((20_000, 64), "uint8"))


def normalised(value: tf.Tensor) -> tf.Tensor:
    return tf.cast(value, tf.float32) / 255.0


compare(
    "normalising 20,000 x 64 bytes in batches of 256",
    {
        "map, then batch": lambda: drain(pixels.map(normalised).batch(256)),
        "batch, then map": lambda: drain(pixels.batch(256).map(normalised)),
    },
    rounds=3,
)


def waiting(value: np.ndarray) -> np.ndarray:
    time.sleep(0.004)
    return value


def stateful(calls: int | None) -> tf.data.Dataset:
    return Dataset.range(80).map(
        lambda x: tf.numpy_function(waiting, [x], tf.int64), num_parallel_calls=calls
    )


compare(
    "a stateful map that waits 4 ms, 80 elements",
    {
        "nothing written": lambda: drain(stateful(None)),
        "2 calls": lambda: drain(stateful(2)),
        "AUTOTUNE": lambda: drain(stateful(AUTOTUNE)),
    },
    rounds=3,
    waits=True,
)


def nested(calls: int | None) -> tf.data.Dataset:
    return Dataset.range(4).interleave(
        lambda _: Dataset.range(20).map(
            lambda x: tf.numpy_function(waiting, [x], tf.int64), num_parallel_calls=calls
        ),
        cycle_length=1,
    )


compare(
    "a map inside interleave that waits 4 ms, 80 elements",
    {"nothing written": lambda: drain(nested(None)), "AUTOTUNE": lambda: drain(nested(AUTOTUNE))},
    rounds=3,
    waits=True,
)


def placed(order: str, *, injected: bool) -> float:
    source = Dataset.range(160).map(lambda x: tf.numpy_function(waiting, [x], tf.int64), num_parallel_calls=2)
    dataset = source.prefetch(2).batch(8) if order == "prefetch, batch" else source.batch(8).prefetch(2)
    setting = tf.data.Options()
    setting.experimental_optimization.inject_prefetch = injected
    return drain(dataset.with_options(setting), 0.016)


compare(
    "place of prefetch: 160 elements of 4 ms, two at a time, batches of 8, step of 16 ms",
    {
        "prefetch, batch; none added": lambda: placed("prefetch, batch", injected=False),
        "prefetch, batch": lambda: placed("prefetch, batch", injected=True),
        "batch, prefetch": lambda: placed("batch, prefetch", injected=True),
    },
    rounds=3,
    waits=True,
)


@tf.function
def loop(dataset: tf.data.Dataset) -> tf.Tensor:
    total = tf.constant(0, tf.int64)
    for item in dataset:
        total += tf.numpy_function(waiting, [item], tf.int64)
    return total


one_by_one = stateful(None)
compare(
    "a loop inside a tf.function: producer 4 ms, step 4 ms, 80 steps",
    {
        "no prefetch": lambda: loop(one_by_one) and None,
        "prefetch(2)": lambda: loop(one_by_one.prefetch(2)) and None,
    },
    rounds=3,
    waits=True,
)


def taken(*, anew: bool) -> float:
    dataset = Dataset.range(64).map(lambda x: x + 1).batch(4)
    begun = time.perf_counter()
    iterator = iter(dataset)
    for _ in range(12):
        next(iter(dataset) if anew else iterator)
    return time.perf_counter() - begun


compare(
    "12 batches",
    {"a new iterator for each": lambda: taken(anew=True), "one iterator": lambda: taken(anew=False)},
    rounds=3,
)


def made() -> tf.data.Dataset:
    return Dataset.range(640).map(lambda x: tf.cast(x, tf.float32) * 2).shuffle(64).batch(32)


once = made()
compare(
    "5 epochs of 640 elements",
    {
        "built in each epoch": lambda: sum(drain(made()) for _ in range(5)) and None,
        "built once": lambda: sum(drain(once) for _ in range(5)) and None,
    },
    rounds=3,
)
counted = Dataset.range(20_000).map(lambda x: x * 2)
compare(
    "counting 20,000 elements",
    {
        "by going through": lambda: sum(1 for _ in counted) and None,
        "cardinality()": lambda: int(counted.cardinality()) and None,
    },
    rounds=3,
)

DEBUG = """
import os, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

if sys.argv[1] == "1":
    tf.data.experimental.enable_debug_mode()
data = tf.data.Dataset.range(2000).map(lambda x: tf.cast(x, tf.float32) * 2).batch(50)
best = 99.0
for _ in range(5):
    start = time.perf_counter()
    for _ in data:
        pass
    best = min(best, time.perf_counter() - start)
print(best)
"""


def debugging(*, on: bool) -> float:
    done = subprocess.run(
        [sys.executable, "-c", DEBUG, "1" if on else "0"], capture_output=True, text=True, check=True
    )
    return float(done.stdout.split()[-1])


compare(
    "tf.data's debug mode, 2,000 trivial elements in batches",
    {"off": lambda: debugging(on=False), "on": lambda: debugging(on=True)},
    rounds=2,
)

with tempfile.TemporaryDirectory() as folder:
    compression = tf.io.TFRecordOptions(compression_type="GZIP")
    rng = np.random.default_rng(0)
    for number in range(8):
        with tf.io.TFRecordWriter(str(Path(folder) / f"{number}.tfrecord"), compression) as writer:
            for _ in range(60):
                writer.write(rng.integers(0, 64, 20_000, dtype=np.uint8).tobytes())
    names = sorted(str(path) for path in Path(folder).iterdir())

    def read(name: tf.Tensor) -> tf.data.Dataset:
        return tf.data.TFRecordDataset(name, compression_type="GZIP")

    files = Dataset.from_tensor_slices(names)
    compare(
        "8 compressed files in the page cache, 480 records",
        {
            "one after the other": lambda: drain(read(names).batch(50)),
            "interleave, AUTOTUNE": lambda: drain(
                files.interleave(read, cycle_length=4, num_parallel_calls=AUTOTUNE).batch(50)
            ),
        },
        rounds=3,
    )
