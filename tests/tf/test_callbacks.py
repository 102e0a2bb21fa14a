from __future__ import annotations

import re
import time
import warnings
from pathlib import Path

import pytest

from cfgfix.core.errors import CfgfixError

tf = pytest.importorskip("tensorflow", reason="needs the tf extra")

from cfgfix.tf import callbacks
from cfgfix.tf.callbacks import StepRecorder, TrainingWarning, keras_callback, overhead, watch_data

pytestmark = pytest.mark.tensorflow


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self, monkeypatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(callbacks.time, "perf_counter", lambda: self.now)


@pytest.fixture
def clock(monkeypatch) -> Clock:
    return Clock(monkeypatch)


def batches(clock: Clock, count: int, wait: float):
    for index in range(count):
        clock.now += wait
        yield index


def run(recorder: StepRecorder, clock: Clock, count: int, *, wait: float, work: float) -> None:
    for _ in recorder.watch(batches(clock, count, wait)):
        with recorder.step():
            clock.now += work


def test_times_and_waiting_are_what_the_clock_says(clock: Clock) -> None:
    with StepRecorder(warmup=5) as recorder:
        run(recorder, clock, 5, wait=3.0, work=7.0)
        run(recorder, clock, 20, wait=0.001, work=0.009)
    found = recorder.statistics()
    assert found.steps == 20
    assert found.median_ms == pytest.approx(10)
    assert found.mean_ms == pytest.approx(10)
    assert found.data_wait == pytest.approx(0.1)
    assert found.variation == pytest.approx(0, abs=1e-9)
    assert found.as_dict()["usage"]["source"] == "this process"
    assert found.usage is not None
    assert found.usage.memory_bytes > 1 << 20


def test_waiting_for_data_is_said_once_with_the_settings(clock: Clock) -> None:
    recorder = StepRecorder(warmup=0)
    with pytest.warns(
        TrainingWarning, match=r"50% of the step time .* workers, prefetch, cache .*TFD001"
    ) as caught:
        run(recorder, clock, 300, wait=0.01, work=0.01)
    assert len(caught) == 1
    assert set(recorder.warned) == {"data wait"}


def test_settings_are_named_as_the_config_has_them(clock: Clock, tmp_path: Path) -> None:
    config = tmp_path / "train.yaml"
    config.write_text("data:\n  batch_size: 8\n  num_workers: 1\ntraining:\n  epochs: 3\n")
    with pytest.warns(TrainingWarning, match=r"settings are data\.num_workers \(now 1\), prefetch, cache"):
        run(StepRecorder(warmup=0, config=config), clock, 60, wait=0.01, work=0.01)


def test_every_rule_that_is_named_exists(repo_root: Path) -> None:
    known = {path.name.partition("-")[0] for path in (repo_root / "rules").rglob("*.yaml")}
    for path in (repo_root / "cfgfix" / "tf").glob("*.py"):
        named = set(re.findall(r"\b(?:CFG|CLU|GPU|HWR|TFD|TFF)\d{3}\b", path.read_text(encoding="utf-8")))
        assert named <= known, path.name


def test_a_healthy_run_says_nothing(clock: Clock) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recorder = StepRecorder(warmup=0)
        run(recorder, clock, 300, wait=0.0001, work=0.01)
    assert recorder.warned == {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(StepRecorder(warmup=0, warn=False), clock, 300, wait=0.01, work=0.01)


def test_a_leak_is_said(clock: Clock, monkeypatch) -> None:
    recorder = StepRecorder(warmup=0)
    memory = iter(range(1 << 30, 1 << 50, 1 << 30))
    monkeypatch.setattr(callbacks, "process_bytes", lambda: next(memory))
    with pytest.warns(TrainingWarning, match="memory in use grows"):
        run(recorder, clock, 400, wait=0.0, work=0.5)
    assert "leak" in recorder.warned


def test_memory_that_creeps_is_told_and_not_warned_about(clock: Clock, monkeypatch) -> None:
    recorder = StepRecorder(warmup=0)
    memory = iter(range(1 << 20, 1 << 40, 1 << 16))
    monkeypatch.setattr(callbacks, "process_bytes", lambda: next(memory))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(recorder, clock, 400, wait=0.0, work=0.5)
    assert "MiB over" in recorder.statistics().leak


def test_oscillation_is_said(clock: Clock, monkeypatch) -> None:
    monkeypatch.setattr(callbacks, "LOOK_STEPS", 120)
    recorder = StepRecorder(warmup=0)
    with pytest.warns(TrainingWarning, match="swing with a period of 10"):  # noqa: PT031 - the loop is what warns
        for index in range(1600):
            with recorder.step():
                clock.now += 0.5 if index % 10 == 0 else 0.1
    assert recorder.statistics().oscillation == "oscillating"


def test_looking_for_oscillation_waits_until_it_costs_nothing(clock: Clock, monkeypatch) -> None:
    looks: list[int] = []

    def look(times):
        looks.append(len(times))
        clock.now += 1.0
        return "none", "", None

    monkeypatch.setattr(callbacks, "_oscillation_of", look)
    recorder = StepRecorder(warmup=0)
    started = clock.now
    for _ in range(100_000):
        with recorder.step():
            clock.now += 0.01
    assert looks
    assert len(looks) / (clock.now - started) <= callbacks.LOOK_SHARE


def test_nothing_was_counted() -> None:
    with pytest.raises(CfgfixError, match="no step was counted"):
        StepRecorder().statistics()
    with pytest.raises(CfgfixError, match="at least 1"):
        StepRecorder(log_every=0)


def test_memory_of_the_recorder_is_bounded(monkeypatch) -> None:
    monkeypatch.setattr(callbacks, "KEPT", 10)
    with StepRecorder(warmup=0, warn=False) as recorder:
        for _ in range(100):
            with recorder.step():
                pass
    assert recorder.statistics().steps == 10


def slow_data(count: int, seconds: float):
    def wait(value):
        time.sleep(seconds)
        return value

    def load(value):
        made = tf.py_function(wait, [value], tf.int64)
        made.set_shape([])
        return tf.ones([4]) * tf.cast(made, tf.float32), tf.zeros([1])

    return tf.data.Dataset.range(count).map(load).batch(2).prefetch(1)


class TestClock:
    @pytest.mark.measured
    def test_it_counts_what_the_consumer_waits(self) -> None:
        data, clock = watch_data(slow_data(12, 0.02))
        started = time.perf_counter()
        seen = sum(1 for _ in data)
        spent = time.perf_counter() - started
        waited, count = clock.read()
        assert seen == count == 6
        assert int(data.cardinality()) == 6
        # Nothing else is done here, so much of the time is waiting, however busy the machine; never more than all of it.
        assert 0.2 * spent < waited <= spent

    @pytest.mark.measured
    def test_a_batch_that_is_ready_is_not_waited_for(self) -> None:
        data, clock = watch_data(tf.data.Dataset.range(50).prefetch(50))
        iterator = iter(data)
        next(iterator)
        time.sleep(0.3)
        before, _ = clock.read()
        for _ in range(40):
            next(iterator)
        # The sleep of the consumer is no wait for data, although it is 0.3 s of time between batches.
        assert clock.read()[0] - before < 0.3

    def test_elements_of_any_structure_pass_through(self) -> None:
        source = tf.data.Dataset.range(3).map(
            lambda n: {"a": (n, tf.ones([2, n])), "r": tf.RaggedTensor.from_row_lengths([n], [1])}
        )
        data, _ = watch_data(source)
        assert data.element_spec == source.element_spec
        assert [int(row["a"][0]) for row in data] == [0, 1, 2]

    def test_in_a_compiled_loop(self) -> None:
        data, clock = watch_data(tf.data.Dataset.range(5).prefetch(1))

        @tf.function
        def total(dataset):
            return dataset.reduce(tf.constant(0, tf.int64), lambda sum_, value: sum_ + value)

        assert int(total(data)) == 10
        assert clock.read()[1] == 5


class TestKeras:
    @pytest.fixture
    def model(self):
        model = tf.keras.Sequential([tf.keras.layers.Input([4]), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        return model

    def test_fit_is_recorded(self, model) -> None:
        data, clock = watch_data(slow_data(40, 0.005))
        callback = keras_callback(clock=clock, warmup=2, warn=False)
        history = model.fit(data, epochs=2, verbose=0, shuffle=False, callbacks=[callback])
        found = callback.recorder.statistics()
        assert found.steps == 38
        assert found.data_wait is not None
        assert 0 < found.data_wait <= 1
        assert len(history.history["step_ms"]) == 2
        assert history.history["data_wait"][-1] == pytest.approx(found.data_wait)

    def test_without_a_clock_waiting_is_not_claimed(self, model) -> None:
        callback = keras_callback(warmup=2)
        model.fit(slow_data(20, 0.0), epochs=1, verbose=0, shuffle=False, callbacks=[callback])
        assert callback.recorder.statistics().data_wait is None

    def test_several_steps_in_one_call(self, model) -> None:
        model.compile("sgd", "mse", steps_per_execution=4)
        callback = keras_callback(warmup=0)
        model.fit(
            slow_data(32, 0.0).repeat(),
            epochs=1,
            steps_per_epoch=16,
            verbose=0,
            shuffle=False,
            callbacks=[callback],
        )
        assert callback.recorder.steps == 16


def test_scalars_for_tensorboard(tmp_path: Path) -> None:
    with StepRecorder(warmup=0, log_dir=tmp_path, log_every=10) as recorder:
        for _ in recorder.watch(range(25)):
            with recorder.step():
                pass
    (path,) = tmp_path.glob("events.*")
    found: dict[str, list[int]] = {}
    for record in tf.data.TFRecordDataset(str(path)):
        event = tf.compat.v1.Event.FromString(record.numpy())
        for value in event.summary.value:
            assert value.metadata.plugin_data.plugin_name == "scalars"
            assert tf.make_ndarray(value.tensor).shape == ()
            found.setdefault(value.tag, []).append(event.step)
    assert found["cfgfix/step_ms"] == [10, 20]
    assert set(found) == {
        "cfgfix/step_ms",
        "cfgfix/data_wait_share",
        "cfgfix/memory_mib",
        "cfgfix/utilisation_percent",
    }


def test_the_cost_can_be_measured() -> None:
    assert overhead(steps=20) > 0


def test_the_drivers_index_of_a_gpu(monkeypatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1")
    assert [callbacks._driver_index(index) for index in (0, 1, 2)] == [3, 1, 2]
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert callbacks._driver_index(1) == 1
