from __future__ import annotations

import pytest

from cfgfix.core.errors import CfgfixError
from cfgfix.core.records import replace
from cfgfix.hardware.model import exact
from cfgfix.hardware.presets import parse_profile

tf = pytest.importorskip("tensorflow", reason="needs the tf extra")

from cfgfix.tf import pipeline
from cfgfix.tf.batching import padded_batch_fixed
from cfgfix.tf.dataset_graph import element_bytes, randomness
from cfgfix.tf.distribution import distribute
from cfgfix.tf.pipeline import calls, optimize, parallel_interleave_files, pipeline_options, summarize

pytestmark = pytest.mark.tensorflow
CPU = "cpu,cpus=2,ram=8"


def in_container(processors: float = 1.5, ram_mib: float = 1024.0):
    machine = parse_profile("cpu,cpus=32,ram=64")
    cpu = replace(machine.cpu, usable=exact(processors, "cpu.max"), limited_by="/sys/fs/cgroup/cpu.max")
    memory = replace(
        machine.memory,
        total_mib=exact(ram_mib, "memory.max"),
        available_mib=exact(ram_mib / 2, "memory.max"),
        limited_by="memory.max",
    )
    host = exact(65536.0, "MemTotal")
    return replace(machine, cpu=cpu, memory=memory, host_ram_mib=host, has_quota=exact(True, "cpu.max"))


def numbers(count: int = 10):
    return tf.data.Dataset.range(count)


def names(dataset) -> list[str]:
    return [stage.name for stage in summarize(dataset).stages]


class TestOptions:
    def test_a_container_gets_budgets_and_a_pool_of_its_own(self) -> None:
        options, applied = pipeline_options({}, in_container())
        assert options.autotune.cpu_budget == 1
        assert options.autotune.ram_budget == 256 << 20
        assert options.threading.private_threadpool_size == 1
        assert all(item.done for item in applied)

    def test_a_machine_without_limits_keeps_the_defaults(self) -> None:
        options, applied = pipeline_options({}, CPU)
        assert applied == ()
        assert options.autotune.cpu_budget is None
        assert options.threading.private_threadpool_size is None

    def test_what_is_asked_for_wins(self) -> None:
        options, _ = pipeline_options({"private_threads": 5, "deterministic": False}, in_container())
        assert options.threading.private_threadpool_size == 5
        assert options.deterministic is False

    def test_an_option_that_this_tensorflow_lacks_is_told(self) -> None:
        applied: list[pipeline.Applied] = []
        pipeline._set_option(
            tf.data.Options(), "experimental_optimization.map_vectorization", True, "x", applied
        )
        pipeline._set_option(tf.data.Options(), "no_such.thing", True, "x", applied)
        assert [item.done for item in applied] == [False, False]

    def test_they_are_in_force_on_the_dataset(self) -> None:
        made = optimize(numbers(), {"batch_size": 2}, in_container(), batch=True)
        assert made.options().autotune.cpu_budget == 1
        assert ("autotune.cpu_budget", "1") in summarize(made).options


class TestCalls:
    @pytest.mark.parametrize(("asked", "given"), [(None, -1), (-1, -1), (1, 1), (32, 2)])
    def test_no_more_than_the_cpus(self, asked: int | None, given: int) -> None:
        from cfgfix.tf.concepts import Concepts

        assert calls(Concepts({}), parse_profile(CPU), asked) == given

    def test_waiting_calls_may_be_more(self) -> None:
        from cfgfix.tf.concepts import Concepts

        assert calls(Concepts({"workers": 16}), parse_profile(CPU), blocking=True) == 16


class TestRandomness:
    def test_shuffle_that_changes_every_pass(self) -> None:
        assert randomness(numbers().shuffle(3).batch(2)) == ("Shuffle", "shuffle")
        assert randomness(numbers().shuffle(3, seed=1, reshuffle_each_iteration=False)) is None

    def test_random_operations_however_deep(self) -> None:
        def inner(value):
            return tf.cond(value > 3, lambda: tf.random.uniform([]), lambda: 0.0)

        assert randomness(numbers().map(inner)) == ("Map", "random")
        assert randomness(numbers().map(inner, num_parallel_calls=2).batch(2)) == ("ParallelMap", "random")
        nested = numbers(2).interleave(lambda _: numbers(2).map(lambda _: tf.random.normal([])))
        assert randomness(nested) is not None
        beside = tf.data.Dataset.zip((numbers(), numbers().map(lambda _: tf.random.normal([]))))
        assert randomness(beside) is not None

    def test_generators_count_as_random(self) -> None:
        generator = tf.random.Generator.from_seed(1)
        assert randomness(numbers().map(lambda _: generator.uniform([]))) == ("Map", "random")

    def test_python_cannot_be_seen_through(self) -> None:
        made = numbers().map(lambda x: tf.py_function(lambda y: y, [x], tf.int64))
        assert randomness(made) == ("Map", "unknown")

    def test_plain_work_is_not_random(self) -> None:
        assert randomness(numbers().map(lambda x: x * 2).filter(lambda x: x > 2).batch(2).prefetch(1)) is None


class TestOptimize:
    def test_everything_in_the_order_that_works(self) -> None:
        made = optimize(
            numbers(),
            {"cache": True, "shuffle_buffer": 4, "batch_size": 2, "prefetch": 3, "workers": 8, "seed": 1},
            CPU,
            augment=lambda x: tf.cast(x, tf.float32) + tf.random.uniform([]),
            batch=True,
        )
        assert names(made) == ["Range", "Cache", "Shuffle", "ParallelMap", "Batch", "Prefetch"]
        stages = {stage.name: stage for stage in summarize(made).stages}
        assert stages["ParallelMap"].parallel == "2"
        assert stages["ParallelMap"].remarks == "random"
        assert stages["Prefetch"].buffer == "3"
        first, second = (tf.concat(list(made), 0).numpy().tolist() for _ in range(2))
        assert len(first) == 10
        assert first != second

    def test_every_element_comes_through(self) -> None:
        made = optimize(numbers(), {"cache": True, "shuffle_buffer": 10, "batch_size": 5}, CPU, batch=True)
        for _ in range(2):
            assert sorted(tf.concat(list(made), 0).numpy().tolist()) == list(range(10))

    @pytest.mark.parametrize(
        ("dataset", "rule"),
        [
            (lambda: numbers().shuffle(3), "TFD016"),
            (lambda: numbers().map(lambda _: tf.random.normal([])), "TFD017"),
        ],
    )
    def test_a_cache_never_freezes_what_is_random(self, dataset, rule: str) -> None:
        with pytest.raises(CfgfixError, match=rule):
            optimize(dataset(), {"cache": True}, CPU)

    def test_a_cache_that_does_not_fit(self) -> None:
        big = tf.data.Dataset.from_tensors(tf.zeros([1024])).repeat(1 << 20)
        with pytest.raises(CfgfixError, match="HWR007"):
            optimize(big, {"cache": True}, "cpu,cpus=2,ram=4")
        with pytest.raises(CfgfixError, match="cannot be told"):
            optimize(numbers().filter(lambda x: x > 1), {"cache": True}, CPU)

    def test_a_cache_file(self, tmp_path) -> None:
        made = optimize(numbers(), {"cache": str(tmp_path / "c")}, CPU)
        assert list(made.as_numpy_iterator()) == list(range(10))
        assert list(tmp_path.iterdir())

    def test_a_prefetch_larger_than_memory_allows_is_cut(self) -> None:
        batches = tf.data.Dataset.from_tensors(tf.zeros([256, 1024, 10])).repeat(3)  # 10 MiB each
        made = optimize(batches, {"prefetch": 100}, "cpu,cpus=2,ram=1")
        assert summarize(made).stages[-1].buffer == str(int(1024 * 0.1 / 10) - 2)
        assert any("HWR003" in item.reason for item in summarize(made).applied)
        made = optimize(batches, {"prefetch": 100}, "cpu,cpus=2,ram=64")
        assert summarize(made).stages[-1].buffer == "100"

    def test_no_second_prefetch_and_none_of_zero(self) -> None:
        assert names(optimize(numbers().prefetch(2), {"prefetch": 8}, CPU)) == ["Range", "Prefetch"]
        made = optimize(numbers(), {"prefetch": 0}, CPU)
        assert names(made) == ["Range"]
        assert any("CFG003" in item.reason and not item.done for item in summarize(made).applied)

    def test_a_dialects_other_name_for_the_buffer(self) -> None:
        assert summarize(optimize(numbers(), {"host_buffer": 7}, CPU)).stages[-1].buffer == "7"

    def test_copies_to_the_device_come_last(self) -> None:
        made = optimize(
            numbers(), {"batch_size": 2, "prefetch": 2}, CPU, batch=True, device="/CPU:0", device_buffer=3
        )
        assert names(made) == ["Range", "Batch", "Prefetch", "PrefetchToCPU:0"]
        assert summarize(made).stages[-1].buffer == "3"
        assert len(list(made)) == 5
        with pytest.raises(CfgfixError, match="no device"):
            optimize(numbers(), {}, CPU, device="GPU:7")

    def test_a_device_buffer_is_bounded_by_the_card(self) -> None:
        from cfgfix.tf.concepts import Concepts

        applied: list[pipeline.Applied] = []
        depth = pipeline._device_depth(
            Concepts({"device_buffer": 100}), parse_profile("t4"), "GPU:0", None, 200 << 20, applied
        )
        assert depth == 3
        assert "HWR005" in applied[0].reason

    def test_without_a_gpu_nothing_is_copied_and_that_is_told(self) -> None:
        made = optimize(numbers(), {"device_prefetch": True}, CPU)
        assert any(item.what == "prefetch to device" and not item.done for item in summarize(made).applied)

    def test_a_batch_size_that_is_not_asked_for_is_told(self) -> None:
        made = optimize(numbers(), {"batch_size": 4, "workers": 3}, CPU)
        assert {item.what for item in summarize(made).applied if not item.done} == {"batch", "workers"}

    def test_the_table(self) -> None:
        text = str(summarize(optimize(numbers(), {"batch_size": 4}, in_container(), batch=True)))
        assert "Prefetch" in text
        assert "autotune.cpu_budget" in text
        assert "TensorSpec" in text

    def test_a_pipeline_that_cannot_be_written_down_is_still_summarized(self) -> None:
        made = numbers().apply(tf.data.experimental.prefetch_to_device("/CPU:0", 1))
        assert summarize(made).problem
        assert "not known" in str(summarize(made))


class TestPadding:
    def test_every_shape_is_fixed(self) -> None:
        data = numbers(7).map(lambda n: {"mel": tf.ones([n + 1, 2]), "text": tf.range(n + 1), "n": n})
        made = padded_batch_fixed(
            data, 3, {"mel": [8, 2], "text": [9], "n": []}, padding_values={"mel": -1.0, "text": 5, "n": 0}
        )
        assert {name: spec.shape.as_list() for name, spec in made.element_spec.items()} == {
            "mel": [3, 8, 2],
            "text": [3, 9],
            "n": [3],
        }
        batches = list(made)
        assert len(batches) == 2
        assert batches[0]["mel"][0, 1, 0] == -1.0
        assert batches[0]["text"][0, 1] == 5
        assert batches[0]["text"].dtype == tf.int64

    def test_padding_fits_any_dtype(self) -> None:
        data = numbers(2).map(lambda n: (tf.zeros([1], tf.float16), tf.constant(["a"]), tf.cast(n, tf.int8)))
        first = next(iter(padded_batch_fixed(data, 2, ([2], [2], []))))
        assert first[1].numpy().tolist() == [[b"a", b""], [b"a", b""]]

    def test_too_long(self) -> None:
        data = numbers(6).map(lambda n: tf.ones([n]))
        with pytest.raises(tf.errors.OpError):
            list(padded_batch_fixed(data, 2, [3]))
        assert len(list(padded_batch_fixed(data, 2, [3], too_long="drop"))) == 2

    def test_what_does_not_fit_is_refused(self) -> None:
        data = numbers().map(lambda n: (tf.ones([n]), n))
        with pytest.raises(CfgfixError, match="no unknown dimension"):
            padded_batch_fixed(data, 2, ([None], []))
        with pytest.raises(CfgfixError, match="2 shapes"):
            padded_batch_fixed(data, 2, ([3],))
        with pytest.raises(CfgfixError, match="structure"):
            padded_batch_fixed(data, 2, ([3], []), padding_values=(1.0,))
        with pytest.raises(CfgfixError, match="error or drop"):
            padded_batch_fixed(data, 2, ([3], []), too_long="cut")


class TestFiles:
    @pytest.fixture
    def files(self, tmp_path) -> list[str]:
        paths = []
        for index in range(4):
            path = str(tmp_path / f"{index}.tfrecord")
            with tf.io.TFRecordWriter(path) as writer:
                for item in range(5):
                    writer.write(f"{index}-{item}".encode())
            paths.append(path)
        return paths

    def test_every_record_once_in_a_fixed_order(self, files) -> None:
        first, second = (
            list(parallel_interleave_files(files, None, {"workers": 2}, CPU).as_numpy_iterator())
            for _ in range(2)
        )
        assert first == second
        assert len(set(first)) == 20

    def test_files_in_another_order_with_a_seed(self, files) -> None:
        def run(seed: int):
            made = parallel_interleave_files(
                files, None, {"workers": 1, "seed": seed}, CPU, shuffle_files=True
            )
            return list(made.as_numpy_iterator())

        assert run(1) == run(1)
        assert sorted(run(1)) == sorted(run(2))

    def test_more_calls_than_open_files(self, files) -> None:
        with pytest.raises(CfgfixError, match="TFD021"):
            parallel_interleave_files(files, None, {"workers": 4}, CPU, cycle_length=2)
        with pytest.raises(CfgfixError, match="no file"):
            parallel_interleave_files([], None, {}, CPU)


class TestService:
    def test_workers_compute_every_element_once(self) -> None:
        dispatcher = tf.data.experimental.service.DispatchServer()
        address = dispatcher.target.split("://")[1]
        workers = [
            tf.data.experimental.service.WorkerServer(
                tf.data.experimental.service.WorkerConfig(dispatcher_address=address)
            )
            for _ in range(2)
        ]
        made = optimize(
            numbers(20),
            {"batch_size": 2, "service_address": dispatcher.target, "drop_remainder": False},
            CPU,
            batch=True,
        )
        assert names(made)[-1] == "Prefetch"
        assert sorted(tf.concat(list(made), 0).numpy().tolist()) == list(range(20))
        made = optimize(
            numbers(4).batch(2),
            {"service_address": dispatcher.target, "service_mode": "ShardingPolicy.OFF"},
            CPU,
        )
        assert sorted(tf.concat(list(made), 0).numpy().tolist()) == sorted([*range(4), *range(4)])
        made = distribute(numbers(4).batch(2), dispatcher.target, sharding="distributed_epoch")
        assert sorted(tf.concat(list(made), 0).numpy().tolist()) == list(range(4))
        del workers

    def test_python_cannot_travel(self) -> None:
        made = numbers().map(lambda x: tf.py_function(lambda y: y, [x], tf.int64)).batch(2)
        with pytest.raises(CfgfixError, match="CLU008"):
            distribute(made, "grpc://localhost:1")
        rows = tf.data.Dataset.from_generator(lambda: iter([1]), output_signature=tf.TensorSpec([], tf.int32))
        with pytest.raises(CfgfixError, match="CLU008"):
            distribute(rows, "grpc://localhost:1")

    def test_what_is_no_address_or_policy(self) -> None:
        with pytest.raises(CfgfixError, match="no address"):
            distribute(numbers(), "localhost:1")
        with pytest.raises(CfgfixError, match="no sharding policy"):
            distribute(numbers(), "grpc://localhost:1", sharding="all")


def test_bytes_of_an_element() -> None:
    assert element_bytes(numbers()) == 8
    assert element_bytes(numbers().batch(2)) is None
    assert element_bytes(tf.data.Dataset.from_tensors("a")) is None
