"""Watch a training run from within: step times, waiting for data, oscillation, memory and utilisation.

`keras_callback` is for `model.fit`, `StepRecorder` for loops of one's own. `watch_data` puts two clocks around the end of
an input pipeline, so that the time spent waiting for data is known even inside a compiled training function.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from cfgfix.core.errors import CfgfixError
from cfgfix.rules.catalogue import builtin
from cfgfix.rules.faults import Fault
from cfgfix.tf.concepts import Config, read_concepts
from cfgfix.tf.devices import LeakMonitor, process_bytes

if TYPE_CHECKING:
    from typing_extensions import Self

INPUT_BOUND = 0.20
"""Share of the step time spent waiting for data from which a run counts as highly input-bound, as in TensorFlow's own
profiler (moderately from 0.05)."""

KEPT = 20_000
"""Steps whose times are kept; older ones are dropped, so that memory stays bounded."""

LEAST_STEPS = 50
"""Steps after the warm-up before anything is concluded."""

LEAK_SHARE = 0.05
"""Growth of memory that is said without being asked: this share of all there is, the default of SageMaker Debugger's rule
GPUMemoryIncrease. `LeakMonitor` tells of less; a warning for every MiB would be noise, for allocators creep."""

LOOK_SHARE = 0.005
"""Share of the training time that looking for oscillation may take while it runs."""

LOOK_STEPS = 500
"""Latest steps that are looked at: 50 swings of 10 steps, 2 of 250. A look at so many takes some 10 ms where nothing swings
and one to two seconds where something does, which is then said and not looked for again; it grows faster than the steps."""

LOOK_SECONDS = 1.0
"""What one look is taken to cost before the first is measured."""

SAMPLE_SECONDS = 1.0
"""Memory and utilisation are read at most this often: the driver itself averages over up to a second."""


class TrainingWarning(UserWarning):
    """A recorder's warning about a run; each cause is reported once."""


@dataclass(frozen=True, slots=True)
class Usage:
    """One reading of a device or of this process.

    Attributes:
        step: The step after which it was taken.
        memory_bytes: Memory in use.
        utilisation: Percent: of the GPU's time with a kernel running, or of one CPU (so 200 is two CPUs busy).
        source: Where it comes from.
    """

    step: int
    memory_bytes: int | None
    utilisation: float | None
    source: str


@dataclass(frozen=True, slots=True)
class Statistics:
    """A run in numbers; times in milliseconds.

    Attributes:
        steps: Steps that are counted.
        warmup: Steps at the start that are not.
        median_ms: Median step time.
        mean_ms: Mean step time.
        p95_ms: 95 of 100 steps are shorter.
        variation: Standard deviation over mean; one slow step can rule it.
        robust_variation: The same from medians, which single steps do not move.
        data_wait: Share of the time spent waiting for data, 0 to 1; None where it was not measured.
        oscillation: Of the latest `LOOK_STEPS` steps: `oscillating`, `none` or `inconclusive`.
        oscillation_reason: In words.
        period: Steps of one swing, where it oscillates.
        leak: What the leak monitor says.
        usage: The latest reading.
    """

    steps: int
    warmup: int
    median_ms: float
    mean_ms: float
    p95_ms: float
    variation: float
    robust_variation: float
    data_wait: float | None
    oscillation: str
    oscillation_reason: str
    period: float | None
    leak: str
    usage: Usage | None

    def __str__(self) -> str:
        swing = f"every {self.period:.1f} steps" if self.period is not None else self.oscillation_reason
        lines = [
            f"{self.steps} steps after {self.warmup} to warm up",
            f"step         median {self.median_ms:.2f} ms, mean {self.mean_ms:.2f} ms, 95 of 100 below {self.p95_ms:.2f} ms",
            f"variation    {self.variation:.0%}, without single slow steps {self.robust_variation:.0%}",
            "data wait    not measured"
            if self.data_wait is None
            else f"data wait    {self.data_wait:.1%} of the time",
            f"oscillation  {self.oscillation}" + (f": {swing}" if swing else ""),
            f"memory       {self.leak}",
        ]
        if self.usage is not None:
            memory, busy = self.usage.memory_bytes, self.usage.utilisation
            parts = [] if memory is None else [f"{memory / 2**20:.0f} MiB in use"]
            parts += [] if busy is None else [f"{busy:.0f}% busy"]
            lines.append(
                f"device       {', '.join(parts) or 'not known'} ({self.usage.source}, step {self.usage.step})"
            )
        return "\n".join(lines)

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        found: dict[str, object] = {name: getattr(self, name) for name in self.__slots__ if name != "usage"}
        found["usage"] = (
            None if self.usage is None else {name: getattr(self.usage, name) for name in Usage.__slots__}
        )
        return {
            key: None if isinstance(value, float) and math.isnan(value) else value
            for key, value in found.items()
        }


@dataclass(slots=True)
class DataClock:
    """The time and the number of batches that `watch_data` counts."""

    waited: Any = field(repr=False)
    count: Any = field(repr=False)

    def read(self) -> tuple[float, int]:
        """Return the seconds spent waiting for data so far, and the batches that came."""
        return float(self.waited.numpy()), int(self.count.numpy())


def watch_data(dataset: Any) -> tuple[Any, DataClock]:
    """Return a dataset with clocks before and after its end, and their readings.

    The time between the clocks is what the consumer waits for a batch, wherever it takes it: in a loop, in
    `model.fit`, in a compiled function. Nothing may follow the dataset, or the clocks would measure that buffer
    instead. TensorFlow would add a prefetch after it by itself, so that is turned off here, and the dataset should
    end in its own prefetch.

    Args:
        dataset: A finished tf.data.Dataset.

    >>> data, clock = watch_data(tf.data.Dataset.range(3).prefetch(1))
    >>> [int(item) for item in data], clock.read()[1]
    ([0, 1, 2], 3)
    """
    with tf.device("/CPU:0"), tf.init_scope():
        started = tf.Variable(0.0, dtype=tf.float64, trainable=False)
        waited = tf.Variable(0.0, dtype=tf.float64, trainable=False)
        count = tf.Variable(0, dtype=tf.int64, trainable=False)

    def before(number: Any) -> Any:
        with tf.control_dependencies([started.assign(tf.timestamp(), read_value=False)]):
            return tf.identity(number)

    def after(_: Any, *element: Any) -> Any:
        passed = tf.timestamp() - started
        with tf.control_dependencies(
            [waited.assign_add(passed, read_value=False), count.assign_add(1, read_value=False)]
        ):
            return [tf.identity(part) if isinstance(part, tf.Tensor) else part for part in element]

    number, spec = tf.TensorSpec([], tf.int64), dataset.element_spec
    ticks = _inline_map(tf.data.Dataset.range(2**62), before, [number], number)
    # The members of a zip are asked one after the other, so the clocks stand right before and after the batch.
    watched = tf.data.Dataset.zip((ticks, dataset))
    parts = tf.nest.flatten(spec)
    if parts and all(isinstance(part, tf.TensorSpec) for part in parts):
        watched = _inline_map(watched, after, [number, *parts], spec)
    else:
        watched = watched.map(
            lambda tick, element: tf.nest.pack_sequence_as(element, after(tick, *tf.nest.flatten(element)))
        )
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    watched = watched.with_options(dataset.options().merge(options))
    size = dataset.cardinality()
    if int(size) >= 0:
        watched = watched.apply(tf.data.experimental.assert_cardinality(size))
    return watched, DataClock(waited, count)


def _inline_map(dataset: Any, function: Callable[..., Any], specs: Sequence[Any], made: Any) -> Any:
    """Return a dataset with a function applied to each element, without a thread pool.

    The function runs in the thread that asks for the element. `Dataset.map` hands each call to a pool of threads,
    which costs several times as much as these small functions.

    Args:
        dataset: Elements whose parts are plain tensors.
        function: Takes the parts, gives the parts of `made`.
        specs: The parts that it takes.
        made: The structure of an element that comes out.
    """
    concrete = tf.function(function).get_concrete_function(*specs)
    parts = tf.nest.flatten(made)
    variant = tf.raw_ops.MapDataset(
        input_dataset=tf.data.experimental.to_variant(dataset),
        other_arguments=concrete.captured_inputs,
        f=concrete,
        output_types=[part.dtype for part in parts],
        output_shapes=[part.shape for part in parts],
        use_inter_op_parallelism=False,
    )
    found = tf.data.experimental.from_variant(variant, made)
    found.cfgfix_needs = (concrete, dataset)  # what runs in it must live as long as it does
    return found


class StepRecorder:
    """Records a training loop; a context manager.

    Args:
        clock: What `watch_data` returned, for the share of time spent waiting for data. Without it, `watch` measures it
            around each `next`.
        gpu: Index of the GPU to read by NVIDIA's library; None: the first one that TensorFlow uses, else this process.
        warmup: Steps that are not counted: tracing, compiling, filling buffers.
        warn: Say once what is wrong, as a `TrainingWarning` with the rule and the setting concerned.
        log_dir: Write TensorBoard scalars there, every `log_every` steps.
        log_every: See there.
        config: Concepts or a YAML file, so that a warning names the settings by their keys and values.

    >>> with StepRecorder(warmup=1) as recorder:
    ...     for batch in recorder.watch(range(4)):
    ...         with recorder.step(): pass
    >>> recorder.statistics().steps
    3
    """

    def __init__(
        self,
        *,
        clock: DataClock | None = None,
        gpu: int | None = None,
        warmup: int = 10,
        warn: bool = True,
        log_dir: str | os.PathLike[str] | None = None,
        log_every: int = 50,
        config: Config = None,
    ) -> None:
        if warmup < 0 or log_every < 1:
            raise CfgfixError("warmup must be at least 0 and log_every at least 1")
        self.steps = 0
        self.warned: dict[str, str] = {}
        """What was said, by cause."""
        self._concepts = read_concepts(config)
        self._clock = clock
        self._warmup = warmup
        self._warn = warn
        self._times: deque[float] = deque(maxlen=KEPT)
        self._waited = 0.0
        self._spent = 0.0
        self._pending = 0.0
        self._measured_wait = clock is not None
        self._clock_start = 0.0
        self._started = 0.0
        self._sampler = _ResourceSampler(gpu)
        self._usage: Usage | None = None
        self._next_sample = 0.0
        self._sampled = 0
        self._leak = LeakMonitor(read=self._usage_bytes, warmup=0)
        self._log_every = log_every
        self._writer: Any = None if log_dir is None else tf.summary.create_file_writer(os.fspath(log_dir))
        self._next_check = warmup + LEAST_STEPS
        self._looked = 0.0
        self._look_cost = LOOK_SECONDS

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def watch(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the batches, and record how long each `next` waits.

        Args:
            batches: A dataset or any iterable.
        """
        self._measured_wait = True
        iterator = iter(batches)
        while True:
            started = time.perf_counter()
            try:
                batch = next(iterator)
            except StopIteration:
                return
            self._pending = time.perf_counter() - started
            yield batch

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """Record the step that runs within.

        Let it end with the result read, or a GPU's work is not in its time.
        """
        self.begin()
        yield
        self.end()

    def begin(self) -> None:
        """Record the start of a step."""
        self._started = time.perf_counter()

    def end(self, count: int = 1) -> None:
        """Record the end of a step.

        Args:
            count: Steps that were run since `begin`, where several run in one call.
        """
        now = time.perf_counter()
        spent = now - self._started + self._pending
        counted = self.steps >= self._warmup
        self.steps += count
        if counted:
            self._times.append(spent / count)
            self._spent += spent
            self._waited += self._pending
        elif self.steps >= self._warmup and self._clock is not None:
            self._clock_start = self._clock.read()[0]
        self._pending = 0.0
        if now >= self._next_sample:
            self._usage = self._sampler.read(self.steps)
            self._next_sample = now + SAMPLE_SECONDS
            if self.steps > self._warmup:
                self._leak.step(self.steps - self._sampled)
                self._sampled = self.steps
        if self._writer is not None and self.steps % self._log_every < count:
            self._log(spent / count)
        if self._warn and self.steps >= self._next_check:
            self._next_check = self.steps + LEAST_STEPS
            self._look()

    def _usage_bytes(self) -> int:
        return int(self._usage.memory_bytes or 0) if self._usage is not None else 0

    def data_wait(self) -> float | None:
        """Return the share of the recorded time spent waiting for data.

        None where that was not measured.
        """
        if not self._measured_wait or not self._spent:
            return None
        waited = self._waited if self._clock is None else self._clock.read()[0] - self._clock_start
        return min(1.0, max(0.0, waited / self._spent))

    def statistics(self) -> Statistics:
        """Return the statistics of the recorded steps.

        Raises:
            CfgfixError: No step has been counted yet.
        """
        from cfgfix.measure.statistics import summarise

        times = list(self._times)
        if not times:
            raise CfgfixError(
                f"no step was counted: {self.steps} steps, of which {self._warmup} are the warm-up"
            )
        numbers = summarise(times)
        outcome, reason, period = _oscillation_of(times[-LOOK_STEPS:])
        return Statistics(
            steps=len(times),
            warmup=self._warmup,
            median_ms=numbers.median * 1e3,
            mean_ms=numbers.mean * 1e3,
            p95_ms=numbers.p95 * 1e3,
            variation=numbers.variation,
            robust_variation=numbers.robust_variation,
            data_wait=self.data_wait(),
            oscillation=outcome,
            oscillation_reason=reason,
            period=period,
            leak=self._leak.judge().reason,
            usage=self._usage,
        )

    def _look(self) -> None:
        wait = self.data_wait()
        if wait is not None and wait >= INPUT_BOUND:
            self._warn_of_cause(
                "data wait",
                (Fault.PYTHON_STAGE, Fault.SERIAL_PYTHON_MAP, Fault.NOTHING_OVERLAPS, Fault.CALLS_ABOVE_CPUS),
                f"{wait:.0%} of the step time is spent waiting for data (from {INPUT_BOUND:.0%} a run is highly"
                " input-bound): the settings are " + self._settings_text("workers", "prefetch", "cache"),
            )
        leak = self._leak.judge()
        if leak.leaking and self._sampler.total and leak.grown >= LEAK_SHARE * self._sampler.total:
            self._warn_of_cause(
                "leak",
                (Fault.PYTHON_ARGUMENT, Fault.FUNCTION_MADE_ANEW, Fault.CHANGING_SHAPES),
                f"memory in use grows with the steps: {leak.reason}; kept tensors and graphs traced anew do that",
            )
        if "oscillation" in self.warned or self._spent < (self._looked + self._look_cost) / LOOK_SHARE:
            return
        started = time.perf_counter()
        outcome, reason, period = _oscillation_of(list(self._times)[-LOOK_STEPS:])
        self._look_cost = time.perf_counter() - started
        self._looked += self._look_cost
        if outcome == "oscillating" and period is not None:
            self._warn_of_cause(
                "oscillation",
                (Fault.PREFETCH_TOO_LONG,),
                f"step times swing with a period of {period:.1f} steps ({reason}): look at what happens every so many"
                f" steps, and at a prefetch smaller than the producer's bursts: {self._settings_text('prefetch')}",
            )

    def _settings_text(self, *names: str) -> str:
        """Return config keys with their values, as text for a warning."""
        found: list[str] = []
        for name in names:
            value = self._concepts.raw(name)
            found.append(self._concepts.place(name) + ("" if value is None else f" (now {value})"))
        return ", ".join(found)

    def _warn_of_cause(self, cause: str, faults: Sequence[Fault], message: str) -> None:
        if cause not in self.warned:
            self.warned[cause] = message
            rules = [rule.id for rule in builtin().explaining(*faults)]
            warnings.warn(
                f"{message} (cfgfix explain {rules[0]}; rules: {', '.join(rules)})",
                TrainingWarning,
                stacklevel=4,
            )

    def _log(self, seconds: float) -> None:
        wait = self.data_wait()
        rows: list[tuple[str, float | None]] = [
            ("step_ms", seconds * 1e3),
            ("data_wait_share", wait),
            (
                "memory_mib",
                None
                if self._usage is None or self._usage.memory_bytes is None
                else self._usage.memory_bytes / 2**20,
            ),
            ("utilisation_percent", None if self._usage is None else self._usage.utilisation),
        ]
        with self._writer.as_default(step=self.steps):
            for name, value in rows:
                if value is not None:
                    _write_scalar(f"cfgfix/{name}", value)

    def close(self) -> None:
        """Write the remaining scalars; calling it twice does no harm."""
        if self._writer is not None:
            self._writer.flush()
            self._writer.close()
            self._writer = None
        self._sampler.close()


def _write_scalar(tag: str, value: float) -> None:
    """Write a scalar in the form that TensorBoard's plugin reads.

    `tf.summary.scalar` would need the package tensorboard.
    """
    metadata = tf.compat.v1.SummaryMetadata(
        plugin_data=tf.compat.v1.SummaryMetadata.PluginData(plugin_name="scalars"), data_class=1
    )
    tf.summary.write(tag, tf.constant(value, tf.float32), metadata=metadata)


def _oscillation_of(times: Sequence[float]) -> tuple[str, str, float | None]:
    """Return whether step times oscillate, with the reason and the period in steps."""
    from cfgfix.measure.oscillation import find_oscillation

    found = find_oscillation(times)
    return found.outcome.value, found.reason, found.period


class _ResourceSampler:
    """Reads memory and utilisation: of an NVIDIA GPU, or else of this process."""

    def __init__(self, gpu: int | None) -> None:
        self._handle: Any = None
        self._nvml: Any = None
        self._cpu = time.process_time()
        self._wall = time.perf_counter()
        self._name = f"GPU:{gpu or 0}"
        self.total = _host_bytes()
        """All memory there is, of which use is a share."""
        if gpu is None and not tf.config.get_visible_devices("GPU"):
            return
        try:
            import pynvml
        except ImportError:
            return
        try:
            pynvml.nvmlInit()
            self._nvml = pynvml
            self._handle = pynvml.nvmlDeviceGetHandleByIndex(_driver_index(gpu or 0))
            self.total = int(pynvml.nvmlDeviceGetMemoryInfo(self._handle).total)
        except pynvml.NVMLError:
            self._handle = None

    def read(self, step: int) -> Usage:
        if self._handle is not None:
            try:
                busy = float(self._nvml.nvmlDeviceGetUtilizationRates(self._handle).gpu)
            except self._nvml.NVMLError:
                busy = math.nan
            memory = None
            with contextlib.suppress(ValueError, RuntimeError):
                memory = int(tf.config.experimental.get_memory_info(self._name)["current"])
            return Usage(
                step, memory, None if math.isnan(busy) else busy, f"{self._name}: TensorFlow and the driver"
            )
        cpu, wall = time.process_time(), time.perf_counter()
        share = 100.0 * (cpu - self._cpu) / max(wall - self._wall, 1e-9)
        self._cpu, self._wall = cpu, wall
        return Usage(step, process_bytes(), share, "this process")

    def close(self) -> None:
        if self._nvml is not None:
            with contextlib.suppress(self._nvml.NVMLError):
                self._nvml.nvmlShutdown()
            self._nvml = self._handle = None


def _host_bytes() -> int:
    """Return the memory that this process may use, in bytes; 0 where unknown."""
    from cfgfix.hardware.memory import read_memory

    total = read_memory("/", os.environ).memory.total_mib.value
    return 0 if total is None else int(total * 2**20)


def _driver_index(index: int) -> int:
    """Return the driver's index of the GPU that this process sees as `index`."""
    listed = [part.strip() for part in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if part.strip()]
    if index < len(listed) and listed[index].isdigit():
        return int(listed[index])
    return index


def keras_callback(
    *,
    clock: DataClock | None = None,
    gpu: int | None = None,
    warmup: int = 10,
    warn: bool = True,
    log_dir: str | os.PathLike[str] | None = None,
    log_every: int = 50,
    config: Config = None,
) -> Any:
    """Return a Keras callback that records `model.fit`.

    Its `recorder` is a `StepRecorder`.

    Keras takes batches inside its compiled function, so waiting for data is only known with a clock: train on the dataset
    of `watch_data` and pass its clock. At the end of each epoch the logs get `step_ms` and, with a clock, `data_wait`.

    Args:
        clock: See `StepRecorder`, as for all others.
        gpu: See there.
        warmup: See there.
        warn: See there.
        log_dir: See there.
        log_every: See there.
        config: See there.
    """
    recorder = StepRecorder(
        clock=clock, gpu=gpu, warmup=warmup, warn=warn, log_dir=log_dir, log_every=log_every, config=config
    )

    class _Callback(tf.keras.callbacks.Callback):  # type: ignore[misc] # Keras has no types
        """Records steps of `fit`."""

        def __init__(self) -> None:
            super().__init__()
            self.recorder = recorder
            self._first = 0
            self._steps = 0

        def _close(self) -> None:
            if self._steps:
                recorder.end(self._steps)
            self._steps = 0

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002 - Keras' signature
            # A step ends where the next begins: so what other callbacks do counts, wherever this one stands among them.
            self._close()
            self._first = batch
            recorder.begin()

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002 - Keras' signature
            self._steps = max(1, batch - self._first + 1)

        def on_test_begin(self, logs: Any = None) -> None:  # noqa: ARG002 - Keras' signature
            self._close()

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:  # noqa: ARG002 - Keras' signature
            self._close()
            if logs is not None and recorder._times:  # noqa: SLF001 - its own recorder
                times = sorted(recorder._times)  # noqa: SLF001 - its own recorder
                logs["step_ms"] = times[len(times) // 2] * 1e3
                wait = recorder.data_wait()
                if wait is not None:
                    logs["data_wait"] = wait

        def on_train_end(self, logs: Any = None) -> None:  # noqa: ARG002 - Keras' signature
            self._close()
            recorder.close()

    return _Callback()


def overhead(
    step_seconds: float = 0.01, steps: int = 300, make: Callable[[], StepRecorder] = StepRecorder
) -> float:
    """Measure the share of a step's time that recording costs on this machine.

    Args:
        step_seconds: Length of the step the cost is compared with.
        steps: How many empty steps are recorded.
        make: Makes the recorder.
    """
    with make() as recorder:
        for _ in range(20):
            with recorder.step():
                pass
        costs: list[float] = []
        for _ in range(steps):
            started = time.perf_counter()
            with recorder.step():
                pass
            costs.append(time.perf_counter() - started)
    return sum(costs) / len(costs) / step_seconds
