"""`profile data`: how fast a dataset gives batches, what its time goes to, and whether it can feed a device."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cfgfix.core.errors import CfgfixError
from cfgfix.core.terminal import figure
from cfgfix.core.wording import counted
from cfgfix.measure import content, storage, verdicts
from cfgfix.measure import pace as pacing
from cfgfix.measure.oscillation import Cause, Oscillation, find_causes, find_oscillation
from cfgfix.measure.oscillation import Outcome as Found
from cfgfix.measure.pace import Load, Lock, Pace, judge_stage
from cfgfix.measure.padding import Padding, judge_padding, read_padding
from cfgfix.measure.sampling import (
    Progress,
    Timeline,
    UserCodeError,
    call_with_config,
    iterate,
    load_config,
    load_object,
    silent,
    user_code,
)
from cfgfix.measure.shards import Shards, find_shards, judge_shards
from cfgfix.measure.stages import (
    Node,
    Stage,
    epoch_batches,
    has_cache,
    measure_stages,
    normal,
    read_graph,
    strings_in,
    walk,
)
from cfgfix.measure.statistics import (
    Floats,
    Interval,
    Steadiness,
    Summary,
    bootstrap,
    paired_difference,
    summarise,
)
from cfgfix.measure.summaries import with_summaries
from cfgfix.measure.tracing import ProfilerVerdict, trace_loop
from cfgfix.measure.verdicts import INPUT_BOUND, OldLimit, Outcome, Verdict, old_limits
from cfgfix.rules.faults import Fault

DatasetMaker = Callable[[], Any]

MIN_BATCHES = 10
NOTABLE_START = 0.05
"""Seconds from which the start of an epoch is told."""
FILLED = 0.2
"""Share of the start of an epoch below which filling a buffer does not explain it."""
LONG_START = 0.25
"""Seconds from which the start of an epoch can be a problem where nothing is seen to be filled: making an iterator takes
some ten milliseconds, on a busy machine more."""
ROOM = 0.8
"""Share of the step that a pipeline may take for a batch and still keep up on a free machine."""
FLOOR_BATCHES = 40
"""Of the consumer's run with a batch in memory, before and after the one that counts."""
CACHED_BYTES = 512 << 20
"""Memory that the run with cached elements may take."""


@dataclass(frozen=True, slots=True)
class Rates:
    """How a dataset gives batches, after the warm-up. Times in seconds."""

    batch: Summary
    """Time from one batch to the next."""
    first_element: float
    build: float
    warmup: int
    steady: Steadiness
    batches_per_second: float
    samples_per_second: float
    bytes_per_second: float
    samples_per_batch: float
    bytes_per_batch: float
    has_strings: bool
    cpu_per_batch: float
    """CPU seconds of all threads per batch."""
    cpus_busy: float
    """CPUs at work on average."""
    cpus_elsewhere: float
    """CPUs that other processes kept at work meanwhile."""
    read_per_batch: float | None
    """Bytes read from files per batch, cached or not."""
    storage_per_batch: float | None
    """Bytes per batch that came from storage."""
    restarts: int

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        data = {
            name: getattr(self, name) for name in self.__dataclass_fields__ if name not in ("batch", "steady")
        }
        return {"batch_seconds": self.batch.as_dict(), "steady": self.steady.as_dict(), **data}


@dataclass(frozen=True, slots=True)
class Consumer:
    """What a consumer with a given step time sees."""

    step_seconds: float
    idle: Interval
    """Share of the time the device waits for data, measured."""
    predicted: float
    """The same from the pipeline's own pace: max(0, 1 - step / batch time)."""
    floor: float = 0.0
    """Wait for a batch that lies in memory, which is the instrument's own; it is taken off the idle share."""
    real_step_seconds: float | None = None
    """How long the step really took: on a busy machine the consumer gets the CPU back late."""
    profiler: ProfilerVerdict | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "step_seconds": self.step_seconds,
            "idle_share": self.idle.as_dict(),
            "predicted_idle_share": self.predicted,
            "floor_seconds": self.floor,
            "real_step_seconds": self.real_step_seconds,
            "profiler": self.profiler.as_dict() if self.profiler else None,
        }


@dataclass(frozen=True, slots=True)
class Differential:
    """Where the time of a batch goes, from runs that leave parts out. Seconds per batch; None where a run was not made."""

    delivery: float | None
    """With all elements in memory: handing batches over."""
    delivery_cpu: float | None
    """CPU seconds of the same."""
    preparation: Interval | None
    """With all files in the page cache, less delivery: decoding, transforming, batching."""
    fetch: Interval | None
    """With no file in the page cache, less the same with all files in it."""
    files: int
    bytes: int
    cold_cached_share: float | None
    """How much of the files was still cached at the start of the cold runs."""
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "delivery": self.delivery,
            "delivery_cpu": self.delivery_cpu,
            "preparation": self.preparation.as_dict() if self.preparation else None,
            "fetch": self.fetch.as_dict() if self.fetch else None,
            "files": self.files,
            "bytes": self.bytes,
            "cold_cached_share": self.cold_cached_share,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Feeding:
    """What it takes to feed a device that needs a batch every `step_seconds`."""

    step_seconds: float
    cpus_usable: int
    cpus_needed: float
    """CPU seconds per batch / step seconds."""
    by_cpu: bool
    """Whether the CPUs are what limits the pipeline now."""

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class EpochStart:
    """What the start of an epoch costs, beyond an ordinary batch."""

    seconds: float
    batches: int | None
    """Of an epoch; None where that is not known."""
    fills: str | None
    """The stage that is filled meanwhile, such as `Shuffle`."""

    def share(self, batch_seconds: float) -> float | None:
        """Return the share of an epoch that its start takes.

        Batches come every `batch_seconds`.
        """
        if self.batches is None:
            return None
        whole = self.seconds + self.batches * batch_seconds
        return self.seconds / whole if whole else 0.0

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {"seconds": self.seconds, "batches": self.batches, "fills": self.fills}


@dataclass(frozen=True, slots=True)
class DataProfile:
    """Everything `profile data` found."""

    source: str
    rates: Rates
    series: tuple[float, ...]
    """Seconds per batch after the warm-up."""
    oscillation: Oscillation
    causes: tuple[Cause, ...]
    stages: tuple[Stage, ...]
    lock: Lock | None
    """None where no stage runs Python."""
    consumer: Consumer | None
    differential: Differential | None
    feeding: Feeding | None
    service: Mapping[str, Any] | None
    limits: tuple[OldLimit, ...]
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = ()
    pace: Pace | None = None
    """What the stages' times add up to, beside the time of a batch; None without stages."""
    start: EpochStart | None = None
    """None where an epoch does not begin again, or nobody knows."""
    order: content.ClassOrder | None = None
    """None where the batches have no classes."""
    padding: Padding | None = None
    """None where nothing in the batches is known for padding."""
    shards: Shards | None = None
    """None where no files are interleaved."""

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "kind": "data",
            "source": self.source,
            "rates": self.rates.as_dict(),
            "series": list(self.series),
            "oscillation": self.oscillation.as_dict(),
            "causes": [cause.as_dict() for cause in self.causes],
            "stages": [stage.as_dict() for stage in self.stages],
            "pace": self.pace.as_dict() if self.pace else None,
            "class_order": self.order.as_dict() if self.order else None,
            "padding": self.padding.as_dict() if self.padding else None,
            "shards": self.shards.as_dict() if self.shards else None,
            "epoch_start": self.start.as_dict() if self.start else None,
            "interpreter_lock": self.lock.as_dict() if self.lock else None,
            "consumer": self.consumer.as_dict() if self.consumer else None,
            "differential": self.differential.as_dict() if self.differential else None,
            "feeding": self.feeding.as_dict() if self.feeding else None,
            "service": dict(self.service) if self.service else None,
            "older_limits": [limit.as_dict() for limit in self.limits],
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure and how long."""

    batches: int = 200
    seconds: float = 30.0
    """For each run."""
    step_seconds: float | None = None
    cold: bool = False
    pairs: int = 3
    """Of cold and warm runs."""
    data_path: str | None = None
    intervals: Mapping[str, float] = field(default_factory=dict)
    """What happens every so many batches: checkpoint, log, evaluation, shuffle refill."""
    stages: bool = True
    trace: bool = True
    logdir: str | None = None
    service: int = 0
    """Workers of a tf.data service to measure the dataset through; 0: none."""


def usable_cpus() -> int:
    """Return how many CPUs this process may use: affinity and control groups."""
    import os

    from cfgfix.hardware.cpu import read_cpu

    found = read_cpu("/", os.environ).cpu.usable.value
    return max(1, int(found)) if found else os.cpu_count() or 1


class MachineLoad:
    """Measures how many CPUs other processes keep at work from its making to `elsewhere`."""

    def __init__(self) -> None:
        self._start = self._now()

    def _now(self) -> tuple[float, float, float]:
        import psutil

        times = psutil.cpu_times()
        # The kernel counts guests within user time.
        rest = sum(getattr(times, name, 0.0) for name in ("idle", "iowait", "guest", "guest_nice"))
        return time.perf_counter(), sum(times) - rest, time.process_time()

    def elsewhere(self) -> float:
        """Return the CPUs at work for others on average so far."""
        return self.shares()[1]

    def shares(self) -> tuple[float, float]:
        """Return the CPUs at work for this process and for others on average so far."""
        moment, busy, own = (now - then for now, then in zip(self._now(), self._start, strict=True))
        if moment <= 0:
            return 0.0, 0.0
        return own / moment, max(0.0, (busy - own) / moment)


def measure_rates(timeline: Timeline, *, elsewhere: float = 0.0) -> tuple[Rates, Timeline]:
    """Return the figures of an iteration, and the part of it after the warm-up.

    Raises:
        UserCodeError: There are too few batches to say anything.
    """
    if timeline.waits.size < MIN_BATCHES:
        raise UserCodeError(
            f"only {counted(timeline.waits.size, 'batch', 'batches')} came in the time given, {MIN_BATCHES} are needed",
            hint="give more time with --seconds",
        )
    steady = timeline.steadiness()
    rest = timeline.after(steady.start)
    periods = rest.periods
    total, count = float(periods.sum()), int(periods.size)
    every = int(timeline.waits.size) + 1
    rates = Rates(
        batch=summarise(periods),
        first_element=timeline.first,
        build=timeline.build,
        warmup=steady.start,
        steady=steady,
        batches_per_second=count / total,
        samples_per_second=float(rest.samples.sum()) / total,
        bytes_per_second=float(rest.sizes.sum()) / total,
        samples_per_batch=float(rest.samples.mean()),
        bytes_per_batch=float(rest.sizes.mean()),
        has_strings=timeline.has_strings,
        cpu_per_batch=float(rest.cpu.sum()) / count,
        cpus_busy=float(rest.cpu.sum()) / total,
        cpus_elsewhere=elsewhere,
        read_per_batch=timeline.read_calls / every if timeline.read_calls is not None else None,
        storage_per_batch=timeline.read_storage / every if timeline.read_storage is not None else None,
        restarts=len(timeline.restarts),
    )
    return rates, rest


def measure_lock(rates: Rates, stages: Sequence[Stage], delivery_cpu: float | None = None) -> Lock | None:
    """Return the share of time in which Python stages hold the interpreter lock.

    It is None where there are no such stages.

    Args:
        rates: With the CPU time of the whole process per batch.
        stages: With the time inside each.
        delivery_cpu: What of it handing over a batch costs, which is no stage's.
    """
    python = sum(stage.seconds for stage in stages if stage.python)
    period = rates.batch.mean
    if not python or not period:
        return None
    rest = sum(stage.seconds for stage in stages if not stage.python)
    spent = max(0.0, rates.cpu_per_batch - (delivery_cpu or 0.0))
    high = min(spent, python, period)
    low = min(max(0.0, spent - rest), high)
    return Lock(low / period, high / period)


def measure_consumer(make: DatasetMaker, rates: Rates, plan: Plan, progress: Progress = silent) -> Consumer:
    """Return how long a device with the plan's step time waits for data."""
    step = plan.step_seconds
    assert step is not None
    pace = max(step, rates.batch.mean)
    batches = max(MIN_BATCHES * 2, min(plan.batches, math.ceil(plan.seconds / pace)))
    before = _floor(make, step, progress)
    line = iterate(
        _made(make),
        batches=batches,
        seconds=plan.seconds,
        step_seconds=step,
        progress=progress,
        what=f"feeding a device that needs {step * 1e3:g} ms per batch",
    )
    floor = bootstrap(np.concatenate([before, _floor(make, step, progress)]))
    rest = line.after(line.steadiness().start)
    # The start of an epoch is judged by itself.
    usual = np.ones(rest.waits.size, dtype=bool)
    usual[list(rest.restarts)] = False
    if not usual.any():
        usual[:] = True
    waits, periods = rest.waits[usual], rest.periods[usual]
    total = float(periods.sum())
    gross = float(waits.sum()) / total
    # Each batch's wait less the share of its own period varies around zero: its mean's interval carries over to the share.
    spread = bootstrap(waits - gross * periods)
    mean = float(periods.mean())
    # The wait for what lies in memory - waking up after the pause - is the instrument's, and a device does not have it.
    share = max(0.0, gross - floor.value / mean)
    below = math.hypot(spread.low, floor.high - floor.value) / mean
    above = math.hypot(spread.high, floor.value - floor.low) / mean
    idle = Interval(share, max(0.0, share - below), min(1.0, share + above))
    profiler = None
    if plan.trace:
        profiler = _trace(make, step, plan, progress)
    alone = rates.batch.mean
    predicted = max(0.0, 1 - step / alone) if alone else 0.0
    return Consumer(step, idle, predicted, floor.value, float(rest.gaps.mean()), profiler)


def _floor(make: DatasetMaker, step: float, progress: Progress) -> Floats:
    """Return the waits of a consumer for batches that lie in memory."""
    import tensorflow as tf

    with user_code("iterating the dataset"):
        batch = next(iter(_made(make).take(1)))
    line = iterate(
        tf.data.Dataset.from_tensors(batch).repeat().prefetch(2),
        batches=FLOOR_BATCHES,
        seconds=2.0,
        step_seconds=step,
        progress=progress,
        what="the same with a batch in memory",
    )
    return line.waits[min(3, line.waits.size - 1) :]


def _trace(make: DatasetMaker, step: float, plan: Plan, progress: Progress) -> ProfilerVerdict:
    import tensorflow as tf

    progress("tracing with TensorFlow's profiler", 0.0)

    def sleep() -> None:
        # A sleep in Python would count as "all others"; inside a function it counts as the step's computing.
        tf.numpy_function(lambda: time.sleep(step), [], [])

    work = tf.function(sleep)

    with user_code("iterating the dataset"):
        iterator = iter(_made(make).repeat())
        work()
        for _ in range(5):
            next(iterator)
            work()

        def body(_: int) -> None:
            next(iterator)
            work()

        return trace_loop(body, steps=30, logdir=plan.logdir)


def _made(make: DatasetMaker) -> Any:
    dataset = _read(make)
    if not hasattr(dataset, "element_spec") or not hasattr(dataset, "with_options"):
        raise CfgfixError(
            f"the dataset function returned {type(dataset).__name__}, not a tf.data.Dataset",
            hint="return a tf.data.Dataset, a keras PyDataset or a generator of batches, before it is distributed or iterated",
        )
    return dataset


def _read(make: DatasetMaker) -> Any:
    """Return what a maker makes, a `PyDataset` or a generator as the dataset that Keras makes of it."""
    made = make()
    rows = _rows_of(make, made)
    return made if rows is None else _from_rows(rows)


def _rows_of(make: DatasetMaker, made: Any) -> Callable[[], Iterator[Any]] | None:
    """Return what gives the batches of a `PyDataset`, a `Sequence` or a generator anew; None for anything else."""
    import inspect

    kinds = {kind.__name__ for kind in type(made).__mro__}
    if kinds & {"PyDataset", "Sequence"} and hasattr(made, "__getitem__") and "keras" in _modules_of(made):

        def items() -> Iterator[Any]:
            for place in range(len(made)):
                yield made[place]

        return items
    if inspect.isgenerator(made):
        # One that has ended gives nothing again, so each run asks for a new one.
        return lambda: iter(make())
    return None


def _modules_of(made: Any) -> set[str]:
    return {part for kind in type(made).__mro__ for part in kind.__module__.split(".")}


def _from_rows(rows: Callable[[], Iterator[Any]]) -> Any:
    """Return the dataset that Keras makes of such batches: a generator with their types, sizes left open."""
    import tensorflow as tf

    def plain(batch: Any) -> Any:
        # A list is a tensor to tf.data, and a part of a batch to Keras.
        return tuple(batch) if isinstance(batch, list) else batch

    def spec(part: Any) -> Any:
        value = tf.convert_to_tensor(part)
        return tf.TensorSpec([None, *value.shape[1:]] if value.shape.rank else [], value.dtype)

    with user_code("iterating the dataset"):
        first = next(iter(rows()), None)
        if first is None:
            raise UserCodeError("the dataset gives no batch", hint="is the data folder empty?")
        signature = tf.nest.map_structure(spec, plain(first))
    return tf.data.Dataset.from_generator(
        lambda: (plain(batch) for batch in rows()), output_signature=signature
    ).prefetch(tf.data.AUTOTUNE)


def measure_differential(
    make: DatasetMaker, rates: Rates, plan: Plan, files: tuple[str, ...], progress: Progress = silent
) -> Differential:
    """Split the time of a batch by leaving parts out.

    The runs are with cached elements, warm files and cold files.
    """
    notes: list[str] = []
    batches = max(
        MIN_BATCHES, min(plan.batches, 60, math.ceil(plan.seconds / 2 / max(rates.batch.mean, 1e-6)))
    )
    delivery, delivery_cpu = _delivery(make, rates, batches, progress, notes)
    state = storage.cache_state(files)
    warm_lines: list[float] = []
    cold_lines: list[float] = []
    cold_shares: list[float] = []
    cold = plan.cold and bool(files)
    if plan.cold and not files:
        notes.append("no cold run: the dataset's graph names no files; name their folder with --data-path")
    elif plan.cold and not storage.supports_eviction():
        cold = False
        notes.append(
            "no cold run: this system offers no way to drop a file from the cache without special rights"
        )
    elif not plan.cold:
        notes.append("no cold run: it takes the files out of the page cache, so it is made only with --cold")
    if files and not storage.warm(files):
        notes.append(
            f"the files are larger than {storage.WARM_LIMIT >> 30} GiB: the warm runs are only partly warm"
        )
    for pair in range(plan.pairs if cold else 1):
        # The order alternates, so that what changes with time does not favour one side.
        for kind in ("cold", "warm") if pair % 2 == 0 else ("warm", "cold"):
            if kind == "cold":
                if not cold:
                    continue
                storage.evict(files)
                share = storage.cache_state(files, seed=pair).cached_share
                if share is not None:
                    cold_shares.append(share)
            elif files:
                storage.warm(files)
            line = iterate(
                _made(make),
                batches=batches,
                seconds=plan.seconds,
                progress=progress,
                what=f"{kind} run {pair + 1}",
            )
            # The start counts: what a cold start reads ahead is fetching too, and both sides have it.
            spent = (line.first + float(line.periods.sum())) / (line.waits.size + 1)
            (cold_lines if kind == "cold" else warm_lines).append(spent)
            if kind == "warm":
                warm_rest = line.after(line.steadiness().start).periods
    fetch = paired_difference(warm_lines, cold_lines) if cold else None
    if cold_shares and max(cold_shares) > 0.05:
        notes.append(
            f"partly cached: {max(cold_shares):.0%} of the files' pages stayed in the cache in a cold run"
        )
    preparation = None
    if delivery is not None:
        warm_mean = bootstrap(warm_rest)
        preparation = Interval(
            max(0.0, warm_mean.value - delivery),
            max(0.0, warm_mean.low - delivery),
            max(0.0, warm_mean.high - delivery),
        )
    return Differential(
        delivery,
        delivery_cpu,
        preparation,
        fetch,
        state.files,
        state.bytes,
        max(cold_shares) if cold_shares else None,
        tuple(notes),
    )


def _delivery(
    make: DatasetMaker, rates: Rates, batches: int, progress: Progress, notes: list[str]
) -> tuple[float | None, float | None]:
    """Return seconds and CPU seconds per batch with all elements in memory."""
    fits = int(CACHED_BYTES // max(rates.bytes_per_batch, 1))
    keep = min(batches, fits, 32)
    if keep < 2:
        notes.append(f"no run with cached elements: one batch is {rates.bytes_per_batch / 1e6:.0f} MB")
        return None, None
    with user_code("iterating the dataset"):
        kept = _made(make).take(keep).cache()
        held = sum(1 for _ in kept)
    # The cache is full after one pass; its iterator hands the kept batches over again.
    line = iterate(
        kept.repeat(), batches=max(200, held), seconds=5.0, progress=progress, what="cached elements"
    )
    return float(np.median(line.periods)), float(line.cpu.mean())


def find_files(dataset: Any, data_path: str | None, opened: list[str]) -> tuple[str, ...]:
    """Return the files a dataset reads.

    They are named in its graph, opened by its Python code, or below the data folder.
    """
    return storage.data_files([*strings_in(read_graph(dataset)), *opened], data_path)


def shuffle_refills(node: Node | None, samples_per_batch: float) -> dict[str, float]:
    """Return the shuffle buffers of a graph in batches until each is drawn once.

    Before batching a buffer counts samples, after it batches.
    """
    import tensorflow as tf

    found = {}
    batched = any(entry.operation in ("Batch", "PaddedBatch", "ParallelBatch") for entry in walk(node))
    for entry in walk(node):
        if entry.operation.startswith("Shuffle"):
            sizes = [
                int(tf.make_ndarray(value))
                for value in entry.constants
                if not value.tensor_shape.dim and value.dtype == tf.int64.as_datatype_enum
            ]
            below = any(child.operation in ("Batch", "PaddedBatch", "ParallelBatch") for child in walk(entry))
            if sizes and sizes[0] > 0:
                per_batch = 1.0 if below or not batched else max(samples_per_batch, 1.0)
                found[f"shuffle buffer of {sizes[0]}"] = sizes[0] / per_batch
    return found


def measure(
    make: DatasetMaker, plan: Plan, *, source: str = "dataset", progress: Progress = silent
) -> DataProfile:
    """Measure a dataset.

    Args:
        make: Builds the dataset anew; it is called once per run.
        plan: What to measure.
        source: Where the dataset comes from, for the report.
        progress: Told what is going on.

    Raises:
        UserCodeError: The dataset failed; no verdict is made from a run that failed.
        CfgfixError: `make` does not return a dataset.
    """
    notes: list[str] = []
    dataset = _made(make)
    graph = read_graph(dataset)
    if has_cache(graph):
        # The elements a cache in memory holds belong to the dataset object: built anew, it would be empty in every run.
        kept = dataset
        make = lambda: kept  # noqa: E731
        _fill(dataset, plan, progress, notes)
    load = MachineLoad()
    with storage.opened_files() as opened:
        line = iterate(
            _made(make), batches=plan.batches, seconds=plan.seconds, progress=progress, what="as is"
        )
    inner = content.inner_batches(graph)
    if inner > 1:
        line = replace(line, samples=line.samples * inner)
    rates, rest = measure_rates(line, elsewhere=load.elsewhere())
    series = rest.periods
    oscillation = find_oscillation(series)
    if oscillation.outcome is not Found.INCONCLUSIVE and not rates.steady.steady:
        oscillation = replace(
            oscillation,
            outcome=Found.INCONCLUSIVE,
            reason=f"the series has not settled ({rates.steady.reason}); {oscillation.reason}",
        )
    intervals = {**plan.intervals, **shuffle_refills(graph, rates.samples_per_batch)}
    epoch = epoch_batches(dataset, graph)
    if len(line.restarts) > 1:
        intervals["end of the dataset"] = float(np.diff(line.restarts).mean())
    elif epoch is not None and epoch < plan.batches:
        intervals["end of the dataset"] = float(epoch)
    causes = find_causes(oscillation, intervals, series, first_index=rates.warmup + 1)
    stages: tuple[Stage, ...] = ()
    if plan.stages:
        try:
            stages = measure_stages(
                _made(make), batches=min(plan.batches, 60), seconds=plan.seconds, progress=progress
            )
        except UserCodeError:
            raise
        except CfgfixError as error:
            notes.append(f"no cost of stages: {error}")
    consumer = measure_consumer(make, rates, plan, progress) if plan.step_seconds else None
    start = _measure_start(make, line, rates, graph, epoch, plan)
    files = find_files(dataset, plan.data_path, opened)
    differential = measure_differential(make, rates, plan, files, progress)
    feeding = None
    cpus = usable_cpus()
    if plan.step_seconds:
        feeding = Feeding(
            plan.step_seconds,
            cpus,
            rates.cpu_per_batch / plan.step_seconds,
            Load(cpus, rates.cpus_busy, rates.cpus_elsewhere).full,
        )
    service = None
    if plan.service:
        from cfgfix.measure.service import measure_service

        service = measure_service(
            make, workers=plan.service, batches=plan.batches, seconds=plan.seconds, progress=progress
        )
        if "skipped" in service:
            notes.append(f"no tf.data service: {service['skipped']}")
    limits = old_limits(
        variation=rates.batch.variation,
        data_share=consumer.idle.value if consumer else None,
        batch_seconds=rates.batch.mean,
    )
    order = content.class_order(content.read_labels(dataset)) if plan.stages else None
    lock = measure_lock(rates, stages, differential.delivery_cpu)
    found = DataProfile(
        source,
        rates,
        tuple(float(value) for value in series),
        oscillation,
        causes,
        stages,
        lock,
        consumer,
        differential,
        feeding,
        service,
        limits,
        (),
        tuple(notes),
        pacing.find_pace(
            stages,
            rates.batch.mean,
            Load(cpus, rates.cpus_busy, rates.cpus_elsewhere),
            cpu_seconds=rates.cpu_per_batch,
            lock=lock,
            starts=bool(rates.restarts) or any(normal(node.operation) == "repeat" for node in walk(graph)),
        ),
        start,
        order,
        read_padding(dataset) if plan.stages else None,
        find_shards(graph, files, cpus),
    )
    return replace(found, verdicts=judge(found, graph, cpus))


def _fill(dataset: Any, plan: Plan, progress: Progress, notes: list[str]) -> None:
    """Run the first epoch, after which a cache holds every element."""
    import tensorflow as tf

    begin = time.perf_counter()
    size = int(dataset.cardinality())
    with user_code("iterating the dataset"):
        for place, _ in enumerate(dataset):
            spent = time.perf_counter() - begin
            progress("the first epoch, which fills the cache", spent / plan.seconds)
            if spent > plan.seconds or (
                size == tf.data.INFINITE_CARDINALITY and place + 1 >= _in_a_cache(dataset)
            ):
                break
        else:
            return
    if time.perf_counter() - begin > plan.seconds:
        notes.append(
            f"the cache was not full after {plan.seconds:g} s: the figures are those of the first epoch, which fills it"
        )


def _in_a_cache(dataset: Any) -> float:
    """Return how many batches a dataset that never ends gives until its cache is full, with what is taken ahead."""
    graph = read_graph(dataset)
    size = epoch_batches(dataset, graph)
    return math.inf if size is None else size + 2


def _measure_start(
    make: DatasetMaker,
    line: Timeline,
    rates: Rates,
    graph: Node | None,
    epoch: int | None,
    plan: Plan,
) -> EpochStart | None:
    """Return what starting an epoch costs where it starts again and again."""
    names = [normal(node.operation) for node in walk(graph)]
    if "repeat" in names and "shuffle" in names[: names.index("repeat")]:
        return None
    filled = next((node.operation for node in walk(graph) if normal(node.operation) == "shuffle"), None)
    usual = rates.batch.median
    if line.restarts:
        seconds = float(np.median(line.waits[list(line.restarts)]))
        batches = round(float(np.diff(line.restarts).mean())) if len(line.restarts) > 1 else epoch
    else:
        # The first start of all holds what happens once; a second one does not.
        again = iterate(_made(make), batches=1, seconds=plan.seconds, what="starting again")
        seconds, batches = again.build + again.first, epoch
    import tensorflow as tf

    empty = iterate(tf.data.Dataset.range(3).prefetch(1), batches=1)
    return EpochStart(max(0.0, seconds - usual - empty.build - empty.first), batches, filled)


def judge(found: DataProfile, graph: Node | None, cpus: int) -> tuple[Verdict, ...]:
    """Return what the figures mean.

    Args:
        found: The figures.
        graph: The dataset's graph, to see what it lacks.
        cpus: How many CPUs there are to use.
    """
    load = Load(cpus, found.rates.cpus_busy, found.rates.cpus_elsewhere)
    fed = _feeds(found, load)
    keeps_up = fed.outcome is not Outcome.PROBLEM
    causes = [
        _bottleneck(
            found,
            graph,
            load,
            Outcome.INFO if keeps_up else Outcome.PROBLEM,
            good=fed.outcome is Outcome.GOOD,
        ),
        None if keeps_up else _missing_prefetch(found, graph, load),
        _starts(found, load),
        _fetches(found, keeps_up=fed.outcome is Outcome.GOOD),
        _needs(found, keeps_up=keeps_up),
    ]
    if fed.outcome is Outcome.GOOD and any(
        cause is not None and cause.name == "epoch start" and cause.outcome is Outcome.PROBLEM
        for cause in causes
    ):
        fed = replace(fed, outcome=Outcome.PROBLEM, summary="input-bound while each epoch starts, not after")
    if fed.outcome is Outcome.PROBLEM:
        blamed = [cause for cause in causes if cause is not None and cause.outcome is Outcome.PROBLEM]
        faults = tuple(dict.fromkeys(fault for cause in blamed for fault in cause.faults))
        hole = found.pace is not None and not found.pace.explained
        change = (
            "see " + ", ".join(cause.name for cause in blamed) + " below"
            if blamed
            else "most of a batch's time lies outside of the stages: see stage below"
            if hole
            else "make the whole pipeline cheaper: see the time inside each stage"
        )
        fed = replace(fed, faults=faults, change=change)
    made = [
        fed,
        *causes,
        _oscillates(found, keeps_up=fed.outcome is not Outcome.PROBLEM),
        _not_settled(found),
    ]
    made += [
        *content.judge_order(found.order),
        *content.judge_graph(graph),
        *judge_padding(found.padding),
        *judge_shards(found.shards, keeps_up=keeps_up),
    ]
    return tuple(verdict for verdict in made if verdict is not None)


def _feeds(found: DataProfile, load: Load) -> Verdict:
    consumer = found.consumer
    if consumer is None:
        text = f"gives {figure(found.rates.batches_per_second, 3)} batches/s; whether that is enough depends on the step"
        return Verdict(
            "input",
            Outcome.INCONCLUSIVE,
            text,
            ("no step time was given",),
            change="name it with --step-ms, or measure it with cfgfix profile step",
        )
    low, high = INPUT_BOUND
    idle = consumer.idle
    evidence = [
        f"the device waits {idle.value:.1%} of the time (95 %: {idle.low:.1%} to {idle.high:.1%}) with a step of {consumer.step_seconds * 1e3:g} ms",
        f"limits of TensorFlow's profiler: {low:.0%} and {high:.0%}",
    ]
    if consumer.profiler is not None and consumer.profiler.available:
        evidence.append(f"TensorFlow's profiler on the same loop: {consumer.profiler.conclusion}")
    elif consumer.profiler is not None:
        evidence.append(f"TensorFlow's profiler: {consumer.profiler.conclusion}")
    if idle.value < low or (idle.low <= low <= idle.high and idle.high - idle.low > low):
        if idle.value < low and (idle.high < 2 * low or not load.contended):
            return Verdict("input", Outcome.GOOD, "not input-bound", tuple(evidence))
        return Verdict(
            "input",
            Outcome.INCONCLUSIVE,
            "the interval of the idle share crosses the limit; measure more batches",
            tuple(evidence),
        )
    alone = _undisturbed(found)
    if alone is not None:
        evidence.append(f"undisturbed, its slowest part takes {alone * 1e3:.3g} ms per batch")
    swings = found.oscillation.outcome is Found.OSCILLATING
    if load.contended and not swings and (alone is None or alone < consumer.step_seconds):
        evidence.append(
            f"{load.elsewhere:.2g} of {load.cpus} CPUs were at work for other processes, {load.busy:.2g} for this one"
        )
        if alone is not None and alone < ROOM * consumer.step_seconds:
            return Verdict(
                "input",
                Outcome.GOOD,
                "not input-bound: it waited for other processes, which keep the CPUs at work",
                tuple(evidence),
            )
        return Verdict(
            "input",
            Outcome.INCONCLUSIVE,
            "other processes keep the CPUs at work, and the pipeline alone would not need the step's time",
            tuple(evidence),
            change="measure again while the machine is free",
        )
    word = "highly" if idle.value >= high else "moderately"
    return Verdict("input", Outcome.PROBLEM, f"{word} input-bound", tuple(evidence))


def _undisturbed(found: DataProfile) -> float | None:
    """Return what a batch takes in the slowest part of the pipeline while nothing else wants the CPUs."""
    stages = pacing.active(pacing.quiet(found.stages), starts=False)
    limits = pacing.find_limits(
        stages, cpu_seconds=found.rates.cpu_per_batch, cpus=found.feeding.cpus_usable if found.feeding else 1
    )
    swing = found.oscillation
    if (
        not found.stages
        or not limits
        or (swing.outcome is Found.OSCILLATING and (swing.excess_share or 0) >= INPUT_BOUND[0])
    ):
        # What returns in time with the batches is no other process.
        return None
    start = found.start.seconds / found.start.batches if found.start and found.start.batches else 0.0
    return limits[0].seconds + start


def _bottleneck(
    found: DataProfile, graph: Node | None, load: Load, outcome: Outcome, *, good: bool
) -> Verdict | None:
    pace = found.pace
    if pace is None or good:
        pace = pacing.find_pace(
            found.stages,
            found.rates.batch.mean,
            load,
            cpu_seconds=found.rates.cpu_per_batch,
            lock=found.lock,
            starts=bool(found.rates.restarts) and not good,
        )
    if pace is None:
        return None
    slowest = found.stages[pace.limits[0].stage]
    if good and found.consumer is not None:
        return Verdict(
            "stage",
            Outcome.INFO,
            f"the slowest part is {slowest.label}, {pace.predicted * 1e3:.3g} ms for each step of {found.consumer.step_seconds * 1e3:g} ms",
            (f"a batch comes every {pace.measured * 1e3:.3g} ms where nobody waits for it",),
        )
    return judge_stage(
        found.stages,
        pace,
        load,
        found.lock,
        outcome,
        step_seconds=found.consumer.step_seconds if found.consumer else 0.0,
        cached_before=any(
            node.function == slowest.function and has_cache(node) for node in walk(graph) if node.function
        ),
    )


def _starts(found: DataProfile, load: Load) -> Verdict | None:
    """Return the verdict on what each epoch's start costs."""
    start = found.start
    if start is None or start.seconds < NOTABLE_START:
        return None
    step = found.consumer.step_seconds if found.consumer else 0.0
    share = start.share(max(step, found.rates.batch.median))
    waits = sorted(
        (stage for stage in found.stages if stage.phase == "start" and stage.seconds),
        key=lambda stage: -stage.seconds,
    )
    evidence = [f"an epoch's first batch takes {start.seconds:.3g} s more than another"]
    if share is not None:
        evidence.append(
            f"that is {share:.0%} of an epoch of {counted(start.batches or 0, 'batch', 'batches')}"
        )
    evidence += [
        f"{stage.label} runs then: {stage.seconds * 1e3:.3g} ms for each batch of the epoch"
        for stage in waits[:3]
    ]
    # What fills a buffer out of a cache takes no time: then the start is that of the iterators and their threads.
    filling = sum(stage.seconds for stage in waits) * (start.batches or 0)
    from_cache = bool(waits) and start.batches is not None and filling < FILLED * start.seconds
    what = f" while {start.fills} fills its buffer" if start.fills and not from_cache else ""
    serious = (
        share is not None
        and share >= INPUT_BOUND[0]
        and found.consumer is not None
        and (bool(waits) or start.seconds >= LONG_START)
        and not (from_cache and load.contended)
    )
    change = None
    if from_cache:
        change = "repeat the dataset before .prefetch, so that the next epoch starts while the last one ends"
    elif waits and start.fills:
        change = f"shuffle before {waits[0].label} (file names or indices rather than what it makes), and let it run in parallel after"
    elif start.fills:
        change = "shuffle file names or indices rather than samples, or use a smaller buffer"
    return Verdict(
        "epoch start",
        Outcome.PROBLEM if serious else Outcome.INFO,
        f"each epoch starts with {start.seconds:.3g} s of waiting{what}",
        tuple(evidence),
        change=change,
        worth=1 / (1 - share) if share is not None and share < 1 else None,
    )


def _needs(found: DataProfile, *, keeps_up: bool) -> Verdict | None:
    feeding = found.feeding
    if feeding is None:
        return None
    needed = math.ceil(feeding.cpus_needed)
    evidence = (
        f"{found.rates.cpu_per_batch * 1e3:.3g} ms of CPU per batch ({found.rates.cpu_per_batch / found.rates.samples_per_batch * 1e3:.3g} ms per sample), a batch every {feeding.step_seconds * 1e3:g} ms",
        f"{feeding.cpus_needed:.2f} CPUs at work, {feeding.cpus_usable} usable",
    )
    if feeding.cpus_needed <= feeding.cpus_usable:
        return Verdict(
            "cpus",
            Outcome.GOOD,
            f"there are CPUs enough: the work of a batch per step takes {needed} of {feeding.cpus_usable}",
            evidence,
        )
    if keeps_up:
        # What is measured outweighs what is reckoned.
        return None
    return Verdict(
        "cpus",
        Outcome.PROBLEM,
        f"this machine cannot feed the step: it takes {needed} CPUs and there are {feeding.cpus_usable}",
        evidence,
        (Fault.CALLS_ABOVE_CPUS,)
        if any(stage.parallelism > feeding.cpus_usable and not stage.autotuned for stage in found.stages)
        else (),
        "fewer operations per sample, a cache, a smaller share of the data per machine, or a tf.data service on other machines (cfgfix profile data --service)",
    )


_CAUSE_CHANGES = (
    (
        "end of the dataset",
        "repeat the dataset before .prefetch, so that the next epoch starts while the last one ends",
    ),
    ("shuffle", "shuffle file names instead of decoded samples, or use a smaller buffer"),
    ("checkpoint", "save less often, or in the background"),
    ("log", "log less often, and fetch values only then"),
    ("evaluation", "evaluate less often, or on a part of the data"),
)


def _oscillates(found: DataProfile, *, keeps_up: bool) -> Verdict:
    swing = found.oscillation
    if swing.outcome is Found.INCONCLUSIVE:
        return Verdict("oscillation", Outcome.INCONCLUSIVE, swing.reason)
    if swing.outcome is Found.NONE:
        seen = (
            f"an oscillation of {swing.detectable * 1e3:.3g} ms from trough to peak would have shown"
            if swing.detectable is not None
            else ""
        )
        return Verdict("oscillation", Outcome.GOOD, "the batch times do not oscillate", (swing.reason, seen))
    assert swing.period is not None
    assert swing.amplitude is not None
    assert swing.excess_share is not None
    low, high = swing.period_interval or (swing.period, swing.period)
    evidence = [
        f"period {swing.period:.4g} batches (95 %: {low:.4g} to {high:.4g}), {swing.period * found.rates.batch.mean:.3g} s; p = {swing.p_value:.2g}",
        f"{swing.amplitude * 1e3:.3g} ms from trough to peak; the peaks take {swing.excess_share:.1%} of the time",
    ]
    likely = [cause for cause in found.causes if cause.matches]
    evidence += [f"{cause.name}: {cause.note}" for cause in likely]
    named = f"; agrees with {likely[0].name}" if likely else "; no known interval agrees"
    if keeps_up and found.consumer is not None and found.consumer.idle.value < INPUT_BOUND[0]:
        evidence.append("a device with this step does not wait for it: what is prefetched bridges it")
    outcome = (
        Outcome.PROBLEM
        if swing.excess_share >= INPUT_BOUND[0] and found.consumer is not None and not keeps_up
        else Outcome.INFO
    )
    change = next(
        (text for start, text in _CAUSE_CHANGES if likely and likely[0].name.startswith(start)), None
    )
    return Verdict(
        "oscillation",
        outcome,
        f"the batch times repeat every {swing.period:.3g} batches{named}",
        tuple(evidence),
        change=change,
    )


def _not_settled(found: DataProfile) -> Verdict | None:
    if found.rates.steady.steady:
        return None
    return Verdict(
        "steady state",
        Outcome.INCONCLUSIVE,
        f"the batch times have not settled: {found.rates.steady.reason}",
        change="measure more batches (--batches) and longer (--seconds)",
    )


def _missing_prefetch(found: DataProfile, graph: Node | None, load: Load) -> Verdict | None:
    consumer = found.consumer
    if load.contended:
        # Preparation alone and with a consumer were measured at different loads.
        return None
    if graph is None or consumer is None or any(node.operation == "Prefetch" for node in walk(graph)):
        return None
    if consumer.idle.low - consumer.predicted < INPUT_BOUND[0]:
        # Preparation and step overlap already: TensorFlow injects a prefetch of its own unless options forbid it.
        return None
    return Verdict(
        "prefetch",
        Outcome.PROBLEM,
        "nothing is prefetched: the device waits while each batch is made",
        (
            f"idle {consumer.idle.value:.1%}; with preparation and step overlapping it would be {consumer.predicted:.1%}",
        ),
        (Fault.NO_PREFETCH, Fault.NOTHING_OVERLAPS, Fault.PREFETCH_OFF),
        "end the dataset with .prefetch(tf.data.AUTOTUNE)",
    )


def _fetches(found: DataProfile, *, keeps_up: bool) -> Verdict | None:
    parts = found.differential
    if parts is None or parts.fetch is None or not parts.fetch.excludes_zero or parts.fetch.value <= 0:
        return None
    share = parts.fetch.value / found.rates.batch.mean
    evidence = (
        f"cold files cost {parts.fetch.value * 1e3:.3g} ms per batch more (95 %: {parts.fetch.low * 1e3:.3g} to {parts.fetch.high * 1e3:.3g}); {parts.files} files, {parts.bytes / 1e6:.0f} MB",
    )
    step = found.consumer.step_seconds if found.consumer else 0.0
    if share < INPUT_BOUND[1] or (keeps_up and found.rates.batch.mean + parts.fetch.value < step):
        return Verdict("storage", Outcome.INFO, f"reading cold files adds {share:.0%} to a batch", evidence)
    return Verdict(
        "storage",
        Outcome.PROBLEM,
        f"reading cold files adds {share:.0%} to a batch",
        evidence,
        (Fault.SERIAL_READING, Fault.CALLS_WAIT_FOR_THREADS),
        "read more files at once (parallel interleave or map), or keep them in memory",
    )


def dataset_maker(options: Mapping[str, Any]) -> tuple[DatasetMaker, str]:
    """Return the user's dataset function, or the built-in speech pipeline.

    The options name it. Only a child process may call this.

    Raises:
        CfgfixError: The options name neither.
    """
    config = load_config(options.get("config"), options.get("config_loader"))
    spec = options.get("dataset")
    if spec:
        named = load_object(spec)
        if not callable(named):
            # The dataset itself: a tf.data.Dataset, a PyDataset.
            return (lambda: _read(lambda: named)), spec
        return (lambda: _read(lambda: call_with_config(named, config, spec))), spec
    if options.get("data_path"):
        from cfgfix.measure import speech

        settings = speech.settings_from(options)
        return (
            lambda: speech.make_dataset(options["data_path"], settings)
        ), f"built-in speech pipeline on {options['data_path']}"
    raise CfgfixError(
        "there is nothing to measure",
        hint="name your pipeline with --dataset package.module:function, or a speech folder with --data-path",
    )


def plan_from(options: Mapping[str, Any]) -> Plan:
    """Return the plan that a job's options describe."""
    names = Plan.__dataclass_fields__
    return Plan(**{name: value for name, value in options.get("plan", {}).items() if name in names})


def job(options: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Run `profile data` in a child process.

    `options` name the dataset and hold the fields of `Plan` under `plan`.
    """
    make, source = dataset_maker(options)
    plan = replace(plan_from(options), data_path=options.get("data_path"))
    return with_summaries(measure(make, plan, source=source, progress=progress).as_dict(), options)


__all__ = [
    "Consumer",
    "DataProfile",
    "Differential",
    "Feeding",
    "Plan",
    "Rates",
    "dataset_maker",
    "judge",
    "measure",
    "verdicts",
]
