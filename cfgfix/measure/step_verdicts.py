"""What the figures of a step mean: the verdicts of `profile step`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from cfgfix.core.wording import counted, times_as_fast
from cfgfix.measure.data_verdicts import EXPLAINED
from cfgfix.measure.statistics import Interval
from cfgfix.measure.step_profile import Comparison, StepProfile
from cfgfix.measure.verdicts import INPUT_BOUND, Outcome, Verdict
from cfgfix.measure.watch import Trace
from cfgfix.rules.faults import Fault

PYTHON_OPERATIONS = frozenset({"PyFunc", "PyFuncStateless", "EagerPyFunc"})
"""What `tf.numpy_function` and `tf.py_function` are in a graph: tensorflow/python/ops/script_ops.py of TensorFlow 2.21."""


def judge(found: StepProfile, *, on_gpu: bool) -> tuple[Verdict, ...]:
    """Return the verdicts on the figures of a training step."""
    made = [
        _data_verdict(found),
        *judge_retraces(found.traces, found.made_anew, found.watched_steps, compiled=found.compiled),
        _eager_verdict(found),
        _sync_verdict(found),
        _python_verdict(found),
    ]
    if found.xla_inside:
        made.append(Verdict("XLA", Outcome.INFO, "functions of the step are compiled with XLA already"))
    made += [_comparison_verdict(comparison, on_gpu) for comparison in found.comparisons]
    return tuple(verdict for verdict in made if verdict is not None)


def _data_verdict(found: StepProfile) -> Verdict:
    low, high = INPUT_BOUND
    share = found.data_share
    evidence = (
        f"{found.data.mean * 1e3:.3g} ms of {found.loop.mean * 1e3:.3g} ms per step go to waiting for a batch: {share.value:.1%} (95 %: {share.low:.1%} to {share.high:.1%}), without the {found.floor * 1e3:.3g} ms that a batch in memory takes",
        f"limits of TensorFlow's profiler: {low:.0%} and {high:.0%}",
    )
    if share.low < low < share.high and share.high - share.low > low:
        return Verdict(
            "data",
            Outcome.INCONCLUSIVE,
            "the interval of the waiting share crosses the limit; measure more steps",
            evidence,
        )
    if share.value < low:
        return Verdict("data", Outcome.GOOD, "the step does not wait for data", evidence)
    load = found.load
    # What threads waited for a CPU is at most what other processes can have made the loop wait.
    if load is not None and load.contended and load.delayed >= EXPLAINED * share.value:
        return Verdict(
            "data",
            Outcome.INCONCLUSIVE,
            "other processes keep the CPUs at work, which the batches and the step wait for",
            (*evidence, f"{load.delayed:.2g} threads waited for a CPU, on average"),
            change="measure again while the machine is free",
        )
    word = "highly" if share.value >= high else "moderately"
    return Verdict(
        "data",
        Outcome.PROBLEM,
        f"{word} input-bound",
        evidence,
        (),
        f"measure the dataset: cfgfix profile data --step-ms {found.step.median * 1e3:.3g}",
        explained_by=("stage", "prefetch", "epoch start"),
    )


_RETRACES: dict[str, tuple[tuple[Fault, ...], str]] = {
    "shape": (
        (Fault.CHANGING_SHAPES,),
        "pad batches to fixed shapes, or tf.function(reduce_retracing=True)",
    ),
    "dtype": ((), "give the step one dtype"),
    "python value": ((Fault.PYTHON_ARGUMENT,), "pass the value as a tensor: tf.constant(value)"),
    "structure": ((), "give every batch the same keys"),
    "unknown": ((Fault.TRACED_AGAIN,), "look for objects made anew per call"),
}


MANY_RETRACES = 2
"""Retraces from which a changing shape is what costs the time: the last batch of an epoch, and the one retrace with which
`reduce_retracing` takes the shape as unknown, are no fault."""


QUIET_STEPS = 10
"""Steps without a new shape, at least, from which it can be said that there are few."""
MOST_SHAPES = 12
"""Shapes that a program can have by intent: some lengths, each with a last, smaller batch."""


_CHANGED = re.compile(r".*: (\w+)\[(\d+)((?:,[^\]]*)?)\] -> (\w+)\[(\d+)((?:,[^\]]*)?)\]")


PAD = "pad batches to a few fixed shapes (padded_batch with padded_shapes, or buckets)"
"""What helps where a function is compiled for each shape of a batch."""


def has_settled(places: Sequence[int], steps: int) -> bool:
    """Tell whether retraces stopped early in a run of `steps` steps.

    `places` are the steps of the retraces: they must be few, in the first half, and well before the end.
    """
    return len(places) <= MOST_SHAPES and max(places) <= steps / 2 and steps - max(places) >= QUIET_STEPS


def _has_fewer_rows(trace: Trace) -> bool:
    """Tell whether a retrace came only from a batch with fewer rows.

    That is the last, smaller batch of an epoch or of a length.
    """
    parts = [_CHANGED.fullmatch(cause) for cause in trace.causes]
    return bool(parts) and all(
        part is not None and part[1] == part[4] and part[3] == part[6] and int(part[5]) < int(part[2])
        for part in parts
    )


def judge_retraces(
    traces: Sequence[Trace],
    made_anew: Mapping[str, int],
    steps: int,
    *,
    compiled: bool,
    run_seconds: float = 0.0,
) -> list[Verdict]:
    """Return the verdicts on retraces and on functions that are made anew.

    Args:
        traces: The tracings beyond each function's first.
        made_anew: Names of functions that were made and traced anew, with their counts.
        steps: How many were watched.
        compiled: Whether any `tf.function` ran.
        run_seconds: The length of these steps; 0 where the worth is not asked for.
    """
    verdicts = []
    by_kind: dict[str, list[Trace]] = {}
    for trace in traces:
        by_kind.setdefault(trace.kind, []).append(trace)
    for kind, same in by_kind.items():
        seconds = sum(trace.seconds for trace in same)
        faults, change = _RETRACES[kind]
        evidence = [f"{counted(len(same), 'retrace')} in {counted(steps, 'step')} took {seconds:.3g} s"]
        for trace in same[:5]:
            cause = "; ".join(trace.causes[:3]) or "no argument differs in dtype, shape or value"
            evidence.append(f"step {trace.step}, {trace.function}: {cause}")
        changing = [trace for trace in same if not _has_fewer_rows(trace)]
        few = len(changing) < MANY_RETRACES and kind != "unknown"
        # A few shapes, as batches of like length have, are traced once each and then no more.
        last = max(trace.step for trace in changing or same)
        settled = kind == "shape" and not few and len(same) <= MOST_SHAPES and has_settled([last], steps)
        relaxed = kind == "shape" and len(same) <= MOST_SHAPES and all(trace.relaxes for trace in same)
        if kind == "shape" and any(trace.xla for trace in same):
            faults, change = (Fault.XLA_PER_SHAPE,), PAD
            relaxed = False
        text = (
            f"the step is traced again because of a changed {kind}"
            if kind != "unknown"
            else "the step is traced again"
        )
        if relaxed and changing:
            times = "once" if len(same) == 1 else counted(len(same), "time")
            text += f", {times}: reduce_retracing takes what changed as unknown from then on"
        elif few:
            times = "once" if len(same) == 1 else counted(len(same), "time")
            text += f", {times}: no more than the last batch of an epoch takes"
        elif settled:
            text += f", {counted(len(same), 'time')}, and no more after step {last}: there are few shapes"
        verdicts.append(
            Verdict(
                "retracing",
                Outcome.INFO if few or settled or relaxed else Outcome.PROBLEM,
                text,
                tuple(evidence),
                () if few or settled or relaxed else faults,
                None if few or settled or relaxed else change,
                worth=run_seconds / max(run_seconds - seconds, 1e-9) if run_seconds > seconds else None,
            )
        )
    for name, count in made_anew.items():
        seconds = sum(trace.seconds for trace in traces if trace.function == name)
        verdicts.append(
            Verdict(
                "retracing",
                Outcome.PROBLEM,
                f"{name} is a new tf.function in every step"
                if count >= steps / 2
                else f"{name} is made and traced anew, {counted(count, 'time')}",
                (f"{name} was made and traced anew in {count} of {counted(steps, 'step')}",),
                (Fault.FUNCTION_MADE_ANEW,),
                "make the function once, outside the loop",
            )
        )
    if not verdicts and compiled:
        verdicts.append(
            Verdict(
                "retracing",
                Outcome.GOOD,
                "each function is traced once",
                (f"{counted(steps, 'step')} with real batches",),
            )
        )
    return verdicts


def _eager_verdict(found: StepProfile) -> Verdict | None:
    if found.compiled:
        return None
    return Verdict(
        "graph",
        Outcome.PROBLEM,
        "the step runs eagerly: no tf.function was called in it",
        (f"{counted(found.watched_steps, 'step')} watched",),
        (Fault.EAGER_STEP, Fault.EAGER_BY_CONFIG),
        "decorate the step with @tf.function, or turn graph mode on",
    )


def _sync_verdict(found: StepProfile) -> Verdict | None:
    if not found.syncs:
        return None
    steps = max(found.watched_steps - 1, 1)
    count = sum(sync.count for sync in found.syncs)
    waited = sum(sync.seconds for sync in found.syncs) / steps
    evidence = [
        f"{sync.place}: {sync.how} {sync.count / steps:.3g} times per step, {sync.seconds / steps * 1e3:.3g} ms"
        for sync in found.syncs[:5]
    ]
    outcome = Outcome.PROBLEM if waited >= INPUT_BOUND[0] * found.loop.mean else Outcome.INFO
    return Verdict(
        "host sync",
        outcome,
        f"the step fetches tensors to the host {count / steps:.3g} times",
        tuple(evidence),
        (Fault.HOST_FETCHES,),
        "fetch values every so many steps, or keep metrics in variables",
    )


def _python_verdict(found: StepProfile) -> Verdict | None:
    """Return the verdict on Python inside a compiled step.

    None where it takes no noticeable share of the step.
    """
    calls = [one for one in found.operations.operations if one.kind in PYTHON_OPERATIONS]
    seconds = sum(one.seconds for one in calls)
    if not found.compiled or seconds < INPUT_BOUND[0] * found.loop.mean:
        return None
    share = min(seconds / found.loop.mean, 1.0)
    return Verdict(
        "python",
        Outcome.PROBLEM,
        f"Python inside the compiled step takes {seconds * 1e3:.3g} ms of its {found.loop.mean * 1e3:.3g} ms",
        tuple(f"{one.name} ({one.kind}): {one.seconds * 1e3:.3g} ms per step" for one in calls),
        change="write it with TensorFlow's operations, or move it into the data pipeline: Python runs one call at a time on the CPU",
        worth=1 / (1 - share) if share < 1 else None,
    )


def _verdict_on_used(key: str, name: str, ratio: Interval, evidence: list[str], *, on_gpu: bool) -> Verdict:
    """Return the verdict on XLA or mixed precision in a step that already uses it."""
    text = f"the step is compiled with {name} already"
    if ratio.low <= 1 <= ratio.high:
        return Verdict(
            key, Outcome.INFO, f"{text}; it makes no difference that these rounds can show", tuple(evidence)
        )
    slower = ratio.low > 1
    return Verdict(
        key,
        Outcome.INFO,
        f"{text}, which makes it {times_as_fast(1 / ratio.value)}",
        tuple(evidence),
        (Fault.XLA_WITHOUT_GPU,) if slower and not on_gpu else (),
        f"leave {key} off for this step on this machine" if slower else None,
    )


def _comparison_verdict(comparison: Comparison, on_gpu: bool) -> Verdict:
    name = comparison.name
    xla = name == "XLA"
    key = "XLA" if xla else "mixed precision"
    if comparison.ratio is None:
        faults = (
            (Fault.XLA_REFUSED,)
            if xla
            and comparison.failed
            and ("unsupported" in comparison.failed or "PyFunc" in comparison.failed)
            else ()
        )
        return Verdict(
            key, Outcome.INFO, f"the step does not run with {name}", (comparison.failed or "",), faults
        )
    ratio = comparison.ratio
    evidence = [
        f"time with {name} / without: {ratio.value:.3f} (95 %: {ratio.low:.3f} to {ratio.high:.3f}), in pairs"
    ]
    if comparison.compile_seconds is not None and not math.isnan(comparison.compile_seconds):
        evidence.append(f"its first call took {comparison.compile_seconds:.3g} s more")
    if comparison.already:
        return _verdict_on_used(key, name, ratio, evidence, on_gpu=on_gpu)
    if ratio.high < 1:
        return Verdict(
            key,
            Outcome.INFO,
            f"{name} makes this step {times_as_fast(1 / ratio.value)}",
            tuple(evidence),
            (),
            f"turn {key} on in the config" + ("" if xla else "; it changes numerics, so compare the loss"),
        )
    if ratio.low > 1:
        slower = () if on_gpu else ((Fault.XLA_WITHOUT_GPU,) if xla else (Fault.HALF_WITHOUT_GPU,))
        return Verdict(
            key,
            Outcome.INFO,
            f"{name} makes this step {times_as_fast(1 / ratio.value)}",
            tuple(evidence),
            slower,
            f"leave {key} off for this step on this machine",
        )
    return Verdict(
        key,
        Outcome.INCONCLUSIVE,
        f"{name} makes no difference that these rounds can show",
        tuple(evidence),
    )
