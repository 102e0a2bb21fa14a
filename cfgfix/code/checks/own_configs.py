"""Configurations that objects of the project give Keras, and that do not hold what their constructor needs."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.inference.releases import IMPORTS
from cfgfix.code.model.expressions import dotted, walk
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import (
    Attribute,
    Call,
    Comprehension,
    Dictionary,
    Expr,
    Lambda,
    Literal,
    Name,
    Starred,
    Subscript,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.rules.hit import Hit

NEEDLES = IMPORTS

_PLAIN = frozenset(
    {
        "keras.Layer",
        "keras.losses.Loss",
        "keras.metrics.Metric",
        "keras.optimizers.schedules.LearningRateSchedule",
        "keras.initializers.Initializer",
        "keras.constraints.Constraint",
        "keras.regularizers.Regularizer",
    }
)
"""Classes whose own configuration holds nothing but names, types and whether something is trained."""
_OF_KERAS = frozenset({"name", "dtype", "trainable", "reduction"})
_ADDS_NOTHING = frozenset(
    {
        "items",
        "copy",
        "list",
        "dict",
        "super",
        "get_config",
        "keys",
        "values",
        "float",
        "int",
        "str",
        "bool",
        "len",
    }
)


def lacks_argument(program: Program) -> Iterator[Hit]:
    """Find `get_config` that leaves out an argument the constructor needs."""
    for module in program.modules:
        for scope in module.summary.scopes:
            if scope.kind != "class" or "get_config" not in scope.children or "from_config" in scope.children:
                continue
            made = scope.children.get("__init__")
            if made is None:
                continue
            classes, outside = program.bases(scope)
            if len(classes) > 1 or len(scope.bases) != 1 or len(outside) != 1 or outside[0] not in _PLAIN:
                continue
            method = module.summary.scopes[scope.children["get_config"]]
            constructor = module.summary.scopes[made]
            if method.decorators or constructor.decorators:
                continue
            needed = [
                item.name
                for item in constructor.params[1:]
                if item.kind in ("plain", "keyword") and item.default is None and item.name not in _OF_KERAS
            ]
            if not needed:
                continue
            keys = _keys(method)
            if keys is None:
                continue
            lacking = [name for name in needed if name not in keys]
            if lacking:
                yield hit_in(
                    method,
                    method.place,
                    0,
                    {
                        "owner": scope.name,
                        "lacking": " and ".join(f"`{name}`" for name in lacking[:3]),
                    },
                    related=(Step(constructor, constructor.place, 0, "has no default for it"),),
                )


def _keys(method: Scope) -> frozenset[str] | None:
    """Return all texts that may be keys of what `get_config` returns; None where it may have others."""
    returned = [event for event in method.events() if event.kind == "return" and event.value is not None]
    if not returned:
        return None
    keys: set[str] = set()
    for event in method.events():
        if event.kind in ("for", "while", "with", "try", "match", "augment"):
            return None
        for target in event.targets:
            if isinstance(target, Subscript):
                if not isinstance(target.index, Literal) or not isinstance(target.index.value, str):
                    return None
                keys.add(target.index.value)
        for part in walk(event.value) if event.value is not None else ():
            found = _part(method, part)
            if found is None:
                return None
            keys |= found
    return frozenset(keys)


def _part(method: Scope, part: Expr) -> set[str] | None:
    """Return the keys that one part of an expression adds, None where it may add any."""
    if isinstance(part, Dictionary):
        keys: set[str] = set()
        for key, value in part.entries:
            if key is None:
                if not _config_so_far(method, value):
                    return None
            elif isinstance(key, Literal):
                keys.add(str(key.value))
            else:
                return None
        return keys
    if isinstance(part, Starred):
        return None
    if not isinstance(part, Call):
        return None if isinstance(part, Attribute) and part.attribute == "__dict__" else set()
    last = part.method or (dotted(part.func) or "").rpartition(".")[2]
    keys = {key for key, _ in part.keywords if key is not None}
    if last in ("update", "dict"):
        given = [*part.args, *(value for key, value in part.keywords if key is None)]
        if any(not isinstance(item, Dictionary) and not _config_so_far(method, item) for item in given):
            return None
        return keys
    if last in ("vars", "locals", "getattr", "asdict", "fromkeys", "zip", "setdefault", "pop"):
        return None
    if last in _ADDS_NOTHING or last.startswith(("serialize", "get_")):
        return keys
    # What a function of the project makes of it may be a configuration with more in it.
    return None if any(_config_so_far(method, item) for item in part.args) else keys


_KNOWN = frozenset({"super", "list", "dict", "type", "self", "cls"})


def _config_so_far(method: Scope, expr: Expr) -> bool:
    """Tell whether an expression is put together from configurations whose keys are seen elsewhere in the method."""
    for part in walk(expr):
        if isinstance(part, Attribute) and part.attribute not in _ADDS_NOTHING | {"__class__"}:
            return False
        if isinstance(part, Name) and part.name not in _KNOWN:
            bound = method.binding(part.name)
            owner = part.name == method.module.summary.scopes[method.parent].name
            if not owner and not (
                bound and all(isinstance(event.value, (Dictionary, Call)) for event in bound)
            ):
                return False
        if isinstance(part, (Comprehension, Lambda)):
            return False
    return not isinstance(expr, Subscript)
