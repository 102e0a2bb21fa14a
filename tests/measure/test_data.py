from __future__ import annotations

import json
import math
import time
from dataclasses import replace

import numpy as np
import pytest

from cfgfix.core.errors import CfgfixError
from cfgfix.measure import data as measuring
from cfgfix.measure import sampling, storage
from cfgfix.measure.data import Lock, measure, measure_lock, measure_rates, shuffle_refills
from cfgfix.measure.data_profile import Consumer, DataProfile, Differential, EpochStart, Feeding, Plan
from cfgfix.measure.data_verdicts import judge
from cfgfix.measure.dataset_graph import read_graph, strings_in, walk
from cfgfix.measure.oscillation import Outcome as Found
from cfgfix.measure.oscillation import find_oscillation
from cfgfix.measure.pace import Load, find_pace
from cfgfix.measure.sampling import Timeline, UserCodeError, describe_batch, iterate
from cfgfix.measure.stage_profile import Stage
from cfgfix.measure.stages import measure_stages
from cfgfix.measure.statistics import Interval
from cfgfix.measure.verdicts import Outcome


def waiting(tf, seconds):
    def wait(value):
        time.sleep(seconds)
        return value

    def stage(value):
        made = tf.numpy_function(wait, [value], tf.int64)
        made.set_shape([])
        return made

    return stage


def spinning(tf, seconds):
    def spin(value):
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass
        return value

    def stage(value):
        made = tf.numpy_function(spin, [value], tf.int64)
        made.set_shape([])
        return made

    return stage


def quick(**changes):
    return Plan(**{"batches": 30, "seconds": 5.0, "trace": False, **changes})


# --- iteration


def test_every_batch_is_timed_and_counted(tf):
    seen = []
    line = iterate(
        tf.data.Dataset.range(100).batch(4), batches=10, on_batch=lambda place, batch: seen.append(place)
    )
    assert line.waits.shape == line.gaps.shape == (10,)
    assert (line.samples == 4).all()
    assert (line.sizes == 32).all()
    assert seen == list(range(10))
    assert line.restarts == ()
    assert (line.periods >= line.waits).all()
    assert line.after(4).waits.shape == (6,)


def test_a_dataset_that_ends_is_started_anew(tf):
    line = iterate(tf.data.Dataset.range(4), batches=10)
    assert line.restarts == (3, 7)
    assert line.after(5).restarts == (2,)


def test_a_dataset_without_a_batch_is_the_users_failure(tf):
    with pytest.raises(UserCodeError, match="no batch"):
        iterate(tf.data.Dataset.range(0), batches=3)


def test_what_a_dataset_raises_is_the_users_failure(tf):
    def fail(value):
        raise ValueError("a bug of mine")

    dataset = tf.data.Dataset.range(4).map(lambda value: tf.numpy_function(fail, [value], tf.int64))
    with pytest.raises(UserCodeError, match="a bug of mine") as caught:
        iterate(dataset, batches=3)
    assert "test_data.py" in caught.value.trace
    assert "cfgfix/measure" not in caught.value.trace


def test_batches_of_any_structure_are_described(tf):
    batch = {"text": tf.constant(["a", "b"]), "pair": (tf.zeros([2, 3]), tf.zeros([2], tf.int32))}
    assert describe_batch(batch) == (2, 32, True)
    assert describe_batch(tf.constant(1.0)) == (1, 4, False)
    assert describe_batch(tf.ragged.constant([[1, 2], [3]]))[1] > 0


def test_too_few_batches_give_no_figures():
    short = Timeline(0, 0, *(np.ones(5) for _ in range(4)), False, np.ones(5), (), None, None)
    with pytest.raises(UserCodeError, match="needed"):
        measure_rates(short)


def test_rates_are_sums_over_the_time():
    line = Timeline(
        0.1, 0.2, np.full(20, 0.03), np.full(20, 0.01), np.full(20, 8.0), np.full(20, 100.0), False,
        np.full(20, 0.02), (), 2100.0, 210.0,
    )  # fmt: skip
    rates, rest = measure_rates(line, elsewhere=1.5)
    assert rates.batches_per_second == pytest.approx(25)
    assert rates.samples_per_second == pytest.approx(200)
    assert rates.bytes_per_second == pytest.approx(2500)
    assert rates.cpus_busy == pytest.approx(0.5)
    assert rates.cpu_per_batch == pytest.approx(0.02)
    assert rates.read_per_batch == pytest.approx(100)
    assert rates.storage_per_batch == pytest.approx(10)
    assert rates.cpus_elsewhere == 1.5
    assert line.idle_share() == pytest.approx(0.75)
    assert rest.read_calls is None


# --- the graph and its stages


def test_the_graph_is_what_the_user_wrote(tf):
    def decode(value):
        return tf.strings.length(value)

    dataset = (
        tf.data.Dataset.from_tensor_slices(["/data/a.wav", "/data/b.wav"])
        .shuffle(7)
        .map(decode, num_parallel_calls=2)
        .batch(2)
        .prefetch(1)
    )
    graph = read_graph(dataset)
    assert [node.operation for node in walk(graph)] == [
        "Prefetch", "Batch", "ParallelMap", "Shuffle", "TensorSlice",
    ]  # fmt: skip
    assert [node.function for node in walk(graph)][2] == "decode"
    assert not any(node.python for node in walk(graph))
    assert {"/data/a.wav", "/data/b.wav"} <= set(strings_in(graph))
    assert shuffle_refills(graph, 2.0) == {"shuffle buffer of 7": 3.5}


def test_python_is_seen_through_functions(tf):
    inner = tf.function(lambda value: tf.numpy_function(lambda given: given, [value], tf.int64))
    graph = read_graph(tf.data.Dataset.range(3).map(lambda value: inner(value) + 1))
    assert [node.python for node in walk(graph)] == [True, False]


@pytest.mark.measured
def test_the_stage_that_sleeps_has_the_time(tf):
    dataset = tf.data.Dataset.range(10**6).map(waiting(tf, 0.004), synchronous=True).batch(2)
    found = {stage.operation: stage for stage in measure_stages(dataset, batches=15)}
    assert found["Map"].share > 0.8
    assert found["Map"].python
    assert found["Map"].elements == pytest.approx(2, abs=0.3)
    assert not found["Batch"].python
    assert found["Map"].capacity < found["Batch"].capacity
    assert sum(stage.share for stage in found.values()) == pytest.approx(1)


def test_a_generator_is_named(tf):
    def rows():
        yield from range(10**6)

    dataset = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([], tf.int64)).batch(4)
    found = [stage for stage in measure_stages(dataset, batches=10) if stage.python]
    assert [stage.operation for stage in found] == ["FromGenerator"] or "Generator" in {
        stage.operation for stage in found
    }


# --- the interpreter lock


def stage(seconds, *, python, parallelism=1, operation="Map", elements=1):
    return Stage(operation, "f", seconds, 0.5, elements, parallelism, False, python, ())


def rates_with(cpu, period):
    line = Timeline(
        0, 0, np.full(20, period), np.zeros(20), np.ones(20), np.ones(20), False, np.full(20, cpu), (), None, None
    )  # fmt: skip
    return measure_rates(line)[0]


@pytest.mark.parametrize(
    ("cpu", "stages", "low", "high"),
    [
        (0.010, [stage(0.010, python=True)], 1, 1),
        (0.0, [stage(0.010, python=True)], 0, 0),
        (0.010, [stage(0.010, python=True), stage(0.002, python=False)], 0.8, 1),
        (0.020, [stage(0.005, python=True), stage(0.020, python=False)], 0, 0.5),
    ],
)
def test_the_lock_is_bounded_by_cpu_time(cpu, stages, low, high):
    found = measure_lock(rates_with(cpu, 0.010), stages)
    assert found.low == pytest.approx(low)
    assert found.high == pytest.approx(high)


def test_without_python_there_is_no_lock_to_hold():
    assert measure_lock(rates_with(0.01, 0.01), [stage(0.01, python=False)]) is None


# --- the whole measurement


@pytest.mark.measured
def test_a_pipeline_that_waits_in_python(tf):
    def make():
        return tf.data.Dataset.range(10**6).map(waiting(tf, 0.01), name="slow").batch(2)

    found = measure(make, quick(step_seconds=0.005))
    verdicts = {verdict.name: verdict for verdict in found.verdicts}
    assert verdicts["input"].outcome is Outcome.PROBLEM
    assert set(verdicts["stage"].rules) <= set(verdicts["input"].rules)
    assert verdicts["stage"].rules[0] == "TFD001"
    assert "Python that waits" in verdicts["stage"].summary or "cannot be told" in verdicts["stage"].summary
    assert found.lock.high < 0.5
    assert found.consumer.idle.value > 0.3
    assert found.differential.delivery < found.rates.batch.median
    assert found.differential.fetch is None
    json.dumps(found.as_dict(), allow_nan=False)


@pytest.mark.measured
def test_python_that_computes_holds_the_lock(tf):
    found = measure(
        lambda: tf.data.Dataset.range(10**6).map(spinning(tf, 0.01), num_parallel_calls=3),
        quick(step_seconds=0.002),
    )
    verdict = next(verdict for verdict in found.verdicts if verdict.name == "stage")
    assert found.lock.high <= 1
    assert "TFD001" in verdict.rules
    if found.lock.low > 0.5:
        # On a machine whose CPUs are free; taken ones leave less.
        assert "holds the interpreter lock" in verdict.summary


def profile_of(
    *, idle, predicted=0.0, stages=(), cpu=0.001, elsewhere=0.0, fetch=None, by_step=0.01, period=0.01
):
    line = Timeline(
        0, 0, np.full(40, period), np.zeros(40), np.ones(40), np.ones(40), False, np.full(40, cpu), (), None, None
    )  # fmt: skip
    rates = measure_rates(line, elsewhere=elsewhere)[0]
    return DataProfile(
        "made",
        rates,
        tuple(line.periods),
        find_oscillation(line.periods),
        (),
        tuple(stages),
        measure_lock(rates, stages),
        Consumer(by_step, Interval(idle, idle - 0.01, idle + 0.01), predicted),
        Differential(0.0001, 0.0001, None, fetch, 3, 300, None),
        Feeding(by_step, 2, cpu / by_step, by_cpu=False),
        None,
        (),
        (),
    )


def judged(**figures):
    return {verdict.name: verdict for verdict in judge(profile_of(**figures), None, 2)}


def test_a_fast_pipeline_is_not_blamed():
    found = judged(idle=0.01, stages=[stage(0.009, python=False)])
    assert found["input"].outcome is Outcome.GOOD
    assert Outcome.PROBLEM not in {verdict.outcome for verdict in found.values()}


def test_handing_over_to_a_short_step_is_not_the_pipelines_fault():
    assert judged(idle=0.15, by_step=0.0007, period=0.0003)["input"].outcome is Outcome.GOOD
    assert judged(idle=0.5, by_step=0.0007, period=0.0003)["input"].outcome is Outcome.PROBLEM
    assert judged(idle=0.15, by_step=0.0007, period=0.0009)["input"].outcome is Outcome.PROBLEM


def in_epochs(of=10):
    """Return the figures of a dataset whose epochs are short and start slowly."""
    waits, restarts = np.full(90, 0.0003), tuple(range(of - 1, 90, of))
    waits[list(restarts)] = 0.05
    line = Timeline(
        0, 0, waits, np.zeros(90), np.ones(90), np.ones(90), False, np.full(90, 1e-4), restarts, None, None
    )  # fmt: skip
    return measure_rates(line)[0]


def test_starts_of_epochs_are_not_the_pace_of_a_pipeline():
    rates = in_epochs()
    assert rates.batch.mean > 0.004
    assert rates.pace == pytest.approx(0.0003)
    made = replace(profile_of(idle=0.15, by_step=0.0007, period=0.0003), rates=rates)
    assert judge(made, None, 2)[0].outcome is Outcome.GOOD


def test_ends_of_epochs_are_no_stall_of_the_pipeline():
    made = profile_of(idle=0.5, stages=[stage(0.002, python=False)], elsewhere=1.9)
    swing = replace(
        made.oscillation, outcome=Found.OSCILLATING, period=10.0, amplitude=0.05, excess_share=0.5, p_value=0.01
    )  # fmt: skip
    made = replace(made, oscillation=swing)
    assert judge(made, None, 2)[0].outcome is Outcome.PROBLEM
    assert judge(replace(made, within=swing), None, 2)[0].outcome is Outcome.PROBLEM
    levelled = replace(swing, outcome=Found.NONE)
    assert judge(replace(made, within=levelled), None, 2)[0].outcome is Outcome.GOOD
    slow = replace(made, within=levelled, start=EpochStart(0.5, 10, None))
    assert judge(slow, None, 2)[0].outcome is not Outcome.GOOD
    (verdict, *_) = judge(replace(slow, rates=replace(made.rates, restarts=8)), None, 2)
    assert verdict.summary == "input-bound while each epoch starts, not after"


def test_starts_of_epochs_are_levelled_before_a_stall_is_looked_for(paced):
    def measured(pace):
        make = paced(pace)
        return measure(lambda: make().take(30), quick(batches=150, seconds=20, stages=False))

    starts = measured(lambda place: (0.05 if place == 0 else 0.002) * (1 + 0.01 * math.sin(place)))
    assert starts.rates.restarts
    assert starts.oscillation.outcome is Found.OSCILLATING
    assert starts.oscillation.excess_share > 0.3
    assert (starts.within.excess_share or 0) < 0.05
    assert measured(stalling).within.excess_share > 0.3


def test_a_prefetch_is_never_what_holds_a_pipeline_up():
    ahead = stage(0.02, python=False, operation="Prefetch")
    assert "stage" not in judged(idle=0.5, stages=[ahead])
    found = judged(idle=0.5, stages=[stage(0.01, python=False), ahead])
    assert "Map" in found["stage"].summary
    assert "Prefetch" not in found["stage"].summary


@pytest.mark.parametrize(
    ("made", "rules", "words"),
    [
        (stage(0.01, python=False), ("TFD006", "HWR023"), "one call at a time while CPUs are free"),
        (stage(0.01, python=False, operation="Interleave"), ("TFD022", "HWR023"), "one call at a time"),
        (
            stage(0.02, python=False, parallelism=2, operation="ParallelMap"),
            ("TFD019", "HWR023"),
            "wait (reading or sleeping)",
        ),
        (stage(0.01, python=True, operation="FromGenerator", elements=8), ("TFD003",), "runs Python"),
        (stage(0.01, python=True, operation="FromGenerator"), (), "runs Python"),
    ],
)
def test_the_slowest_stage_names_its_rule(made, rules, words):
    found = judged(idle=0.5, stages=[made])
    assert found["stage"].outcome is Outcome.PROBLEM
    assert found["stage"].rules == rules
    assert words in found["stage"].summary
    assert found["stage"].change
    assert found["input"].rules == rules


def test_python_is_told_by_what_it_does():
    computing = judged(idle=0.5, stages=[stage(0.01, python=True)], cpu=0.01)["stage"]
    assert "holds the interpreter lock" in computing.summary
    waiting = judged(idle=0.5, stages=[stage(0.01, python=True)])["stage"]
    assert "Python that waits" in waiting.summary
    assert "TFD005" in waiting.rules
    crowded = judged(idle=0.5, stages=[stage(0.01, python=True)], elsewhere=1.9)["stage"]
    assert "cannot be told" in crowded.summary


def test_what_waits_for_a_cpu_is_not_taken_for_waiting():
    made = replace(stage(0.01, python=True), quiet_seconds=0.009)

    def said(delayed):
        found = profile_of(idle=0.5, stages=[made], elsewhere=1.8)
        rates = replace(found.rates, delayed=delayed)
        verdicts = judge(replace(found, rates=rates), None, 2)
        return next(verdict.summary for verdict in verdicts if verdict.name == "stage")

    assert "Python that waits" in said(0.0)
    assert "Python that waits" in said(0.2)
    assert "cannot be told" in said(0.7)


@pytest.mark.parametrize(
    ("delayed", "outcome"), [(0.0, Outcome.GOOD), (0.9, Outcome.GOOD), (0.1, Outcome.PROBLEM)]
)
def test_other_processes_explain_no_more_than_threads_waited_for_a_cpu(delayed, outcome):
    found = profile_of(idle=0.5, stages=[stage(0.002, python=False)], elsewhere=1.8)
    rates = replace(found.rates, delayed=delayed)
    assert judge(replace(found, rates=rates), None, 2)[0].outcome is outcome


def test_delays_of_threads_are_read_where_the_system_tells_them(tf):
    delays = sampling.read_delays()
    assert all(delay >= 0 for delay in delays.values())
    line = iterate(tf.data.Dataset.range(20), batches=10)
    assert line.after(2).delayed == line.delayed >= 0


def test_a_missing_prefetch_is_told_where_it_would_help(tf):
    plain = tf.data.Dataset.range(10).batch(2)
    bare, ahead = read_graph(plain), read_graph(plain.prefetch(2))

    def said(graph, predicted):
        found = judge(profile_of(idle=0.5, predicted=predicted), graph, 2)
        return [verdict.rules for verdict in found if verdict.name == "prefetch"]

    assert said(bare, 0.0) == [("TFD007", "TFD008", "CFG003")]
    assert said(bare, 0.48) == []
    assert said(ahead, 0.0) == []


def test_cpus_at_work_elsewhere_count():
    found = judged(idle=0.5, stages=[stage(0.01, python=False)], elsewhere=1.9)
    assert "the CPUs are all at work" in found["stage"].summary


def test_many_cheap_stages_have_no_culprit():
    found = judged(idle=0.5, stages=[stage(0.004, python=False) for _ in range(3)])
    assert found["stage"].outcome is Outcome.INFO
    assert "no stage alone" in found["stage"].summary


def test_reading_cold_files_is_told_by_its_size():
    found = judged(idle=0.5, fetch=Interval(0.005, 0.004, 0.006))
    assert found["storage"].outcome is Outcome.PROBLEM
    assert found["storage"].rules == ("TFD022", "TFD019")
    assert judged(idle=0.5, fetch=Interval(0.001, 0.0005, 0.002))["storage"].outcome is Outcome.INFO
    assert "storage" not in judged(idle=0.5, fetch=Interval(0.001, -0.0005, 0.002))


def test_an_interval_across_the_limit_decides_nothing():
    line = profile_of(idle=0.05)
    wide = replace(line, consumer=Consumer(0.01, Interval(0.05, 0.0, 0.2), 0.0))
    found = {verdict.name: verdict for verdict in judge(wide, None, 2)}
    assert found["input"].outcome is Outcome.INCONCLUSIVE


class Clock:
    """Time that passes only where a pipeline lets it: what else the machine does cannot disturb a series."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now

    def process_time(self):
        return 0.0

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def paced(tf, monkeypatch):
    """Return a maker of datasets whose element `n` takes `pace(n)` seconds of a clock of their own."""
    clock = Clock()
    monkeypatch.setattr(sampling, "time", clock)

    def maker(pace):
        def load(value):
            clock.sleep(pace(int(value)))
            return value

        def make():
            options = tf.data.Options()
            # Tuned, a pipeline may make elements ahead in another thread, whose time is nobody's wait.
            options.autotune.enabled = False
            dataset = tf.data.Dataset.range(10**6).map(
                lambda value: tf.numpy_function(load, [value], tf.int64)
            )
            return dataset.with_options(options)

        return make

    return maker


def stalling(place):
    return (0.03 if place % 10 == 0 else 0.002) * (1 + 0.01 * math.sin(place))


def test_a_stall_is_found_with_its_cause(paced):
    make = paced(stalling)
    found = measure(make, quick(batches=120, seconds=10, stages=False, intervals={"checkpoint": 10}))
    assert found.rates.steady.steady
    assert found.oscillation.outcome is Found.OSCILLATING
    assert found.oscillation.period == pytest.approx(10, rel=0.05)
    assert [cause.name for cause in found.causes if cause.matches] == ["checkpoint"]
    verdict = next(verdict for verdict in found.verdicts if verdict.name == "oscillation")
    assert "checkpoint" in verdict.summary
    assert "save less often" in verdict.change


def test_a_stall_in_times_that_still_move_decides_nothing(paced):
    make = paced(lambda place: stalling(place) * (1 - place / 240))
    found = measure(make, quick(batches=120, seconds=10, stages=False, intervals={"checkpoint": 10}))
    assert found.oscillation.outcome is Found.INCONCLUSIVE
    assert "has not settled (still getting faster" in found.oscillation.reason
    assert not any(verdict.change for verdict in found.verdicts if verdict.name == "oscillation")


@pytest.mark.measured
def test_a_profilers_verdict_stands_beside(tf):
    pytest.importorskip("xprof")
    found = measure(
        lambda: tf.data.Dataset.range(10**6).map(waiting(tf, 0.02)),
        quick(step_seconds=0.005, trace=True, stages=False),
    )
    profiler = found.consumer.profiler
    assert profiler.available
    assert "input-bound" in profiler.conclusion
    assert profiler.input_share == pytest.approx(found.consumer.idle.value, abs=0.25)


def test_what_is_not_a_dataset_is_refused(tf):
    with pytest.raises(CfgfixError, match="list, not"):
        measure(lambda: [1, 2, 3], quick())


@pytest.mark.measured
def test_a_step_that_no_machine_can_feed(tf):
    found = measure(
        lambda: tf.data.Dataset.range(10**6).map(spinning(tf, 0.004)).batch(4), quick(step_seconds=0.0001)
    )
    verdict = next(verdict for verdict in found.verdicts if verdict.name == "cpus")
    assert verdict.outcome is Outcome.PROBLEM
    assert found.feeding.cpus_needed > 100
    assert verdict.rules == (), "no call is one too many where they run one at a time"


@pytest.mark.parametrize(("cpu", "outcome"), [(0.004, Outcome.INFO), (0.019, Outcome.PROBLEM)])
def test_cpus_are_no_problem_while_a_stage_waits(cpu, outcome):
    stages = [stage(0.02, python=False)]
    made = profile_of(idle=0.9, by_step=0.0002, period=0.02, cpu=cpu, stages=stages)
    pace = find_pace(stages, 0.02, Load(2, 0.5, 0.0), cpu_seconds=cpu, lock=None, starts=False)
    told = {verdict.name: verdict for verdict in judge(replace(made, pace=pace), None, 2)}
    assert told["stage"].outcome is Outcome.PROBLEM
    assert told["cpus"].outcome is outcome


# --- files


@pytest.fixture
def files(tmp_path):
    made = []
    for place in range(12):
        path = tmp_path / f"{place}.bin"
        path.write_bytes(bytes([place]) * (1 << 20))
        made.append(str(path))
    return made


def test_the_files_of_a_dataset_are_found(tf, files, tmp_path):
    dataset = tf.data.Dataset.from_tensor_slices(files).map(tf.io.read_file)
    assert set(measuring.find_files(dataset, None, [])) == {
        str(tmp_path / f"{place}.bin") for place in range(12)
    }
    assert len(measuring.find_files(tf.data.Dataset.range(3), str(tmp_path), [])) == 12


def test_files_that_python_opens_are_found(files):
    with storage.opened_files() as opened, open(files[0], "rb") as stream:
        stream.read(1)
    with open(files[1], "rb") as stream:
        stream.read(1)
    assert files[0] in opened
    assert files[1] not in opened


@pytest.mark.skipif(not storage.supports_eviction(), reason="not on this platform")
def test_cold_and_warm_runs(tf, files):
    def make():
        return tf.data.Dataset.from_tensor_slices(files).map(
            lambda name: tf.strings.length(tf.io.read_file(name))
        )

    found = measure(make, quick(cold=True, pairs=2, batches=11, stages=False))
    parts = found.differential
    assert parts.files == 12
    assert parts.bytes == 12 << 20
    assert isinstance(parts.fetch, Interval)
    assert found.rates.read_per_batch is None or found.rates.read_per_batch > 0.9 * (1 << 20)


def test_without_files_there_is_no_cold_run(tf):
    found = measure(lambda: tf.data.Dataset.range(10**6), quick(cold=True, stages=False))
    assert found.differential.fetch is None
    assert any("names no files" in note for note in found.differential.notes)


def test_the_cache_state_is_read_without_changing_it(files):
    storage.warm(files)
    state = storage.cache_state(tuple(files))
    assert state.files == 12
    assert state.bytes == 12 << 20
    if state.cached_share is not None:
        assert state.cached_share > 0.9
        assert storage.cache_state(tuple(files)).cached_share == state.cached_share


def test_larger_than_the_limit_is_told(files):
    assert storage.warm(files)
    assert not storage.warm(files, limit=1 << 20)


def test_names_that_are_no_files_are_left_out(tmp_path):
    assert storage.data_files(["", "\0", "a" * 5000, str(tmp_path), "nothing-there"]) == ()


def test_lock_of_json():
    assert Lock(0.1, 0.2).as_dict() == {"low": 0.1, "high": 0.2}


@pytest.mark.parametrize(
    ("seconds", "elsewhere", "outcome", "words"),
    [
        # 40 batches of 0.01 s explain the start: the buffer is filled with them.
        (0.01, 0.0, Outcome.PROBLEM, "while Shuffle fills its buffer"),
        # Out of a cache a buffer fills in no time, so the shuffle is not at fault.
        (0.00001, 0.0, Outcome.PROBLEM, "s of waiting"),
        (0.00001, 1.9, Outcome.INFO, "s of waiting"),
    ],
)
def test_a_start_is_laid_to_the_buffer_that_takes_it(seconds, elsewhere, outcome, words):
    filled = replace(stage(seconds, python=False, operation="Cache"), phase="start")
    found = profile_of(idle=0.01, stages=[filled], elsewhere=elsewhere)
    found = replace(found, start=EpochStart(0.4, 40, "Shuffle"))
    (verdict,) = (verdict for verdict in judge(found, None, 2) if verdict.name == "epoch start")
    assert verdict.outcome is outcome
    assert verdict.summary.endswith(words)
    assert ("shuffle" in verdict.change) is (seconds == 0.01)
