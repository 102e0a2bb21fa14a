"""What the figures of a dataset mean: the verdicts of `profile data`."""

from __future__ import annotations

import math
from dataclasses import replace

from cfgfix.core.terminal import figure
from cfgfix.core.wording import counted
from cfgfix.measure import content
from cfgfix.measure import pace as pacing
from cfgfix.measure.data_profile import DataProfile
from cfgfix.measure.dataset_graph import Node, has_cache, walk
from cfgfix.measure.oscillation import END_OF_DATASET
from cfgfix.measure.oscillation import Outcome as Found
from cfgfix.measure.pace import Load, judge_stage
from cfgfix.measure.padding import judge_padding
from cfgfix.measure.shards import judge_shards
from cfgfix.measure.verdicts import INPUT_BOUND, Outcome, Verdict
from cfgfix.rules.faults import Fault

NOTABLE_START = 0.05
"""Seconds from which the start of an epoch is told."""
FILLED = 0.2
"""Share of the start of an epoch below which filling a buffer does not explain it."""
LONG_START = 0.25
"""Seconds from which the start of an epoch can be a problem where nothing is seen to be filled: making an iterator takes
some ten milliseconds, on a busy machine more."""
ROOM = 0.8
"""Share of the step that a pipeline may take for a batch and still keep up on a free machine."""
EXPLAINED = 0.5
"""Share of what a step loses from which waiting for a CPU can be what loses it."""
WAITS = 0.5
"""Share of the slowest part's time that the CPUs work, below which it waits for something else."""
HANDING_OVER = 0.0003
"""Seconds that a wait for a batch that is ready takes at most: waking up a thread, while the pipeline's threads have the CPUs."""


def judge(found: DataProfile, graph: Node | None, cpus: int) -> tuple[Verdict, ...]:
    """Return the verdicts on the figures of a dataset.

    Args:
        found: The figures.
        graph: The dataset's graph, to see what it lacks.
        cpus: How many CPUs there are to use.
    """
    load = Load(cpus, found.rates.cpus_busy, found.rates.cpus_elsewhere, found.rates.delayed)
    fed = _supply_verdict(found, load)
    keeps_up = fed.outcome is not Outcome.PROBLEM
    causes = [
        _bottleneck_verdict(
            found,
            graph,
            load,
            Outcome.INFO if keeps_up else Outcome.PROBLEM,
            good=fed.outcome is Outcome.GOOD,
        ),
        None if keeps_up else _missing_prefetch(found, graph, load),
        _start_verdict(found, load),
        _fetch_verdict(found, keeps_up=fed.outcome is Outcome.GOOD),
        _need_verdict(found, keeps_up=keeps_up),
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
        names = tuple(cause.name for cause in blamed)
        change = (
            "see " + ", ".join(names) + " below"
            if names
            else "most of a batch's time lies outside of the stages: see stage below"
            if hole
            else "make the whole pipeline cheaper: see the time inside each stage"
        )
        fed = replace(fed, faults=faults, change=change, explained_by=names)
    made = [
        fed,
        *causes,
        _oscillation_verdict(found, keeps_up=fed.outcome is not Outcome.PROBLEM),
        _not_settled(found),
    ]
    made += [
        *content.judge_order(found.order),
        *content.judge_graph(graph),
        *judge_padding(found.padding),
        *judge_shards(found.shards, keeps_up=keeps_up),
    ]
    return tuple(verdict for verdict in made if verdict is not None)


def _supply_verdict(found: DataProfile, load: Load) -> Verdict:
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
    lost = consumer.step_seconds * idle.value / max(1 - idle.value, 1e-9)
    if lost < HANDING_OVER and found.rates.pace < ROOM * consumer.step_seconds:
        evidence.append(
            f"a batch comes every {found.rates.pace * 1e3:.3g} ms where nobody waits for it; {lost * 1e3:.2g} ms of a step go to handing it over"
        )
        return Verdict("input", Outcome.GOOD, "not input-bound", tuple(evidence))
    alone = _undisturbed_seconds(found)
    if alone is not None:
        evidence.append(f"undisturbed, its slowest part takes {alone * 1e3:.3g} ms per batch")
    swings = _do_times_swing(found)
    if (
        load.contended
        and not swings
        and not _waits_by_itself(found, lost)
        and (alone is None or alone < consumer.step_seconds)
    ):
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


def _waits_by_itself(found: DataProfile, lost: float) -> bool:
    """Tell whether the CPU use of other processes explains little of the lost time.

    The most it can explain is how long threads waited for a CPU.
    """
    delayed = found.rates.delayed * found.rates.batch.mean
    return 0.0 < delayed < EXPLAINED * lost


def _do_times_swing(found: DataProfile) -> bool:
    """Tell whether the batch times oscillate enough to count.

    Swings from starts of epochs are left out: they have their own verdict.
    """
    swing = found.within or found.oscillation
    return swing.outcome is Found.OSCILLATING and (swing.excess_share or 0) >= INPUT_BOUND[0]


def _undisturbed_seconds(found: DataProfile) -> float | None:
    """Return the time of a batch in the slowest part of an undisturbed pipeline.

    Undisturbed means that no other process wants the CPUs. None where the stages are not known, or the batch times
    swing.
    """
    stages = pacing.active(pacing.quiet(found.stages), starts=False)
    limits = pacing.find_limits(
        stages, cpu_seconds=found.rates.cpu_per_batch, cpus=found.feeding.cpus_usable if found.feeding else 1
    )
    if not found.stages or not limits or _do_times_swing(found):
        # What returns in time with the batches is no other process.
        return None
    start = found.start.seconds / found.start.batches if found.start and found.start.batches else 0.0
    # Where the dataset ends and begins anew, its start is judged by itself.
    return limits[0].seconds + (0.0 if found.rates.restarts else start)


def _bottleneck_verdict(
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


def _start_verdict(found: DataProfile, load: Load) -> Verdict | None:
    """Return the verdict on the time of each epoch's start, or None where it is short."""
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
    elif start.fills and any(stage.inputs for stage in waits[:1]):
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


def _need_verdict(found: DataProfile, *, keeps_up: bool) -> Verdict | None:
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
    pace = found.pace
    if pace is not None and pace.explained and found.rates.cpu_per_batch < WAITS * pace.predicted:
        return Verdict(
            "cpus",
            Outcome.INFO,
            f"once that is mended the CPUs are next: the work of a batch per step takes {needed}, and there are {feeding.cpus_usable}",
            evidence,
        )
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
        END_OF_DATASET,
        "repeat the dataset before .prefetch, so that the next epoch starts while the last one ends",
    ),
    ("shuffle", "shuffle file names instead of decoded samples, or use a smaller buffer"),
    ("checkpoint", "save less often, or in the background"),
    ("log", "log less often, and fetch values only then"),
    ("evaluation", "evaluate less often, or on a part of the data"),
)


def _oscillation_verdict(found: DataProfile, *, keeps_up: bool) -> Verdict:
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


def _fetch_verdict(found: DataProfile, *, keeps_up: bool) -> Verdict | None:
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
