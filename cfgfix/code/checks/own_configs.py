"""`get_config` methods that leave out arguments of their constructor."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import in_tests
from cfgfix.code.checks.outputs import constant_in_every_call
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import dotted, is_name, text, walk
from cfgfix.code.model.hit import Step, at, hit_in
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
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
from cfgfix.code.model.program import Program, is_keras_part
from cfgfix.code.model.summary import Parameter, Scope
from cfgfix.code.model.values import Constant, Site, alternatives
from cfgfix.rules.hit import Hit

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


_MAKES_PARTS = frozenset({"__init__", "build"})


def lacks_argument(program: Program) -> Iterator[Hit]:
    """Find `get_config` that leaves out an argument the constructor needs."""
    for scope, base, method, constructor in _own_ways(program):
        needed = [item.name for item in _own_parameters(constructor) if item.default is None]
        if not needed or base not in _PLAIN:
            continue
        keys = _result_keys(method)
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


def loses_argument(program: Program) -> Iterator[Hit]:
    """Find `get_config` that leaves out an argument given in some call."""
    for scope, base, method, constructor in _own_ways(program):
        if not base.startswith("keras."):
            continue
        kept = [
            (number, item)
            for number, item in enumerate(constructor.params)
            if item in _own_parameters(constructor)
            and item.default is not None
            and _is_kept(constructor, item.name)
        ]
        keys = _result_keys(method) if kept and _shows_all(method) else None
        if keys is None or not keys <= {item.name for item in constructor.params} | _OF_KERAS:
            # Under other names than the constructor's, it is no configuration that Keras can use.
            continue
        for number, item in kept:
            given = _other_value(program, constructor, number, item) if item.name not in keys else None
            if given is not None:
                yield hit_in(
                    method,
                    method.place,
                    0,
                    {"owner": scope.name, "lacking": item.name, "default": text(item.default)},
                    related=(at(given, label=f"made with another `{item.name}` here"),),
                )
                break


def _shows_all(method: Scope) -> bool:
    """Tell whether everything that `get_config` returns is visible in its own code."""
    return all(
        event.value is not None and _is_seen(method, event.value, 4) for event in method.events_of("return")
    )


def _is_seen(method: Scope, expr: Expr, depth: int) -> bool:
    if isinstance(expr, Name):
        bound = [event.value for event in method.binding(expr.name) if event.kind in ("assign", "annotate")]
        return (
            depth > 0
            and bool(bound)
            and all(value is not None and _is_seen(method, value, depth - 1) for value in bound)
        )
    if isinstance(expr, Binary):
        return all(_is_seen(method, part, depth) for part in (expr.left, expr.right))
    if not isinstance(expr, Call):
        return isinstance(expr, Dictionary)
    if expr.method in ("get_config", "copy") and expr.receiver is not None:
        base = expr.receiver
        if expr.method == "copy":
            return _is_seen(method, base, depth)
        return isinstance(base, Call) and is_name(base.func, "super")
    return is_name(expr.func, "dict")


def _own_ways(program: Program) -> Iterator[tuple[Scope, str, Scope, Scope]]:
    """Yield classes with their own `get_config` and constructor.

    Each comes with the name of its base, the `get_config` and the constructor.
    """
    for module in program.modules:
        for scope in module.summary.scopes:
            if scope.kind != "class" or "get_config" not in scope.children or "from_config" in scope.children:
                continue
            made = scope.children.get("__init__")
            classes, outside = program.bases(scope)
            if made is None or len(classes) > 1 or len(scope.bases) != 1 or len(outside) != 1:
                continue
            method = module.summary.scopes[scope.children["get_config"]]
            constructor = module.summary.scopes[made]
            if not method.decorators and not constructor.decorators:
                yield scope, outside[0], method, constructor


def _own_parameters(constructor: Scope) -> list[Parameter]:
    return [
        item
        for item in constructor.params[1:]
        if item.kind in ("plain", "keyword") and item.name not in _OF_KERAS
    ]


def _is_kept(constructor: Scope, name: str) -> bool:
    """Tell whether a constructor stores an argument and does not pass it to its base."""
    if any(
        is_name(part, name)
        for call in constructor.calls_of("__init__")
        for given in (*call.args, *(value for _, value in call.keywords))
        for part in walk(given)
    ):
        return False
    return any(
        is_name(part, name)
        for event in constructor.events_of("assign")
        if event.value is not None
        and any(isinstance(part, Attribute) for target in event.targets for part in walk(target))
        for part in walk(event.value)
    )


def _other_value(program: Program, constructor: Scope, number: int, item: Parameter) -> Site | None:
    """Return a call that gives a parameter a value other than its default, or None."""
    for site in flow_of(program).callers(constructor):
        given = site.call.argument(number - 1, item.name)
        if given is None or site.call.opaque or in_tests(site.scope):
            continue
        owner = program.owner(site.scope)
        if owner is program.owner(constructor):
            # A copy of the object itself.
            continue
        if owner is not None and is_keras_part(program, owner) and site.scope.name in _MAKES_PARTS:
            # A part of a model or layer, which makes it again itself and asks it for nothing.
            continue
        values = alternatives(site.argument(number - 1, item.name))
        known: Literal | Constant | None = (
            constant_in_every_call(program, site.scope, given.name) if isinstance(given, Name) else None
        )
        if known is None and len(values) == 1 and isinstance(values[0], Constant):
            known = values[0]
        if isinstance(item.default, Literal) and known is not None:
            if known.value != item.default.value:
                return site
        elif text(given) != text(item.default) and not (isinstance(given, Name) and given.name == item.name):
            return site
    return None


def _result_keys(method: Scope) -> frozenset[str] | None:
    """Return all keys that the result of `get_config` may have.

    Return None where it may have others.
    """
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
            found = _keys_of_part(method, part)
            if found is None:
                return None
            keys |= found
    return frozenset(keys)


def _keys_of_part(method: Scope, part: Expr) -> set[str] | None:
    """Return the keys that one part of an expression adds; None where it may add any."""
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
    """Tell whether an expression uses only configs whose keys are read elsewhere."""
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
