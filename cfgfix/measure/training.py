"""`profile run`: what the time of a training program goes to, from an observation of it as it is.

A step reaches from one request for a batch to the next, so nothing between two steps is lost. Its time is parted into waiting for data,
compiled functions, tracing, and Python, and what Python did is named by the looks at the thread. Where the steps wait for data, the
dataset that they took it from is measured by itself, with the time that a step needs.
"""

from __future__ import annotations

import bisect
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cfgfix.core.errors import CfgfixError, ExitCode
from cfgfix.core.wording import counted
from cfgfix.measure import data as data_profile
from cfgfix.measure.numerics import (
    NotFinite,
    broken_weights,
    find_not_finite,
    judge_numbers,
    read_scalars,
)
from cfgfix.measure.observe import Look, Loop, Observation, Step, StopObservation
from cfgfix.measure.pace import Load
from cfgfix.measure.padding import Padding, judge_padding, read_padding
from cfgfix.measure.sampling import Progress, iterate, silent, user_code
from cfgfix.measure.script import main_loop, run_script
from cfgfix.measure.statistics import Summary, robust_deviation, summarise
from cfgfix.measure.step_verdicts import judge_retraces
from cfgfix.measure.summaries import with_summaries
from cfgfix.measure.verdicts import INPUT_BOUND, Outcome, Verdict
from cfgfix.measure.watch import Sync, Trace
from cfgfix.rules.faults import Fault

LEAST_STEPS = 10
"""Steps after the warm-up below which nothing is concluded."""
NOTABLE = 0.05
"""Share of the run from which what takes it is a problem."""
WORTH_TELLING = 0.01
"""Share of the run from which it is told."""
STALL_SECONDS = 0.003
"""What a step must take longer than the others, at least, to count as a stall."""
REGULAR = 0.7
"""Share of the gaps between stalls that are alike where they come at a period."""
STEP_BOUND = 0.3
"""Share of the run in compiled functions from which it is looked for what they need not compute."""
GROWTH_BYTES = 0.1 * 2**20
"""Growth of the memory per step from which it is told, where it went on through the whole run."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What to observe and how long."""

    steps: int = 200
    seconds: float = 60.0
    """Since the first step."""
    data_seconds: float = 8.0
    """For each run over the dataset by itself; 0: none."""


@dataclass(frozen=True, slots=True)
class Part:
    """What the time between steps went to."""

    who: str
    place: str
    seconds: float
    """Per step."""
    share: float
    """Of the run."""

    @property
    def label(self) -> str:
        """The function with its place."""
        return f"{self.who} ({short(self.place)})" if self.place else self.who

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class Stall:
    """Steps that took longer than the others, by the function that took the time."""

    who: str
    place: str
    what: str
    """What it had called; nothing where that is not known."""
    when: str
    """`between steps`, `in the step` or `at the end of an epoch`."""
    count: int
    period: float | None
    """In steps; None where they come at no fixed one."""
    seconds: float
    """What one costs, the median."""
    share: float
    """Of the run."""

    @property
    def label(self) -> str:
        """The function with its place and what it called."""
        place = f" ({short(self.place)})" if self.place else ""
        return f"{self.who}{place}" + (f", in {self.what}" if self.what else "")

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class RunProfile:
    """Everything `profile run` found. Times in seconds."""

    source: str
    loop: str
    """The place of the training loop."""
    kind: str
    """`fit`, or `loop` for one of the user's own."""
    steps: int
    warmup: int
    step: Summary
    """From one request for a batch to the next, starts of epochs left out."""
    shares: Mapping[str, float]
    """Of the run after the warm-up: wait, call, trace, python, epochs."""
    samples_per_second: float | None
    parts: tuple[Part, ...]
    stalls: tuple[Stall, ...]
    traces: tuple[Trace, ...]
    xla: tuple[str, ...]
    """Functions that are compiled with XLA."""
    shapes: int
    """Different shapes of batches."""
    syncs: tuple[Sync, ...]
    compilations: tuple[float, ...]
    """By XLA, for new shapes of batches: seconds each."""
    loops: tuple[Mapping[str, Any], ...]
    """Every place that took batches."""
    memory_growth: float | None
    """Bytes per step; None where it did not go on."""
    load: Load
    stopped: bool
    """Whether the program was ended once enough was seen."""
    data: Mapping[str, Any] | None
    """The profile of the dataset by itself."""
    not_finite: NotFinite | None = None
    """What the training went on with that is no number; None where all is."""
    padding: Padding | None = None
    """Of its batches; None where nothing in them is known for padding, or the steps take little of the time."""
    verdicts: tuple[Verdict, ...] = ()
    notes: tuple[str, ...] = ()
    user_files: tuple[str, ...] = field(default_factory=tuple)

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "kind": "run",
            "source": self.source,
            "loop": {"kind": self.kind, "place": self.loop},
            "steps": self.steps,
            "warmup": self.warmup,
            "step_seconds": self.step.as_dict(),
            "shares": dict(self.shares),
            "samples_per_second": self.samples_per_second,
            "parts": [part.as_dict() for part in self.parts],
            "stalls": [stall.as_dict() for stall in self.stalls],
            "retraces": [trace.as_dict() for trace in self.traces],
            "xla_functions": list(self.xla),
            "batch_shapes": self.shapes,
            "xla_compilations": list(self.compilations),
            "host_syncs": [sync.as_dict() for sync in self.syncs],
            "loops": [dict(loop) for loop in self.loops],
            "memory_growth_per_step": self.memory_growth,
            "cpus": {"usable": self.load.cpus, "busy": self.load.busy, "elsewhere": self.load.elsewhere},
            "stopped": self.stopped,
            "data": dict(self.data) if self.data else None,
            "not_finite": self.not_finite.as_dict() if self.not_finite else None,
            "padding": self.padding.as_dict() if self.padding else None,
            "older_limits": [],
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "notes": list(self.notes),
            "user_files": list(self.user_files),
        }


def short(place: str) -> str:
    """Return a place with its file as seen from here."""
    file, _, line = place.rpartition(":")
    try:
        near = os.path.relpath(file)
    except ValueError:
        near = file
    return f"{near if not near.startswith('..') else file}:{line}"


# --- which loop, which steps


def warm_up(steps: Sequence[Step]) -> int:
    """Return how many steps at the start trace, compile and fill buffers."""
    third = len(steps) // 3
    traced = [place for place in range(third) if steps[place].trace]
    return min(max(traced[-1] + 2 if traced else 0, min(3, third)), third)


def mark_compilations(steps: Sequence[Step]) -> list[float]:
    """Count the extra time of a step with a new batch shape as compiling.

    It is what the step takes beyond the others, and is returned for each step.

    XLA compiles for each shape, also where TensorFlow traces no function again.
    """
    seen: set[int] = set()
    new = []
    for step in steps:
        new.append(bool(step.shape) and step.shape not in seen)
        seen.add(step.shape)
    again = [step.call for step, first in zip(steps, new, strict=True) if not first and not step.trace]
    level = float(np.median(again)) if again else 0.0
    found = []
    for step, first in zip(steps, new, strict=True):
        extra = step.call - level
        if not first or extra <= level + STALL_SECONDS:
            extra = 0.0
        step.call -= extra
        step.trace += extra
        found.append(extra)
    return found


@dataclass(slots=True)
class _Attribution:
    """The looks of each step, by who was at work in Python."""

    by_step: list[Counter[tuple[str, str]]]
    called: dict[tuple[str, str], Counter[str]]
    places: dict[tuple[str, str], Counter[str]]
    evaluating: list[int]
    """Looks of each step within `evaluate` or `predict`."""
    all_looks: list[int]


def attribute(steps: Sequence[Step], looks: Sequence[Look], loop: Loop) -> _Attribution:
    """Give each look at Python's work to the step it was in.

    Within the function that holds the loop each line counts by itself; any other function counts as a whole.
    """
    begins = [step.begin for step in steps]
    found = _Attribution([Counter() for _ in steps], {}, {}, [0] * len(steps), [0] * len(steps))
    home = next((look.who for look in looks if look.place == loop.place), None)
    for look in looks:
        place = bisect.bisect_right(begins, look.moment) - 1
        if place < 0 or look.moment >= steps[place].end:
            continue
        found.all_looks[place] += 1
        if look.kind in ("evaluate", "predict"):
            found.evaluating[place] += 1
            continue
        if look.state != "python":
            continue
        file = look.place.rpartition(":")[0]
        same = look.who == home and file == loop.place.rpartition(":")[0]
        key = (look.who, look.place if same else file)
        found.by_step[place][key] += 1
        found.called.setdefault(key, Counter())[look.what] += 1
        found.places.setdefault(key, Counter())[look.place] += 1
    return found


def _named(found: _Attribution, key: tuple[str, str]) -> tuple[str, str, str]:
    place = found.places[key].most_common(1)[0][0]
    what, times = found.called[key].most_common(1)[0]
    return key[0] or "Python", place, what if times * 2 >= sum(found.called[key].values()) else ""


def _is_loop_itself(key: tuple[str, str], loop: Loop) -> bool:
    """Return whether what was seen is Keras's own work in `fit`, which the user's line only calls."""
    return loop.kind == "fit" and key[1] == loop.place


def period_of(places: Sequence[int]) -> float | None:
    """Return the period of events, where most of the gaps between them are alike."""
    gaps = np.diff(np.asarray(places))
    if gaps.size < 2:
        return None
    middle = float(np.median(gaps))
    alike = np.abs(gaps - middle) <= (0.1 * middle if middle < 10 else max(1.0, 0.1 * middle))
    return float(gaps[alike].mean()) if float(alike.mean()) >= REGULAR and middle >= 2 else None


def regular(hits: list[tuple[int, float]]) -> tuple[list[tuple[int, float]], float | None]:
    """Return the stalls that come at a period, with the period.

    All of them are returned, without a period, where none do.

    Among the disturbances of a busy machine the planned ones are the long ones.
    """
    sizes = np.array([size for _, size in hits])
    for cut in (0.0, 0.3, 0.5, 0.7):
        kept = [hit for hit in hits if hit[1] >= cut * float(np.quantile(sizes, 0.9))]
        period = period_of([place for place, _ in kept])
        if period is not None and len(kept) >= 3:
            return kept, period
    return hits, None


def find_stalls(steps: Sequence[Step], found: _Attribution, loop: Loop) -> tuple[list[Stall], np.ndarray]:
    """Return what makes single steps longer than the others, and which they are."""
    usual = np.array([not step.starts and not step.trace for step in steps])
    whole = np.array([step.seconds for step in steps])
    total = float(whole.sum())
    middle = float(np.median(whole[usual])) if usual.any() else 0.0
    stalled = np.zeros(len(steps), dtype=bool)
    events: dict[tuple[str, tuple[str, str]], list[tuple[int, float]]] = {}
    for when, series in (
        ("between steps", np.array([step.between for step in steps])),
        ("in the step", np.array([step.call for step in steps])),
    ):
        if not usual.any():
            break
        level = float(np.median(series[usual]))
        limit = level + max(5 * robust_deviation(series[usual]), 0.25 * middle, STALL_SECONDS)
        for place in np.flatnonzero(usual & (series > limit)):
            key = ("", "")
            if when == "between steps" and found.by_step[place]:
                key = found.by_step[place].most_common(1)[0][0]
            events.setdefault((when, key), []).append((int(place), float(series[place]) - level))
            stalled[place] = True
    made = []
    for (when, key), seen in events.items():
        who, at, what = _named(found, key) if key in found.called else ("the compiled step", "", "")
        if when == "between steps" and not key[0]:
            who = "Python"
        hits, period = regular(seen)
        cost = [size for _, size in hits]
        made.append(
            Stall(
                who,
                at,
                what,
                when,
                len(hits),
                period,
                float(np.median(cost)),
                sum(cost) / total if total else 0.0,
            )
        )
    made += _at_epochs(steps, found, loop, middle, total)
    return sorted(made, key=lambda stall: -stall.share), stalled


def _at_epochs(
    steps: Sequence[Step], found: _Attribution, loop: Loop, middle: float, total: float
) -> Iterator[Stall]:
    """Yield what the ends of epochs cost in Python, by function."""
    cost: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for place, step in enumerate(steps):
        looks = sum(found.by_step[place].values())
        if not step.starts or not looks:
            continue
        extra = max(
            0.0, step.between - found.evaluating[place] / max(found.all_looks[place], 1) * step.seconds
        )
        for key, count in found.by_step[place].items():
            cost.setdefault(key, []).append((place, extra * count / looks))
    for key, hits in cost.items():
        seconds = float(np.median([size for _, size in hits]))
        if seconds < max(STALL_SECONDS, middle) or _is_loop_itself(key, loop):
            continue
        who, at, what = _named(found, key)
        places = [place for place, _ in hits]
        yield Stall(
            who,
            at,
            what,
            "at the end of an epoch",
            len(hits),
            period_of(places),
            seconds,
            sum(size for _, size in hits) / total,
        )


def find_parts(
    steps: Sequence[Step], found: _Attribution, loop: Loop, stalled: np.ndarray, total: float
) -> tuple[Part, ...]:
    """Return what Python does in every step, by function, the longest first."""
    chosen = [
        place for place, step in enumerate(steps) if not step.starts and not stalled[place] and not step.trace
    ]
    spent = sum(steps[place].between for place in chosen)
    looks: Counter[tuple[str, str]] = Counter()
    for place in chosen:
        looks.update(found.by_step[place])
    seen = sum(looks.values())
    if not seen or not chosen:
        return ()
    made = []
    for key, count in looks.items():
        who, at, _ = _named(found, key)
        if _is_loop_itself(key, loop):
            who = "Keras"
        seconds = spent * count / seen
        made.append(Part(who, at, seconds / len(chosen), seconds / total if total else 0.0))
    return tuple(sorted(made, key=lambda part: -part.share))


def memory_growth(readings: Sequence[tuple[float, float]], steps: Sequence[Step]) -> float | None:
    """Return the bytes per step by which the memory grew, or None.

    None where it did not grow through the whole run.
    """
    begin, end = steps[0].begin, steps[-1].end
    inside = np.array([size for moment, size in readings if begin <= moment <= end])
    if inside.size < 8:
        return None
    quarters = [float(np.median(part)) for part in np.array_split(inside, 4)]
    rises = np.diff(quarters)
    growth = (quarters[-1] - quarters[0]) / (0.75 * len(steps))
    # Buffers that fill grow fast and then not at all.
    steady = bool((rises > 0).all()) and float(rises.min()) > 0.5 * float(rises.max())
    return growth if steady and growth >= GROWTH_BYTES else None


# --- the whole


def analyse(
    observation: Observation, plan: RunPlan, load: Load, *, source: str, progress: Progress = silent
) -> RunProfile:
    """Return what an observation shows.

    Raises:
        CfgfixError: It saw no step.
    """
    loops = list(observation.loops.values())
    loop = main_loop(loops)
    if loop is None or len(loop.steps) < LEAST_STEPS:
        seen = len(loop.steps) if loop is not None else 0
        raise CfgfixError(
            f"{source}: {counted(seen, 'training step')} ran, {LEAST_STEPS} are needed",
            code=ExitCode.UNREADABLE,
            hint="name the script that trains, with the arguments it takes, and give it time with --seconds",
        )
    lead = warm_up(loop.steps)
    compilations = mark_compilations(loop.steps)[lead:] if observation.xla else []
    steps = [step for step in loop.steps[lead:] if step.end]
    total = sum(step.seconds for step in steps)
    found = attribute(steps, observation.looks, loop)
    stalls, stalled = find_stalls(steps, found, loop)
    parts = find_parts(steps, found, loop, stalled, total)
    usual = [step for step in steps if not step.starts] or steps
    inside = [step for step in usual if not step.trace] or [replace(step, trace=0.0) for step in usual]
    busy = float(np.median([step.seconds - step.wait for step in inside]))
    notes: list[str] = []
    shares = _shares(steps, found, total)
    rows = sum(step.samples for step in steps)
    profile: dict[str, Any] | None = None
    wait_share = sum(step.wait for step in usual) / max(sum(step.seconds for step in usual), 1e-9)
    floor = 0.0
    dataset = loop.dataset
    if shares["wait"] >= shares["epochs"]:
        # Of several datasets that a step takes batches from, the one it waits for.
        dataset = max(
            (each for each in loops if each.kind in ("fit", "loop") and each.dataset is not None),
            key=lambda each: each.waited,
            default=loop,
        ).dataset
    if (
        plan.data_seconds
        and dataset is not None
        and (wait_share >= INPUT_BOUND[0] or shares["epochs"] >= INPUT_BOUND[0])
    ):
        floor = _floor(dataset, busy)
        profile = _measure_data(dataset, busy, plan, notes, progress)
    retraces = [trace for trace in observation.tracings.retraces() if trace.step > 0]
    steady_shapes = len({step.shape for step in loop.steps if step.shape})
    context = f"{loop.kind} {loop.place}"
    made = RunProfile(
        source=source,
        loop=loop.place,
        kind=loop.kind,
        steps=len(steps),
        warmup=lead,
        step=summarise([step.seconds for step in inside]),
        shares=shares,
        samples_per_second=rows / total if rows and total else None,
        parts=parts,
        stalls=tuple(stalls),
        traces=tuple(trace for trace in retraces if trace.context == context),
        xla=tuple(sorted(observation.xla)),
        shapes=steady_shapes,
        syncs=tuple(observation.fetches.syncs()),
        compilations=tuple(seconds for seconds in compilations if seconds),
        loops=tuple(
            {
                "kind": each.kind,
                "place": each.place,
                "steps": len(each.steps),
                "epochs": each.epochs,
                "seconds": sum(step.seconds for step in each.steps),
            }
            for each in loops
        ),
        memory_growth=memory_growth(observation.memory, steps),
        load=load,
        stopped=observation.stopped,
        data=profile,
        not_finite=find_not_finite(read_scalars(observation.returned), broken_weights(observation.trained)),
        padding=_padding(dataset) if shares["call"] >= STEP_BOUND else None,
        notes=tuple(notes),
        user_files=tuple(_files(observation)),
    )
    anew = {
        name: count
        for name, count in observation.tracings.made_anew(after=lead + 1).items()
        if any(trace.context == context and trace.function == name for trace in observation.tracings.traces)
    }
    return replace(
        made, verdicts=judge(made, steps, loop, anew, wait_share=wait_share, floor=floor, busy=busy)
    )


def _padding(dataset: Any) -> Padding | None:
    """Return the padding of the loop's batches, or None where they cannot be read again."""
    try:
        return read_padding(dataset) if dataset is not None else None
    except CfgfixError:
        return None


def _files(observation: Observation) -> Iterator[str]:
    """Yield the files of the user's code that the run was seen in."""
    seen = dict.fromkeys(look.place.rpartition(":")[0] for look in observation.looks if look.place)
    yield from (file for file in seen if file.endswith(".py") and os.path.isfile(file))


def _shares(steps: Sequence[Step], found: _Attribution, total: float) -> dict[str, float]:
    """Return what the run went to; the shares add up to one."""
    usual = [step for step in steps if not step.starts]
    middle = float(np.median([step.seconds for step in usual])) if usual else 0.0
    extra = sum(max(0.0, step.seconds - middle) for step in steps if step.starts)
    evaluating = sum(
        found.evaluating[place] / max(found.all_looks[place], 1) * step.seconds
        for place, step in enumerate(steps)
    )
    rest = {
        "wait": sum(step.wait for step in usual),
        "call": sum(step.call for step in usual),
        "trace": sum(step.trace for step in usual),
        "python": sum(step.between for step in usual),
    }
    rest["evaluation"] = min(evaluating, extra)
    rest["epochs"] = max(0.0, extra - evaluating)
    whole = sum(rest.values()) or 1.0
    # What is left of the steps that end an epoch is a step like the others.
    return {
        name: value / max(whole, total if name in ("epochs", "evaluation") else whole)
        for name, value in rest.items()
    }


def _floor(dataset: Any, busy: float) -> float:
    """Return the wait for a batch that lies in memory."""
    import tensorflow as tf

    try:
        batch = next(iter(dataset.take(1)))
    except (StopIteration, tf.errors.OpError, AttributeError):
        return 0.0
    line = iterate(
        tf.data.Dataset.from_tensors(batch).repeat().prefetch(2),
        batches=30,
        seconds=2.0,
        step_seconds=min(busy, 0.1),
    )
    return float(np.median(line.waits))


def _measure_data(
    dataset: Any, busy: float, plan: RunPlan, notes: list[str], progress: Progress
) -> dict[str, Any] | None:
    """Return the profile of the dataset by itself, or None, with a note, where it cannot be read again."""
    made = data_profile.Plan(
        batches=100, seconds=plan.data_seconds, step_seconds=max(busy, 1e-4), trace=False
    )
    try:
        return data_profile.measure(
            lambda: dataset, made, source="the dataset of the loop", progress=progress
        ).as_dict()
    except CfgfixError as error:
        notes.append(f"the dataset was not measured by itself: {error.message}")
        return None


# --- what it means


def judge(
    found: RunProfile,
    steps: Sequence[Step],
    loop: Loop,
    anew: Mapping[str, int],
    *,
    wait_share: float,
    floor: float,
    busy: float,
) -> tuple[Verdict, ...]:
    """Return what the figures mean, problems first, those that are worth most first."""
    total = sum(step.seconds for step in steps)
    eager = not any(step.calls for step in steps)
    made = [
        *judge_numbers(found.not_finite),
        *_input(found, wait_share=wait_share, floor=floor, busy=busy),
        *_stalls(found),
        *_between_steps(found, eager=eager),
        *judge_retraces(found.traces, anew, found.steps, compiled=not eager, run_seconds=total),
        *_graph(loop, steps, eager=eager),
        *_xla(found, total),
        *_syncs(found, total),
        *judge_padding(found.padding, step_share=found.shares["call"]),
        *_evaluation(found),
        *_memory(found),
    ]
    order = (Outcome.PROBLEM, Outcome.INCONCLUSIVE, Outcome.INFO, Outcome.GOOD)

    def rank(verdict: Verdict) -> tuple[int, bool, float]:
        # A training that computes no numbers is worth nothing however fast it is.
        return order.index(verdict.outcome), verdict.name != "numbers", -(verdict.worth or 1.0)

    return tuple(sorted(made, key=rank))


def gain(share: float) -> float:
    """Return how many times as fast a run is without a share of its time."""
    return 1 / max(1 - share, 0.02)


def _input(found: RunProfile, *, wait_share: float, floor: float, busy: float) -> Iterator[Verdict]:
    from cfgfix.measure.verdicts import from_dict

    low, high = INPUT_BOUND
    period = found.step.mean
    share = max(0.0, wait_share - floor / period) if period else 0.0
    evidence = [
        f"the steps wait {share:.1%} of the time for data; without it a step takes {busy * 1e3:.3g} ms",
        f"limits of TensorFlow's profiler: {low:.0%} and {high:.0%}",
    ]
    nested = [from_dict(entry) for entry in found.data["verdicts"]] if found.data else []
    by_name = {verdict.name: verdict for verdict in nested}
    start = by_name.get("epoch start")
    causes = [
        verdict
        for verdict in nested
        if verdict.name in ("stage", "prefetch", "cpus") and verdict.outcome is Outcome.PROBLEM
    ]
    late = start is not None and start.outcome is Outcome.PROBLEM and found.shares["epochs"] >= low
    if share < low and late:
        pass
    elif share < low:
        yield Verdict("input", Outcome.GOOD, "the steps do not wait for data", tuple(evidence))
    elif nested and by_name["input"].outcome in (Outcome.GOOD, Outcome.INCONCLUSIVE) and found.load.contended:
        evidence += by_name["input"].evidence
        good = by_name["input"].outcome is Outcome.GOOD
        yield Verdict(
            "input",
            by_name["input"].outcome,
            "the steps waited for other processes, which keep the CPUs at work"
            if good
            else by_name["input"].summary,
            tuple(evidence),
        )
    else:
        word = "highly" if share >= high else "moderately"
        faults = tuple(dict.fromkeys(fault for cause in causes for fault in cause.faults))
        change = causes[0].change if causes else None
        summary = f"{word} input-bound"
        if causes:
            summary += f": {causes[0].summary}"
            evidence += causes[0].evidence
        elif by_name.get("stage") is not None:
            evidence += (by_name["stage"].summary, *by_name["stage"].evidence)
        yield Verdict(
            "input",
            Outcome.PROBLEM,
            summary,
            tuple(evidence),
            faults,
            change,
            worth=gain(found.shares["wait"]),
        )
        yield from causes[1:]
    if start is not None and late:
        yield replace(start, worth=gain(found.shares["epochs"]))
    elif start is not None and start.outcome is not Outcome.PROBLEM:
        yield start
    yield from (verdict for verdict in nested if verdict.name in ("order", "repeats", "batches"))


def _stalls(found: RunProfile) -> Iterator[Verdict]:
    for stall in found.stalls:
        if stall.share < WORTH_TELLING:
            continue
        # A single disturbance, or disturbances of a busy machine, are no one's stall.
        doubtful = stall.period is None and (stall.count < 2 or found.load.contended)
        doubtful = doubtful or (found.load.contended and stall.share < NOTABLE)
        if doubtful and stall.when != "at the end of an epoch":
            continue
        often = (
            f"every {_steps(stall.period)} steps"
            if stall.period is not None
            else counted(stall.count, "time")
        )
        if stall.when == "at the end of an epoch":
            often = "at the end of an epoch"
        compiled = stall.who == "the compiled step"
        # A pipeline that is built anew for each epoch costs its tracing; short epochs make it look large.
        building = stall.what.startswith("tensorflow.python.data")
        yield Verdict(
            "stall",
            Outcome.PROBLEM if stall.share >= NOTABLE and not building else Outcome.INFO,
            f"{stall.label} takes {_ms(stall.seconds)} {often}, {stall.share:.1%} of the run",
            (f"{counted(stall.count, 'time')} in {counted(found.steps, 'step')}, {stall.when}",),
            change="look at what the step does then: other shapes, a branch, Python inside it"
            if compiled
            else "build the dataset once, before the loop over the epochs"
            if building
            else "do it less often, or in a thread of its own",
            worth=gain(stall.share),
        )


def _steps(period: float) -> str:
    """Write a period; one that a disturbed stall has moved a little is the whole number."""
    return f"{round(period)}" if abs(period - round(period)) < 0.25 else f"{period:.3g}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 10 else f"{seconds:.3g} s"


def _between_steps(found: RunProfile, *, eager: bool) -> Iterator[Verdict]:
    for part in found.parts:
        if part.share < NOTABLE or (eager and not part.who.startswith("Keras")):
            continue
        if part.who == "Keras":
            if part.share >= 0.2:
                yield Verdict(
                    "between steps",
                    Outcome.INFO,
                    f"Keras itself takes {_ms(part.seconds)} between the steps, {part.share:.1%} of the run",
                    change="model.compile(steps_per_execution=10) calls it once for ten steps",
                    worth=gain(part.share),
                )
            continue
        yield Verdict(
            "between steps",
            Outcome.PROBLEM if part.share >= 2 * NOTABLE else Outcome.INFO,
            f"{part.label} takes {_ms(part.seconds)} in every step, {part.share:.1%} of the run",
            ("seen at work between the compiled calls",),
            change="do it less often, or in a thread of its own",
            worth=gain(part.share),
        )


def _graph(loop: Loop, steps: Sequence[Step], *, eager: bool) -> Iterator[Verdict]:
    if not eager or not any(step.trains for step in steps):
        return
    if loop.kind == "fit":
        yield Verdict(
            "graph",
            Outcome.PROBLEM,
            "the model runs eagerly: run_eagerly is on",
            (f"no compiled function ran in {counted(len(steps), 'step')}",),
            (Fault.EAGER_MODEL,),
            "model.compile(run_eagerly=False), and tf.config.run_functions_eagerly(False)",
        )
        return
    yield Verdict(
        "graph",
        Outcome.PROBLEM,
        "the step runs eagerly: no tf.function was called in it",
        (f"{counted(len(steps), 'step')} watched",),
        (Fault.EAGER_STEP, Fault.EAGER_BY_CONFIG),
        "decorate the step with @tf.function",
    )


def _xla(found: RunProfile, total: float) -> Iterator[Verdict]:
    if not found.xla:
        return
    cost = found.compilations
    share = sum(cost) / total if total else 0.0
    evidence = [f"compiled with XLA: {', '.join(found.xla)}", f"{counted(found.shapes, 'shape')} of batches"]
    if len(cost) < 3:
        yield Verdict("XLA", Outcome.INFO, "the step is compiled with XLA already", tuple(evidence))
        return
    evidence.append(
        f"{counted(len(cost), 'compilation')} of {_ms(float(np.median(cost)))} each, {share:.1%} of the run"
    )
    yield Verdict(
        "XLA",
        Outcome.PROBLEM if share >= NOTABLE else Outcome.INFO,
        f"XLA compiles the step anew for each shape of a batch, {share:.1%} of the run",
        tuple(evidence),
        (Fault.XLA_PER_SHAPE,),
        "pad batches to a few fixed shapes (padded_batch with padded_shapes, or buckets)",
        worth=gain(share),
    )


def _syncs(found: RunProfile, total: float) -> Iterator[Verdict]:
    if not found.syncs:
        return
    waited = sum(sync.seconds for sync in found.syncs)
    share = waited / total if total else 0.0
    evidence = [
        f"{short(sync.place)}: {sync.how} {counted(sync.count, 'time')}, {_ms(sync.seconds)}"
        for sync in found.syncs[:5]
    ]
    yield Verdict(
        "host sync",
        Outcome.PROBLEM if share >= NOTABLE else Outcome.INFO,
        f"the loop fetches tensors to the host, {share:.1%} of the run",
        tuple(evidence),
        (Fault.HOST_FETCHES,) if share >= NOTABLE else (),
        "fetch values every so many steps, or keep metrics in variables" if share >= NOTABLE else None,
        worth=gain(share),
    )


def _evaluation(found: RunProfile) -> Iterator[Verdict]:
    share = found.shares["evaluation"]
    if share >= 2 * NOTABLE:
        yield Verdict(
            "evaluation",
            Outcome.INFO,
            f"evaluation takes {share:.1%} of the run",
            change="evaluate less often (validation_freq), or on a part of the data",
            worth=gain(share),
        )


def _memory(found: RunProfile) -> Iterator[Verdict]:
    if found.memory_growth is None:
        return
    # What is compiled is kept, so memory grows while it goes on.
    compiling = bool(found.traces or found.compilations)
    yield Verdict(
        "memory",
        Outcome.INFO if compiling else Outcome.PROBLEM,
        f"the memory grows by {found.memory_growth / 2**20:.3g} MiB per step, through the whole run",
        change="look for lists that keep tensors, and for functions and models that are made anew",
    )


# --- in the child process


def job(options: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Run a training script under observation in a child process.

    `options` hold script, arguments and the fields of `RunPlan`.
    """
    import threading

    names = RunPlan.__dataclass_fields__
    plan = RunPlan(**{name: value for name, value in options.get("plan", {}).items() if name in names})
    script, module = options["script"], bool(options.get("module"))
    progress("starting the script", 0.0)
    observation = Observation(steps=plan.steps, seconds=plan.seconds)
    done = threading.Event()

    def tell() -> None:
        while not done.wait(0.5):
            progress("observing the training", observation.done / plan.steps)

    threading.Thread(target=tell, daemon=True).start()
    machine = data_profile.MachineLoad()
    try:
        with user_code(f"running {script}"), observation:
            try:
                run_script(script, options.get("arguments", ()), module=module)
            except StopObservation:
                pass
            except SystemExit as error:
                if error.code not in (None, 0) and not observation.done:
                    raise
    finally:
        done.set()
    own, elsewhere = machine.shares()
    load = Load(data_profile.usable_cpus(), own, elsewhere)
    found = analyse(observation, plan, load, source=script, progress=progress)
    return with_summaries(found.as_dict(), options)
