"""What sets the pace of a pipeline, from the costs of its stages, and what a change of it would be worth.

Stages that run one after the other in one thread add up; the parts of a pipeline that have threads of their own work at the same
time, so the slowest part sets the pace. Calls beyond the threads of their pool wait for a thread. The pace that this predicts is held
against the one that was measured, and what it leaves over is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cfgfix.core.terminal import figure
from cfgfix.core.wording import counted
from cfgfix.measure.dataset_graph import normal
from cfgfix.measure.stage_profile import Stage, find_sections
from cfgfix.measure.verdicts import Outcome, Verdict
from cfgfix.rules.faults import Fault

CPU_BOUND = 0.8
"""Share of the usable CPUs at work above which more threads cannot help. tf.data's own threads need the rest to hand work
over; benchmarks/instruments.py shows what pipelines that only compute reach."""
LOCK_BOUND = 0.5
"""Share of the time from which Python computing, which only one thread can do at once, is what holds a pipeline up: with more
calls at once it could at best double."""
HOLE = 0.35
"""Share of a batch's time outside of all stages from which the stages do not explain it."""
CONTENDED_HOLE = 0.9
"""The same where other processes take the CPUs: the stages were measured in another run, at another load."""
ELSEWHERE = 0.15
"""Share of the CPUs taken by other processes from which they can be what a pipeline waits for."""


@dataclass(frozen=True, slots=True)
class Lock:
    """Bounds of the time share for which a pipeline's Python code holds the GIL.

    The process's CPU time is measured; what part of it Python stages use is bounded by what the other stages can have
    used at most. Code that computes with the lock released (large NumPy operations) counts as holding it.
    """

    low: float
    """Share of the time, at least."""
    high: float
    """Share of the time, at most."""

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {"low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True)
class Load:
    """The CPUs while a pipeline was measured."""

    cpus: int
    busy: float
    """At work for this process, on average."""
    elsewhere: float
    """At work for others."""
    delayed: float = 0.0
    """Threads of this process that waited for a CPU, on average."""

    @property
    def full(self) -> bool:
        """Whether all CPUs are busy."""
        return self.busy + self.elsewhere >= CPU_BOUND * self.cpus

    @property
    def contended(self) -> bool:
        """Whether other processes can have slowed this one down."""
        return self.full and self.elsewhere >= ELSEWHERE * self.cpus


@dataclass(frozen=True, slots=True)
class Limit:
    """A part of a pipeline, or a resource, with the seconds that it takes per batch."""

    kind: str
    """`chain` of stages in one thread, `calls` of a parallel stage, `pool` of threads, interpreter `lock`, `cpus`."""
    seconds: float
    stage: int
    """Position of the stage that has most of it."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The measured pace of a pipeline, and its limits, slowest first.

    Seconds per batch.
    """

    measured: float
    limits: tuple[Limit, ...]
    contended: bool = False
    """Whether other processes took the CPUs, so that two runs are not alike."""

    @property
    def predicted(self) -> float:
        """The seconds per batch that the slowest limit allows."""
        return self.limits[0].seconds if self.limits else 0.0

    @property
    def hole(self) -> float:
        """The seconds per batch that no stage explains."""
        return max(0.0, self.measured - self.predicted)

    @property
    def explained(self) -> bool:
        """Whether the stages explain the measured time of a batch."""
        return self.hole <= (CONTENDED_HOLE if self.contended else HOLE) * self.measured

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "measured": self.measured,
            "predicted": self.predicted,
            "hole": self.hole,
            "limits": [
                {"kind": limit.kind, "seconds": limit.seconds, "stage": limit.stage} for limit in self.limits
            ],
        }


def active(stages: Sequence[Stage], *, starts: bool) -> tuple[Stage, ...]:
    """Return the stages, with zero seconds for those that do not set the pace.

    These are the stages that no longer run, and those that only hand over elements, such as prefetch. With `starts`,
    stages that run only when an epoch starts keep their seconds.
    """
    phases = ("running", "start") if starts else ("running",)
    return tuple(
        stage if stage.phase in phases and not _hands_over(stage) else replace(stage, seconds=0.0)
        for stage in stages
    )


def _hands_over(stage: Stage) -> bool:
    """Tell whether a stage only hands elements over, as prefetch does.

    Its time is that of waking up, which is longer on a busy machine.
    """
    return normal(stage.operation) == "prefetch"


def quiet(stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """Return the stages with their undisturbed seconds, where those were measured."""
    return tuple(
        stage if stage.quiet_seconds is None else replace(stage, seconds=stage.quiet_seconds)
        for stage in stages
    )


def find_limits(
    stages: Sequence[Stage], *, cpu_seconds: float = 0.0, cpus: int = 1, lock_seconds: float = 0.0
) -> tuple[Limit, ...]:
    """Return the limits of a pipeline's pace, slowest first.

    Args:
        stages: The stages, with the seconds that are to count.
        cpu_seconds: CPU time of a batch, all threads.
        cpus: How many there are.
        lock_seconds: Time of a batch in which Python computes.
    """
    found: list[Limit] = []
    for section in find_sections(stages):
        main = max(section.members, key=lambda place: stages[place].seconds)
        alone = len(section.members) == 1 and stages[main].parallelism > 1
        if not section.seconds:
            continue
        kind = "chain"
        if alone:
            kind = "pool" if stages[main].at_once < stages[main].parallelism else "calls"
        found.append(Limit(kind, section.seconds, main))
    pooled = [
        place
        for place, stage in enumerate(stages)
        if stage.pool is not None and stage.seconds and normal(stage.operation).startswith("parallel")
    ]
    if len(pooled) > 1:
        pool = stages[pooled[0]].pool or 1
        main = max(pooled, key=lambda place: stages[place].seconds)
        found.append(Limit("pool", sum(stages[place].seconds for place in pooled) / pool, main))
    main = max(range(len(stages)), key=lambda place: stages[place].seconds, default=0)
    if stages and cpu_seconds:
        found.append(Limit("cpus", cpu_seconds / max(cpus, 1), main))
    python = [place for place, stage in enumerate(stages) if stage.python and stage.seconds]
    if python and lock_seconds:
        found.append(Limit("lock", lock_seconds, max(python, key=lambda place: stages[place].seconds)))
    return tuple(sorted(found, key=lambda limit: -limit.seconds))


def find_pace(
    stages: Sequence[Stage],
    measured: float,
    load: Load,
    *,
    cpu_seconds: float,
    lock: Lock | None,
    starts: bool,
) -> Pace | None:
    """Return the pace of a pipeline, or None where no stage has any time.

    Args:
        stages: Sources first.
        measured: Seconds per batch.
        load: Of the machine meanwhile.
        cpu_seconds: CPU time of a batch.
        lock: None where no stage runs Python.
        starts: Whether the measured time holds starts of epochs.
    """
    running = active(stages, starts=starts)
    if not any(stage.seconds for stage in running):
        return None
    limits = find_limits(
        running,
        cpu_seconds=cpu_seconds,
        cpus=load.cpus,
        lock_seconds=lock.low * measured if lock is not None and lock.low >= LOCK_BOUND else 0.0,
    )
    return Pace(measured, limits, load.contended) if limits else None


def judge_stage(
    stages: Sequence[Stage],
    pace: Pace,
    load: Load,
    lock: Lock | None,
    outcome: Outcome,
    *,
    step_seconds: float = 0.0,
    cached_before: bool = False,
) -> Verdict:
    """Return the verdict on what limits a pipeline, with the worth of a change.

    Args:
        stages: Sources first.
        pace: Of the pipeline.
        load: The load of the machine.
        lock: None where no stage runs Python.
        outcome: The outcome of the verdict, where a stage stands out.
        step_seconds: What the consumer needs for a batch; 0 where that is not known.
        cached_before: Whether the slowest stage works on what a cache gives.
    """
    first = pace.limits[0]
    locked = lock is not None and lock.low >= LOCK_BOUND
    stage = stages[first.stage]
    if locked and first.seconds < 1.2 * next(
        (limit.seconds for limit in pace.limits if limit.kind == "lock"), 0
    ):
        stage = stages[next(limit.stage for limit in pace.limits if limit.kind == "lock")]
    evidence = [
        f"{stage.label}: {stage.seconds * 1e3:.3g} ms per batch in {stage.at_once} at once, {stage.share:.0%} of all stages' time",
        f"that allows {figure(stage.capacity, 3)} batches/s; the dataset gives {figure(1 / pace.measured, 3)}",
        f"the slowest part explains {pace.predicted * 1e3:.3g} ms of {pace.measured * 1e3:.3g} ms per batch",
        f"{load.busy:.2g} of {load.cpus} CPUs at work here, {load.elsewhere:.2g} for other processes",
    ]
    if lock is not None:
        evidence.append(
            f"Python computes, and holds the interpreter lock, {lock.low:.0%} to {lock.high:.0%} of the time"
        )
    text = f"the slowest stage is {stage.label}"
    chain = _limiting_stages(stages, first)
    if len(chain) > 1:
        text = (
            "the slowest part is "
            + " + ".join(stages[place].label for place in chain)
            + ", one after the other"
        )
        evidence += [
            f"{stages[place].label}: {stages[place].seconds * 1e3:.3g} ms per batch" for place in chain[1:]
        ]
    if not pace.explained:
        why = (
            "; other processes keep the CPUs at work"
            if load.contended
            else f": {pace.hole * 1e3:.3g} ms of {pace.measured * 1e3:.3g} ms per batch lie outside of all stages"
        )
        return Verdict(
            "stage",
            Outcome.INFO,
            f"no stage alone holds the pipeline up{why}",
            (text, *evidence),
            change="look at what runs between the batches: handing over, copies, other work of this process",
        )
    cpu_seconds = next((limit.seconds * load.cpus for limit in pace.limits if limit.kind == "cpus"), 0.0)
    after, found = _explain_slowest(
        stage, pace, load, lock, outcome, text, cached_before=cached_before, cpu_seconds=cpu_seconds
    )
    return replace(found, evidence=tuple(evidence), worth=worth(pace, first, after, step_seconds))


def _limiting_stages(stages: Sequence[Stage], limit: Limit) -> list[int]:
    """Return the stages that take most of a chain's time, slowest first.

    They are positions. A stage that takes most of the time by itself is returned alone; none are returned for another
    kind of limit.
    """
    if limit.kind != "chain":
        return []
    section = next(part for part in find_sections(stages) if limit.stage in part.members)
    ranked = sorted(
        (place for place in section.members if not _hands_over(stages[place])),
        key=lambda place: -stages[place].seconds,
    )
    kept = [place for place in ranked if stages[place].seconds >= 0.15 * section.seconds]
    return kept if stages[ranked[0]].seconds < 0.6 * section.seconds else kept[:1]


def worth(pace: Pace, limit: Limit, after: float, step_seconds: float = 0.0) -> float:
    """Return the speed-up of the batches once a limit takes `after` seconds."""
    others = [other.seconds for other in pace.limits if other.stage != limit.stage]
    own = [
        other.seconds
        for other in pace.limits
        if other.stage == limit.stage and other.kind == "cpus" and limit.kind != "cpus"
    ]
    left = max([after, step_seconds, *others, *own, pace.hole, 1e-9])
    return max(1.0, max(pace.measured, step_seconds) / left)


def _explain_slowest(
    stage: Stage,
    pace: Pace,
    load: Load,
    lock: Lock | None,
    outcome: Outcome,
    text: str,
    *,
    cached_before: bool,
    cpu_seconds: float,
) -> tuple[float, Verdict]:
    """Return the batch time after the proposed change, and the verdict.

    Both are about the slowest stage.
    """
    first = pace.limits[0]
    if stage.python:
        # What a stage takes while nothing disturbs it is far more than the CPU time: it waits, however busy the machine is.
        waits = stage.quiet_seconds is not None and cpu_seconds < 0.5 * stage.quiet_seconds
        # Where it is never left alone, its own threads tell how long they wanted a CPU, whether they had one or not.
        wanted = (load.busy + load.delayed) / stage.at_once
        waits = waits and not (load.contended and load.delayed and wanted >= 0.5)
        crowded = load.elsewhere >= CPU_BOUND * load.cpus - load.busy and not waits
        return _python_verdict(stage, lock, outcome, text, crowded=crowded)
    rest = first.seconds - stage.seconds / stage.at_once
    waits = stage.quiet_seconds is not None and cpu_seconds < 0.5 * stage.quiet_seconds
    if load.full and not waits:
        faults = []
        if stage.parallelism > load.cpus and not stage.autotuned:
            faults.append(Fault.CALLS_ABOVE_CPUS)
        if cached_before:
            faults.append(Fault.COSTLY_AFTER_CACHE)
        return 0.0, Verdict(
            "stage",
            outcome,
            f"{text}, and the CPUs are all at work: more parallel calls cannot help",
            faults=tuple(faults),
            change="do less per sample, cache what does not change, or use more CPUs",
        )
    if stage.operation in ("Map", "Interleave") and stage.parallelism == 1:
        fault = Fault.SERIAL_MAP if stage.operation == "Map" else Fault.SERIAL_READING
        return max(rest, stage.seconds / load.cpus), Verdict(
            "stage",
            outcome,
            f"{text}, which runs one call at a time while CPUs are free",
            faults=(fault, Fault.IDLE_CPUS),
            change="num_parallel_calls=tf.data.AUTOTUNE (workers in the config)",
        )
    if stage.operation.startswith("Parallel") and stage.at_once < stage.parallelism:
        return stage.seconds / stage.parallelism, Verdict(
            "stage",
            outcome,
            f"{text}: {stage.parallelism} calls wait (reading or sleeping) for the {stage.at_once} threads of their pool",
            faults=(Fault.CALLS_WAIT_FOR_THREADS,),
            change=_pool_change(stage),
        )
    if stage.operation.startswith("Parallel"):
        return stage.seconds / max(stage.parallelism, 4 * load.cpus), Verdict(
            "stage",
            outcome,
            f"{text}; its calls wait (reading or sleeping) while CPUs are free",
            faults=(Fault.CALLS_WAIT_FOR_THREADS, Fault.IDLE_CPUS),
            change=f"raise its parallel calls above {stage.parallelism} (workers in the config), or use_unbounded_threadpool for reading",
        )
    return 0.0, Verdict("stage", outcome, text)


def _pool_change(stage: Stage) -> str:
    return (
        f"give the calls threads: options.threading.private_threadpool_size = {stage.parallelism}, "
        "or use_unbounded_threadpool=True in this map"
    )


def _python_verdict(
    stage: Stage, lock: Lock | None, outcome: Outcome, text: str, *, crowded: bool
) -> tuple[float, Verdict]:
    generator = stage.operation in ("Generator", "FromGenerator")
    faults: tuple[Fault, ...] = (
        (Fault.PYTHON_SOURCE,) if generator else (Fault.PYTHON_STAGE, Fault.PYTHON_LOADING)
    )
    change = (
        "yield whole batches, or read the files with TensorFlow operations"
        if generator
        else "write the function in TensorFlow operations"
    )
    if generator and stage.elements < 2:
        # It yields whole batches already.
        faults = ()
        change = (
            "let several workers make the batches (keras.utils.PyDataset with workers=, and use_multiprocessing=True where Python "
            "computes), or read the files with TensorFlow operations"
        )
    after = 0.0
    if lock is not None and lock.low >= LOCK_BOUND:
        why = "which runs Python: it holds the interpreter lock, so more parallel calls cannot help"
    elif crowded:
        # A thread that waits for a CPU looks like one that waits for a disk.
        why = "which runs Python; the CPUs are all at work, so whether it computes or waits cannot be told"
    elif lock is not None and lock.high < LOCK_BOUND and stage.at_once < stage.parallelism:
        why = f"whose {stage.parallelism} calls wait (Python that waits rather than computes) for the {stage.at_once} threads of their pool"
        faults = (Fault.CALLS_WAIT_FOR_THREADS, *faults)
        change = f"{_pool_change(stage)}; better, {change}"
        after = stage.seconds / stage.parallelism
    elif lock is not None and lock.high < LOCK_BOUND and stage.operation == "Map" and stage.parallelism == 1:
        why = "which runs Python that waits, one call at a time, rather than computes"
        faults = (*faults, Fault.SERIAL_PYTHON_MAP, Fault.SERIAL_MAP)
        change = f"num_parallel_calls=tf.data.AUTOTUNE lets calls wait together; better, {change}"
    elif lock is not None and lock.high < LOCK_BOUND and stage.operation.startswith("Parallel"):
        why = (
            f"which runs Python that waits rather than computes, {counted(stage.parallelism, 'call')} at once"
        )
        change = f"raise its parallel calls above {stage.parallelism} (workers in the config), and give them threads; better, {change}"
    elif lock is not None and lock.high < LOCK_BOUND:
        why = "which runs Python that waits rather than computes"
    else:
        why = "which runs Python, one call at a time while it computes"
    return after, Verdict("stage", outcome, f"{text}, {why}", faults=faults, change=change)
