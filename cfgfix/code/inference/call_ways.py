"""Say which calls enter a function, and with which flags given as constants."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from heapq import merge
from operator import itemgetter
from typing import Any

from cfgfix.code.inference.branches import excluded
from cfgfix.code.inference.conditions import RUN_EAGERLY, Conditions, asks_mode
from cfgfix.code.inference.flow.datasets import DATASET
from cfgfix.code.inference.flow.flow import Flow, flow_of
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.inference.parameters import is_classmethod
from cfgfix.code.model.expressions import is_name, walk
from cfgfix.code.model.nodes import Attribute, Boolean, Conditional, Literal, Name, Place
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import (
    Constant,
    Function,
    Instance,
    Site,
    Value,
)

Pairs = tuple[tuple[tuple[int, str], Any], ...]


_SIMPLE = (bool, int, str, type(None))
"""What guards test."""


MAX_VARIANTS = 4
"""Most ways to one function that are told apart by what they give for its parameters; one more stands for all."""


MAX_RUNS_KEPT = 16
"""Most runs of one function with the names around it that are told apart."""


_KERAS_GIVES = frozenset({"training", "mask"})
"""Arguments of `call` that Keras fills in where the caller leaves them out (Keras 3.15, `keras/src/layers/layer.py`)."""


class Ways:
    """Decides which calls in a function run, given the call path that entered it.

    Guards are judged with the arguments of the calls on the path, and methods by their receivers.
    """

    def __init__(self, program: Program) -> None:
        self._flow: Flow = flow_of(program)
        self._program = program
        self._conditions = Conditions(program, None)
        self._tested: dict[int, frozenset[str]] = {}
        self._sites: dict[int, list[list[Site]]] = {}
        self._excluded: dict[tuple[int, int, Place | None, Pairs, bool], bool] = {}
        self._asking: dict[int, bool] = {}

    def sites(
        self,
        scope: Scope,
        path: tuple[Site, ...],
        given: Pairs,
        function: Function | None = None,
        *,
        traced: bool = False,
    ) -> Iterator[Site]:
        """Yield the call sites of a scope that run when a call path enters it.

        Args:
            scope: The scope.
            path: The calls on the way.
            given: What is known of its parameters.
            function: The first function of the way, where it is known as a value.
            traced: Whether TensorFlow traces the function.
        """
        groups = self._sites.get(id(scope))
        if groups is None:
            calls: dict[int, list[Site]] = {}
            for site in self._flow.within(scope):
                calls.setdefault(id(site.call), []).append(site)
            groups = self._sites[id(scope)] = list(calls.values())
        for every in groups:
            group = every
            if self.excluded(scope, group[0].call.block, group[0].call.place, given, path, traced=traced):
                continue
            if len(group) == 1 and not group[0].through:
                yield group[0]
                continue
            if path:
                # One run of the function was made for just this call: the others tell nothing of this way.
                same = [site for site in group if site.through and site.through[-1].call is path[-1].call]
                if same:
                    yield from same
                    continue
                bound = _receiver_value(path[-1], scope)
            else:
                bound = function.receiver if function is not None else None
                made = self._flow.run_of(function) if function is not None else None
                same = [site for site in group if made is not None and site.through[-1:] == (made,)]
                # A run with other names around the function tells nothing of this one.
                group = same or [site for site in group if not self._flow.made_for(site)]
            for site in group:
                other = _receiver_value(site.through[-1], scope) if site.through else None
                if (
                    not isinstance(bound, Instance)
                    or not isinstance(other, Instance)
                    or other.scope is bound.scope
                ):
                    yield site

    def excluded(
        self,
        scope: Scope,
        block: int,
        place: Place | None,
        given: Pairs,
        path: tuple[Site, ...] = (),
        *,
        traced: bool = False,
    ) -> bool:
        """Tell whether a place in a scope is not reached by a path of calls.

        Args:
            scope: The scope of the place.
            block: Its block.
            place: Its span; None leaves tests inside of its statement out.
            given: The known values of parameters.
            path: The calls that lead to the scope.
            traced: Whether TensorFlow traces the function.
        """
        if path and block and excluded(path[-1], scope, block, names=False):
            return True
        traced = traced and self._asks_mode(scope)
        if not given and not traced:
            return False
        key = (id(scope), block, place, given, traced)
        known = self._excluded.get(key)
        if known is None:
            known = self._excluded[key] = self._conditions.excluded(
                scope, block, place, dict(given), traced=traced
            )
        return known

    def _asks_mode(self, scope: Scope) -> bool:
        """Tell whether a function tests for eager execution."""
        known = self._asking.get(id(scope))
        if known is None:
            known = self._asking[id(scope)] = any(
                asks_mode(call.func) is not None for call in scope.calls
            ) or (
                RUN_EAGERLY in scope.module.summary.words
                and any(
                    isinstance(part, Attribute) and part.attribute == RUN_EAGERLY
                    for block in scope.blocks
                    if block.test is not None
                    for part in walk(block.test)
                )
            )
        return known

    def given(self, site: Site, target: Function, before: Pairs) -> Pairs:
        """Return the known values of parameters in a function that a call enters.

        Only parameters that guards test, or that are handed on, count. Their values come from literal arguments, defaults,
        and the caller's own parameters with values in `before`; `before` also gives those of functions around it.
        """
        scope = target.scope
        found: dict[tuple[int, str], Any] = {}
        if before:
            around = set()
            here = self._program.outer(scope)
            while here is not None:
                around.add(id(here))
                here = self._program.outer(here)
            found = {key: value for key, value in before if key[0] in around}
        wanted = self._tested_parameters(scope)
        call = site.call
        if wanted and not call.opaque and not target.partial and not site.name.startswith(DATASET):
            known = dict(before)
            offset = int(target.receiver is not None or is_classmethod(scope))
            for position, (name, _, default, kind) in enumerate(scope.params):
                if name not in wanted or kind not in ("plain", "keyword") or position < offset:
                    continue
                expr = call.argument(position - offset, name) if kind == "plain" else call.keyword(name)
                if expr is None:
                    if default is None or (scope.name == "call" and name in _KERAS_GIVES):
                        continue
                    expr = default
                elif isinstance(expr, Name):
                    place = self._parameter_of_name(site.scope, expr.name)
                    if place in known:
                        found[(id(scope), name)] = known[place]
                    continue
                if isinstance(expr, Literal) and isinstance(expr.value, _SIMPLE):
                    found[(id(scope), name)] = expr.value
        return tuple(sorted(found.items(), key=lambda item: item[0])) if found else ()

    def _parameter_of_name(self, scope: Scope, name: str) -> tuple[int, str] | None:
        """Return the parameter that a name refers to, as scope identity and name.

        It is looked for in the scope and the functions around. None where there is none or it is assigned again.
        """
        here: Scope | None = scope
        while here is not None:
            if any(item.name == name for item in here.params):
                return (id(here), name) if _bound_once(here, name) else None
            if name in here.names and here.kind != "class":
                return None
            here = self._program.outer(here)
        return None

    def _tested_parameters(self, scope: Scope) -> frozenset[str]:
        """Return the parameters of a function that tests use or calls hand on by name.

        Tests and calls in nested functions count too.
        """
        wanted = self._tested.get(id(scope))
        if wanted is None:
            names = {name for name, _, _, kind in scope.params if kind in ("plain", "keyword")}
            used: set[str] = set()
            if names:
                pending = [scope]
                scopes = scope.module.summary.scopes
                for inner in scopes[scope.number + 1 :]:
                    if inner.line > scope.end_line:
                        break
                    pending.append(inner)
                for here in pending:
                    for block in here.blocks:
                        if block.test is not None and block.kind in ("if", "while"):
                            used.update(part.name for part in walk(block.test) if isinstance(part, Name))
                    for call in here.calls:
                        used.update(item.name for item in call.args if isinstance(item, Name))
                        used.update(item.name for _, item in call.keywords if isinstance(item, Name))
                    for event in here.events():
                        if event.value is not None:
                            for part in walk(event.value):
                                if isinstance(part, Conditional):
                                    used.update(
                                        inner.name for inner in walk(part.test) if isinstance(inner, Name)
                                    )
                                elif isinstance(part, Boolean):
                                    used.update(item.name for item in part.operands if isinstance(item, Name))
            wanted = self._tested[id(scope)] = frozenset(names & used)
        return wanted


def flags(function: Function | Scope | None) -> Pairs:
    """Return the known parameter values of a function that gets dataset elements.

    They come from boolean defaults, from `functools.partial`, and from the call of the functions around it. Empty for a
    function that is not known as a value.
    """
    if not isinstance(function, Function):
        return ()
    known: dict[tuple[int, str], Any] = {}
    env = function.env
    while env is not None:
        if env.scope.kind == "function":
            for name, _, _, _ in env.scope.params:
                given = env.names.get(name)
                if (
                    type(given) is Constant
                    and isinstance(given.value, _SIMPLE)
                    and _bound_once(env.scope, name)
                ):
                    known[(id(env.scope), name)] = given.value
        env = env.parent
    fixed = dict(function.fixed)
    taken = function.partial + int(function.receiver is not None)
    found: dict[str, Any] = {}
    for position, (name, _, default, kind) in enumerate(function.scope.params):
        value = None if default is None or not isinstance(default, Literal) else default.value
        if name in fixed:
            if isinstance(fixed[name], _SIMPLE):
                found[name] = fixed[name]
        elif position >= taken and kind in ("plain", "keyword") and isinstance(value, bool):
            found[name] = value
    known.update(((id(function.scope), name), value) for name, value in found.items())
    return tuple(sorted(known.items(), key=lambda item: item[0]))


def _receiver_value(site: Site, scope: Scope) -> Value | None:
    return next((target.receiver for target in site.targets if target.scope is scope), None)


def _bound_once(scope: Scope, name: str) -> bool:
    """Tell whether nothing but its parameter binds a name in a function."""
    return not any(
        isinstance(part, Name) and part.name == name
        for event in scope.events()
        for target in event.targets
        for part in walk(target)
    )


@once
def ways_of(program: Program) -> Ways:
    """Return the `Ways` of a program, made once."""
    return Ways(program)


class _NameUses:
    """The statements of a scope that use or assign names.

    Attributes:
        numbers: The numbers of its statements in order, by identity.
    """

    __slots__ = ("_by_name", "_defines", "numbers")

    def __init__(self, scope: Scope) -> None:
        self.numbers: dict[int, int] = {}
        self._by_name: dict[str, list[tuple[int, Event, bool]]] = {}
        self._defines: list[tuple[int, Event, bool]] = []
        for number, event in enumerate(scope.events()):
            self.numbers[id(event)] = number
            if event.kind == "define":
                # What a function uses of the names around it is not looked at.
                self._defines.append((number, event, True))
                continue
            used = {
                part.name
                for expr in (event.value, *event.managers)
                if expr is not None
                for part in walk(expr)
                if isinstance(part, Name)
            }
            given = {item.name for item in event.targets if isinstance(item, Name)}
            for name in used | given:
                self._by_name.setdefault(name, []).append((number, event, name in used))

    def behind(self, name: str, number: int) -> Iterator[tuple[Event, bool]]:
        """Yield the later statements that use or assign a name.

        Each comes with whether it uses the name.

        Args:
            name: The name.
            number: The number of the statement behind which to look.
        """
        rows = [_statements_behind(row, number) for row in (self._by_name.get(name, []), self._defines)]
        for _, event, uses in merge(*rows, key=itemgetter(0)):
            yield event, uses


def _statements_behind(row: list[tuple[int, Event, bool]], number: int) -> Iterator[tuple[int, Event, bool]]:
    for index in range(bisect_right(row, number, key=itemgetter(0)), len(row)):
        yield row[index]


@once
def _name_uses(program: Program, scope: Scope) -> _NameUses:
    del program
    return _NameUses(scope)


def is_overwritten_unused(program: Program, site: Site) -> bool:
    """Tell whether a name that gets a call's result is reassigned before any use."""
    scope = site.scope
    event = statement_of(scope, site.call.place)
    if event is None or event.kind != "assign" or event.value is not site.call or len(event.targets) != 1:
        return False
    target = event.targets[0]
    if not isinstance(target, Name) or scope.loops(event.block) or target.name in scope.outer:
        return False
    around = set(scope.block_numbers(event.block))
    index = _name_uses(program, scope)
    own = index.numbers[id(event)]
    for later, uses in index.behind(target.name, own):
        if later.place <= event.place:
            continue
        if uses:
            return False
        if any(is_name(item, target.name) for item in later.targets):
            if later.block in around and later.kind == "assign":
                return True
            if later.kind != "assign":
                return False
    return False
