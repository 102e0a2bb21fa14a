"""What runs for every element, inside a graph, or in every step, and by which way it is reached."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.records import dataclass
from cfgfix.source.entering import excluded
from cfgfix.source.flow import WITH_FUNCTION, Flow
from cfgfix.source.hit import Step, at, steps_to
from cfgfix.source.program import Program
from cfgfix.source.summary import Block, Scope
from cfgfix.source.values import Function, Made, Site, Value, alternatives, functions_of

ELEMENT = "element"
"""Traced once, then run as a graph for every element of a dataset."""
GRAPH = "graph"
"""Traced once (per signature), then run as a graph: under `tf.function`, a Keras step, `strategy.run`."""
PYTHON = "python"
"""Run by the interpreter for every element: under `numpy_function`, `py_function`, or a generator's code."""
STEP = "step"
"""Run by the interpreter in every step of a training loop."""

PY_FUNCTIONS = frozenset(
    {"tensorflow.numpy_function", "tensorflow.py_function", "tensorflow.py_func", "tensorflow.eager_py_func"}
)
KERAS_STEPS = frozenset({"train_step", "test_step", "predict_step"})
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
        before: Blocks whose guards must hold for the root itself.
    """

    kind: str
    scope: Scope
    step: Step | None
    what: str
    site: Site | None = None
    function: Function | None = None


@dataclass(frozen=True, slots=True)
class Reach:
    """A function that a root reaches, and the calls on the way."""

    root: Root
    scope: Scope
    path: tuple[Site, ...]

    def flow(self) -> tuple[Step, ...]:
        """Return the way as steps: the root's own place, then each call."""
        steps: list[Step] = []
        if self.root.step is not None:
            steps.append(self.root.step)
        steps += steps_to(self.scope, self.path)
        return tuple(steps)

    def excludes(self, site: Site) -> bool:
        """Tell whether a place in the function is not run on this way: its guard is a flag that the last call sets otherwise."""
        if not self.path and (self.root.function is None or self.root.function.partial):
            return False
        return excluded(self.path[-1] if self.path else None, site)

    @property
    def via(self) -> str:
        """Words for messages: what makes it hot and what is called."""
        name = self.root.scope.qualname
        name = "a lambda" if self.root.scope.kind == "lambda" else name
        if not self.path:
            return f"{self.root.what} calls {name}"
        last = self.scope.qualname if self.scope.kind != "lambda" else "a lambda"
        return f"{self.root.what} calls {name}, which leads to {last}"


class HotPaths:
    """All hot roots of a program and what they reach."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.flow: Flow = program.flow
        self.roots: list[Root] = list(self._roots())
        self._reached: dict[tuple[int, str], Reach] = {}
        self._steps: list[tuple[Scope, int, Site]] | None = None
        for root in self.roots:
            self._spread(root)

    def reach(self, scope: Scope, *kinds: str) -> Reach | None:
        """Return how a function is reached by a root of one of some kinds, or None.

        A lambda or nested function that only exists inside a reached function is not thereby reached.
        """
        for kind in kinds:
            found = self._reached.get((id(scope), kind))
            if found is not None:
                return found
        return None

    def reached(self, *kinds: str) -> Iterator[Reach]:
        """Yield every function reached by a root of one of some kinds."""
        for (_, kind), reach in list(self._reached.items()):
            if kind in kinds:
                yield reach

    def _roots(self) -> Iterator[Root]:
        seen: set[tuple[str, int, int]] = set()
        for dataset in self.flow.datasets:
            site = dataset.site
            if site is None or not dataset.functions:
                continue
            generator = dataset.op == "from_generator"
            for function in dataset.functions:
                kind = PYTHON if generator else ELEMENT
                if (kind, id(function.scope), id(site.call)) in seen:
                    continue
                seen.add((kind, id(function.scope), id(site.call)))
                line = site.call.name_place[0]
                yield Root(
                    kind,
                    function.scope,
                    at(site, label=f"{dataset.op} runs it for every element"),
                    f"{dataset.op} at line {line}",
                    site,
                    function,
                )
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
                        f"{short} at line {site.call.name_place[0]}",
                        site,
                        function,
                    )
        yield from self._graph_roots(seen)

    def _graph_roots(self, seen: set[tuple[str, int, int]]) -> Iterator[Root]:
        for module in self.program.modules:
            for scope in module.summary.scopes:
                if scope.kind != "function":
                    continue
                if scope.decorators:
                    outer = self.program.outer(scope)
                    assert outer is not None
                    for decorator in scope.decorators:
                        func = outer.calls[decorator[1]].func if decorator[0] == "c" else decorator
                        name = self.program.static_name(func, outer)
                        if name is not None and name.endswith(".function") and name.startswith("tensorflow"):
                            seen.add((GRAPH, id(scope), 0))
                            yield Root(GRAPH, scope, None, "@tf.function")
                owner = self.program.owner(scope)
                if owner is not None and scope.name in KERAS_STEPS and is_keras_model(self.program, owner):
                    yield Root(GRAPH, scope, None, f"Keras's fit compiles {scope.name} and")
        for site in self.flow.named("tensorflow.function"):
            for function in functions_of(site.argument(0, "func")):
                if (GRAPH, id(function.scope), 0) in seen:
                    continue
                yield Root(
                    GRAPH,
                    function.scope,
                    at(site, label="tf.function compiles it"),
                    f"tf.function at line {site.call.place[0]}",
                    site,
                    function,
                )

    def _spread(self, root: Root) -> None:
        pending: list[tuple[Scope, tuple[Site, ...]]] = [(root.scope, ())]
        while pending and len(self._reached) < MAX_REACHED:
            scope, path = pending.pop(0)
            key = (id(scope), root.kind)
            if key in self._reached:
                continue
            self._reached[key] = Reach(root, scope, path)
            if len(path) >= 12:
                continue
            reach = self._reached[key]
            for site in self.flow.within(scope):
                if site.targets and reach.excludes(site):
                    continue
                for target in site.targets:
                    if (id(target.scope), root.kind) not in self._reached:
                        pending.append((target.scope, (*path, site)))

    # Loops

    def step_loops(self) -> list[tuple[Scope, int, Site]]:
        """Return the loops that train: `(scope, block of the loop, the call in it that makes a step)`.

        Such a loop calls a compiled function, a function that uses a gradient tape, or `train_on_batch`, in a
        scope that is not itself compiled.
        """
        if self._steps is not None:
            return self._steps
        found: list[tuple[Scope, int, Site]] = []
        for site in self.flow.sites:
            if self.reach(site.scope, GRAPH, ELEMENT, PYTHON) is not None:
                continue
            block = innermost_loop(site.scope, site.call.block)
            if block is None:
                continue
            if site.name.endswith(".train_on_batch") or any(self._trains(target) for target in site.targets):
                found.append((site.scope, block, site))
        self._steps = found
        return found

    def _trains(self, function: Function) -> bool:
        if function.compiled is not None and "train" in function.scope.name:
            return True
        return self.uses_tape(function.scope)

    def uses_tape(self, scope: Scope, depth: int = 0) -> bool:
        """Tell whether a function computes gradients itself or through what it calls directly."""
        for site in self.flow.within(scope):
            if site.name == "tensorflow.GradientTape":
                return True
        if depth < 2:
            for site in self.flow.within(scope):
                if innermost_loop(site.scope, site.call.block) is None:
                    for target in site.targets:
                        if target.scope is not scope and self.uses_tape(target.scope, depth + 1):
                            return True
        return False


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


def is_keras_model(program: Program, owner: Scope) -> bool:
    """Tell whether a class of the project is a Keras model."""
    return any(
        name in ("keras.Model", "keras.Sequential") or name.startswith("keras.applications.")
        for name in program.bases(owner)[1]
    )


def is_keras_part(program: Program, owner: Scope) -> bool:
    """Tell whether a class of the project is a Keras model or layer."""
    return is_keras_model(program, owner) or any(
        name == "keras.Layer" or name.startswith("keras.layers.") for name in program.bases(owner)[1]
    )


def made_of(value: Value | None, *names: str) -> Made | None:
    """Return the object among a value's alternatives that is of one of some classes, or None."""
    for item in alternatives(value):
        if isinstance(item, Made) and item.name in names:
            return item
    return None


def hot_paths(program: Program) -> HotPaths:
    """Return the hot paths of a program, found once."""
    found: HotPaths | None = program.facts.get("hot")
    if found is None:
        found = program.facts["hot"] = HotPaths(program)
    return found


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
