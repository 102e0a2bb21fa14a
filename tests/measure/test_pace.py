"""What sets the pace of a pipeline, from the costs of its stages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cfgfix.measure.dataset_graph import epoch_batches, read_graph
from cfgfix.measure.pace import Load, Lock, Pace, find_limits, find_pace, judge_stage, worth
from cfgfix.measure.stage_profile import Stage, find_sections
from cfgfix.measure.stages import measure_stages
from cfgfix.measure.verdicts import Outcome

FREE = Load(cpus=4, busy=0.5, elsewhere=0.0)
TAKEN = Load(cpus=4, busy=0.5, elsewhere=3.4)


def stage(operation, seconds, *inputs, calls=1, pool=None, python=False, phase="running", quiet=None):
    return Stage(
        operation, "f", seconds, 0.5, 1, calls, False, python, inputs, pool, quiet, phase
    )  # fmt: skip


def pipeline(*rows):
    """Return stages in a row, sources first."""
    return tuple(replace(row, inputs=(place - 1,) if place else ()) for place, row in enumerate(rows))


def paced(stages, measured, load=FREE, cpu=0.0, lock=None, starts=False):
    return find_pace(stages, measured, load, cpu_seconds=cpu, lock=lock, starts=starts)


def judged(stages, measured, load=FREE, cpu=0.0, lock=None, **more):
    return judge_stage(stages, paced(stages, measured, load, cpu, lock), load, lock, Outcome.PROBLEM, **more)


def test_stages_of_one_thread_add_up():
    stages = pipeline(
        stage("Range", 0.001), stage("Map", 0.004), stage("Batch", 0.002), stage("Prefetch", 0.0)
    )
    assert [section.members for section in find_sections(stages) if section.seconds] == [(2, 1, 0)]
    assert paced(stages, 0.0072).predicted == pytest.approx(0.007)
    assert paced(stages, 0.0072).explained


def test_threads_of_their_own_part_a_pipeline():
    stages = pipeline(stage("Map", 0.004), stage("ParallelMap", 0.02, calls=10), stage("Map", 0.003))
    assert sorted(round(section.seconds, 6) for section in find_sections(stages)) == [0.002, 0.003, 0.004]


def test_calls_wait_for_the_threads_of_their_pool():
    stages = pipeline(stage("Range", 0.0), stage("ParallelMap", 0.16, calls=16, pool=2))
    assert paced(stages, 0.08).predicted == pytest.approx(0.08)
    verdict = judged(stages, 0.08)
    assert verdict.rules == ("TFD019",)
    assert "16 calls" in verdict.summary
    assert "private_threadpool_size = 16" in verdict.change
    assert verdict.worth == pytest.approx(8)
    assert judged(stages, 0.08, step_seconds=0.04).worth == pytest.approx(2)


def test_stages_share_the_threads_of_a_pool():
    stages = pipeline(
        stage("ParallelMap", 0.06, calls=2, pool=2),
        stage("ParallelMap", 0.04, calls=2, pool=2),
    )
    assert paced(stages, 0.05).predicted == pytest.approx(0.05)


def test_what_no_stage_explains_is_said():
    stages = pipeline(stage("Map", 0.002), stage("Prefetch", 0.0))
    found = judged(stages, 0.01)
    assert "8 ms of 10 ms per batch lie outside of all stages" in found.summary
    assert found.rules == ()


def test_a_stage_that_does_not_run_any_more_is_not_judged():
    stages = pipeline(stage("Map", 0.1, phase="once"), stage("Cache", 0.0), stage("Map", 0.004))
    assert paced(stages, 0.004).predicted == pytest.approx(0.004)
    assert paced(pipeline(stage("Map", 0.1, phase="once")), 0.001) is None


def test_what_runs_before_an_epochs_first_batch_counts_where_starts_were_measured():
    stages = pipeline(stage("Map", 0.02, phase="start"), stage("Shuffle", 0.001))
    assert paced(stages, 0.02, starts=True).predicted == pytest.approx(0.021)
    assert paced(stages, 0.001).predicted == pytest.approx(0.001)


def test_several_stages_in_a_row_are_named_together():
    stages = pipeline(stage("Map", 0.004), stage("Map", 0.003), stage("Map", 0.003))
    assert "one after the other" in judged(stages, 0.01).summary


def test_python_that_waits_is_known_on_a_busy_machine():
    stages = pipeline(stage("Map", 0.02, python=True, quiet=0.018))
    lock = Lock(0.05, 0.05)
    assert "waits, one call at a time" in judged(stages, 0.02, TAKEN, cpu=0.001, lock=lock).summary
    assert "cannot be told" in judged(stages, 0.02, TAKEN, cpu=0.015, lock=lock).summary


def test_rules_come_with_their_own_evidence():
    busy = Load(cpus=2, busy=1.9, elsewhere=0.0)
    few = pipeline(stage("ParallelMap", 0.02, calls=2))
    many = pipeline(stage("ParallelMap", 0.02, calls=8))
    assert judged(few, 0.01, busy, cpu=0.02).rules == ()
    assert judged(many, 0.0101, busy, cpu=0.02).rules == ("HWR001",)
    assert judged(few, 0.01, busy, cpu=0.02, cached_before=True).rules == ("TFD018",)


def test_worth_ends_at_the_next_limit():
    stages = pipeline(stage("Map", 0.02), stage("ParallelMap", 0.02, calls=4))
    limits = find_limits(stages)
    assert worth(Pace(0.02, limits), limits[0], 0.0) == pytest.approx(4)


# --- the instrument itself


def counting(tf):
    return tf.data.Dataset.range(40).map(lambda value: value + 1)


@pytest.mark.parametrize(
    ("build", "phase"),
    [
        (lambda data: data.shuffle(40).batch(4), "start"),
        (lambda data: data.shuffle(40).batch(4).repeat().prefetch(1), "start"),
        (lambda data: data.cache().batch(4).prefetch(2), "once"),
        (lambda data: data.cache().shuffle(40).repeat().batch(4), "once"),
        (lambda data: data.batch(4).prefetch(20), "running"),
    ],
)
def test_stages_before_what_holds_every_element_are_measured(tf, build, phase):
    found = measure_stages(build(counting(tf)), batches=25)
    made = next(stage for stage in found if stage.operation == "Map")
    assert made.elements == pytest.approx(4)
    assert made.seconds > 0
    assert made.phase == phase
    assert found[-1].inputs, "the part that was iterated by itself stands before its consumer"


@pytest.mark.parametrize(
    ("build", "batches"),
    [
        (lambda data: data.batch(4), 10),
        (lambda data: data.shuffle(10).repeat().batch(8).prefetch(1), 5),
        (lambda data: data.batch(4).repeat(), 10),
        (lambda data: data.filter(lambda value: value > 3).batch(4), None),
    ],
)
def test_batches_of_an_epoch_are_known_where_the_graph_settles_them(tf, build, batches):
    dataset = build(counting(tf))
    assert epoch_batches(dataset, read_graph(dataset)) == batches


@pytest.mark.measured
def test_a_map_before_a_full_shuffle_has_its_time(tf):
    import time

    def wait(value):
        time.sleep(0.004)
        return value

    dataset = (
        tf.data.Dataset.range(60)
        .map(lambda value: tf.ensure_shape(tf.numpy_function(wait, [value], tf.int64), []))
        .shuffle(60)
        .batch(3)
    )
    found = {stage.operation: stage for stage in measure_stages(dataset, batches=30)}
    assert found["Map"].seconds >= 0.011
    assert found["Map"].share > 0.8


def test_the_quiet_time_of_calls_at_once_takes_whole_rounds():
    from cfgfix.measure.stage_costs import _StageCost

    alone = _StageCost("Map", "f", False, [], each=[(0.005, 1)] * 8 + [(0.02, 1)] * 4)
    assert alone.quiet(4, 1) == pytest.approx(0.02)
    # Each round of four calls of 10 ms is seen in two readings: its elements first, most of its time later.
    together = _StageCost("ParallelMap", "f", False, [], each=[(0.001, 3), (0.039, 1)] * 40)
    assert together.quiet(1, 4) == pytest.approx(0.01, rel=0.05)
    # What two calls at once have ended and not yet handed on differs from reading to reading.
    uneven = _StageCost("ParallelMap", "f", False, [], each=[(0.04, 4), (0.05, 3), (0.03, 5), (0.04, 4)] * 16)
    assert uneven.quiet(4, 2) == pytest.approx(0.04, rel=0.06)
    # An interleave of one call at once reads ahead, too.
    reading = _StageCost("ParallelInterleave", "f", False, [], each=[(0.02, 4), (0.04, 2), (0.06, 6)] * 16)
    assert reading.quiet(4, 1) == pytest.approx(0.04, rel=0.13)
    assert _StageCost("Map", "f", False, [], each=[(0.005, 1)] * 3).quiet(1, 1) is None
