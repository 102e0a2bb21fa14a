"""`profile run`: what the time of a training program goes to, from an observation of it as it is.

A step reaches from one request for a batch to the next, so nothing between two steps is lost. Its time is parted into waiting for data,
compiled functions, tracing, and Python, and what Python did is named by the looks at the thread. Where the steps wait for data, the
dataset that they took it from is measured by itself, with the time that a step needs.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cfgfix.core.errors import CfgfixError, ExitCode
from cfgfix.core.wording import counted
from cfgfix.measure import content
from cfgfix.measure import data as data_profile
from cfgfix.measure.attribution import (
    Attribution,
    attribute,
    find_parts,
    find_stalls,
    mark_compilations,
    warm_up,
)
from cfgfix.measure.data_sources import call_maker, is_py_dataset
from cfgfix.measure.dataset_graph import normal, read_graph, walk
from cfgfix.measure.numerics import (
    broken_weights,
    find_not_finite,
    read_scalars,
)
from cfgfix.measure.observe import Loop, Observation, Step, StopObservation
from cfgfix.measure.pace import Load
from cfgfix.measure.padding import Padding, read_padding
from cfgfix.measure.run_profile import (
    Compilation,
    Evaluation,
    RunPlan,
    RunProfile,
    device_memory,
    memory_growth,
)
from cfgfix.measure.run_verdicts import PREDICTS_OFTEN, judge
from cfgfix.measure.sampling import Progress, iterate, silent, user_code
from cfgfix.measure.script import main_loop, run_script
from cfgfix.measure.statistics import summarise
from cfgfix.measure.summaries import with_summaries
from cfgfix.measure.verdicts import INPUT_BOUND, Verdict

LEAST_STEPS = 10
"""Steps after the warm-up below which nothing is concluded."""
EVALUATION_TELLING = 0.1
"""Share of the run from which an evaluation is told."""
FIT_FOR_EACH = 0.8
"""Share of the steps that start an epoch from which `fit` is called for single batches: there is no epoch to speak of."""
WAITS_MOSTLY = 0.5
"""Share of an evaluation from which it is its data that takes the time."""
STEP_BOUND = 0.3
"""Share of the run in compiled functions from which it is looked for what they need not compute."""


# --- the whole


def analyse(
    observation: Observation, plan: RunPlan, load: Load, *, source: str, progress: Progress = silent
) -> RunProfile:
    """Return the profile of an observed training.

    Raises:
        CfgfixError: The observation saw too few steps.
    """
    loops = list(observation.loops.values())
    loop = main_loop(loops)
    if loop is None or len(loop.steps) < LEAST_STEPS:
        seen = len(loop.steps) if loop is not None else 0
        raise CfgfixError(
            f"{source}: {counted(seen, 'training step')} ran, {LEAST_STEPS} are needed",
            code=ExitCode.UNREADABLE,
            hint=_advice_on_steps(observation),
        )
    lead = warm_up(loop.steps)
    context = f"{loop.kind} {loop.place}"
    retraces = [
        trace for trace in observation.tracings.retraces() if trace.step > 0 and trace.context == context
    ]
    anew_by_xla = {trace.step: trace.seconds for trace in retraces if trace.xla and trace.kind == "shape"}
    compilations = mark_compilations(loop.steps, anew_by_xla) if observation.xla else []
    steps = [step for step in loop.steps[lead:] if step.end]
    total = sum(step.seconds for step in steps)
    found = attribute(steps, observation.looks, loop)
    stalls, stalled = find_stalls(steps, found, loop)
    parts = find_parts(steps, found, loop, stalled, total)
    usual = [step for step in steps if not step.starts] or steps
    inside = [step for step in usual if not step.trace] or [replace(step, trace=0.0) for step in usual]
    busy = float(np.median([step.seconds - step.wait for step in inside]))
    each = busy / float(np.median([step.batches for step in inside]))
    notes: list[str] = []
    shares = _shares_by_kind(steps, found, total)
    rows = sum(step.samples for step in steps)
    profile: dict[str, Any] | None = None
    wait_share = sum(step.wait for step in usual) / max(sum(step.seconds for step in usual), 1e-9)
    floor = 0.0
    fed = loop
    if shares["wait"] >= shares["epochs"]:
        # Of several datasets that a step takes batches from, the one it waits for.
        fed = max(
            (each for each in loops if each.kind in ("fit", "loop") and each.dataset is not None),
            key=lambda each: each.waited,
            default=loop,
        )
    # The workers of what Keras reads from end with its loop: it is read anew.
    dataset = _data_of(fed)
    anew_each = loop.kind == "fit" and sum(step.starts for step in steps) >= FIT_FOR_EACH * len(steps)
    if (
        plan.data_seconds
        and not anew_each
        and dataset is not None
        and (wait_share >= INPUT_BOUND[0] or shares["epochs"] >= INPUT_BOUND[0])
    ):
        floor = _wait_in_memory(dataset, each) * busy / each
        profile = _measure_data(dataset, each, plan, notes, progress)
    later = [trace for trace in observation.tracings.traces if trace.step > lead and trace.context == context]
    steady_shapes = len({step.shape for step in loop.steps if step.shape})
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
        traces=tuple(retraces),
        xla=tuple(sorted(observation.xla)),
        shapes=steady_shapes,
        syncs=tuple(observation.fetches.syncs()),
        compilations=tuple(
            Compilation(place - lead, seconds)
            for place, seconds in enumerate(compilations)
            if seconds and place >= lead
        ),
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
        filling=dataset is not None and fed.epochs <= 1 and _has_cache(dataset),
        device_memory=device_memory(observation.device_memory, steps),
        load=load,
        stopped=observation.stopped,
        data=profile,
        not_finite=find_not_finite(read_scalars(observation.returned), broken_weights(observation.trained)),
        padding=_padding_of(dataset) if shares["call"] >= STEP_BOUND else None,
        evaluation=_look_at_evaluation(loops, len(loop.steps), plan, notes, progress)
        if shares["evaluation"] >= EVALUATION_TELLING
        else None,
        notes=tuple(notes),
        user_files=tuple(_users_files(observation)),
    )
    anew = {
        name: count
        for name, count in observation.tracings.made_anew(after=lead + 1).items()
        if any(trace.context == context and trace.function == name for trace in observation.tracings.traces)
    }
    batches: tuple[Verdict, ...] = ()
    if plan.data_seconds and profile is None and dataset is not None and not anew_each:
        batches = _judge_batches(dataset, fed.given)
    return replace(
        made,
        verdicts=judge(
            made,
            steps,
            loop,
            anew,
            wait_share=wait_share,
            floor=floor,
            busy=busy,
            batches=batches,
            traced=bool(later),
            anew_each=anew_each,
        ),
    )


def _advice_on_steps(observation: Observation) -> str:
    """Return advice on how to have enough training steps observed."""
    taken = [loop for loop in observation.loops.values() if loop.steps]
    if observation.trained and not any(step.trains for loop in taken for step in loop.steps):
        return (
            "gradients were taken, but in no loop that is known: those over a tf.data dataset, inside of a tf.function too, those of "
            "model.fit and train_on_batch, and calls of a step that takes gradients"
        )
    return "name the script that trains, with the arguments it takes, and give it time with --seconds"


def _data_of(loop: Loop) -> object:
    """Return the dataset of a training loop, or None.

    Where Keras made it of a `PyDataset` with workers, it is made anew.
    """
    if loop.dataset is None or not is_py_dataset(loop.given):
        return loop.dataset
    try:
        return call_maker(lambda: loop.given)
    except CfgfixError:
        return None


def _has_cache(dataset: object) -> bool:
    return any(normal(node.operation) == "cache" for node in walk(read_graph(dataset)))


def _judge_batches(dataset: object, given: object) -> tuple[Verdict, ...]:
    """Return the verdicts on the batches of a dataset that was not measured by itself.

    Args:
        dataset: The dataset of the loop.
        given: The data that `fit` was called with.
    """
    graph = read_graph(dataset)
    found = [*content.judge_graph(graph)]
    if not inspect.isgenerator(given):
        # What such a one has given does not come a second time.
        with contextlib.suppress(CfgfixError):
            found += content.judge_order(content.class_order(content.read_labels(dataset)))
    return tuple(found)


def _look_at_evaluation(
    loops: Sequence[Loop], steps: int, plan: RunPlan, notes: list[str], progress: Progress
) -> Evaluation | None:
    """Return how the time of evaluations and predictions is spent.

    Where the longest of them waits for its data, that data is measured, too. None without any.
    """
    looking = [loop for loop in loops if loop.looks_on and loop.spent]
    if not looking:
        return None
    loop = max(looking, key=lambda one: one.spent)
    share = min(loop.waited / loop.spent, 1.0)
    predicting = [one for one in looking if one.kind == "predict"]
    asked, spent = sum(one.asked for one in predicting), sum(one.spent for one in predicting)
    found = Evaluation(
        share,
        spent / sum(one.spent for one in looking),
        asked / max(steps, 1),
        spent / max(asked, 1),
        loop.place,
    )
    if share < WAITS_MOSTLY or not plan.data_seconds or found.predictions >= PREDICTS_OFTEN or not loop.turns:
        return found
    dataset = _data_of(loop)
    if dataset is None:
        return found
    progress("measuring the data of the evaluation", 0.0)
    return replace(found, data=_measure_data(dataset, loop.ran / loop.turns, plan, notes, progress))


def _padding_of(dataset: Any) -> Padding | None:
    """Return the padding of a dataset's batches, or None if they cannot be read again."""
    try:
        return read_padding(dataset) if dataset is not None else None
    except CfgfixError:
        return None


def _users_files(observation: Observation) -> Iterator[str]:
    """Yield the user's Python files that the training thread was seen in."""
    seen = dict.fromkeys(look.place.rpartition(":")[0] for look in observation.looks if look.place)
    yield from (file for file in seen if file.endswith(".py") and os.path.isfile(file))


def _shares_by_kind(steps: Sequence[Step], found: Attribution, total: float) -> dict[str, float]:
    """Return the share of the run by kind.

    The kinds are wait, call, trace, Python, evaluation and epochs; the shares add up to one.
    """
    usual = [step for step in steps if not step.starts]
    middle = float(np.median([step.seconds for step in usual])) if usual else 0.0
    # A last, smaller batch is traced in the step that ends an epoch; that is no part of the start of the next.
    extra = sum(max(0.0, step.seconds - step.trace - middle) for step in steps if step.starts)
    evaluating = sum(
        found.evaluating[place] / max(found.all_looks[place], 1) * step.seconds
        for place, step in enumerate(steps)
    )
    rest = {
        "wait": sum(step.wait for step in usual),
        "call": sum(step.call for step in usual),
        "trace": sum(step.trace for step in steps),
        "python": sum(step.between for step in usual),
    }
    evaluating += sum(step.aside for step in steps if step.starts)
    rest["evaluation"] = min(evaluating, extra) + sum(step.aside for step in usual)
    rest["epochs"] = max(0.0, extra - evaluating)
    whole = sum(rest.values()) or 1.0
    # What is left of the steps that end an epoch is a step like the others.
    return {
        name: value / max(whole, total if name in ("epochs", "evaluation") else whole)
        for name, value in rest.items()
    }


def _wait_in_memory(dataset: Any, busy: float) -> float:
    """Return the median wait for a batch that lies in memory, in seconds."""
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
    """Return the profile of the loop's dataset, measured by itself.

    None, with a note, where it cannot be read again.
    """
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


# --- in the child process


def _wait_for_threads() -> None:
    """Wait for the threads that Python waits for at the end of a program.

    One of them may train.
    """
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


def job(options: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Run a training script under observation in a child process.

    `options` hold script, arguments and the fields of `RunPlan`.
    """
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
                _wait_for_threads()
            except StopObservation:
                pass
            except KeyboardInterrupt:
                # What was seen until then is told.
                observation.stopped = True
            except SystemExit as error:
                if error.code not in (None, 0) and not observation.done:
                    raise
    finally:
        done.set()
    own, elsewhere = machine.shares()
    load = Load(data_profile.usable_cpus(), own, elsewhere)
    found = analyse(observation, plan, load, source=script, progress=progress)
    return with_summaries(found.as_dict(), options)


__all__ = ["RunPlan", "RunProfile", "analyse", "job", "judge"]
