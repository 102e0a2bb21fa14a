"""Where a training first computes what is no number: the step, and the layer, the loss or the gradient.

An observed run keeps the few scalars that its steps return and reads them afterwards, so that looking costs no step a wait. Where one
of them ends as no number, the program runs once more, up to that step, with a check behind every layer, before every gradient and
behind it; the first check that fails stops it and names its place.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from cfgfix.core.wording import cause_line
from cfgfix.measure.batches import scalars_of
from cfgfix.measure.observe import Observation, StopObservation
from cfgfix.measure.sampling import Progress
from cfgfix.measure.script import main_loop, run_script
from cfgfix.measure.verdicts import Outcome, Verdict

MARK = "cfgfix: no number in "
_MARKED = re.compile(re.escape(MARK) + r"([\w%.~-]+)(?: ([01]+))?")
MORE_STEPS = 20
"""Steps beyond the first run's that the second one gets, for chance may draw otherwise."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A scalar that a step returned, read after the run."""

    step: int
    """Counted from one."""
    name: str
    value: float
    loss: bool
    """Whether it is the loss, by its name or as the first that a training step returns."""


@dataclass(frozen=True, slots=True)
class NotFinite:
    """The first figure of a training that was NaN or infinite, and the step."""

    what: str
    value: str
    """`nan`, `inf` or `-inf`."""
    step: int | None
    """Counted from one; None where only the weights show it, at the end."""

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def read_scalars(returned: Sequence[tuple[int, Any]]) -> list[Kept]:
    """Return the values of the scalars that an observation kept, step by step."""
    found = []
    for step, given in returned:
        scalars = given
        if hasattr(given, "get_value"):
            scalars = scalars_of(given.get_value()) if bool(given.has_value()) else {}
        found += [
            Kept(step, name, float(np.asarray(tensor)), "loss" in name.lower())
            for name, tensor in scalars.items()
        ]
    return found


def find_not_finite(kept: Sequence[Kept], weights: Sequence[str] = ()) -> NotFinite | None:
    """Return the first figure that is NaN or infinite, or None.

    A figure that recovers is no fault, unless weights hold NaN at the end.

    Args:
        kept: The scalars that the steps returned, in their order.
        weights: Names of the weights that hold NaN at the end.
    """
    last = {one.name: one for one in kept}
    for one in kept:
        if np.isfinite(one.value):
            continue
        # A figure that is none for a while, such as a share of nothing, is no fault; weights that are none stay so.
        if weights or (one.loss and not np.isfinite(last[one.name].value)):
            return NotFinite(f"`{one.name}`", f"{one.value:g}", one.step)
    return NotFinite(f"the weight {weights[0]}", "nan", None) if weights else None


def broken_weights(variables: Sequence[Any]) -> list[str]:
    """Return the names of the variables that hold NaN."""
    import tensorflow as tf

    found = []
    for variable in variables:
        if getattr(variable, "dtype", None) is None or not tf.as_dtype(variable.dtype).is_floating:
            continue
        if bool(tf.reduce_any(tf.math.is_nan(tf.convert_to_tensor(variable)))):
            found.append(name_of(variable))
    return found


def name_of(variable: Any) -> str:
    """Return the name of a variable, with the names of its layers where known."""
    return str(getattr(variable, "path", None) or getattr(variable, "name", "a variable")).removesuffix(":0")


# --- the second run


def _place_mark(place: Mapping[str, str]) -> str:
    """Return a place encoded as text that TensorFlow's error messages leave unchanged."""
    return MARK + quote(json.dumps(dict(place)), safe="")


def _guarded_tensor(tensor: Any, place: Mapping[str, str], wrong: Callable[[Any], Any]) -> Any:
    """Return a tensor whose evaluation fails while `wrong` holds for a value."""
    import tensorflow as tf

    if not isinstance(tensor, tf.Tensor) or not tensor.dtype.is_floating:
        return tensor
    check = tf.debugging.Assert(
        tf.logical_not(tf.reduce_any(wrong(tensor))), [_place_mark(place)], summarize=1
    )
    with tf.control_dependencies([check] if check is not None else []):
        made = tf.identity(tensor)
    mask = getattr(tensor, "_keras_mask", None)
    if mask is not None:
        made._keras_mask = mask  # noqa: SLF001 - Keras hands the mask on with the tensor
    return made


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Make layers, losses and gradients fail on NaN while the body runs."""
    import tensorflow as tf

    layer, tape, model = tf.keras.layers.Layer, tf.GradientTape, tf.keras.Model
    function: Any = type(tf.function(lambda: None))
    kept = [
        (kind, name, kind.__dict__.get(name), getattr(kind, name))
        for kind, name in (
            (layer, "__call__"),
            (tape, "gradient"),
            (model, "compile"),
            (function, "__call__"),
        )
    ]
    (call, gradient, compiled, run) = (plain for _, _, _, plain in kept)
    scaled = tf.keras.mixed_precision.global_policy

    def call_layer(self: Any, *arguments: Any, **keywords: Any) -> Any:
        given = call(self, *arguments, **keywords)
        place = {"kind": "layer", "name": str(self.name), "class": type(self).__name__}
        return tf.nest.map_structure(lambda part: _guarded_tensor(part, place, tf.math.is_nan), given)

    def derive(self: Any, target: Any, sources: Any, *arguments: Any, **keywords: Any) -> Any:
        place = {"kind": "loss", "name": "the loss"}
        tf.nest.map_structure(
            lambda part: _guarded_tensor(part, place, lambda tensor: ~tf.math.is_finite(tensor)), target
        )
        found = gradient(self, target, sources, *arguments, **keywords)
        # A scaled loss overflows on purpose; its step is then left out.
        return found if scaled().compute_dtype == "float16" else _guarded_gradients(found, sources)

    def compile_model(self: Any, *arguments: Any, **keywords: Any) -> Any:
        return compiled(self, *arguments, **{**keywords, "jit_compile": False})

    def run_function(self: Any, *arguments: Any, **keywords: Any) -> Any:
        # XLA leaves checks out.
        self._jit_compile = None
        return run(self, *arguments, **keywords)

    made = (call_layer, derive, compile_model, run_function)
    for (kind, name, _, _), method in zip(kept, made, strict=True):
        setattr(kind, name, method)
    try:
        yield
    finally:
        for kind, name, own, _ in kept:
            if own is None:
                delattr(kind, name)
            else:
                setattr(kind, name, own)


def _guarded_gradients(found: Any, sources: Any) -> Any:
    """Return gradients whose evaluation fails while one of them holds NaN.

    They are checked together: of several, the last variable's gradient was computed first in the backward pass.
    """
    import tensorflow as tf

    flat, variables = tf.nest.flatten(found), tf.nest.flatten(sources)
    pairs = [
        (place, part, variable)
        for place, (part, variable) in enumerate(zip(flat, variables, strict=False))
        if isinstance(part, tf.Tensor) and part.dtype.is_floating
    ]
    if not pairs:
        return found
    wrong = tf.stack([tf.reduce_any(tf.math.is_nan(part)) for _, part, _ in pairs])
    names = [name_of(variable) for _, _, variable in pairs]
    flags = tf.strings.reduce_join(tf.where(wrong, "1", "0"))
    text = _place_mark({"kind": "gradient", "names": "|".join(names)}) + " "
    check = tf.debugging.Assert(
        tf.logical_not(tf.reduce_any(wrong)), [tf.strings.join([text, flags])], summarize=1
    )
    with tf.control_dependencies([check] if check is not None else []):
        for place, part, _ in pairs:
            flat[place] = tf.identity(part)
    return tf.nest.pack_sequence_as(found, flat)


def place_in(text: str) -> dict[str, str] | None:
    """Return the layer, loss or gradient named by the error text of a failed check.

    None for another error.
    """
    match = _MARKED.search(text)
    if match is None:
        return None
    place: dict[str, str] = json.loads(unquote(match[1]))
    if place["kind"] == "gradient":
        names, flags = place["names"].split("|"), match[2] or ""
        wrong = [name for name, flag in zip(names, flags, strict=False) if flag == "1"]
        return {"kind": "gradient", "name": wrong[-1] if wrong else names[-1]}
    return place


def job(options: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Run a training script in a child process until a check for NaN fails.

    `options` hold script, arguments, steps and seconds. The answer has `place`, or `why` there is none.
    """
    progress("running once more, with a check behind every layer", 0.0)
    observation = Observation(steps=options["steps"], seconds=options["seconds"])
    place, why = None, "every layer, loss and gradient was a number in the second run"
    try:
        with guarded(), observation:
            run_script(options["script"], options.get("arguments", ()), module=bool(options.get("module")))
    except (StopObservation, SystemExit):
        pass
    except Exception as error:  # noqa: BLE001 - the failed check arrives as whatever the program makes of it
        cause: BaseException | None = error
        while cause is not None and place is None:
            place = place_in(str(cause))
            cause = cause.__cause__ or cause.__context__
        why = f"the second run ended with {cause_line(error)}"
    loop = main_loop(list(observation.loops.values()))
    return {"place": place, "why": None if place else why, "step": len(loop.steps) if loop else None}


def with_origin(found: Mapping[str, Any], origin: Mapping[str, Any]) -> dict[str, Any]:
    """Return the profile of a run with verdicts that name where NaN came from.

    `origin` is the answer of a second run with checks.
    """
    known = found["not_finite"]
    told = [
        verdict.as_dict()
        for verdict in judge_numbers(NotFinite(known["what"], known["value"], known["step"]), origin)
    ]
    rest = [verdict for verdict in found["verdicts"] if verdict["name"] != "numbers"]
    return {**found, "not_finite": {**known, "origin": dict(origin)}, "verdicts": [*told, *rest]}


# --- what it means

_CHANGES = {
    "layer": "look at what this layer computes and gets: a logarithm, root or division without a guard; weights that grew ask for a lower "
    "learning rate or global_clipnorm",
    "loss": "guard the logarithms and divisions of the loss, or give a loss of Keras the logits (from_logits=True)",
    "gradient": "look for a root, norm or division at zero behind it: its value is a number there, its gradient is none; add a small number "
    "inside, for clipping keeps what is none",
}


def judge_numbers(found: NotFinite | None, origin: Mapping[str, Any] | None = None) -> Iterator[Verdict]:
    """Yield a verdict where a figure or a weight is NaN or infinite.

    Args:
        found: The first such figure; None where all are finite.
        origin: The answer of the second run; None before it.
    """
    if found is None:
        return
    since = f"from step {found.step} on" if found.step is not None else "at the end"
    summary = f"{found.what} is {found.value} {since}: what is trained after that is lost"
    evidence: tuple[str, ...] = ()
    change: str | None = (
        "lower the learning rate or clip gradients, and guard logarithms and divisions; `cfgfix profile run` with this script names "
        "the layer, loss or gradient where it begins"
    )
    if origin is not None and origin["place"] is not None:
        place = origin["place"]
        where = {
            "layer": f"what layer {place['name']} ({place.get('class', '')}) gives",
            "loss": "the loss, while every layer still gives numbers",
            "gradient": f"the gradient of {place['name']}, while layers and loss are numbers",
        }[place["kind"]]
        evidence = (f"in a second run with checks it is first {where}, in step {origin['step']}",)
        change = _CHANGES[place["kind"]]
    elif origin is not None:
        evidence = (str(origin["why"]),)
        change = "lower the learning rate or clip gradients, and guard logarithms and divisions"
    yield Verdict("numbers", Outcome.PROBLEM, summary, evidence, change=change)
