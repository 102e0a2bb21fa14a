"""`profile step`: what a training step's time goes to, what traces it again, and what XLA and mixed precision would change."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cfgfix.core.wording import cause_line, counted
from cfgfix.measure.data import MachineLoad, usable_cpus
from cfgfix.measure.operations import StepOperations, trace_operations
from cfgfix.measure.pace import Load
from cfgfix.measure.sampling import (
    Progress,
    UserCodeError,
    read_delays,
    silent,
    user_code,
)
from cfgfix.measure.statistics import (
    Floats,
    Interval,
    bootstrap,
    paired_difference,
    paired_ratio,
    summarise,
)
from cfgfix.measure.step_profile import Comparison, StepPlan, StepProfile
from cfgfix.measure.step_subject import PARTS, StepSubject, Trainer, step_maker, subject_of
from cfgfix.measure.step_verdicts import judge
from cfgfix.measure.summaries import with_summaries
from cfgfix.measure.verdicts import old_limits
from cfgfix.measure.watch import Fetches, Tracings

LEAST_ROUNDS = 6
"""Rounds that the interval of a part takes, where so many were asked for."""


TRACED_STEPS = 5
"""Steps under the profiler: their operations differ little, and a trace is large."""


def _synchronize_devices() -> None:
    import tensorflow as tf

    tf.test.experimental.sync_devices()


def timed(function: Callable[[Any], Any], batch: Any) -> float:
    """Return the seconds a function takes for a batch, the device's work included."""
    _synchronize_devices()
    begin = time.perf_counter()
    function(batch)
    _synchronize_devices()
    return time.perf_counter() - begin


def time_in_turn(
    functions: Mapping[str, Callable[[], float]],
    *,
    rounds: int,
    seconds: float,
    progress: Progress = silent,
    what: str = "timing",
) -> dict[str, Floats]:
    """Return the seconds that each function reports in several rounds.

    In a round all run once, in a new order each time. What disturbs a round disturbs all its members, so differences
    within rounds are exact where the times themselves are not. At least three rounds are made.
    """
    random = np.random.default_rng(0)
    names = list(functions)
    found: dict[str, list[float]] = {name: [] for name in names}
    begin = time.perf_counter()
    for turn in range(rounds):
        for place in random.permutation(len(names)):
            found[names[place]].append(functions[names[place]]())
        spent = time.perf_counter() - begin
        progress(what, max((turn + 1) / rounds, spent / seconds))
        if turn >= 2 and spent > seconds:
            break
    return {name: np.array(values) for name, values in found.items()}


def split_parts(times: Mapping[str, Floats]) -> dict[str, Interval]:
    """Return the time of each part of a step: the differences of nested functions."""
    parts = {"forward": bootstrap(times["forward"], "median")}
    for before, name in itertools.pairwise(PARTS):
        parts[name] = paired_difference(times[before], times[name])
    return parts


def measure(
    make_step: Callable[[], Any],
    make_dataset: Callable[[], Any],
    plan: StepPlan,
    *,
    source: str = "step",
    progress: Progress = silent,
) -> StepProfile:
    """Measure a training step on batches of a dataset.

    Args:
        make_step: Returns (model, loss, optimizer), or a function of one batch; called again for each comparison.
        make_dataset: Returns the dataset.
        plan: What to measure.
        source: Where the step comes from, for the report.
        progress: Told what is going on.

    Raises:
        UserCodeError: The user's step or dataset failed, or the step does not compile.
        CfgfixError: `make_step` returns something else.
    """
    import tensorflow as tf

    notes: list[str] = []
    with user_code("iterating the dataset"):
        dataset = make_dataset().repeat()
        batch = next(iter(dataset))
    devices = tuple(
        device.name.removeprefix("/physical_device:") for device in tf.config.list_physical_devices()
    )
    gpus = [name for name in devices if name.startswith("GPU")]
    for name in gpus:
        tf.config.experimental.reset_memory_stats(name)
    with user_code("building the step"):
        subject = subject_of(make_step, source, batch)
    watched = min(plan.steps, 30)
    progress("watching the step", 0.0)
    memory: list[dict[str, float]] = []

    def read_memory() -> None:
        read = {name: float(tf.config.experimental.get_memory_info(name)["peak"]) for name in gpus}
        host = _host_peak()
        memory.append(read if host is None else {**read, "host": host})

    tracings, fetches, done = _watch_first_steps(subject, dataset, watched, plan, progress, read_memory)
    parts: dict[str, Interval] = {}
    compile_seconds = sum(trace.seconds for trace in tracings.traces if trace.step == 0)
    with user_code("running the step"):
        if subject.trainer is not None:
            for function in subject.trainer.functions.values():
                function(batch)
                function(batch)
            runs = {
                name: _timed_runner(function, batch) for name, function in subject.trainer.functions.items()
            }
            times = time_in_turn(
                runs, rounds=plan.rounds, seconds=plan.seconds, progress=progress, what="timing the parts"
            )
            whole = times["optimizer"]
            if whole.size >= min(plan.rounds, LEAST_ROUNDS):
                parts = split_parts(times)
            else:
                notes.append(
                    f"the step is not parted: {counted(int(whole.size), 'round')} in {plan.seconds:g} s are too few for an interval; --seconds gives more"
                )
        else:
            subject.whole(batch)
            times = time_in_turn(
                {"step": _timed_runner(subject.whole, batch)},
                rounds=plan.rounds,
                seconds=plan.seconds,
                progress=progress,
                what="timing the step",
            )
            whole = times["step"]
        peak = {name: float(tf.config.experimental.get_memory_info(name)["peak"]) for name in gpus}
    machine = MachineLoad()
    waits, steps, samples, delayed = _time_loop(subject, dataset, plan, progress)
    load = Load(usable_cpus(), *machine.shares(), delayed)
    # Of a step of a millisecond the call of `next` alone is a noticeable share.
    in_memory = tf.data.Dataset.from_tensors(batch).repeat().prefetch(2)
    floor = bootstrap(_time_loop(subject, in_memory, replace(plan, seconds=plan.seconds / 4), progress)[0])
    operations = StepOperations(missing="not asked for")
    if plan.trace:
        progress("tracing with TensorFlow's profiler", 0.0)
        with user_code("running the step"):
            operations = trace_operations(_timed_runner(subject.whole, batch), steps=TRACED_STEPS)
        if operations.missing is not None:
            notes.append(f"no times of operations: {operations.missing}")
    compiled_inside = any(trace.xla for trace in tracings.traces)
    comparisons = (
        _compare_variants(subject, batch, plan, bool(gpus), progress, compiled_inside=compiled_inside)
        if plan.compare
        else ()
    )
    host = _host_peak()
    if host is not None:
        peak["host"] = host
    if not gpus:
        notes.append("there is no GPU here: the step ran on the CPUs, and says little of a GPU")
    loops = waits + steps
    total = float(loops.sum())
    mean = float(loops.mean())
    gross = float(waits.sum()) / total
    spread = bootstrap(waits - gross * loops)
    share = max(0.0, gross - floor.value / mean)
    below = math.hypot(spread.low, floor.high - floor.value) / mean
    above = math.hypot(spread.high, floor.value - floor.low) / mean
    found = StepProfile(
        source=source,
        devices=devices,
        parts=parts,
        step=summarise(whole),
        compile_seconds=max(0.0, compile_seconds - float(np.median(whole))),
        data=summarise(waits),
        floor=floor.value,
        loop=summarise(loops),
        data_share=Interval(share, max(0.0, share - below), min(1.0, share + above)),
        batches=int(loops.size),
        samples_per_second=samples / total,
        traces=tuple(tracings.retraces()),
        made_anew=tracings.made_anew(),
        compiled=bool(tracings.called),
        xla_inside=compiled_inside and not subject.xla,
        syncs=tuple(fetches.syncs()),
        watched_steps=done,
        comparisons=comparisons,
        peak_bytes=peak,
        step_memory=tuple(memory),
        operations=operations,
        load=load,
        limits=old_limits(data_share=share, steps_per_second=loops.size / total),
        notes=tuple(notes),
    )
    return replace(found, verdicts=judge(found, on_gpu=bool(gpus)))


def _timed_runner(function: Callable[[Any], Any], batch: Any) -> Callable[[], float]:
    return lambda: timed(function, batch)


def _watch_first_steps(
    subject: StepSubject,
    dataset: Any,
    steps: int,
    plan: StepPlan,
    progress: Progress,
    after: Callable[[], None] = lambda: None,
) -> tuple[Tracings, Fetches, int]:
    """Run the first steps and return their tracings, fetches and number.

    These steps also compile what the timed runs need.
    """
    tracings, fetches = Tracings(), Fetches()
    done = 0
    begin = time.perf_counter()
    with user_code("iterating the dataset"):
        iterator = iter(dataset)
    for done in range(1, steps + 1):
        with user_code("iterating the dataset"):
            batch = next(iterator)
        with user_code("running the step"), tracings.on():
            tracings.step = done - 1
            if done == 1:
                # Fetching while variables are made is no part of a step.
                subject.whole(batch)
            else:
                with fetches.on():
                    subject.whole(batch)
        after()
        progress("watching the step", done / steps)
        if time.perf_counter() - begin > plan.seconds:
            break
    return tracings, fetches, done


def _time_loop(
    subject: StepSubject, dataset: Any, plan: StepPlan, progress: Progress
) -> tuple[Floats, Floats, int, float]:
    """Time the training loop; return waits, step times, samples and waiting threads.

    The last is the mean number of threads that waited for a CPU. The first steps are warm-up and not counted.
    """
    from cfgfix.measure.sampling import describe_batch

    waits, steps = [], []
    samples = 0
    begin = time.perf_counter()
    lead = 3
    with user_code("running the training loop"):
        iterator = iter(dataset)
        delays, begun = read_delays(), time.perf_counter()
        for place in range(plan.steps + lead):
            start = time.perf_counter()
            batch = next(iterator)
            there = time.perf_counter()
            subject.whole(batch)
            _synchronize_devices()
            end = time.perf_counter()
            if place >= lead:
                waits.append(there - start)
                steps.append(end - there)
                samples += describe_batch(batch)[0]
            progress("running the training loop", (place + 1) / (plan.steps + lead))
            if place >= lead + 5 and end - begin > plan.seconds:
                break
        delayed = sum(delay - delays.get(thread, 0.0) for thread, delay in read_delays().items())
        delayed /= max(time.perf_counter() - begun, 1e-9)
    return np.array(waits), np.array(steps), samples, max(0.0, delayed)


def _compare_variants(
    subject: StepSubject,
    batch: Any,
    plan: StepPlan,
    on_gpu: bool,
    progress: Progress,
    *,
    compiled_inside: bool,
) -> tuple[Comparison, ...]:
    import tensorflow as tf

    keras = tf.keras
    before = keras.mixed_precision.global_policy()
    # Volta and later have float16 units; the CPU's short format is bfloat16.
    policy = "mixed_float16" if on_gpu else "mixed_bfloat16"
    cases: list[tuple[str, str, bool | None]] = []
    if subject.xla or not compiled_inside:
        # Where parts of the step are compiled with XLA there is no step without it to hold the whole against.
        cases.append(("XLA", before.name, True))
    if before.name == "float32":
        cases.append((policy, policy, None))
    found = []
    # A step callable is compiled as a whole for the comparison, so it is compared with itself compiled as a whole.
    baseline = subject.whole
    if subject.trainer is None:
        try:
            baseline = subject.rebuild(None)
            baseline(batch)
        except Exception as error:  # noqa: BLE001 - the finding, as below
            return tuple(
                Comparison(name, None, None, f"it does not compile as a whole: {_reason_text(error)}")
                for name, _, _ in cases
            )
    for name, precision, xla in cases:
        progress(f"comparing with {name}", 0.0)
        try:
            keras.mixed_precision.set_global_policy(precision)
            changed = subject.rebuild(xla)
            first = timed(changed, batch)
            second = timed(changed, batch)
            already = xla is True and subject.xla
            without = subject.rebuild(False) if already else baseline
            if already:
                without(batch)
            plain = _timed_runner(without, batch)
            times = time_in_turn(
                {"plain": plain, "changed": _timed_runner(changed, batch)},
                rounds=plan.rounds,
                seconds=plan.seconds / 2,
                progress=progress,
                what=f"comparing with {name}",
            )
            found.append(
                Comparison(
                    name,
                    paired_ratio(times["plain"], times["changed"]),
                    max(0.0, first - second),
                    already=already,
                )
            )
        except Exception as error:  # noqa: BLE001 - the user's step failing under the change is the finding
            found.append(Comparison(name, None, None, _reason_text(error)))
        finally:
            keras.mixed_precision.set_global_policy(before)
    return tuple(found)


def _reason_text(error: BaseException) -> str:
    cause = error.__cause__ if isinstance(error, UserCodeError) and error.__cause__ is not None else error
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    telling = [line for line in lines if "unsupported operations" in line or "not compilable" in line]
    return f"{type(cause).__name__}: {telling[0][:400]}" if telling else cause_line(cause)


def _host_peak() -> float | None:
    """Return the largest resident memory of this process so far, in bytes.

    None where the system does not tell.
    """
    try:
        import resource
        import sys
    except ImportError:
        return None
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(size if sys.platform == "darwin" else size * 1024)


def job(options: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Run `profile step` in a child process.

    `options` name step and dataset and hold the fields of `StepPlan` under `plan`.
    """
    from cfgfix.measure.data_sources import dataset_maker

    make_step, source = step_maker(options)
    make_dataset, _ = dataset_maker(options)
    names = StepPlan.__dataclass_fields__
    plan = StepPlan(**{name: value for name, value in options.get("plan", {}).items() if name in names})
    return with_summaries(
        measure(make_step, make_dataset, plan, source=source, progress=progress).as_dict(), options
    )


__all__ = ["StepPlan", "StepProfile", "Trainer", "job", "judge", "measure", "step_maker", "time_in_turn"]
