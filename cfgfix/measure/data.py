"""`profile data`: how fast a dataset gives batches, what its time goes to, and whether it can feed a device."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median_low
from typing import Any

import numpy as np

from cfgfix.core.errors import CfgfixError
from cfgfix.core.wording import counted
from cfgfix.measure import content, storage, verdicts
from cfgfix.measure import pace as pacing
from cfgfix.measure.data_profile import Consumer, DataProfile, Differential, EpochStart, Feeding, Plan, Rates
from cfgfix.measure.data_sources import DatasetMaker, call_maker, dataset_maker
from cfgfix.measure.data_verdicts import judge
from cfgfix.measure.dataset_graph import Node, epoch_batches, has_cache, normal, read_graph, strings_in, walk
from cfgfix.measure.oscillation import END_OF_DATASET, find_causes, find_oscillation
from cfgfix.measure.oscillation import Outcome as Found
from cfgfix.measure.pace import Load, Lock
from cfgfix.measure.padding import read_padding
from cfgfix.measure.sampling import (
    Progress,
    Timeline,
    UserCodeError,
    iterate,
    silent,
    user_code,
)
from cfgfix.measure.shards import find_shards
from cfgfix.measure.stage_profile import Stage
from cfgfix.measure.stages import measure_stages
from cfgfix.measure.statistics import (
    Floats,
    Interval,
    bootstrap,
    paired_difference,
    summarise,
)
from cfgfix.measure.summaries import with_summaries
from cfgfix.measure.tracing import ProfilerVerdict, trace_loop
from cfgfix.measure.verdicts import old_limits

MIN_BATCHES = 10
FLOOR_BATCHES = 40
"""Of the consumer's run with a batch in memory, before and after the one that counts."""
CACHED_BYTES = 512 << 20
"""Memory that the run with cached elements may take."""


def usable_cpus() -> int:
    """Return how many CPUs this process may use: affinity and control groups."""
    import os

    from cfgfix.hardware.cpu import read_cpu

    found = read_cpu("/", os.environ).cpu.usable.value
    return max(1, int(found)) if found else os.cpu_count() or 1


class MachineLoad:
    """Measures the CPUs at work for other processes from now on."""

    def __init__(self) -> None:
        self._start = self._clock_readings()

    def _clock_readings(self) -> tuple[float, float, float]:
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
        moment, busy, own = (
            now - then for now, then in zip(self._clock_readings(), self._start, strict=True)
        )
        if moment <= 0:
            return 0.0, 0.0
        return own / moment, max(0.0, (busy - own) / moment)


def measure_rates(timeline: Timeline, *, elsewhere: float = 0.0) -> tuple[Rates, Timeline]:
    """Return the rates of an iteration, and its timeline without the warm-up.

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
    within = np.delete(periods, list(rest.restarts))
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
        delayed=timeline.delayed,
        read_per_batch=timeline.read_calls / every if timeline.read_calls is not None else None,
        storage_per_batch=timeline.read_storage / every if timeline.read_storage is not None else None,
        within_epochs=float(within.mean()) if rest.restarts and within.size else None,
        restarts=len(timeline.restarts),
    )
    return rates, rest


def measure_lock(rates: Rates, stages: Sequence[Stage], delivery_cpu: float | None = None) -> Lock | None:
    """Return bounds of the time share for which Python stages hold the GIL.

    None where no stage runs Python.

    Args:
        rates: The measured rates, with the CPU time of the whole process per batch.
        stages: The stages of the pipeline, with the time inside each.
        delivery_cpu: The CPU time of handing over a batch, which belongs to no stage.
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
    """Return the share of time a device with the plan's step time waits for data.

    The wait for a batch that lies in memory is taken off.
    """
    step = plan.step_seconds
    assert step is not None
    pace = max(step, rates.batch.mean)
    batches = max(MIN_BATCHES * 2, min(plan.batches, math.ceil(plan.seconds / pace)))
    before = _waits_in_memory(make, step, progress)
    line = iterate(
        call_maker(make),
        batches=batches,
        seconds=plan.seconds,
        step_seconds=step,
        progress=progress,
        what=f"feeding a device that needs {step * 1e3:g} ms per batch",
    )
    floor = bootstrap(np.concatenate([before, _waits_in_memory(make, step, progress)]))
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
        profiler = _trace_pipeline(make, step, plan, progress)
    alone = rates.batch.mean
    predicted = max(0.0, 1 - step / alone) if alone else 0.0
    return Consumer(step, idle, predicted, floor.value, float(rest.gaps.mean()), profiler)


def _waits_in_memory(make: DatasetMaker, step: float, progress: Progress) -> Floats:
    """Return the seconds that a consumer waits for each of several batches in memory."""
    import tensorflow as tf

    with user_code("iterating the dataset"):
        batch = next(iter(call_maker(make).take(1)))
    line = iterate(
        tf.data.Dataset.from_tensors(batch).repeat().prefetch(2),
        batches=FLOOR_BATCHES,
        seconds=2.0,
        step_seconds=step,
        progress=progress,
        what="the same with a batch in memory",
    )
    return line.waits[min(3, line.waits.size - 1) :]


def _trace_pipeline(make: DatasetMaker, step: float, plan: Plan, progress: Progress) -> ProfilerVerdict:
    import tensorflow as tf

    progress("tracing with TensorFlow's profiler", 0.0)

    def sleep() -> None:
        # A sleep in Python would count as "all others"; inside a function it counts as the step's computing.
        tf.numpy_function(lambda: time.sleep(step), [], [])

    work = tf.function(sleep)

    with user_code("iterating the dataset"):
        iterator = iter(call_maker(make).repeat())
        work()
        for _ in range(5):
            next(iterator)
            work()

        def body(_: int) -> None:
            next(iterator)
            work()

        return trace_loop(body, steps=30, logdir=plan.logdir)


def measure_differential(
    make: DatasetMaker, rates: Rates, plan: Plan, files: tuple[str, ...], progress: Progress = silent
) -> Differential:
    """Return the time of a batch split into delivery, preparation and fetching.

    The parts are differences between runs with cached elements, with warm files and with cold files.
    """
    notes: list[str] = []
    batches = max(
        MIN_BATCHES, min(plan.batches, 60, math.ceil(plan.seconds / 2 / max(rates.batch.mean, 1e-6)))
    )
    delivery, delivery_cpu = _delivery_rate(make, rates, batches, progress, notes)
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
                call_maker(make),
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


def _delivery_rate(
    make: DatasetMaker, rates: Rates, batches: int, progress: Progress, notes: list[str]
) -> tuple[float | None, float | None]:
    """Return seconds and CPU seconds per batch with all elements in memory.

    None for both where a single batch is too large for that.
    """
    fits = int(CACHED_BYTES // max(rates.bytes_per_batch, 1))
    keep = min(batches, fits, 32)
    if keep < 2:
        notes.append(f"no run with cached elements: one batch is {rates.bytes_per_batch / 1e6:.0f} MB")
        return None, None
    with user_code("iterating the dataset"):
        kept = call_maker(make).take(keep).cache()
        held = sum(1 for _ in kept)
    # The cache is full after one pass; its iterator hands the kept batches over again.
    line = iterate(
        kept.repeat(), batches=max(200, held), seconds=5.0, progress=progress, what="cached elements"
    )
    return float(np.median(line.periods)), float(line.cpu.mean())


def find_files(dataset: Any, data_path: str | None, opened: list[str]) -> tuple[str, ...]:
    """Return the files that a dataset reads.

    They are named in the dataset's graph, opened by its Python code, or lie below the data folder.
    """
    return storage.data_files([*strings_in(read_graph(dataset)), *opened], data_path)


def shuffle_refills(node: Node | None, samples_per_batch: float) -> dict[str, float]:
    """Return the size of each shuffle buffer of a graph, in batches.

    After so many batches the buffer has been drawn once. A buffer before the batch stage counts samples, a buffer
    after batches.
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
    dataset = call_maker(make)
    graph = read_graph(dataset)
    if has_cache(graph):
        # The elements a cache in memory holds belong to the dataset object: built anew, it would be empty in every run.
        kept = dataset
        make = lambda: kept  # noqa: E731
        _fill_caches(dataset, plan, progress, notes)
    load = MachineLoad()
    with storage.opened_files() as opened:
        line = iterate(
            call_maker(make), batches=plan.batches, seconds=plan.seconds, progress=progress, what="as is"
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
        intervals[END_OF_DATASET] = float(np.diff(line.restarts).mean())
    elif epoch is not None and epoch < plan.batches:
        intervals[END_OF_DATASET] = float(epoch)
    within = None
    if oscillation.outcome is Found.OSCILLATING and rest.restarts:
        level = series.copy()
        level[_batches_near_starts(rest.restarts, level.size)] = np.median(series)
        within = find_oscillation(level)
    causes = find_causes(oscillation, intervals, series, first_index=rates.warmup + 1)
    # What the runs below leave behind still reads and computes for a while.
    start = _measure_start(make, line, rates, graph, epoch, plan)
    stages: tuple[Stage, ...] = ()
    if plan.stages:
        try:
            stages = measure_stages(
                call_maker(make), batches=min(plan.batches, 60), seconds=plan.seconds, progress=progress
            )
        except UserCodeError:
            raise
        except CfgfixError as error:
            notes.append(f"no cost of stages: {error}")
    consumer = measure_consumer(make, rates, plan, progress) if plan.step_seconds else None
    files = find_files(dataset, plan.data_path, opened)
    differential = measure_differential(make, rates, plan, files, progress)
    feeding = None
    cpus = usable_cpus()
    if plan.step_seconds:
        feeding = Feeding(
            plan.step_seconds,
            cpus,
            rates.cpu_per_batch / plan.step_seconds,
            Load(cpus, rates.cpus_busy, rates.cpus_elsewhere, rates.delayed).full,
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
            Load(cpus, rates.cpus_busy, rates.cpus_elsewhere, rates.delayed),
            cpu_seconds=rates.cpu_per_batch,
            lock=lock,
            starts=bool(rates.restarts) or any(normal(node.operation) == "repeat" for node in walk(graph)),
        ),
        start,
        order,
        read_padding(dataset) if plan.stages else None,
        find_shards(graph, files, cpus),
        within,
    )
    return replace(found, verdicts=judge(found, graph, cpus))


def _fill_caches(dataset: Any, plan: Plan, progress: Progress, notes: list[str]) -> None:
    """Iterate over the first epoch, so that a cache holds every element."""
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


def _batches_near_starts(restarts: Sequence[int], size: int) -> list[int]:
    """Return the first two batches of each epoch, where threads still start."""
    return [place for first in restarts for place in (first, first + 1) if place < size]


def _in_a_cache(dataset: Any) -> float:
    """Return how many batches to take until the cache of an endless dataset is full.

    Batches that a prefetch takes ahead are counted in; infinite where the length of an epoch is unknown.
    """
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
    """Return the extra time of the first batch of an epoch.

    None where the dataset shuffles and then repeats, so that epochs after the first have no start.
    """
    names = [normal(node.operation) for node in walk(graph)]
    if "repeat" in names and "shuffle" in names[: names.index("repeat")]:
        return None
    filled = next((node.operation for node in walk(graph) if normal(node.operation) == "shuffle"), None)
    usual = rates.batch.median
    if line.restarts:
        # One of those seen, not between two: now and then TensorFlow waits for threads of the epoch before.
        seconds = median_low(float(wait) for wait in line.waits[list(line.restarts)])
        batches = round(float(np.diff(line.restarts).mean())) if len(line.restarts) > 1 else epoch
    else:
        # The first start of all holds what happens once; a second one does not.
        again = iterate(call_maker(make), batches=1, seconds=plan.seconds, what="starting again")
        seconds, batches = again.build + again.first, epoch
    import tensorflow as tf

    empty = iterate(tf.data.Dataset.range(3).prefetch(1), batches=1)
    return EpochStart(max(0.0, seconds - usual - empty.build - empty.first), batches, filled)


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
