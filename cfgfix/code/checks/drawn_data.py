"""Validation data drawn with the same random numbers as the training data."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.model.expressions import place_of, text
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import Call, Collection, Expr, Literal, Name
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Function
from cfgfix.rules.hit import Hit

_GENERATORS = frozenset(
    {"numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.seed", "tensorflow.random.Generator.from_seed",
     "tensorflow.random.set_seed"}
)  # fmt: skip
_DRAWS = frozenset(
    {"normal", "uniform", "integers", "randint", "rand", "randn", "random", "standard_normal", "poisson", "exponential", "random_sample"}
)  # fmt: skip
_READS = re.compile(
    r"(?:^|_)(?:open|i?glob|listdir|scandir|walk|fetch|download|query)|(?:^|_)(?:read|load)|file"
)
_COUNT = re.compile(
    r"(?i)(?:n|k|m|num|count|size|length|rows|samples|records|examples)(?:_\w+)?|\w+_(?:count|size|length|rows)"
)
_TRAINING = re.compile(r"(?i)(?:^|_)train(?:ing)?(?:_|$)|^(?:x|y)tr$")
_HELD_OUT = re.compile(r"(?i)(?:^|_)(?:val|valid|validation|test|dev|eval)(?:_|$)")


def drawn_as_training(program: Program) -> Iterator[Hit]:
    """Find calls that draw validation data with the seed of the training data."""
    for module in program.modules:
        for scope in module.summary.scopes:
            made: dict[int, list[tuple[Scope, Event, Call]]] = {}
            for event in scope.events():
                if event.kind != "assign" or len(event.targets) != 1 or not isinstance(event.value, Call):
                    continue
                value = program.static_value(event.value.func, scope)
                if isinstance(value, Function) and not event.value.opaque:
                    made.setdefault(id(value.scope), []).append((value.scope, event, event.value))
            for calls in made.values():
                if len(calls) == 2:
                    yield from _of_two(program, scope, calls)


def _of_two(program: Program, scope: Scope, calls: list[tuple[Scope, Event, Call]]) -> Iterator[Hit]:
    """Yield a hit where two calls draw training and validation data from one seed."""
    (function, first, one), (_, second, other) = calls
    seed = _seed_of(program, function)
    if seed is None or first.block != second.block:
        return
    if not _is_named(first, _TRAINING) or not _is_named(second, _HELD_OUT) or _is_named(second, _TRAINING):
        return
    names = [item.name for item in function.params]
    for position, item in enumerate(function.params):
        left, right = one.argument(position, item.name), other.argument(position, item.name)
        same = (text(left) if left is not None else None) == (text(right) if right is not None else None)
        if item.name == seed:
            if not same or not (
                left is None
                or isinstance(left, (Literal, Name))
                or text(left).isidentifier()
                or "." in text(left)
            ):
                return
        elif not same and _COUNT.fullmatch(item.name) is None:
            return
    if len(one.args) > len(names) or len(other.args) > len(names):
        return
    yield hit_in(
        scope,
        place_of(other, scope) or second.place,
        second.block,
        {"function": function.name, "seed": seed},
        related=(Step(scope, place_of(one, scope) or first.place, -1, "draws the same for the training"),),
    )


def _is_named(event: Event, pattern: re.Pattern[str]) -> bool:
    """Tell whether an assignment's target has a name that fits a pattern."""
    target: Expr = event.targets[0]
    items = target.items if isinstance(target, Collection) else (target,)
    return any(isinstance(item, Name) and pattern.search(item.name) is not None for item in items)


@once
def _seed_of(program: Program, function: Scope) -> str | None:
    """Return the parameter that seeds all random draws of a function, or None.

    None also where the function reads data.
    """
    seeds: set[str] = set()
    draws = False
    for call in function.calls:
        name = program.static_name(call.func, function) or ""
        if name in _GENERATORS:
            given = call.args[0] if call.args else None
            if not isinstance(given, Name) or function.binding(given.name):
                return None
            seeds.add(given.name)
        elif call.method in _DRAWS:
            draws = True
        elif _READS.search(text(call.func).rpartition(".")[2]):
            return None
    params = {item.name for item in function.params if item.kind == "plain"}
    return seeds.pop() if draws and len(seeds) == 1 and seeds <= params else None
