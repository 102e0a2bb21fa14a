"""False alarms: forty healthy trainings, `fit` and loops with steps of 1 to 100 ms, under `profile run`'s observation.

    python benchmarks/planted/healthy.py                 all of them (ten minutes)
    python benchmarks/planted/healthy.py --load 2        while two other processes compute
    python benchmarks/planted/healthy.py cached fit      those whose names hold all these words

All run in one process, one after the other. A training counts as called healthy where no verdict names a problem.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path[:0] = [str(Path(__file__).resolve().parent.parent.parent)]

import numpy as np
import tensorflow as tf

from cfgfix.measure import data as data_profile
from cfgfix.measure.observe import Observation, StopObservation
from cfgfix.measure.pace import Load
from cfgfix.measure.run_profile import RunPlan
from cfgfix.measure.training import analyse

ROWS = 24
"""Columns of a sample."""
SECONDS = 0.001
"""Of one round of a step's work, on a quiet machine, about; measured at the start."""


def waiting(seconds: float) -> Any:
    """Return a function of a number that waits in Python."""

    def wait(value: Any) -> Any:
        time.sleep(seconds)
        return value

    return lambda value: tf.ensure_shape(tf.numpy_function(wait, [value], tf.int64), [])


def sample(value: Any) -> Any:
    """Return inputs and target made of a number."""
    return tf.zeros([ROWS]) + tf.cast(value % 7, tf.float32) / 7, tf.zeros([1])


def numbers() -> Any:
    return tf.data.Dataset.range(10**7)


def in_memory() -> Any:
    rows = (np.random.default_rng(0).random([2048, ROWS]).astype("f"), np.zeros([2048, 1], "f"))
    return tf.data.Dataset.from_tensor_slices(rows).shuffle(2048).repeat().batch(16).prefetch(2)


def cached() -> Any:
    made = tf.data.Dataset.range(256).map(waiting(0.002)).map(sample).cache().shuffle(256)
    return made.repeat().batch(8).prefetch(tf.data.AUTOTUNE)


def light_map() -> Any:
    return numbers().map(sample, num_parallel_calls=tf.data.AUTOTUNE).batch(16).prefetch(tf.data.AUTOTUNE)


def long_epochs() -> Any:
    return tf.data.Dataset.range(150 * 16).map(sample).cache().batch(16).prefetch(2)


def wide_parallel() -> Any:
    made = numbers().map(waiting(0.004), num_parallel_calls=32, use_unbounded_threadpool=True)
    return made.map(sample).batch(4).prefetch(8)


def one_wait_ahead() -> Any:
    """Whole batches, each put together in a quarter of the shortest step it is used with."""

    def rows() -> Any:
        while True:
            time.sleep(0.002)
            yield np.zeros([16, ROWS], "f"), np.zeros([16, 1], "f")

    spec = (tf.TensorSpec([16, ROWS]), tf.TensorSpec([16, 1]))
    return tf.data.Dataset.from_generator(rows, output_signature=spec).prefetch(4)


def records() -> Any:
    folder = tempfile.mkdtemp()
    names = [f"{folder}/part-{place}.tfrecord" for place in range(4)]
    for name in names:
        with tf.io.TFRecordWriter(name) as writer:
            for _ in range(400):
                writer.write(np.zeros([ROWS], "f").tobytes())
    files = tf.data.Dataset.from_tensor_slices(names).repeat()
    made = files.interleave(tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE)
    made = made.map(
        lambda text: (tf.ensure_shape(tf.io.decode_raw(text, tf.float32), [ROWS]), tf.zeros([1])),
        num_parallel_calls=tf.data.AUTOTUNE,
    )
    return made.shuffle(500).batch(16).prefetch(tf.data.AUTOTUNE)


SHORT = (in_memory, cached, light_map, long_epochs)
LONG = (cached, wide_parallel, one_wait_ahead, records)
CASES = {
    f"{make.__name__} {kind} {milliseconds} ms": (make, kind, milliseconds)
    for milliseconds, kind in itertools.product((1, 3, 10, 30, 100), ("fit", "loop"))
    for make in (SHORT if milliseconds < 10 else LONG)
}


class Work(tf.keras.layers.Layer):
    """Computes for so many rounds and hands its input on."""

    def __init__(self, rounds: int) -> None:
        super().__init__()
        self.rounds = rounds
        self.factor = self.add_weight(shape=[384, 384], initializer="glorot_uniform", trainable=False)

    def call(self, x: Any) -> Any:
        made = tf.fill([128, 384], tf.reduce_mean(x))
        made = tf.while_loop(
            lambda turn, _: turn < self.rounds,
            lambda turn, value: (turn + 1, tf.nn.relu(tf.matmul(value, tf.convert_to_tensor(self.factor)))),
            (0, made),
        )[1]
        return x + 0.0 * tf.stop_gradient(tf.reduce_mean(made))


def model(rounds: int) -> Any:
    made = tf.keras.Sequential([Work(rounds), tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dense(1)])
    made.build([None, ROWS])
    return made


def fit(data: Any, rounds: int) -> None:
    made = model(rounds)
    made.compile("sgd", "mse")
    finite = int(data.cardinality()) > 0
    made.fit(data, steps_per_epoch=None if finite else 10_000, epochs=100, verbose=0)


def loop(data: Any, rounds: int) -> None:
    made, optimizer = model(rounds), tf.keras.optimizers.SGD()

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((made(x) - y) ** 2)
        weights = made.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    for _ in range(100):
        for x, y in data:
            step(x, y)


def round_seconds() -> float:
    """Return what a round of a step's work takes here while nothing disturbs it."""
    work = Work(20)
    run = tf.function(work)
    given = tf.zeros([4, ROWS])
    run(given)
    spent = []
    for _ in range(15):
        begin = time.perf_counter()
        run(given)
        spent.append((time.perf_counter() - begin) / 20)
    return min(spent)


def found(make: Any, kind: str, milliseconds: float, each: float) -> dict[str, Any]:
    """Return what an observed training is told."""
    rounds = max(1, round(milliseconds / 1e3 / each))
    machine = data_profile.MachineLoad()
    observation = Observation(steps=300 if milliseconds < 10 else 100, seconds=15)
    try:
        with observation:
            {"fit": fit, "loop": loop}[kind](make(), rounds)
    except StopObservation:
        pass
    load = Load(data_profile.usable_cpus(), *machine.shares())
    form = analyse(observation, RunPlan(data_seconds=4), load, source=kind).as_dict()
    return json.loads(json.dumps(form))


def main() -> int:
    """Run the trainings and print what they were told."""
    parser = argparse.ArgumentParser()
    parser.add_argument("words", nargs="*")
    parser.add_argument("--load", type=int, default=0)
    options = parser.parse_args()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.load)]
    healthy = alarms = 0
    elsewhere = []
    try:
        each = round_seconds()
        print(f"a round of work takes {each * 1e3:.3g} ms", flush=True)
        for name, (make, kind, milliseconds) in CASES.items():
            if not all(word in name for word in options.words):
                continue
            form = found(make, kind, milliseconds, each)
            problems = [entry for entry in form["verdicts"] if entry["outcome"] == "problem"]
            alarms += bool(problems)
            healthy += not problems
            elsewhere.append(form["cpus"]["elsewhere"])
            told = "; ".join(f"{entry['name']}: {entry['summary']}" for entry in problems) or "healthy"
            step = form["step_seconds"]["median"] * 1e3
            print(
                f"{name:<30} step {step:6.1f} ms, {elsewhere[-1]:.1f} CPUs elsewhere, waits {form['shares']['wait']:.1%}: {told}",
                flush=True,
            )
            for entry in problems:
                print("    " + json.dumps(entry), flush=True)
    finally:
        for process in busy:
            process.kill()
    print(
        f"called healthy: {healthy} of {healthy + alarms}; {np.median(elsewhere):.2g} CPUs at work elsewhere"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
