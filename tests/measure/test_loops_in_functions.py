"""Loops that no iterator outside of a function feeds: inside a `tf.function`, or over arrays of the user's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cfgfix.measure import graph_loops
from cfgfix.measure.counters import Counter, device_bytes
from cfgfix.measure.observe import Observation, Step
from cfgfix.measure.observe import observed as watched
from cfgfix.measure.run_profile import device_memory
from cfgfix.measure.training import _advice_on_steps


def line_of(text: str) -> int:
    """Return the line of this file that holds a text."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.strip().startswith(text))


def step_of(tf, weight, value):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(weight * tf.cast(value, tf.float32))
    weight.assign_sub(1e-6 * tape.gradient(loss, weight))
    return loss


def test_each_batch_of_a_loop_over_a_dataset_is_a_step(tf):
    weight = tf.Variable(1.0)

    @tf.function
    def epoch(data):
        total = 0.0
        for value in data:  # the training
            total += step_of(tf, weight, value)
        return total

    data = tf.data.Dataset.range(20).batch(4)
    with Observation() as seen:
        first = epoch(data)
        second = epoch(data)
    (loop,) = seen.loops.values()
    assert loop.place == f"{__file__}:{line_of('for value in data:  # the training')}"
    assert [(step.samples, step.trains, step.batches) for step in loop.steps] == [(4, True, 1)] * 10
    assert loop.epochs == 2
    assert loop.dataset is data
    assert [bool(step.starts) for step in loop.steps] == [place in (0, 4, 5, 9) for place in range(10)]
    assert loop.steps[0].trace > 0
    assert all(step.call > 0 and not step.trace for step in loop.steps[1:])
    assert float(first) == pytest.approx(190.0, abs=0.1)
    assert float(second) < float(first)
    (trace,) = seen.tracings.traces
    assert trace.seconds == loop.steps[0].trace


@pytest.mark.filterwarnings("ignore:To make it possible to preserve tf.data options")
@pytest.mark.parametrize("way", ["argument", "outside"])
def test_each_batch_of_a_distributed_dataset_in_a_function_is_a_step(tf, way):
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    data = tf.data.Dataset.range(20).batch(4)
    with strategy.scope():
        weight = tf.Variable(1.0)
    shared = strategy.experimental_distribute_dataset(data)

    @tf.function
    def epoch(given):
        for value in shared if way == "outside" else given:
            strategy.run(lambda part: step_of(tf, weight, part), args=(value,))

    with Observation() as seen:
        for _ in range(2):
            epoch(shared if way == "argument" else 0)
    loop = max(seen.loops.values(), key=lambda one: len(one.steps))
    assert [(step.samples, step.trains) for step in loop.steps] == [(4, True)] * 10
    assert (loop.dataset, loop.epochs) == (data, 2)
    assert weight.numpy() == pytest.approx(1 - 2 * 190e-6, rel=1e-4)


def test_waiting_is_told_from_the_body(tf):
    def slow(value):
        import time

        time.sleep(0.02)
        return value

    data = tf.data.Dataset.range(12).map(
        lambda v: tf.ensure_shape(tf.numpy_function(slow, [v], tf.int64), [])
    )
    weight = tf.Variable(1.0)

    @tf.function
    def epoch():
        for value in data:
            step_of(tf, weight, value)

    with Observation() as seen:
        epoch()
    (loop,) = seen.loops.values()
    assert loop.dataset is data
    inner = [step for step in loop.steps if not step.starts]
    assert len(inner) == 10
    assert min(step.wait for step in inner) >= 0.019
    assert np.median([step.call for step in inner]) < 0.019


def test_the_observation_ends_inside_a_function(tf):
    weight = tf.Variable(1.0)
    ended = []

    @tf.function
    def epoch(data):
        for value in iter(data):
            step_of(tf, weight, value)

    with watched(steps=5) as seen:
        try:
            epoch(tf.data.Dataset.range(1000))
        except Exception:  # noqa: BLE001 - as a script may do
            ended.append("a handler of the script")
        ended.append("what follows")
    assert seen.stopped
    assert seen.done == 5
    assert ended == []


def test_a_second_loop_and_a_break_leave_the_training_alone(tf):
    weight = tf.Variable(1.0)

    @tf.function
    def both(data, held_out):
        for value in data:
            step_of(tf, weight, value)
        right = 0.0
        for value in held_out:
            if value > 3:
                break
            right += tf.cast(value, tf.float32) * weight
        return right

    with Observation() as seen:
        for _ in range(3):
            both(tf.data.Dataset.range(6), tf.data.Dataset.range(50))
    loops = list(seen.loops.values())
    assert [len(loop.steps) for loop in loops] == [18, 0]
    assert all(step.trains for step in loops[0].steps)


def test_functions_that_take_several_batches_are_counted_by_them(tf):
    weight = tf.Variable(1.0)

    @tf.function
    def some(batches, count):
        for _ in tf.range(count):
            step_of(tf, weight, next(batches))

    with Observation() as seen:
        batches = iter(tf.data.Dataset.range(10_000).batch(8))
        for _ in range(4):
            some(batches, tf.constant(5))
    (loop,) = seen.loops.values()
    assert [(step.batches, step.samples) for step in loop.steps] == [(5, 40)] * 4

    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", steps_per_execution=4)
    with Observation() as seen:
        model.fit(np.zeros([32, 2], "f"), np.zeros([32, 1], "f"), batch_size=2, verbose=0)
    (loop,) = seen.loops.values()
    assert [(step.batches, step.samples) for step in loop.steps] == [(4, 8)] * 4


def test_loops_over_arrays_are_steps_of_the_function_that_trains(tf):
    weight = tf.Variable(1.0)
    step = tf.function(lambda value: step_of(tf, weight, value))

    def batches():
        for _ in range(6):
            yield np.ones([8], "f")

    with Observation() as seen:
        for value in batches():
            step(value)
    (loop,) = seen.loops.values()
    assert loop.lone
    # The function is known for one that trains once it was traced.
    assert [(one.trains, one.samples) for one in loop.steps] == [(True, 8)] * 5

    with Observation() as seen:
        for value in batches():
            step_of(tf, weight, value)
    (loop,) = seen.loops.values()
    assert [one.trains for one in loop.steps] == [True] * 6


def test_a_step_that_is_only_tried_gives_way_to_the_loop(tf):
    weight = tf.Variable(1.0)
    step = tf.function(lambda value: step_of(tf, weight, value))
    with Observation() as seen:
        for _ in range(3):
            step(tf.ones([2]))
        for value in tf.data.Dataset.range(8).map(lambda v: tf.ones([2])):
            step(value)
            with tf.GradientTape() as tape:
                loss = weight * 2.0
            tape.gradient(loss, weight)
    loops = {loop.lone: len(loop.steps) for loop in seen.loops.values()}
    assert loops == {True: 2, False: 8}


def test_nothing_is_left_of_it(tf):
    from tensorflow.python.autograph.operators import control_flow

    registry = control_flow.for_loop_registry._registry
    before = dict(registry)
    weight = tf.Variable(1.0)

    @tf.function
    def epoch(data):
        for value in data:
            step_of(tf, weight, value)

    with Observation() as seen:
        assert registry != before
        epoch(tf.data.Dataset.range(3))
    assert registry == before
    epoch(tf.data.Dataset.range(3))  # the function keeps its calls, and they do nothing
    assert sum(len(loop.steps) for loop in seen.loops.values()) == 3


def test_a_tensor_is_looped_over_as_ever(tf):
    @tf.function
    def total(values):
        found = 0.0
        for value in values:
            found += value
        return found

    undo = graph_loops.replace_loops(lambda source, place: pytest.fail("no dataset"))
    try:
        assert float(total(tf.ones([3]))) == 3.0
    finally:
        undo()


def test_what_was_not_seen_is_told(tf):
    weight = tf.Variable(1.0)
    with Observation() as seen:
        step_of(tf, weight, 1.0)
    assert "name the script" in _advice_on_steps(seen)
    hidden = Observation()
    hidden.trained = [weight]
    assert "in no loop that is known" in _advice_on_steps(hidden)


FIRST = """
import sys
import tensorflow as tf
from cfgfix.measure.observe import observed

with observed(steps=3) as seen:
    tf.config.threading.set_intra_op_parallelism_threads(2)
    cpus = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2)
    weight = tf.Variable(1.0)

    @tf.function
    def step(values):
        with tf.GradientTape() as tape:
            loss = weight * tf.cast(next(values), tf.float32)
        weight.assign_sub(tape.gradient(loss, weight))

    values = iter(tf.data.Dataset.range(100))
    for _ in range(10):
        step(values)
assert seen.done == 3, seen.done
"""


def test_a_program_may_set_devices_and_threads_first(tf, tmp_path):
    """TensorFlow takes them only until its runtime starts, which the observation must leave to the program."""
    (tmp_path / "train.py").write_text(FIRST)
    done = subprocess.run(
        [sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_counter_belongs_to_no_strategy(tf):
    with tf.distribute.MirroredStrategy(["/cpu:0"]).scope():
        counter = Counter("int64")
    add = tf.function(lambda: counter.add(3))
    add()
    add()
    assert counter.read() == 6
    counter.set(1)
    assert counter.read() == 1
    assert device_bytes() == {}


def test_the_memory_of_devices_is_followed():
    steps = [Step(place * 0.1, (place + 1) * 0.1) for place in range(100)]
    rising = [(moment / 10, {"GPU:0": 2**20 * moment, "GPU:1": 5e6}) for moment in range(200)]
    first, second = device_memory(rising, steps)
    assert (first.name, first.growth) == ("GPU:0", pytest.approx(2**20, rel=0.05))
    assert first.peak == first.last == 100 * 2**20
    assert len(first.readings) <= 200
    assert (second.growth, second.peak) == (None, 5e6)
    assert device_memory([], steps) == ()
