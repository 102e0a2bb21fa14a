"""Keras models: which calls are theirs, whether they train or run eagerly."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.guarded_calls import flag
from cfgfix.code.inference.conditions import RUN_EAGERLY
from cfgfix.code.inference.entry_points import switched_by_entries
from cfgfix.code.inference.flow.datasets import DATASET
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, is_true, walk
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import (
    Attribute,
    Dictionary,
    Expr,
    Literal,
    Name,
)
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import (
    Dataset,
    Site,
    Value,
    alternatives,
)


def switched_eager(program: Program) -> Iterator[tuple[Scope, Site]]:
    """Yield the scopes that turn compiling off, each with the call.

    The scope may call a project function that passes its parameter to the switch.
    """
    told: dict[int, str] = {}
    for site in flow_of(program).named(
        "tensorflow.config.run_functions_eagerly",
        "tensorflow.config.experimental_run_functions_eagerly",
    ):
        if flag(site.argument(0, "run_eagerly")) is True:
            yield site.scope, site
        expr = site.call.argument(0, "run_eagerly")
        if (
            expr is not None
            and isinstance(expr, Name)
            and any(item.name == expr.name for item in site.scope.params)
        ):
            told[id(site.scope)] = expr.name
    for site in flow_of(program).sites if told else ():
        for target in site.targets:
            name = told.get(id(target.scope))
            if name is None:
                continue
            offset = int(target.receiver is not None)
            for position, (parameter, _, default, _) in enumerate(target.scope.params):
                given = site.call.argument(position - offset, name) if parameter == name else None
                if parameter == name and is_true(given if given is not None else default):
                    yield site.scope, site


def fits_eagerly(program: Program) -> bool:
    """Tell whether any `run_eagerly` of the program is True."""
    return True in _eager_fits(program)


def may_fit_eagerly(program: Program) -> bool:
    """Tell whether any `run_eagerly` of the program is unknown.

    Example: `run_eagerly=args.debug`.
    """
    return None in _eager_fits(program)


@once
def _eager_fits(program: Program) -> frozenset[bool | None]:
    """Return all values of `run_eagerly` in the program."""
    return frozenset(
        value
        for module in program.modules
        if RUN_EAGERLY in module.summary.words
        for scope in module.summary.scopes
        for value in _eager_settings(program, scope)
    )


def _eager_settings(program: Program, scope: Scope) -> Iterator[bool | None]:
    """Yield the values of `run_eagerly` in a scope.

    None stands for an unknown value.
    """
    exprs = [expr for call in scope.calls for expr in (*call.args, *(value for _, value in call.keywords))]
    for event in scope.events():
        if event.value is not None:
            exprs.append(event.value)
            if any(
                isinstance(target, Attribute) and target.attribute == RUN_EAGERLY for target in event.targets
            ):
                yield _literal_truth(event.value)
    for expr in exprs:
        for part in walk(expr):
            if isinstance(part, Dictionary):
                for key, value in part.entries:
                    if key is not None and constant(key) == RUN_EAGERLY:
                        yield _literal_truth(value)
    for call in scope.calls:
        given = call.keyword(RUN_EAGERLY)
        if given is None:
            continue
        literal = _literal_truth(given)
        values = [
            flag(site.keywords.get(RUN_EAGERLY))
            for site in flow_of(program).within(scope)
            if site.call is call
        ]
        yield from values if literal is None and values else (literal,)


def _literal_truth(expr: Expr) -> bool | None:
    return bool(expr.value) if isinstance(expr, Literal) else None


@once
def kept_eager(program: Program, module: Module, *, always: bool = False) -> bool:
    """Tell whether compiling is turned off for a module.

    A switch stands in its file, or in whatever a run of it begins with.

    Args:
        program: The program.
        module: The module.
        always: Whether a switch under a condition, such as an option, does not count.
    """
    switched = [
        (scope.module, scope.kind == "module")
        for scope, site in switched_eager(program)
        if not always or not any(item.kind == "if" for item in scope.block_chain(site.call.block))
    ]
    return any(item is module for item, _ in switched) or (
        bool(switched) and switched_by_entries(program, module, switched)
    )


_OF_MODELS = frozenset(
    {
        "epochs",
        "initial_epoch",
        "steps_per_epoch",
        "validation_data",
        "validation_steps",
        "validation_split",
        "callbacks",
        "class_weight",
        "workers",
        "use_multiprocessing",
    }
)
"""Arguments by which a method of something that is not known says that it is that of a Keras model."""


def model_calls(program: Program, method: str) -> Iterator[Site]:
    """Yield the calls of a method on Keras models.

    An unknown object counts as a model where a dataset or a keyword of models is passed.
    """
    for name in ("keras.Model", "keras.Sequential"):
        yield from flow_of(program).named(f"{name}.{method}")
    for site in flow_of(program).under("keras.applications.", "keras.models.", "keras.saving."):
        if site.call.method == method and keras_model_method(site.name) == method:
            yield site
    for site in flow_of(program).unresolved:
        if site.call.method == method and (
            any(name in _OF_MODELS for name, _ in site.call.keywords)
            or any(isinstance(value, Dataset) for value in site.args[:1])
        ):
            yield site


def compiles_of(program: Program, *models: Value) -> list[Site]:
    """Return the `compile` calls on models, in the order they were met."""
    known = _compiles_by_model(program)
    found = {site.number: site for model in models for site in known.get(id(model), ())}
    return [found[number] for number in sorted(found)]


@once
def _compiles_by_model(program: Program) -> dict[int, list[Site]]:
    found: dict[int, list[Site]] = {}
    for site in flow_of(program).sites:
        if site.call.method == "compile" and site.receiver is not None:
            for model in alternatives(site.receiver):
                found.setdefault(id(model), []).append(site)
    return found


def method_of(site: Site) -> str:
    """Return the dataset method that a call runs, or empty text."""
    return site.name[len(DATASET) + 1 :] if site.name.startswith(DATASET + ".") else ""


_MAKERS = (
    r"keras\.(?:Model|Sequential|applications\.(?:\w+\.)?[A-Z]\w*"
    r"|(?:models|saving)\.(?:load_model|clone_model|model_from_json|model_from_config|model_from_yaml))"
)
MAKES_KERAS_MODEL = re.compile(_MAKERS)
"""Canonical names of what makes a model of Keras."""
_KERAS_MODEL = re.compile(_MAKERS + r"\.(\w+)")


def keras_model_method(name: str) -> str:
    """Return the Keras model method of a canonical name, or empty text.

    Anything may have made the model: a class, a loader, an application.
    """
    found = _KERAS_MODEL.fullmatch(name)
    return found[1] if found else ""


TRAINING = frozenset({"fit", "fit_generator", "train_on_batch", "apply_gradients", "minimize"})
"""Methods by which Keras and TensorFlow train."""


def trains(program: Program, scope: Scope) -> bool:
    """Tell whether a file trains, itself or through what it calls.

    What only evaluates or prepares data is not slowed for long.
    """
    seen: set[int] = set()
    pending = [(item, 0) for item in scope.module.summary.scopes]
    while pending and len(seen) < 400:
        here, depth = pending.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        for call in here.calls:
            if call.method in TRAINING:
                return True
        if depth < 3:
            pending += [
                (target.scope, depth + 1) for site in flow_of(program).within(here) for target in site.targets
            ]
    return False
