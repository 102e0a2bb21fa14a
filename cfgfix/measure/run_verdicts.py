"""What the figures of a run mean: the verdicts of `profile run`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cfgfix.core.wording import counted
from cfgfix.measure.data_verdicts import HANDING_OVER
from cfgfix.measure.numerics import judge_numbers
from cfgfix.measure.observe import Loop, Step
from cfgfix.measure.padding import judge_padding
from cfgfix.measure.run_profile import EPOCH_END, Evaluation, RunProfile, short
from cfgfix.measure.step_verdicts import PAD, has_settled, judge_retraces
from cfgfix.measure.verdicts import INPUT_BOUND, Outcome, Verdict
from cfgfix.rules.faults import Fault

if TYPE_CHECKING:
    from typing import TypeGuard

NOTABLE = 0.05
"""Share of the run from which what takes it is a problem."""
MANY_COMPILATIONS = 3
"""By XLA for new shapes, from which they can be what costs the time: of fewer, one is the last batch of an epoch."""
WORTH_TELLING = 0.01
"""Share of the run from which it is told."""


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
    batches: Sequence[Verdict] = (),
    traced: bool = False,
    anew_each: bool = False,
) -> tuple[Verdict, ...]:
    """Return the verdicts on the figures of a run, problems first, by worth.

    Args:
        found: The figures.
        steps: The steps that count.
        loop: Their loop.
        anew: Names of functions that were made repeatedly, with their counts.
        wait_share: Share of waiting for data in the steps that start no epoch.
        floor: The wait for a batch that lies in memory.
        busy: What a step takes without its wait.
        batches: Verdicts on the batches, where the dataset was not measured by itself.
        traced: Whether functions were traced or made among these steps.
        anew_each: Whether `fit` is called for single batches.
    """
    total = sum(step.seconds for step in steps)
    eager = not any(step.calls for step in steps)
    made = [
        *judge_numbers(found.not_finite),
        # What a loop without a dataset waits for is Python between its steps.
        *(
            ()
            if loop.lone or anew_each
            else _input_verdicts(found, wait_share=wait_share, floor=floor, busy=busy)
        ),
        *batches,
        *_stall_verdicts(found),
        *_between_steps(found, eager=eager, lone=loop.lone),
        *judge_retraces(
            [trace for trace in found.traces if not (trace.xla and trace.kind == "shape")],
            anew,
            found.steps,
            compiled=not eager and not found.compilations,
            run_seconds=total,
        ),
        *_graph_verdicts(loop, steps, eager=eager),
        *_xla_verdicts(found, total),
        *_sync_verdicts(found, total),
        *judge_padding(found.padding, step_share=found.shares["call"]),
        *_evaluation_verdicts(found),
        *_prediction_verdicts(found),
        *(_fit_for_each(found) if anew_each else ()),
        *_memory_verdicts(found, compiling=traced or bool(found.traces or found.compilations)),
        *_device_memory(found, compiling=traced or bool(found.traces or found.compilations)),
    ]
    made += () if anew_each else _starts_of_epochs(found, made)
    order = (Outcome.PROBLEM, Outcome.INCONCLUSIVE, Outcome.INFO, Outcome.GOOD)

    def rank(verdict: Verdict) -> tuple[int, bool, float]:
        # A training that computes no numbers is worth nothing however fast it is.
        return order.index(verdict.outcome), verdict.name != "numbers", -(verdict.worth or 1.0)

    return tuple(sorted(made, key=rank))


def gain(share: float) -> float:
    """Return the speed-up of a run that saves a share of its time."""
    return 1 / max(1 - share, 0.02)


def _input_verdicts(found: RunProfile, *, wait_share: float, floor: float, busy: float) -> Iterator[Verdict]:
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
    elif (
        nested
        and by_name["input"].outcome in (Outcome.GOOD, Outcome.INCONCLUSIVE)
        and (found.load.contended or share < high or share * period < HANDING_OVER)
    ):
        evidence += by_name["input"].evidence
        good = by_name["input"].outcome is Outcome.GOOD
        summary = by_name["input"].summary
        if good and found.load.contended:
            summary = "the steps waited for other processes, which keep the CPUs at work"
        elif good:
            summary = "the dataset by itself keeps up: the steps wait where both want the CPUs"
        yield Verdict("input", by_name["input"].outcome, summary, tuple(evidence))
    elif not nested and found.load.contended and (share < high or share * period < HANDING_OVER):
        yield Verdict(
            "input",
            Outcome.INCONCLUSIVE,
            "other processes keep the CPUs at work, and the dataset was not measured by itself",
            tuple(evidence),
            change="measure again while the machine is free",
        )
    else:
        word = "highly" if share >= high else "moderately"
        faults = tuple(dict.fromkeys(fault for cause in causes for fault in cause.faults))
        change = causes[0].change if causes else None
        summary = f"{word} input-bound"
        if causes:
            summary += f": {causes[0].summary}"
            evidence += causes[0].evidence
        elif nested and by_name["input"].outcome is Outcome.GOOD:
            summary += ", though the dataset by itself keeps up: step and pipeline want the same CPUs or the interpreter lock"
            evidence += by_name["input"].evidence
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


_KERAS_DATA = "keras.src.trainers.data_adapters."
"""What Keras itself does for the data at the end of an epoch."""


def _stall_verdicts(found: RunProfile) -> Iterator[Verdict]:
    for stall in found.stalls:
        if stall.share < WORTH_TELLING:
            continue
        # A single disturbance, or disturbances of a busy machine, are no one's stall.
        doubtful = stall.period is None and (stall.count < 2 or found.load.contended)
        doubtful = doubtful or (found.load.contended and stall.share < NOTABLE)
        if doubtful and stall.when != EPOCH_END:
            continue
        often = (
            f"every {_steps_text(stall.period)} steps"
            if stall.period is not None
            else counted(stall.count, "time")
        )
        if stall.when == EPOCH_END:
            often = EPOCH_END
        # A pipeline that is built anew for each epoch costs its tracing; short epochs make it look large.
        building = stall.what.startswith("tensorflow.python.data")
        by_keras = stall.when == EPOCH_END and _KERAS_DATA in stall.what
        # Of a compiled step that is slow now and then nothing tells what it did: threads that want its CPUs do it too.
        unexplained = stall.compiled and stall.period is None
        yield Verdict(
            "stall",
            Outcome.PROBLEM
            if stall.share >= NOTABLE and not (building or by_keras or unexplained)
            else Outcome.INFO,
            f"{stall.label} takes {_milliseconds_text(stall.seconds)} {often}, {stall.share:.1%} of the run",
            (f"{counted(stall.count, 'time')} in {counted(found.steps, 'step')}, {stall.when}",),
            change="look at what the step does then: other shapes, a branch, Python inside it"
            if stall.compiled
            else "build the dataset once, before the loop over the epochs"
            if building
            else "longer epochs: Keras ends and starts the workers of a PyDataset with each"
            if by_keras
            else "do it less often, or in a thread of its own",
            worth=gain(stall.share),
        )


def _steps_text(period: float) -> str:
    """Return a period as text, rounded where it lies near a whole number of steps.

    A stall that comes a little late moves the mean off the whole number.
    """
    return f"{round(period)}" if abs(period - round(period)) < 0.25 else f"{period:.3g}"


def _milliseconds_text(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 10 else f"{seconds:.3g} s"


def _between_steps(found: RunProfile, *, eager: bool, lone: bool) -> Iterator[Verdict]:
    for part in found.parts:
        if part.share < NOTABLE or (eager and not part.by_keras):
            continue
        if part.by_keras:
            if part.share >= 0.2:
                yield Verdict(
                    "between steps",
                    Outcome.INFO,
                    f"Keras itself takes {_milliseconds_text(part.seconds)} between the steps, {part.share:.1%} of the run",
                    change="model.compile(steps_per_execution=10) calls it once for ten steps"
                    if found.kind == "fit"
                    else "model.fit, or a step of one's own in a tf.function, runs less Python for each batch",
                    worth=gain(part.share),
                )
            continue
        yield Verdict(
            "between steps",
            Outcome.PROBLEM if part.share >= 2 * NOTABLE else Outcome.INFO,
            f"{part.label} takes {_milliseconds_text(part.seconds)} in every step, {part.share:.1%} of the run",
            ("seen at work between the compiled calls",),
            change="where it makes the batches, let a tf.data pipeline make them ahead: from_generator, or map, and prefetch"
            if lone
            else "do it less often, or in a thread of its own",
            worth=gain(part.share),
        )


def _graph_verdicts(loop: Loop, steps: Sequence[Step], *, eager: bool) -> Iterator[Verdict]:
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


def _xla_verdicts(found: RunProfile, total: float) -> Iterator[Verdict]:
    if not found.xla:
        return
    cost = [one.seconds for one in found.compilations]
    share = sum(cost) / total if total else 0.0
    evidence = [f"compiled with XLA: {', '.join(found.xla)}", f"{counted(found.shapes, 'shape')} of batches"]
    if cost:
        evidence.append(
            f"{counted(len(cost), 'compilation')} of {_milliseconds_text(float(np.median(cost)))} each, {share:.1%} of the run"
        )
    text = "the step is compiled with XLA already"
    if len(cost) < MANY_COMPILATIONS:
        yield Verdict("XLA", Outcome.INFO, text, tuple(evidence))
        return
    places = [one.step for one in found.compilations]
    if has_settled(places, found.steps):
        text += f", anew for {counted(len(cost), 'shape')}, and no more after step {max(places)}: there are few shapes"
        yield Verdict("XLA", Outcome.INFO, text, tuple(evidence))
        return
    yield Verdict(
        "XLA",
        Outcome.PROBLEM if share >= NOTABLE else Outcome.INFO,
        f"XLA compiles the step anew for each shape of a batch, {share:.1%} of the run",
        tuple(evidence),
        (Fault.XLA_PER_SHAPE,),
        PAD,
        worth=gain(share),
    )


def _sync_verdicts(found: RunProfile, total: float) -> Iterator[Verdict]:
    if not found.syncs:
        return
    waited = sum(sync.seconds for sync in found.syncs)
    share = waited / total if total else 0.0
    if share < WORTH_TELLING and sum(sync.count for sync in found.syncs) < found.steps / 2:
        # A value now and then, as for a line of a log or while a dataset is built.
        return
    evidence = [
        f"{short(sync.place)}: {sync.how} {counted(sync.count, 'time')}, {_milliseconds_text(sync.seconds)}"
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


def _evaluation_verdicts(found: RunProfile) -> Iterator[Verdict]:
    from cfgfix.measure.verdicts import from_dict

    looked = found.evaluation
    share = found.shares["evaluation"] * (1 - (looked.predict_share if _predicts_often(looked) else 0.0))
    if share < 2 * NOTABLE:
        return
    text = f"evaluation takes {share:.1%} of the run"
    change = "evaluate less often (validation_freq), or on a part of the data"
    evidence = () if looked is None else (f"{looked.wait_share:.0%} of it waits for data",)
    nested = [from_dict(entry) for entry in looked.data["verdicts"]] if looked and looked.data else []
    causes = [one for one in nested if one.outcome is Outcome.PROBLEM and one.name in ("stage", "prefetch")]
    if looked is None or not causes:
        yield Verdict("evaluation", Outcome.INFO, text, evidence, change=change, worth=gain(share))
        return
    waits = share * looked.wait_share
    yield Verdict(
        "evaluation",
        Outcome.PROBLEM if waits >= 2 * NOTABLE else Outcome.INFO,
        f"{text}, most of it waiting for its data: {causes[0].summary}",
        (*evidence, *causes[0].evidence),
        causes[0].faults,
        causes[0].change or change,
        worth=gain(waits),
    )


PREDICTS_OFTEN = 0.5
"""Calls of `predict` for each step of the training, from which they are no evaluation of an epoch."""


def _predicts_often(looked: Evaluation | None) -> TypeGuard[Evaluation]:
    return looked is not None and looked.predictions >= PREDICTS_OFTEN


def _prediction_verdicts(found: RunProfile) -> Iterator[Verdict]:
    """Yield a verdict where calls of `predict` in every step take a share of the run."""
    looked = found.evaluation
    if not _predicts_often(looked):
        return
    share = found.shares["evaluation"] * looked.predict_share
    if share >= WORTH_TELLING:
        yield Verdict(
            "predict",
            Outcome.PROBLEM if share >= 2 * NOTABLE else Outcome.INFO,
            f"model.predict takes {_milliseconds_text(looked.predict_seconds)} in each of {looked.predictions:.2g} calls a step, {share:.1%} of the run",
            (
                f"most of it at {short(looked.place)}",
                "predict makes a dataset, callbacks and a loop in every call",
            ),
            (Fault.PREDICT_PER_SAMPLE,),
            "model(x, training=False) for a few rows, in a tf.function where it is called often",
            worth=gain(share),
        )


def _fit_for_each(found: RunProfile) -> Iterator[Verdict]:
    """Yield a verdict where calls of `fit` for single batches take a share of the run."""
    share = found.shares["epochs"]
    if share >= WORTH_TELLING:
        yield Verdict(
            "fit",
            Outcome.PROBLEM if share >= 2 * NOTABLE else Outcome.INFO,
            f"model.fit is called for each batch, {_milliseconds_text(share * found.step.mean)} each time, {share:.1%} of the run",
            ("fit makes a dataset, callbacks and a loop in every call; its step is part of that time",),
            change="model.train_on_batch(x, y), or a step of one's own in a tf.function; or fit for many batches at once",
            worth=gain(share),
        )


def _starts_of_epochs(found: RunProfile, made: Sequence[Verdict]) -> Iterator[Verdict]:
    """Yield a verdict where starts of epochs take much and no other verdict says so."""
    share = found.shares["epochs"]
    told = any(
        verdict.name == "epoch start" or (verdict.name == "stall" and EPOCH_END in verdict.summary)
        for verdict in made
    )
    if share >= 2 * NOTABLE and not told:
        yield Verdict(
            "epoch start",
            Outcome.INFO,
            f"starts of epochs take {share:.1%} of the run",
            ("iterators and their threads are made anew then, and buffers filled",),
            change="longer epochs: repeat the dataset before .prefetch and count the steps, so that the next epoch starts while the last one ends",
            worth=gain(share),
        )


def _memory_verdicts(found: RunProfile, *, compiling: bool) -> Iterator[Verdict]:
    """Yield a verdict where the memory grows through the whole run.

    While functions are compiled or a cache is filled this is no problem: what is compiled or read is kept.
    """
    if found.memory_growth is None:
        return
    kept = "functions were traced or compiled meanwhile, which are kept" if compiling else ""
    if found.filling:
        kept = "cache() keeps what it reads, and the first epoch has not ended: look at a later one"
    yield Verdict(
        "memory",
        Outcome.INFO if kept else Outcome.PROBLEM,
        f"the memory grows by {found.memory_growth / 2**20:.3g} MiB per step, through the whole run",
        (kept,) if kept else (),
        change=None
        if kept
        else "look for lists that keep tensors, and for functions and models that are made anew",
    )


def _device_memory(found: RunProfile, *, compiling: bool) -> Iterator[Verdict]:
    for device in found.device_memory:
        if device.growth is None:
            continue
        yield Verdict(
            "device memory",
            Outcome.INFO if compiling else Outcome.PROBLEM,
            f"the memory in use on {device.name} grows by {device.growth / 2**20:.3g} MiB per step, through the whole run",
            (
                f"{device.first / 2**20:.4g} MiB at first, {device.last / 2**20:.4g} MiB at last, {device.peak / 2**20:.4g} MiB at most",
            ),
            change="look for lists that keep tensors of every step, such as losses that are not fetched",
        )
