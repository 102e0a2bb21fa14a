"""`profile step`: what a training step's time goes to, what traces it again, and what XLA and mixed precision would change."""

from __future__ import annotations

import itertools
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cfgfix.core.errors import CfgfixError
from cfgfix.core.wording import cause_line, counted, times_as_fast
from cfgfix.measure.operations import StepOperations, trace_operations
from cfgfix.measure.sampling import (
    Progress,
    UserCodeError,
    call_with_config,
    load_config,
    load_object,
    silent,
    user_code,
)
from cfgfix.measure.statistics import (
    Floats,
    Interval,
    Summary,
    bootstrap,
    paired_difference,
    paired_ratio,
    summarise,
)
from cfgfix.measure.summaries import with_summaries
from cfgfix.measure.verdicts import INPUT_BOUND, OldLimit, Outcome, Verdict, old_limits
from cfgfix.measure.watch import Fetches, Sync, Trace, Tracings
from cfgfix.rules.faults import Fault

PARTS = ("forward", "loss", "backward", "optimizer")
LEAST_ROUNDS = 6
"""Rounds that the interval of a part takes, where so many were asked for."""


TRACED_STEPS = 5
"""Steps under the profiler: their operations differ little, and a trace is large."""


PYTHON_OPERATIONS = frozenset({"PyFunc", "PyFuncStateless", "EagerPyFunc"})
"""What `tf.numpy_function` and `tf.py_function` are in a graph: tensorflow/python/ops/script_ops.py of TensorFlow 2.21."""


@dataclass(frozen=True, slots=True)
class StepPlan:
    """What to measure and how long."""

    rounds: int = 20
    """How often each part is timed, in turn."""
    steps: int = 50
    """Of the training loop with real batches."""
    seconds: float = 60.0
    """For each part of the measurement."""
    trace: bool = True
    """Run some steps under TensorFlow's profiler for the times of operations and layers."""
    compare: bool = True
    """Measure XLA and mixed precision against the step as it is."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The step with one thing changed, in pairs with the step as it is."""

    name: str
    ratio: Interval | None
    """Time with the change / time without; None where it failed."""
    compile_seconds: float | None
    failed: str | None = None
    """Why it could not run."""

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "name": self.name,
            "ratio": self.ratio.as_dict() if self.ratio else None,
            "compile_seconds": self.compile_seconds,
            "failed": self.failed,
        }


@dataclass(frozen=True, slots=True)
class StepProfile:
    """Everything `profile step` found. Times in seconds."""

    source: str
    devices: tuple[str, ...]
    parts: Mapping[str, Interval]
    """Forward, loss, backward and optimizer; empty for a step callable, which cannot be cut."""
    step: Summary
    """The whole compiled step on one batch, or the callable."""
    compile_seconds: float
    data: Summary
    """Waiting for a batch in the loop."""
    loop: Summary
    """From one step to the next in the loop."""
    data_share: Interval
    batches: int
    samples_per_second: float
    traces: tuple[Trace, ...]
    """Tracings beyond each function's first."""
    made_anew: Mapping[str, int]
    compiled: bool
    """Whether any `tf.function` ran in the step."""
    syncs: tuple[Sync, ...]
    watched_steps: int
    comparisons: tuple[Comparison, ...]
    peak_bytes: Mapping[str, float]
    """Peak memory by device; `host` is the process."""
    floor: float = 0.0
    """Seconds that a batch in memory keeps the same step waiting; taken off `data_share`."""
    step_memory: tuple[Mapping[str, float], ...] = ()
    """The same after each watched step: what the peak has risen to by then."""
    operations: StepOperations = field(default_factory=StepOperations)
    limits: tuple[OldLimit, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "kind": "step",
            "source": self.source,
            "devices": list(self.devices),
            "parts": {name: part.as_dict() for name, part in self.parts.items()},
            "step_seconds": self.step.as_dict(),
            "compile_seconds": self.compile_seconds,
            "data_seconds": self.data.as_dict(),
            "floor_seconds": self.floor,
            "loop_seconds": self.loop.as_dict(),
            "data_share": self.data_share.as_dict(),
            "batches": self.batches,
            "samples_per_second": self.samples_per_second,
            "retraces": [trace.as_dict() for trace in self.traces],
            "functions_made_anew": dict(self.made_anew),
            "compiled": self.compiled,
            "host_syncs": [sync.as_dict() for sync in self.syncs],
            "watched_steps": self.watched_steps,
            "comparisons": [comparison.as_dict() for comparison in self.comparisons],
            "peak_bytes": dict(self.peak_bytes),
            "peak_bytes_by_step": [dict(entry) for entry in self.step_memory],
            "operations": self.operations.as_dict(),
            "older_limits": [limit.as_dict() for limit in self.limits],
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "notes": list(self.notes),
        }


class Trainer:
    """The user's model, loss and optimizer as four nested functions of a batch, each with one part more than the one before.

    Args:
        model: Called with the inputs, and `training=True` where it takes that.
        loss: Called with targets and output for batches of the form (inputs, targets), with batch and output for others.
        optimizer: A Keras optimizer.
        xla: Compile with XLA.
    """

    def __init__(self, model: Any, loss: Any, optimizer: Any, *, xla: bool | None = None) -> None:
        import inspect

        import tensorflow as tf

        self._model = model
        self._loss: Any = tf.keras.losses.get(loss) if isinstance(loss, str) else loss
        self._updater: Any = tf.keras.optimizers.get(optimizer) if isinstance(optimizer, str) else optimizer
        try:
            target = getattr(model, "call", model)
            names = inspect.signature(target).parameters
            kinds = {parameter.kind for parameter in names.values()}
            self._training = "training" in names or inspect.Parameter.VAR_KEYWORD in kinds or _is_layer(model)
        except (TypeError, ValueError):
            self._training = False
        self._inputs = _input_names(model)
        bodies = (self.forward, self.loss, self.backward, self.whole)
        self.functions: dict[str, Callable[[Any], Any]] = {
            name: tf.function(body, jit_compile=xla) for name, body in zip(PARTS, bodies, strict=True)
        }

    def _split(self, batch: Any) -> tuple[Any, Any]:
        if isinstance(batch, tuple) and len(batch) in (2, 3):
            return batch[0], batch[1]
        if isinstance(batch, dict) and isinstance(self._inputs, str) and self._inputs in batch:
            return batch[self._inputs], batch
        if isinstance(batch, dict) and self._inputs and all(name in batch for name in self._inputs):
            return {name: batch[name] for name in self._inputs}, batch
        return batch, batch

    def forward(self, batch: Any) -> Any:
        """Run the model."""
        inputs, _ = self._split(batch)
        return self._model(inputs, training=True) if self._training else self._model(inputs)

    def loss(self, batch: Any) -> Any:
        """Run the model and the loss; return one number."""
        import tensorflow as tf

        _, target = self._split(batch)
        return tf.reduce_mean(self._loss(target, self.forward(batch)))

    def variables(self) -> list[Any]:
        """Return what is trained."""
        found = getattr(self._model, "trainable_variables", None)
        if not found:
            raise CfgfixError(
                "the model has no trainable variables", hint="return a built Keras model, or a step callable"
            )
        return list(found)

    def backward(self, batch: Any) -> Any:
        """Run the model, the loss and the gradients."""
        import tensorflow as tf

        with tf.GradientTape() as tape:
            loss = self.loss(batch)
            scale = getattr(self._updater, "scale_loss", None)
            scaled = scale(loss) if scale is not None else loss
        return tape.gradient(scaled, self.variables())

    def whole(self, batch: Any) -> Any:
        """Run the whole step."""
        gradients = self.backward(batch)
        pairs = [
            (gradient, variable)
            for gradient, variable in zip(gradients, self.variables(), strict=True)
            if gradient is not None
        ]
        self._updater.apply_gradients(pairs)
        return gradients

    def build(self, batch: Any) -> None:
        """Create the variables of model and optimizer, outside any function."""
        self.forward(batch)
        build = getattr(self._updater, "build", None)
        if build is not None and not getattr(self._updater, "built", False):
            build(self.variables())


def _input_names(model: Any) -> str | list[str]:
    """Return the name of a symbolic Keras model's one input, or the names of its inputs, or nothing for other models."""
    try:
        structure = model.input
    except (AttributeError, ValueError):
        return []
    if isinstance(structure, dict):
        return list(structure)
    if isinstance(structure, (list, tuple)):
        return [str(entry.name) for entry in structure]
    return str(structure.name)


def _is_layer(model: Any) -> bool:
    """Return whether a model is a Keras layer; those take `training` whether their own code names it or not."""
    return any(
        kind.__name__ == "Layer" and "keras" in kind.__module__.split(".")[0] for kind in type(model).__mro__
    )


def _sync() -> None:
    import tensorflow as tf

    tf.test.experimental.sync_devices()


def timed(function: Callable[[Any], Any], batch: Any) -> float:
    """Return the seconds a function takes for a batch, the device's work included."""
    _sync()
    begin = time.perf_counter()
    function(batch)
    _sync()
    return time.perf_counter() - begin


def time_in_turn(
    functions: Mapping[str, Callable[[], float]],
    *,
    rounds: int,
    seconds: float,
    progress: Progress = silent,
    what: str = "timing",
) -> dict[str, Floats]:
    """Return the seconds that each function reports, taken in rounds.

    In a round all run once, in a new order each time.

    What disturbs a round disturbs all its members, so differences within rounds are exact where the times themselves are not.
    At least three rounds are made.
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
    """Return the time of each part from the times of the nested functions."""
    parts = {"forward": bootstrap(times["forward"], "median")}
    for before, name in itertools.pairwise(PARTS):
        parts[name] = paired_difference(times[before], times[name])
    return parts


@dataclass(slots=True)
class _Subject:
    """The user's step in the form that is measured."""

    whole: Callable[[Any], Any]
    trainer: Trainer | None
    rebuild: Callable[[bool | None], Callable[[Any], Any]]
    """Makes the step anew under the Keras policy in force, with XLA as given."""


def subject_of(make: Callable[[], Any], spec: str, batch: Any) -> _Subject:
    """Return what a user's function makes in the form that is measured.

    It makes (model, loss, optimizer), a compiled Keras model, or a function of a batch.

    Raises:
        CfgfixError: It makes something else.
    """
    made = make()
    if _is_model(made):
        return _from_model(make, made, spec)
    if isinstance(made, tuple) and len(made) == 3:
        return _from_parts(make, made, batch)
    if callable(made):
        return _from_callable(make, made, batch)
    raise CfgfixError(
        f"{spec} returned {type(made).__name__}",
        hint="return (model, loss, optimizer), a compiled Keras model, or a function of a batch",
    )


def _is_model(made: Any) -> bool:
    return any(
        kind.__name__ == "Model" and "keras" in kind.__module__.split(".")[0] for kind in type(made).__mro__
    )


def _from_model(make: Callable[[], Any], model: Any, spec: str) -> _Subject:
    """Return the step of a compiled Keras model: its own `train_step`, compiled as `fit` compiles it."""
    import tensorflow as tf

    if not (getattr(model, "compiled", False) or getattr(model, "_is_compiled", False)):
        raise CfgfixError(
            f"{spec} returned a model that is not compiled",
            hint="call model.compile(optimizer, loss) first, or return (model, loss, optimizer)",
        )

    def compiled(subject: Any, xla: bool | None) -> Callable[[Any], Any]:
        if subject.run_eagerly:
            step: Callable[[Any], Any] = subject.train_step
            return step
        asked = getattr(subject, "jit_compile", None)
        whole: Callable[[Any], Any] = tf.function(
            subject.train_step, jit_compile=asked if xla is None else xla, reduce_retracing=True
        )
        return whole

    def rebuild(xla: bool | None) -> Callable[[Any], Any]:
        return compiled(make(), xla)

    return _Subject(compiled(model, None), None, rebuild)


def _from_parts(make: Callable[[], Any], made: tuple[Any, Any, Any], batch: Any) -> _Subject:
    def build(parts: tuple[Any, Any, Any], xla: bool | None) -> Trainer:
        trainer = Trainer(*_with_loss_scale(parts), xla=xla)
        with user_code("building the step"):
            trainer.build(batch)
        return trainer

    trainer = build(made, None)

    def rebuild(xla: bool | None) -> Callable[[Any], Any]:
        return build(make(), xla).functions["optimizer"]

    return _Subject(trainer.functions["optimizer"], trainer, rebuild)


def _with_loss_scale(parts: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """Wrap the optimizer for the policy mixed_float16, as Keras's own compile does."""
    import tensorflow as tf

    model, loss, optimizer = parts
    keras = tf.keras
    wrapper = getattr(keras.optimizers, "LossScaleOptimizer", None)
    if wrapper is None or keras.mixed_precision.global_policy().name != "mixed_float16":
        return parts
    optimizer = keras.optimizers.get(optimizer)
    return model, loss, optimizer if isinstance(optimizer, wrapper) else wrapper(optimizer)


def _from_callable(make: Callable[[], Any], step: Any, batch: Any) -> _Subject:
    import inspect

    import tensorflow as tf

    def adapted(function: Any) -> Callable[[Any], Any]:
        try:
            parameters = inspect.signature(getattr(function, "python_function", function)).parameters.values()
            needed = [
                one
                for one in parameters
                if one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
            ]
            spread = isinstance(batch, tuple) and len(needed) == len(batch) and len(batch) != 1
        except (TypeError, ValueError):
            spread = False
        return (lambda value: function(*value)) if spread else function

    def rebuild(xla: bool | None) -> Callable[[Any], Any]:
        fresh: Any = make()
        return adapted(tf.function(getattr(fresh, "python_function", fresh), jit_compile=xla))

    return _Subject(adapted(step), None, rebuild)


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

    tracings, fetches, done = _watch(subject, dataset, watched, plan, progress, read_memory)
    parts: dict[str, Interval] = {}
    compile_seconds = sum(trace.seconds for trace in tracings.traces if trace.step == 0)
    with user_code("running the step"):
        if subject.trainer is not None:
            for function in subject.trainer.functions.values():
                function(batch)
                function(batch)
            runs = {name: _runner(function, batch) for name, function in subject.trainer.functions.items()}
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
                {"step": _runner(subject.whole, batch)},
                rounds=plan.rounds,
                seconds=plan.seconds,
                progress=progress,
                what="timing the step",
            )
            whole = times["step"]
        peak = {name: float(tf.config.experimental.get_memory_info(name)["peak"]) for name in gpus}
    waits, steps, samples = _loop(subject, dataset, plan, progress)
    # Of a step of a millisecond the call of `next` alone is a noticeable share.
    in_memory = tf.data.Dataset.from_tensors(batch).repeat().prefetch(2)
    floor = bootstrap(_loop(subject, in_memory, replace(plan, seconds=plan.seconds / 4), progress)[0])
    operations = StepOperations(missing="not asked for")
    if plan.trace:
        progress("tracing with TensorFlow's profiler", 0.0)
        with user_code("running the step"):
            operations = trace_operations(_runner(subject.whole, batch), steps=TRACED_STEPS)
        if operations.missing is not None:
            notes.append(f"no times of operations: {operations.missing}")
    comparisons = _compare(subject, batch, plan, bool(gpus), progress) if plan.compare else ()
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
        syncs=tuple(fetches.syncs()),
        watched_steps=done,
        comparisons=comparisons,
        peak_bytes=peak,
        step_memory=tuple(memory),
        operations=operations,
        limits=old_limits(data_share=share, steps_per_second=loops.size / total),
        notes=tuple(notes),
    )
    return replace(found, verdicts=judge(found, on_gpu=bool(gpus)))


def _runner(function: Callable[[Any], Any], batch: Any) -> Callable[[], float]:
    return lambda: timed(function, batch)


def _watch(
    subject: _Subject,
    dataset: Any,
    steps: int,
    plan: StepPlan,
    progress: Progress,
    after: Callable[[], None] = lambda: None,
) -> tuple[Tracings, Fetches, int]:
    """Run the first steps with the watchers on; they also compile what the timed runs need."""
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


def _loop(subject: _Subject, dataset: Any, plan: StepPlan, progress: Progress) -> tuple[Floats, Floats, int]:
    """Run the training loop; return waits, step times, and the samples of all timed steps. The first steps are warm-up."""
    from cfgfix.measure.sampling import describe_batch

    waits, steps = [], []
    samples = 0
    begin = time.perf_counter()
    lead = 3
    with user_code("running the training loop"):
        iterator = iter(dataset)
        for place in range(plan.steps + lead):
            start = time.perf_counter()
            batch = next(iterator)
            there = time.perf_counter()
            subject.whole(batch)
            _sync()
            end = time.perf_counter()
            if place >= lead:
                waits.append(there - start)
                steps.append(end - there)
                samples += describe_batch(batch)[0]
            progress("running the training loop", (place + 1) / (plan.steps + lead))
            if place >= lead + 5 and end - begin > plan.seconds:
                break
    return np.array(waits), np.array(steps), samples


def _compare(
    subject: _Subject, batch: Any, plan: StepPlan, on_gpu: bool, progress: Progress
) -> tuple[Comparison, ...]:
    import tensorflow as tf

    keras = tf.keras
    before = keras.mixed_precision.global_policy()
    # Volta and later have float16 units; the CPU's short format is bfloat16.
    policy = "mixed_float16" if on_gpu else "mixed_bfloat16"
    cases: list[tuple[str, str, bool | None]] = [("XLA", before.name, True)]
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
                Comparison(name, None, None, f"it does not compile as a whole: {_reason(error)}")
                for name, _, _ in cases
            )
    for name, precision, xla in cases:
        progress(f"comparing with {name}", 0.0)
        try:
            keras.mixed_precision.set_global_policy(precision)
            changed = subject.rebuild(xla)
            first = timed(changed, batch)
            second = timed(changed, batch)
            plain = _runner(baseline, batch)
            times = time_in_turn(
                {"plain": plain, "changed": _runner(changed, batch)},
                rounds=plan.rounds,
                seconds=plan.seconds / 2,
                progress=progress,
                what=f"comparing with {name}",
            )
            found.append(
                Comparison(name, paired_ratio(times["plain"], times["changed"]), max(0.0, first - second))
            )
        except Exception as error:  # noqa: BLE001 - the user's step failing under the change is the finding
            found.append(Comparison(name, None, None, _reason(error)))
        finally:
            keras.mixed_precision.set_global_policy(before)
    return tuple(found)


def _reason(error: BaseException) -> str:
    cause = error.__cause__ if isinstance(error, UserCodeError) and error.__cause__ is not None else error
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    telling = [line for line in lines if "unsupported operations" in line or "not compilable" in line]
    return f"{type(cause).__name__}: {telling[0][:400]}" if telling else cause_line(cause)


def _host_peak() -> float | None:
    """Return the largest resident size of this process so far in bytes, or None where the system does not tell."""
    try:
        import resource
        import sys
    except ImportError:
        return None
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(size if sys.platform == "darwin" else size * 1024)


def judge(found: StepProfile, *, on_gpu: bool) -> tuple[Verdict, ...]:
    """Return what the figures mean."""
    made = [
        _data(found),
        *judge_retraces(found.traces, found.made_anew, found.watched_steps, compiled=found.compiled),
        _eager(found),
        _syncs(found),
        _python(found),
    ]
    made += [_comparison(comparison, on_gpu) for comparison in found.comparisons]
    return tuple(verdict for verdict in made if verdict is not None)


def _data(found: StepProfile) -> Verdict:
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
    word = "highly" if share.value >= high else "moderately"
    return Verdict(
        "data",
        Outcome.PROBLEM,
        f"{word} input-bound",
        evidence,
        (),
        f"measure the dataset: cfgfix profile data --step-ms {found.step.median * 1e3:.3g}",
    )


_RETRACES: dict[str, tuple[tuple[Fault, ...], str]] = {
    "shape": (
        (Fault.CHANGING_SHAPES, Fault.XLA_PER_SHAPE),
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


def _has_fewer_rows(trace: Trace) -> bool:
    """Tell whether only the number of rows fell: the last, smaller batch of an epoch or of a length."""
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
    """Return what the retraces mean.

    Args:
        traces: Beyond each function's first.
        made_anew: Functions that were made and traced anew, with how often.
        steps: How many were watched.
        compiled: Whether any `tf.function` ran.
        run_seconds: Of the steps; 0 where the worth is not asked for.
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
        few = kind == "shape" and len(changing) < MANY_RETRACES
        # A few shapes, as batches of like length have, are traced once each and then no more.
        last = max(trace.step for trace in changing or same)
        settled = kind == "shape" and not few and len(same) <= MOST_SHAPES and last <= steps / 2
        settled = settled and steps - last >= QUIET_STEPS
        text = (
            f"the step is traced again because of a changed {kind}"
            if kind != "unknown"
            else "the step is traced again"
        )
        if few:
            times = "once" if len(same) == 1 else counted(len(same), "time")
            text += f", {times}: no more than the last batch of an epoch takes"
        elif settled:
            text += f", {counted(len(same), 'time')}, and no more after step {last}: there are few shapes"
        verdicts.append(
            Verdict(
                "retracing",
                Outcome.INFO if few or settled else Outcome.PROBLEM,
                text,
                tuple(evidence),
                () if few or settled else faults,
                None if few or settled else change,
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


def _eager(found: StepProfile) -> Verdict | None:
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


def _syncs(found: StepProfile) -> Verdict | None:
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


def _python(found: StepProfile) -> Verdict | None:
    """Return that a compiled step calls Python, where that takes a noticeable share of it."""
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


def _comparison(comparison: Comparison, on_gpu: bool) -> Verdict:
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


def step_maker(options: Mapping[str, Any]) -> tuple[Callable[[], Any], str]:
    """Return the user's step function, or the built-in step.

    The built-in step is for the built-in pipeline. Only a child process may call this.

    Raises:
        CfgfixError: The options name neither.
    """
    config = load_config(options.get("config"), options.get("config_loader"))
    spec = options.get("step")
    if spec:
        named = load_object(spec)
        if _is_model(named) or not callable(named):
            return (lambda: named), spec
        return (lambda: call_with_config(named, config, spec)), spec
    if options.get("data_path"):
        from cfgfix.measure import speech

        settings = speech.settings_from(options)
        return (lambda: speech.make_step(settings)), "built-in speech step"
    raise CfgfixError("there is no step to measure", hint="name it with --step package.module:function")


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
