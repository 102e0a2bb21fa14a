"""What runs for every element, inside a graph, or in every step, and by which way it is reached."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from cfgfix.code.inference.call_ways import (
    MAX_RUNS_KEPT,
    MAX_VARIANTS,
    Pairs,
    Ways,
    flags,
    is_overwritten_unused,
    ways_of,
)
from cfgfix.code.inference.conditions import RUN_EAGERLY
from cfgfix.code.inference.flow.datasets import WITH_FUNCTION
from cfgfix.code.inference.flow.flow import Flow, flow_of
from cfgfix.code.inference.flow.run import MAX_WAYS
from cfgfix.code.model.hit import Step, Way, at, steps_to
from cfgfix.code.model.nodes import Call, Literal, Place
from cfgfix.code.model.program import Program, is_keras_model, once
from cfgfix.code.model.summary import Block, Scope
from cfgfix.code.model.values import (
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
        by_keras: Whether Keras makes it hot, which can be told not to.
    """

    kind: str
    scope: Scope
    step: Step | None
    what: str
    site: Site | None = None
    function: Function | None = None
    others: list[Site] = field(default_factory=list)
    by_keras: bool = False

    @property
    def is_of_step(self) -> bool:
        """Whether only Keras's `compile` makes the function part of a compiled step."""
        return self.kind == GRAPH and self.site is not None and self.site.name in KERAS_COMPILES

    def ways(self) -> Iterator[tuple[Step, ...]]:
        """Yield each way as steps, the last being the place that makes the function hot.

        One empty way for a Keras method, which has no such place.
        """
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
        """The way in words for messages, such as `map at line 12 calls f`."""
        return self._way_text(self.root, direct=not self.path)

    def _way_text(self, root: Root, *, direct: bool) -> str:
        name = "a lambda" if root.scope.kind == "lambda" else root.scope.qualname
        if direct:
            return f"{root.what} calls {name}"
        last = self.scope.qualname if self.scope.kind != "lambda" else "a lambda"
        return f"{root.what} calls {name}, which leads to {last}"

    def ways(self, block: int, place: Place | None) -> Iterator[Way]:
        """Yield each way from a root to a place in the reached function.

        Ways whose guards keep the place from running are left out.
        """
        left = [MAX_LOOKED]
        for here in (self, *(other for other in self.beside if other is not self)):
            if here is self or here.passes(block, place):
                for root, calls, steps in here.chains(block, place, frozenset(), left):
                    yield Way(steps, self._way_text(root, direct=not calls))

    def passes(self, block: int, place: Place | None) -> bool:
        """Tell whether a place in the function may run when it is reached this way."""
        return self.guards is None or not self.guards.excluded(
            self.scope, block, place, self.given, self.path, traced=self.root.kind in TRACED
        )

    def chains(
        self, block: int, place: Place | None, around: frozenset[int], left: list[int]
    ) -> Iterator[tuple[Root, int, tuple[Step, ...]]]:
        """Yield each way to a place, as its root, its number of calls and its steps.

        No way passes through a function twice.

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


class HotPaths:
    """All hot roots of a program, and the functions that they reach."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.flow: Flow = flow_of(program)
        self.ways = ways_of(program)
        self.roots: list[Root] = list(self._hot_roots())
        self._reached: dict[tuple[int, str], list[Reach]] = {}
        self._wide: dict[tuple[int, str], Reach] | None = None
        self._count = 0
        self._calls: dict[int, list[tuple[Site, Function]]] | None = None
        """The calls of compiled functions, by the scope they enter."""
        self._steps: list[tuple[Scope, int, Site]] | None = None
        self._taped: dict[tuple[int, int], bool] = {}
        for root in self.roots:
            self._spread_from(root)

    def reach(self, scope: Scope, *kinds: str) -> Reach | None:
        """Return how a function may be reached from a root of some kinds, or None.

        Guards and receivers are ignored: checks ask this to leave such functions out. A lambda or nested function is not
        reached by being defined in a reached function.
        """
        for kind in kinds:
            found = self._reached.get((id(scope), kind))
            if found is not None:
                return found[0]
        wide = self._may_reach()
        return next((wide[(id(scope), kind)] for kind in kinds if (id(scope), kind) in wide), None)

    def _may_reach(self) -> dict[tuple[int, str], Reach]:
        """Return what is reached only if guards and receivers are ignored.

        The keys are the scope's identity and the kind of root.
        """
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
        """Return how a place is reached from a root of some kinds, or None.

        Guards and receivers count.
        """
        for kind in kinds:
            for found in self._reached.get((id(scope), kind), ()):
                if found.passes(block, place):
                    return found
        return None

    def reach_of(self, site: Site, *kinds: str) -> Reach | None:
        """Return how a call is reached from a root of some kinds, or None.

        Guards and receivers count.
        """
        return self.reach_at(site.scope, site.call.block, site.call.place, *kinds)

    def reached(self, *kinds: str) -> Iterator[Reach]:
        """Yield every function reached from a root of some kinds.

        A function is yielded once for each way that differs in its guards.
        """
        for (_, kind), found in list(self._reached.items()):
            if kind in kinds:
                yield from found

    def _hot_roots(self) -> Iterator[Root]:
        seen: dict[tuple[object, ...], Root] = {}
        for dataset in self.flow.datasets:
            site = dataset.site
            if site is None or not dataset.functions or is_overwritten_unused(self.program, site):
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
                    yield Root(GRAPH, scope, None, f"Keras's fit compiles {scope.name} and", by_keras=True)
        yield from self._judging_roots(decorated)
        for site in self.flow.named("tensorflow.function"):
            if not self._may_happen(site):
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
        """Yield roots for the project's losses and metrics that go to Keras's `compile`.

        Functions in `decorated`, by identity of their scopes, and calls that may ask for eager runs are left out.
        """
        seen = set(decorated)
        for site in self.flow.named(*KERAS_COMPILES):
            eagerly = site.call.keyword(RUN_EAGERLY)
            if site.call.opaque or (
                eagerly is not None and not (isinstance(eagerly, Literal) and not eagerly.value)
            ):
                continue
            for position, parameter in _JUDGES:
                for function in self._judging_functions(site.argument(position, parameter)):
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
                        by_keras=True,
                    )

    def _judging_functions(self, value: Value | None) -> Iterator[Function]:
        """Yield the functions that Keras calls for a loss, a metric, or a list of them."""
        for item in alternatives(value):
            if isinstance(item, Items):
                for inner in item.items:
                    yield from self._judging_functions(inner)
            elif isinstance(item, Function):
                yield item
            elif isinstance(item, Instance):
                outside = self.program.bases(item.scope).outside
                for kind, method in _JUDGED_BY.items():
                    if any(name.startswith(kind) for name in outside):
                        scope = self.program.method(item.scope, method)
                        if scope is not None:
                            yield Function(scope, receiver=item)

    def _may_happen(self, site: Site) -> bool:
        """Tell whether a call may run, given the arguments of the calls that led to it."""
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
        """Return the known parameter values of a root, for the guards in it.

        For a compiled function these are the values that all its calls in the program share.
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

    def _spread_from(self, root: Root) -> None:
        pending = deque([Reach(root, root.scope, (), self._known_at(root), guards=self.ways)])
        while pending and self._count < MAX_REACHED:
            reach = pending.popleft()
            scope, path = reach.scope, reach.path
            known = self._reached.setdefault((id(scope), root.kind), [])
            same = next((other for other in known if self._covers_reach(other, reach, len(known))), None)
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

    def _covers_reach(self, other: Reach, reach: Reach, count: int) -> bool:
        """Tell whether a kept way to a function reaches all that another way reaches.

        The kept way must know no other argument values, and have its function made in the same run.

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
        """Return the call whose run made the function of a root.

        None for other functions, and for a way with calls on it.
        """
        function = reach.root.function
        return None if reach.path or function is None else self.flow.run_of(function)

    # Loops

    def step_loops(self) -> list[tuple[Scope, int, Site]]:
        """Return the training loops, each as scope, block of the loop, and call.

        The call is a training step: it enters a compiled function or one with a gradient tape, or is `train_on_batch`. Loops in
        compiled functions do not count.
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
            if site.name.endswith(".train_on_batch") or any(
                self._trains_model(target) for target in site.targets
            ):
                found.append((site.scope, block, site))
        self._steps = found
        return found

    def _trains_model(self, function: Function) -> bool:
        if function.compiled is not None and "train" in function.scope.name:
            return True
        return self._uses_tape(function.scope, 0)

    def _uses_tape(self, scope: Scope, depth: int) -> bool:
        """Tell whether a function, or one that it calls, computes gradients.

        Two levels of calls are followed; `depth` tells how many have been.
        """
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
            for function in functions_of(flow_of(program).value_of_name(scope, call.args[0])):
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
    """Return the first alternative of a value that is an object of some classes.

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
