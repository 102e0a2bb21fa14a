"""What runs for every element, inside a graph, or in every step, and by which way it is reached."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from cfgfix.code.inference.branches import excluded
from cfgfix.code.inference.conditions import RUN_EAGERLY, Conditions, asks_mode
from cfgfix.code.inference.flow.datasets import DATASET, WITH_FUNCTION
from cfgfix.code.inference.flow.flow import Flow
from cfgfix.code.inference.flow.run import MAX_WAYS
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.inference.parameters import is_classmethod
from cfgfix.code.model.expressions import is_name, walk
from cfgfix.code.model.hit import Step, Way, at, steps_to
from cfgfix.code.model.nodes import Attribute, Boolean, Call, Conditional, Literal, Name, Place
from cfgfix.code.model.program import Program, is_keras_model, once
from cfgfix.code.model.summary import Block, Scope
from cfgfix.code.model.values import (
    Constant,
    Function,
    Instance,
    Items,
    Made,
    Site,
    Value,
    alternatives,
    functions_of,
    in_order,
    ways_to,
)
from cfgfix.core.records import dataclass, field, replace

ELEMENT = "element"
"""Traced once, then run as a graph for every element of a dataset."""
GRAPH = "graph"
"""Traced once (per signature), then run as a graph: under `tf.function`, a Keras step, `strategy.run`."""
PYTHON = "python"
"""Run by the interpreter for every element: under `numpy_function`, `py_function`, or a generator's code."""
STEP = "step"
"""Run by the interpreter in every step of a training loop."""

TRACED = frozenset({ELEMENT, GRAPH})
"""The kinds that TensorFlow traces: eager mode is off there."""

PY_FUNCTIONS = frozenset(
    {"tensorflow.numpy_function", "tensorflow.py_function", "tensorflow.py_func", "tensorflow.eager_py_func"}
)
KERAS_STEPS = frozenset({"train_step", "test_step", "predict_step"})
KERAS_COMPILES = ("keras.Model.compile", "keras.Sequential.compile")
_JUDGES = ((1, "loss"), (3, "metrics"), (4, "weighted_metrics"))
_JUDGED_BY = {"keras.metrics.": "update_state", "keras.losses.": "call"}
"""What Keras calls of an object in a compiled step, by where its class is from."""
MAX_LOOKED = 1_000
"""Most functions that are looked at to find the ways to one place."""
MAX_REACHED = 20_000
"""Most functions reached from all roots together."""


@dataclass(frozen=True, slots=True)
class Root:
    """Where a hot path begins.

    Attributes:
        kind: `element`, `graph`, `python` or `step`.
        scope: The function that is hot.
        step: The place that makes it hot, such as the `map` call; None for a Keras method, which `fit` calls.
        what: Words for messages: `map at line 12`, `@tf.function`, `Keras calls train_step`.
        site: The call that makes it hot, where there is one.
        function: The function as a value, where it is known.
        others: The same call, come to by other ways.
    """

    kind: str
    scope: Scope
    step: Step | None
    what: str
    site: Site | None = None
    function: Function | None = None
    others: list[Site] = field(default_factory=list)

    @property
    def is_of_step(self) -> bool:
        """Whether `compile` gives it to a step of Keras, and nothing else compiles it."""
        return self.kind == GRAPH and self.site is not None and self.site.name in KERAS_COMPILES

    def ways(self) -> Iterator[tuple[Step, ...]]:
        """Yield the ways to what makes it hot, with that place at the end of each."""
        if self.step is None:
            yield ()
        elif self.site is None:
            yield (self.step,)
        else:
            for site in (self.site, *self.others):
                for path in ways_to(site):
                    yield *steps_to(site.scope, path), self.step


@dataclass(frozen=True, slots=True)
class Reach:
    """A function that a root reaches, and the calls on the way.

    Attributes:
        root, scope, path: Where it begins, the function, the calls.
        given: What the calls on this way give for parameters that guards test, as pairs.
        before: What is reached before it, where that is kept.
        others: Other ways to it, by which no more of it is reached.
        beside: All that are kept of the function for this kind of root, which differ in what is given.
        guards: What tells whether a place of it is come to this way; None where every place is.
    """

    root: Root
    scope: Scope
    path: tuple[Site, ...]
    given: tuple[tuple[tuple[int, str], Any], ...] = ()
    before: Reach | None = None
    others: list[Reach] = field(default_factory=list)
    beside: Sequence[Reach] = ()
    guards: Ways | None = None

    def flow(self) -> tuple[Step, ...]:
        """Return the way as steps: the root's own place, then each call."""
        steps: list[Step] = []
        if self.root.step is not None:
            steps.append(self.root.step)
        steps += steps_to(self.scope, self.path)
        return tuple(steps)

    @property
    def via(self) -> str:
        """Words for messages: what makes it hot and what is called."""
        return self._via(self.root, direct=not self.path)

    def _via(self, root: Root, *, direct: bool) -> str:
        name = "a lambda" if root.scope.kind == "lambda" else root.scope.qualname
        if direct:
            return f"{root.what} calls {name}"
        last = self.scope.qualname if self.scope.kind != "lambda" else "a lambda"
        return f"{root.what} calls {name}, which leads to {last}"

    def ways(self, block: int, place: Place | None) -> Iterator[Way]:
        """Yield the ways to a place of the reached scope, up to its root.

        A way that passes the place by is left out.
        """
        left = [MAX_LOOKED]
        for here in (self, *(other for other in self.beside if other is not self)):
            if here is self or here.passes(block, place):
                for root, calls, steps in here.chains(block, place, frozenset(), left):
                    yield Way(steps, self._via(root, direct=not calls))

    def passes(self, block: int, place: Place | None) -> bool:
        """Tell whether a place of the function may run when it is reached this way."""
        return self.guards is None or not self.guards.excluded(
            self.scope, block, place, self.given, self.path, traced=self.root.kind in TRACED
        )

    def chains(
        self, block: int, place: Place | None, around: frozenset[int], left: list[int]
    ) -> Iterator[tuple[Root, int, tuple[Step, ...]]]:
        """Yield root, number of calls and steps of each way.

        No way comes through a function twice.

        Args:
            block: Block of the place that it leads to.
            place: Its span; None where only the block is asked about.
            around: The functions behind it on the way, by the identity of their scopes.
            left: How many more may be looked at, as the one item of a list.
        """
        if id(self.scope) in around:
            return
        for here in (self, *self.others):
            left[0] -= 1
            if left[0] < 0:
                return
            if here is not self and not here.passes(block, place):
                continue
            if here.before is None:
                for steps in here.root.ways():
                    yield here.root, len(here.path), (*steps, *steps_to(here.scope, here.path))
                continue
            last = here.path[-1].call
            for root, calls, steps in here.before.chains(
                last.block, last.place, around | {id(here.scope)}, left
            ):
                yield root, calls + 1, (*steps, *steps_to(here.scope, here.path[-1:]))


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
    """Which calls of a function lie on a way to it: guards with the values that the calls before gave, and receivers."""

    def __init__(self, program: Program) -> None:
        self._flow: Flow = program.flow
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
        """Yield the sites of a scope that run when it is reached by some calls.

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
                bound = _receiver(path[-1], scope)
            else:
                bound = function.receiver if function is not None else None
                made = self._flow.run_of(function) if function is not None else None
                same = [site for site in group if made is not None and site.through[-1:] == (made,)]
                # A run with other names around the function tells nothing of this one.
                group = same or [site for site in group if not self._flow.made_for(site)]
            for site in group:
                other = _receiver(site.through[-1], scope) if site.through else None
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
        """Tell whether some calls, with what they give, do not reach a place.

        The function is traced or not.
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
        """Tell whether a function asks whether it is run eagerly."""
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
        """Return what a call tells of the parameters of a function, for its guards.

        The call enters the function. Literal arguments count, defaults, and parameters handed on whose value is known.
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
        wanted = self._wanted(scope)
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
                    place = self._parameter(site.scope, expr.name)
                    if place in known:
                        found[(id(scope), name)] = known[place]
                    continue
                if isinstance(expr, Literal) and isinstance(expr.value, _SIMPLE):
                    found[(id(scope), name)] = expr.value
        return tuple(sorted(found.items(), key=lambda item: item[0])) if found else ()

    def _parameter(self, scope: Scope, name: str) -> tuple[int, str] | None:
        """Return which function's parameter a name is, here or in a function around, if it is never given anew."""
        here: Scope | None = scope
        while here is not None:
            if any(item.name == name for item in here.params):
                return (id(here), name) if _bound_once(here, name) else None
            if name in here.names and here.kind != "class":
                return None
            here = self._program.outer(here)
        return None

    def _wanted(self, scope: Scope) -> frozenset[str]:
        """Return the parameters that guards test, here or in a function inside, and those that are handed on by name."""
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
    """Return what is known of the parameters of a function that gets elements.

    Those of the functions around it are in it. Flags have their defaults, `functools.partial` may have given some, and the
    call of the function that it was made in others.
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


def _receiver(site: Site, scope: Scope) -> Value | None:
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
    """Return what tells the ways through a program's functions apart, made once."""
    return Ways(program)


def _overwritten(site: Site) -> bool:
    """Tell whether what a call makes is given a name, and the name something else before anything looks at it."""
    scope = site.scope
    event = statement_of(scope, site.call.place)
    if event is None or event.kind != "assign" or event.value is not site.call or len(event.targets) != 1:
        return False
    target = event.targets[0]
    if not isinstance(target, Name) or scope.loops(event.block) or target.name in scope.outer:
        return False
    around = set(scope.block_numbers(event.block))
    for later in scope.events():
        if later.place <= event.place:
            continue
        given = [part for part in (later.value, *later.managers) if part is not None]
        if any(is_name(part, target.name) for expr in given for part in walk(expr)) or later.kind == "define":
            return False
        if any(is_name(item, target.name) for item in later.targets):
            if later.block in around and later.kind == "assign":
                return True
            if later.kind != "assign":
                return False
    return False


class HotPaths:
    """All hot roots of a program and what they reach."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.flow: Flow = program.flow
        self.ways = ways_of(program)
        self.roots: list[Root] = list(self._roots())
        self._reached: dict[tuple[int, str], list[Reach]] = {}
        self._wide: dict[tuple[int, str], Reach] | None = None
        self._count = 0
        self._calls: dict[int, list[tuple[Site, Function]]] | None = None
        """The calls of compiled functions, by the scope they enter."""
        self._steps: list[tuple[Scope, int, Site]] | None = None
        self._taped: dict[tuple[int, int], bool] = {}
        for root in self.roots:
            self._spread(root)

    def reach(self, scope: Scope, *kinds: str) -> Reach | None:
        """Return how a function may be reached by a root of one of some kinds, or None.

        Guards and receivers are not looked at: this is for what is not to be said of such a function. A lambda or nested
        function that only exists inside a reached function is not thereby reached.
        """
        for kind in kinds:
            found = self._reached.get((id(scope), kind))
            if found is not None:
                return found[0]
        wide = self._may_reach()
        return next((wide[(id(scope), kind)] for kind in kinds if (id(scope), kind) in wide), None)

    def _may_reach(self) -> dict[tuple[int, str], Reach]:
        """Return what is reached only where guards and receivers are not looked at."""
        if self._wide is None:
            self._wide = {}
            pending = deque(found[0] for found in self._reached.values())
            while pending and len(self._wide) < MAX_REACHED:
                here = pending.popleft()
                if len(here.path) >= 12:
                    continue
                for site in self.flow.within(here.scope):
                    for target in site.targets:
                        key = (id(target.scope), here.root.kind)
                        if key not in self._reached and key not in self._wide:
                            self._wide[key] = Reach(here.root, target.scope, (*here.path, site))
                            pending.append(self._wide[key])
        return self._wide

    def reach_at(self, scope: Scope, block: int, place: Place | None, *kinds: str) -> Reach | None:
        """Return how a place is reached by a root of one of some kinds, or None.

        Guards and receivers count.
        """
        for kind in kinds:
            for found in self._reached.get((id(scope), kind), ()):
                if found.passes(block, place):
                    return found
        return None

    def reach_of(self, site: Site, *kinds: str) -> Reach | None:
        """Return how a call is reached by a root of one of some kinds, or None.

        Guards and receivers count.
        """
        return self.reach_at(site.scope, site.call.block, site.call.place, *kinds)

    def reached(self, *kinds: str) -> Iterator[Reach]:
        """Yield every function reached by a root of one of some kinds.

        It comes once for each way that differs in its guards.
        """
        for (_, kind), found in list(self._reached.items()):
            if kind in kinds:
                yield from found

    def _roots(self) -> Iterator[Root]:
        seen: dict[tuple[object, ...], Root] = {}
        for dataset in self.flow.datasets:
            site = dataset.site
            if site is None or not dataset.functions or _overwritten(site):
                continue
            generator = dataset.op == "from_generator"
            for function in dataset.functions:
                kind = PYTHON if generator else ELEMENT
                key = (
                    kind,
                    id(function.scope),
                    id(site.call),
                    id(self.flow.run_of(function)),
                    flags(function),
                )
                if key in seen:
                    seen[key].others.append(site)
                    continue
                seen[key] = Root(
                    kind,
                    function.scope,
                    at(site, label=f"{dataset.op} runs it for every element"),
                    f"{dataset.op} at line {site.call.name_line}",
                    site,
                    function,
                )
                yield seen[key]
        for site in self.flow.named("tensorflow.data.Dataset.reduce"):
            for function in functions_of(site.argument(WITH_FUNCTION["reduce"][1], "reduce_func")):
                yield Root(
                    ELEMENT,
                    function.scope,
                    at(site, label="reduce runs it for every element"),
                    "reduce",
                    site,
                    function,
                )
        for name in PY_FUNCTIONS:
            for site in self.flow.named(name):
                for function in functions_of(site.argument(0, "func")):
                    short = site.name.rsplit(".", 1)[1]
                    yield Root(
                        PYTHON,
                        function.scope,
                        at(site, label=f"{short} runs it in Python"),
                        f"{short} at line {site.call.name_line}",
                        site,
                        function,
                    )
        yield from self._graph_roots()

    def _graph_roots(self) -> Iterator[Root]:
        decorated: set[int] = set()
        # A step that the program calls itself is no hook of `fit`.
        called = {
            id(target.scope)
            for site in self.flow.entering
            if site.call.method in KERAS_STEPS and site.scope.name not in KERAS_STEPS
            for target in site.targets
        }
        for module in self.program.modules:
            for scope in module.summary.scopes:
                if scope.kind != "function":
                    continue
                if scope.decorators:
                    outer = self.program.outer(scope)
                    assert outer is not None
                    for decorator in scope.decorators:
                        func = decorator.func if isinstance(decorator, Call) else decorator
                        name = self.program.static_name(func, outer)
                        if name is not None and name.endswith(".function") and name.startswith("tensorflow."):
                            decorated.add(id(scope))
                            yield Root(GRAPH, scope, None, "@tf.function")
                owner = self.program.owner(scope)
                if (
                    owner is not None
                    and scope.name in KERAS_STEPS
                    and len(scope.params) > 1
                    and id(scope) not in called
                    and is_keras_model(self.program, owner)
                ):
                    yield Root(GRAPH, scope, None, f"Keras's fit compiles {scope.name} and")
        yield from self._judging_roots(decorated)
        for site in self.flow.named("tensorflow.function"):
            if not self._happens(site):
                continue
            for function in functions_of(site.argument(0, "func")):
                if id(function.scope) in decorated:
                    continue
                yield Root(
                    GRAPH,
                    function.scope,
                    at(site, label="tf.function compiles it"),
                    f"tf.function at line {site.call.line}",
                    site,
                    function,
                )

    def _judging_roots(self, decorated: set[int]) -> Iterator[Root]:
        """Yield the losses and metrics of the project that a model is compiled with: its steps are compiled with them."""
        seen = set(decorated)
        for site in self.flow.named(*KERAS_COMPILES):
            eagerly = site.call.keyword(RUN_EAGERLY)
            if site.call.opaque or (
                eagerly is not None and not (isinstance(eagerly, Literal) and not eagerly.value)
            ):
                continue
            for position, parameter in _JUDGES:
                for function in self._judging(site.argument(position, parameter)):
                    if id(function.scope) in seen:
                        continue
                    seen.add(id(function.scope))
                    yield Root(
                        GRAPH,
                        function.scope,
                        at(site, label=f"given to compile as one of its {parameter}"),
                        "Keras's fit compiles it into the step and",
                        site,
                        function,
                    )

    def _judging(self, value: Value | None) -> Iterator[Function]:
        """Yield the functions that Keras calls of a loss or metric, of each in a list."""
        for item in alternatives(value):
            if isinstance(item, Items):
                for inner in item.items:
                    yield from self._judging(inner)
            elif isinstance(item, Function):
                yield item
            elif isinstance(item, Instance):
                outside = self.program.bases(item.scope)[1]
                for kind, method in _JUDGED_BY.items():
                    if any(name.startswith(kind) for name in outside):
                        scope = self.program.method(item.scope, method)
                        if scope is not None:
                            yield Function(scope, receiver=item)

    def _happens(self, site: Site) -> bool:
        """Tell whether a call may run when its function is entered the way it was, by what is given on that way."""
        given: Pairs = ()
        path: tuple[Site, ...] = ()
        entered = (*site.through, site)
        for step, inner in itertools.pairwise(entered):
            target = next((item for item in step.targets if item.scope is inner.scope), None)
            if target is None:
                return True
            given = self.ways.given(step, target, given)
            path = (*path, step)
            if self.ways.excluded(inner.scope, inner.call.block, inner.call.place, given, path):
                return False
        return True

    def _known_at(self, root: Root) -> Pairs:
        """Return what is known of the parameters of a root, for the guards in it.

        Of a compiled function that is what all its calls in the program give alike.
        """
        if root.kind == ELEMENT:
            return flags(root.function)
        if root.kind != GRAPH or root.function is not None:
            return ()
        if self._calls is None:
            self._calls = {}
            for site in self.flow.compiled:
                for target in site.targets:
                    self._calls.setdefault(id(target.scope), []).append((site, target))
        calls = self._calls.get(id(root.scope), [])
        if any(site.name.startswith("tensorflow.") for site, _ in calls):
            # Something else calls it, as `strategy.run` does, and gives it what it was given.
            return ()
        known = [set(self.ways.given(site, target, ())) for site, target in calls]
        return tuple(sorted(set.intersection(*known), key=lambda item: item[0])) if known else ()

    def _spread(self, root: Root) -> None:
        pending = deque([Reach(root, root.scope, (), self._known_at(root), guards=self.ways)])
        while pending and self._count < MAX_REACHED:
            reach = pending.popleft()
            scope, path = reach.scope, reach.path
            known = self._reached.setdefault((id(scope), root.kind), [])
            same = next((other for other in known if self._covers(other, reach, len(known))), None)
            if same is not None:
                if len(same.others) < MAX_WAYS:
                    same.others.append(reach)
                continue
            self._count += 1
            alike = sum(self._run_of(other) is self._run_of(reach) for other in known)
            reach = replace(reach, given=reach.given if alike < MAX_VARIANTS else (), beside=known)
            known.append(reach)
            if len(path) >= 12:
                continue
            for site in self.ways.sites(scope, path, reach.given, root.function, traced=root.kind in TRACED):
                for target in site.targets:
                    given = self.ways.given(site, target, reach.given)
                    pending.append(
                        Reach(root, target.scope, (*path, site), given, before=reach, guards=self.ways)
                    )

    def _covers(self, other: Reach, reach: Reach, count: int) -> bool:
        """Tell whether what one way reaches is all that another does: it knows no more, and the same names stand around.

        Args:
            other: A way to a function that is kept.
            reach: Another way to it.
            count: How many ways to it are kept; from some number on the names around it are not looked at.
        """
        if other.given and not set(other.given) <= set(reach.given):
            return False
        run = self._run_of(reach)
        return run is None or count >= MAX_RUNS_KEPT or self._run_of(other) is run

    def _run_of(self, reach: Reach) -> Site | None:
        """Return the call for which the function of a root was run with the names around it; None for any other function."""
        function = reach.root.function
        return None if reach.path or function is None else self.flow.run_of(function)

    # Loops

    def step_loops(self) -> list[tuple[Scope, int, Site]]:
        """Return the loops that train, each as scope, block and call.

        The call in the loop makes a step: it calls a compiled function, a function that uses a gradient tape, or
        `train_on_batch`, in a scope that is not itself compiled.
        """
        if self._steps is not None:
            return self._steps
        found: list[tuple[Scope, int, Site]] = []
        names = [name for name in self.flow.by_name if name.endswith(".train_on_batch")]
        trained = [site for site in self.flow.named(*names) if not site.targets]
        for site in in_order([*self.flow.entering, *trained]) if trained else self.flow.entering:
            block = innermost_loop(site.scope, site.call.block)
            if block is None or self.reach(site.scope, GRAPH, ELEMENT, PYTHON) is not None:
                continue
            if site.name.endswith(".train_on_batch") or any(self._trains(target) for target in site.targets):
                found.append((site.scope, block, site))
        self._steps = found
        return found

    def _trains(self, function: Function) -> bool:
        if function.compiled is not None and "train" in function.scope.name:
            return True
        return self._uses_tape(function.scope, 0)

    def _uses_tape(self, scope: Scope, depth: int) -> bool:
        """Tell whether a function computes gradients itself or through what it calls directly."""
        key = (id(scope), depth)
        known = self._taped.get(key)
        if known is None:
            known = self._taped[key] = self._finds_tape(scope, depth)
        return known

    def _finds_tape(self, scope: Scope, depth: int) -> bool:
        sites = self.flow.within(scope)
        if any(site.name == "tensorflow.GradientTape" for site in sites):
            return True
        if depth < 2 and any(
            self._uses_tape(function.scope, depth + 1) for function in run_on_replicas(self.program, scope)
        ):
            return True
        return depth < 2 and any(
            target.scope is not scope and self._uses_tape(target.scope, depth + 1)
            for site in sites
            if site.targets and innermost_loop(scope, site.call.block) is None
            for target in site.targets
        )


_ON_REPLICAS = frozenset({"run", "experimental_run_v2", "experimental_run"})


def run_on_replicas(program: Program, scope: Scope) -> Iterator[Function]:
    """Yield the functions that a scope hands to `strategy.run`, outside any loop."""
    for call in scope.calls:
        if call.method not in _ON_REPLICAS or not call.args or innermost_loop(scope, call.block) is not None:
            continue
        if call.method != "run" or call.keyword("args") is not None:
            for function in functions_of(program.flow.stands_for(scope, call.args[0])):
                if function.scope is not scope:
                    yield function


def innermost_loop(scope: Scope, block: int) -> int | None:
    """Return the number of the innermost loop block around a block, or None."""
    while block >= 0:
        if scope.blocks[block].kind in ("for", "while"):
            return block
        block = scope.blocks[block].parent
    return None


def inside(scope: Scope, block: int, outer: int) -> bool:
    """Tell whether a block lies in another one of the same scope."""
    while block >= 0:
        if block == outer:
            return True
        block = scope.blocks[block].parent
    return False


def made_of(value: Value | None, *names: str) -> Made | None:
    """Return the object of one of some classes among a value's alternatives.

    None where there is none.
    """
    for item in alternatives(value):
        if isinstance(item, Made) and item.name in names:
            return item
    return None


@once
def hot_paths(program: Program) -> HotPaths:
    """Return the hot paths of a program, found once."""
    return HotPaths(program)


__all__ = [
    "ELEMENT",
    "GRAPH",
    "PYTHON",
    "STEP",
    "Block",
    "HotPaths",
    "Reach",
    "Root",
    "hot_paths",
    "innermost_loop",
    "inside",
]
