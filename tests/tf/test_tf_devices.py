from __future__ import annotations

import gc
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfgfix.core.errors import CfgfixError

tf = pytest.importorskip("tensorflow", reason="needs the tf extra")

from cfgfix.tf import devices
from cfgfix.tf.devices import DevicePipeline, LeakMonitor

pytestmark = pytest.mark.tensorflow
SECONDS = 30.0


def preparing() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "cfgfix-prepare"]


@pytest.fixture(autouse=True)
def nothing_is_left_running():
    yield
    gc.collect()
    deadline = time.monotonic() + SECONDS
    while preparing() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert preparing() == []


def test_every_batch_once_in_order_and_again() -> None:
    pipeline = DevicePipeline(tf.data.Dataset.range(20), lambda x: x + 1)
    for _ in range(2):
        assert [int(batch) for batch in pipeline] == list(range(1, 21))
    assert pipeline.report().batches == 40


def test_tuples_become_arguments() -> None:
    source = [(1, 2), (3, 4)]
    assert list(DevicePipeline(source, lambda a, b: a + b)) == [3, 7]


def test_the_next_batch_is_prepared_during_the_step() -> None:
    """Each step waits until the next batch is being prepared: without overlap it would wait forever."""
    started = [threading.Event() for _ in range(6)]

    def prepare(index: int) -> int:
        started[index].set()
        return index

    for index in DevicePipeline(range(6), prepare, buffers=2):
        if index + 1 < 6:
            assert started[index + 1].wait(SECONDS)


def test_no_more_batches_exist_than_there_are_buffers() -> None:
    alive = 0
    most = 0
    lock = threading.Lock()

    class Batch:
        def __init__(self) -> None:
            nonlocal alive, most
            with lock:
                alive += 1
                most = max(most, alive)

        def __del__(self) -> None:
            nonlocal alive
            with lock:
                alive -= 1

    for buffers in (1, 2, 3):
        most = 0
        pipeline = DevicePipeline(range(12), lambda _: Batch(), buffers=buffers)
        iterator = iter(pipeline)
        for _ in range(12):
            batch = next(iterator)
            time.sleep(0.002)
            del batch
        assert next(iterator, None) is None
        assert 1 <= most <= buffers


def test_an_exception_of_prepare_crosses_after_the_batches_before_it() -> None:
    def prepare(index: int) -> int:
        if index == 3:
            raise KeyError("the third one")
        return index

    seen: list[int] = []
    with pytest.raises(KeyError, match="the third one") as caught:  # noqa: PT012 - the loop is what raises
        for index in DevicePipeline(range(9), prepare):
            seen.append(index)  # noqa: PERF402 - what came before the exception is the question
    assert seen == [0, 1, 2]
    assert any(entry.name == "prepare" for entry in caught.traceback)


def test_an_exception_of_the_source_crosses() -> None:
    def source():
        yield 1
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        list(DevicePipeline(source(), lambda x: x))


def test_leaving_the_loop_early_ends_the_thread() -> None:
    pipeline = DevicePipeline(iter(int, 1), lambda x: x)
    iterator = iter(pipeline)
    next(iterator)
    iterator.close()
    assert preparing() == []
    with DevicePipeline(iter(int, 1), lambda x: x) as batches:
        for _ in batches:
            break
    assert preparing() == []


def test_an_exception_in_the_step_ends_the_thread() -> None:
    with (  # noqa: PT012 - the loop is what raises
        pytest.raises(ZeroDivisionError),
        DevicePipeline(iter(int, 1), lambda x: x) as batches,
    ):
        for batch in batches:
            1 / batch


def test_a_pipeline_that_is_dropped_ends_its_thread() -> None:
    iterator = iter(DevicePipeline(iter(int, 1), lambda x: x))
    next(iterator)
    del iterator


def test_a_second_loop_is_refused_while_one_runs() -> None:
    with DevicePipeline(range(5), lambda x: x) as pipeline:
        first = iter(pipeline)
        next(first)
        with pytest.raises(CfgfixError, match="still running"):
            iter(pipeline)
        pipeline.close()
        assert list(pipeline) == [0, 1, 2, 3, 4]


def test_what_hangs_is_told(monkeypatch) -> None:
    monkeypatch.setattr(devices, "JOIN_SECONDS", 0.05)
    gate = threading.Event()
    pipeline = DevicePipeline(range(3), lambda x: gate.wait(SECONDS) if x else x)
    iterator = iter(pipeline)
    next(iterator)
    with pytest.raises(CfgfixError, match="has not ended"):
        pipeline.close()
    gate.set()


def test_wrong_use() -> None:
    with pytest.raises(CfgfixError, match="there is no device"):
        DevicePipeline(range(3), lambda x: x, prepare_device="GPU:9")
    with pytest.raises(CfgfixError, match="at least 1"):
        DevicePipeline(range(3), lambda x: x, buffers=0)
    with pytest.raises(CfgfixError, match="applied=configure"):
        DevicePipeline(range(3), lambda x: x, config={"data_gpu": 0})
    with pytest.raises(CfgfixError, match="no batch"):
        DevicePipeline(range(3), lambda x: x).report()


def test_run_and_its_report() -> None:
    seen: list[int] = []
    pipeline = DevicePipeline(range(100), lambda x: x, config={"device_buffer": 2}, prepare_device="/CPU:0")
    report = pipeline.run(seen.append, limit=7)
    assert seen == list(range(7))
    assert report.batches == 7
    assert report.buffers == 2
    assert report.devices == ("CPU:0", "any")
    assert report.verdict in ("preparing", "step", "balanced")
    assert 0 <= report.overlap <= 1
    assert set(report.as_dict()) >= {"prepare_ms", "step_ms", "wait_ms", "overlap", "wall_s", "work_s"}


def test_parts_do_what_the_pipeline_does() -> None:
    pipeline = DevicePipeline([(1, 2), (3, 4)], lambda a, b: (a + b, a * b), step_device="CPU:0")
    source, stages = pipeline.parts(lambda total, product: total - product)
    assert [name for name, _ in stages] == ["prepare", "step on CPU:0"]
    (_, prepare), (_, step) = stages
    assert [int(step(prepare(item))) for item in source] == [1, -5]


def test_parts_are_what_profiles_of_devices_run() -> None:
    from cfgfix.measure.devices import run_pipeline

    pipeline = DevicePipeline(tf.data.Dataset.range(12), lambda x: x + 1, prepare_device="CPU:0")
    source, stages = pipeline.parts(lambda x: x * 2)
    found = run_pipeline(source, stages, items=8)
    assert found.stages == ("prepare on CPU:0", "step")
    assert found.items == 8


def test_overlap_is_counted_from_the_times() -> None:
    pipeline = DevicePipeline(range(1), lambda x: x)
    pipeline._timings.extend(
        [devices.Timing(0, 0, 2, 0, 2, 4), devices.Timing(2, 2, 4, 4, 4, 6), devices.Timing(4, 5, 7, 6, 7, 9)]
    )
    report = pipeline.report()
    # Of six seconds of preparing, the second batch's two and one of the third's lie within a step.
    assert report.overlap == pytest.approx(3 / 6)
    assert (report.wall_s, report.work_s) == (9, 12)
    assert report.verdict == "balanced"


def test_two_devices_work_at_once(fresh) -> None:
    fresh(
        """
        import threading
        from cfgfix.tf import DevicePipeline, configure, verify
        configure({}, "cpu,cpus=2", cpu_devices=2)
        assert all(check.ok for check in verify())
        import tensorflow as tf
        started = [threading.Event() for _ in range(8)]
        where = []

        def prepare(index):
            made = tf.random.normal([64, 64]) @ tf.random.normal([64, 64])
            where.append(made.device)
            started[int(index)].set()
            return index, made

        steps = []
        with DevicePipeline(tf.data.Dataset.range(8), prepare, prepare_device="CPU:0", step_device="CPU:1") as pipeline:
            for index, batch in pipeline:
                assert batch.device.endswith("CPU:1"), batch.device
                with tf.device(pipeline.step_device):
                    result = batch @ batch
                steps.append(result.device)
                if int(index) < 7:
                    assert started[int(index) + 1].wait(30)
        assert all(name.endswith("CPU:0") for name in where), where
        assert len(steps) == 8 and all(name.endswith("CPU:1") for name in steps), steps
        rows = pipeline.timings
        # Preparing of the next batch began before the step with this one ended, for every batch.
        assert all(after.prepare_start < before.step_end for before, after in zip(rows, rows[1:]))
        """
    )


class TestLeaks:
    def test_a_real_leak_in_a_step_is_found(self) -> None:
        kept: list[object] = []
        monitor = LeakMonitor(warmup=5)
        for _ in range(70):
            kept.append(bytearray(b"x") * (1 << 20))
            monitor.step()
        found = monitor.judge()
        assert found.leaking, found.reason
        assert 0.5 * 2**20 < found.bytes_per_step < 2 * 2**20

    def test_a_step_that_gives_back_what_it_takes_is_none(self) -> None:
        monitor = LeakMonitor(warmup=5)
        for _ in range(70):
            passing = bytearray(b"x") * (1 << 20)
            del passing
            monitor.step()
        assert not monitor.judge().leaking

    @settings(deadline=None)
    @given(st.lists(st.integers(0, 2**30), min_size=8, max_size=8), st.integers(2, 6))
    def test_memory_that_comes_and_goes_is_none(self, pattern: list[int], times: int) -> None:
        readings = iter(pattern * 8 * times)
        monitor = LeakMonitor(read=lambda: next(readings), warmup=0)
        for _ in range(len(pattern) * 8 * times):
            monitor.step()
        assert not monitor.judge().leaking

    def test_a_slow_leak_under_noise(self) -> None:
        import random

        source = random.Random(1)
        level = 0.0

        def read() -> int:
            nonlocal level
            level += 100_000
            return int(level + source.random() * 5_000_000)

        monitor = LeakMonitor(read=read, warmup=0)
        for _ in range(800):
            monitor.step()
        assert monitor.judge().leaking

    def test_too_few_readings_say_nothing(self) -> None:
        monitor = LeakMonitor(read=lambda: 1, warmup=0)
        for _ in range(15):
            monitor.step()
        assert "too few" in monitor.judge().reason

    def test_a_long_run_stays_bounded(self, monkeypatch) -> None:
        monkeypatch.setattr(devices, "KEPT", 64)
        monitor = LeakMonitor(read=lambda: monitor._count * 100_000, warmup=0)
        for _ in range(1000):
            monitor.step()
        assert len(monitor._readings) < 64
        found = monitor.judge()
        assert found.leaking
        assert found.bytes_per_step == pytest.approx(100_000, rel=0.1)

    def test_the_chance_is_exact(self) -> None:
        assert devices._kendall_p(28, 8) == pytest.approx(1 / 40320)
        assert devices._kendall_p(3, 3) == pytest.approx(1 / 6)
        assert devices._kendall_p(-28, 8) == 1.0

    def test_a_cpu_has_no_count_of_its_own(self) -> None:
        with pytest.raises(CfgfixError, match="GPUs alone"):
            LeakMonitor("CPU:0")
        assert devices.process_bytes() > 1 << 20
