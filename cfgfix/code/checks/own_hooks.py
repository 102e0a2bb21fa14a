"""The project's functions that do not take the arguments Keras gives them."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.canonical_names import canonical_name
from cfgfix.code.model.expressions import dotted
from cfgfix.code.model.hit import Step, at, hit_in
from cfgfix.code.model.program import Program, is_keras_model
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Function, Instance, Items, Site, Value, alternatives
from cfgfix.rules.hit import Hit

_OF_CALLBACKS = {
    **{f"on_{when}_{end}": ("logs",) for when in ("train", "test", "predict") for end in ("begin", "end")},
    **{f"on_epoch_{end}": ("epoch", "logs") for end in ("begin", "end")},
    **{
        f"on_{when}batch_{end}": ("batch", "logs")
        for when in ("", "train_", "test_", "predict_")
        for end in ("begin", "end")
    },
}
"""The hooks of a callback with what they are called with."""
_STEPS = {"fit": "train_step", "evaluate": "test_step", "predict": "predict_step"}
"""The methods of a model, and the step of one's own that each of them calls with the data of a batch."""
_PAIR = ("y_true", "y_pred")
_OF_SCHEDULE = ("epoch", "lr")
"""What a schedule is called with; one that takes no rate is called with the epoch alone."""


def not_as_called(program: Program) -> Iterator[Hit]:
    """Find hooks, steps, losses and schedules that Keras cannot call."""
    for module in program.modules:
        for owner in module.summary.scopes:
            if owner.kind == "class":
                yield from _of_class(program, owner)
    for site in flow_of(program).sites:
        if not site.name.startswith("keras."):
            continue
        for scope, bound, given, shown in _handed_to(program, site):
            if not written_for_one(program, site.scope):
                found = _argument_hit(
                    program, scope, bound, given, shown, at(site, label="is given to Keras here")
                )
                yield from (found,) if found is not None else ()


def _of_class(program: Program, owner: Scope) -> Iterator[Hit]:
    names = program.bases(owner).outside
    hooks: dict[str, tuple[str, ...]] = {}
    if any(name.startswith("keras.callbacks.") for name in names):
        hooks = _OF_CALLBACKS
    elif any(name.startswith("keras.losses.") for name in names):
        hooks = {"call": _PAIR}
    elif any(name.startswith("keras.optimizers.schedules.") for name in names):
        hooks = {"__call__": ("step",)}
    for name, number in owner.children.items():
        if name in hooks:
            method = owner.module.summary.scopes[number]
            found = _argument_hit(program, method, 1, hooks[name], f"{owner.name}.{name}", None)
            yield from (found,) if found is not None else ()


def _handed_to(program: Program, site: Site) -> Iterator[tuple[Scope, int, tuple[str, ...], str]]:
    """Yield the functions that a call makes Keras run, with the arguments they get.

    Each comes with the number of bound arguments, the names of the given ones, and its name for the
    message.
    """
    method = site.call.method
    if method in _STEPS:
        for value in alternatives(site.receiver):
            if isinstance(value, Instance) and is_keras_model(program, value.scope):
                step = program.method(value.scope, _STEPS[method])
                owner = program.owner(step) if step is not None else None
                if step is not None and owner is not None:
                    yield step, 1, ("data",), f"{owner.name}.{step.name}"
    elif method == "compile" and site.receiver is not None:
        for name, position in (("loss", 1), ("metrics", 2)):
            for value in _inner_values(site.argument(position, name)):
                if isinstance(value, Function) and not value.partial and not value.fixed:
                    yield value.scope, int(value.receiver is not None), _PAIR, value.scope.name
    elif site.name == "keras.callbacks.LearningRateScheduler":
        for value in alternatives(site.argument(0, "schedule")):
            if isinstance(value, Function) and not value.partial and not value.fixed:
                yield value.scope, int(value.receiver is not None), _OF_SCHEDULE, value.scope.name


def _inner_values(value: Value | None) -> Iterator[Value]:
    for item in alternatives(value):
        if isinstance(item, Items):
            for inner in item.items:
                yield from _inner_values(inner)
        else:
            yield item


def _argument_hit(
    program: Program, scope: Scope, bound: int, given: tuple[str, ...], shown: str, related: Step | None
) -> Hit | None:
    """Return the finding for a function that cannot take its arguments, or None."""
    outer = program.outer(scope) or scope
    kept = all(
        canonical_name(program.static_name(item, outer) or dotted(item) or "") == "tensorflow.function"
        for item in scope.decorators
    )
    kinds = {item.kind for item in scope.params}
    plain = [item for item in scope.params if item.kind == "plain"]
    if scope.kind not in ("function", "lambda") or not kept or len(plain) < bound:
        return None
    plain = plain[bound:]
    needed = sum(1 for item in plain if item.default is None)
    named = any(item.kind == "keyword" and item.default is None for item in scope.params)
    least = 1 if given == _OF_SCHEDULE else len(given)
    if not named and needed <= len(given) and ("*" in kinds or len(plain) >= least):
        return None
    taken = ", ".join(item.name for item in plain) or "nothing"
    values = {
        "function": shown if scope.kind == "function" else "this function",
        "taken": taken,
        "given": ", ".join(given),
    }
    needs = ((related.scope, related.block),) if related is not None else ()
    return hit_in(
        scope, scope.place, -1, values, needs=needs, related=(related,) if related is not None else ()
    )
