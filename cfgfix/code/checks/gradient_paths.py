"""Losses through which no gradient reaches the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cfgfix.code.checks.common import in_tests
from cfgfix.code.checks.gradients import asked_gradients
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.canonical_names import canonical_name
from cfgfix.code.model.expressions import constant, dotted, is_name, text
from cfgfix.code.model.hit import Step, at, hit_in
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
    Call,
    Collection,
    Compare,
    Expr,
    Literal,
    Name,
    Subscript,
    Unary,
)
from cfgfix.code.model.program import Program, is_keras_model
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import External, Function, Instance, Site, alternatives
from cfgfix.rules.hit import Hit

_STEPS = frozenset(
    {"argmax", "argmin", "argsort", "round", "rint", "floor", "ceil", "equal", "not_equal", "greater", "greater_equal", "less",
     "less_equal", "logical_and", "logical_or", "logical_not", "one_hot", "count_nonzero", "binary_accuracy",
     "categorical_accuracy", "sparse_categorical_accuracy"}
)  # fmt: skip
"""Last names of operations whose result has no gradient with respect to what they are given."""
_SMOOTH = frozenset(
    {"cast", "reduce_mean", "reduce_sum", "mean", "sum", "square", "abs", "add", "subtract", "multiply", "divide", "pow", "sqrt",
     "expand_dims", "squeeze", "reshape", "maximum", "minimum", "identity", "stack", "concat", "transpose", "flatten", "math.mean",
     "squared_difference", "constant", "zeros_like", "ones_like", "convert_to_tensor", "ones", "zeros", "log", "exp", "sigmoid",
     "softmax", "relu", "clip_by_value", "reduce_max", "reduce_min"}
)  # fmt: skip
"""Last names of operations that take nothing but what they are given."""
_MODULES = ("tensorflow.", "keras.backend.", "keras.ops.", "keras.metrics.", "keras.activations.")
_INTEGERS = ("int", "uint", "bool")
_DEPTH = 24
_ENTERED = 3
"""How deep functions of the project are entered."""


class _GradientWay:
    """The search for a gradient path from one expression to the model."""

    def __init__(
        self,
        program: Program,
        scope: Scope,
        sources: frozenset[str] = frozenset(),
        since: int | None = None,
        entered: int = 0,
    ) -> None:
        self._program = program
        self._scope = scope
        self._sources = sources
        self._since = since
        self._entered = entered
        self._in_order = not any(block.kind in ("for", "while", "comprehension") for block in scope.blocks)
        self._sites: dict[int, list[Site]] = {}
        for site in flow_of(program).within(scope):
            self._sites.setdefault(id(site.call), []).append(site)
        self.stops: list[tuple[Scope, Call | Compare]] = []

    def passes(self, expr: Expr | None, depth: int = 0) -> bool:
        """Tell whether a gradient may pass through an expression to the model.

        True where that is not known.
        """
        if expr is None or depth > _DEPTH:
            return True
        if isinstance(expr, Literal):
            return False
        if isinstance(expr, Name):
            return self._passes_name(expr, depth)
        if isinstance(expr, Compare):
            return self._stop_of_step(expr, [expr.left, *(item.right for item in expr.rights)], depth)
        if isinstance(expr, Binary):
            return any(self.passes(side, depth + 1) for side in (expr.left, expr.right))
        if isinstance(expr, Unary):
            return self.passes(expr.operand, depth + 1)
        if isinstance(expr, Subscript):
            return self.passes(expr.base, depth + 1)
        if isinstance(expr, Collection):
            return any(self.passes(item, depth + 1) for item in expr.items)
        return self._passes_call(expr, depth) if isinstance(expr, Call) else True

    def _stop_of_step(self, step: Call | Compare, given: Iterable[Expr], depth: int) -> bool:
        known = len(self.stops)
        if any(self.passes(item, depth + 1) for item in given):
            del self.stops[known:]
            self.stops.append((self._scope, step))
        return False

    def _passes_name(self, name: Name, depth: int) -> bool:
        bound = self._scope.binding(name.name)
        taken = any(item.name == name.name for item in self._scope.params)
        if self._in_order:
            bound = [event for event in bound if event.place.end <= name.place.start]
            certain = [number for number, event in enumerate(bound) if event.block == 0]
            if certain:
                bound, taken = bound[certain[-1] :], False
        elif len(bound) > 1 or taken:
            return bool(bound) or name.name in self._sources
        if not bound and not taken:
            return True
        for event in bound:
            if event.kind != "assign" or event.value is None:
                return True
            if not any(is_name(target, name.name) for target in event.targets):
                return True
            if self._since is not None and not inside(self._scope, event.block, self._since):
                return True
        learnt = taken and name.name in self._sources
        return any(self.passes(event.value, depth + 1) for event in bound) or learnt

    def _passes_own_function(self, call: Call, function: Function, depth: int) -> bool:
        """Tell whether a gradient passes through a function of the project."""
        scope = function.scope
        plain = [item.name for item in scope.params if item.kind == "plain"]
        returned = _returned_values(scope)
        if (
            scope.kind != "function"
            or scope.decorators
            or scope.generator
            or function.receiver is not None
            or function.partial
            or function.fixed
            or len(call.args) > len(plain)
            or not returned
            or self._entered >= _ENTERED
        ):
            return True
        given = [
            *zip(plain, call.args, strict=False),
            *((name or "", value) for name, value in call.keywords),
        ]
        learnt = frozenset([name for name, value in given if self.passes(value, depth + 1)])
        inner = _GradientWay(self._program, scope, learnt, None, self._entered + 1)
        if any(inner.passes(expr) for expr in returned):
            return True
        self.stops += inner.stops
        return False

    def _passes_call(self, call: Call, depth: int) -> bool:
        given = [*call.args, *(value for _, value in call.keywords)]
        if call.opaque:
            return True
        sites = self._sites.get(id(call), [])
        targets = {id(target.scope): target for site in sites for target in site.targets}
        if len(targets) == 1 and not any(site.open for site in sites):
            return self._passes_own_function(call, next(iter(targets.values())), depth)
        names = {site.name for site in sites}
        if not names:
            value = flow_of(self._program).value_of_name(self._scope, call.func)
            names = {canonical_name(value.name)} if isinstance(value, External) else set()
        if len(names) != 1 or any(site.targets or site.open for site in sites):
            return True
        name = names.pop()
        if not name.startswith(_MODULES):
            return True
        last = name.rpartition(".")[2]
        if last in _STEPS:
            return self._stop_of_step(call, given, depth)
        if last == "cast":
            wanted = call.argument(1, "dtype")
            shown = (
                constant(wanted)
                if isinstance(wanted, Literal)
                else dotted(wanted)
                if wanted is not None
                else None
            )
            if isinstance(shown, str) and shown.rpartition(".")[2].startswith(_INTEGERS):
                return self._stop_of_step(call, given[:1], depth)
            return self.passes(call.args[0], depth + 1) if call.args else True
        if last == "where" and name == "tensorflow.where" and len(call.args) == 3 and not call.keywords:
            passes = any(self.passes(item, depth + 1) for item in call.args[1:])
            if not passes:
                self.passes(call.args[0], depth + 1)
            return passes
        return any(self.passes(item, depth + 1) for item in given) if last in _SMOOTH else True


def _returned_values(scope: Scope) -> list[Expr]:
    return [event.value for event in scope.events() if event.kind == "return" and event.value is not None]


def no_gradient(program: Program) -> Iterator[Hit]:
    """Find losses that reach the model only through steps without a gradient."""
    yield from _in_tapes(program)
    seen: set[int] = set()
    for site in flow_of(program).sites:
        if site.call.method != "compile" or not site.name.startswith("keras.") or in_tests(site.scope):
            continue
        for value in alternatives(site.argument(1, "loss")):
            if isinstance(value, Function) and id(value.scope) not in seen:
                seen.add(id(value.scope))
                yield from _of_loss(program, value, site)
        for value in alternatives(site.receiver):
            if isinstance(value, Instance) and id(value.scope) not in seen:
                seen.add(id(value.scope))
                yield from _of_model(program, value.scope, site)


def _in_tapes(program: Program) -> Iterator[Hit]:
    for asked in asked_gradients(program):
        target = asked.call.argument(0, "target")
        way = _GradientWay(program, asked.scope, since=asked.body.bodies[0][0])
        if target is None or way.passes(target) or not way.stops:
            continue
        yield _cut_hit(
            *way.stops[0],
            Step(asked.scope, asked.call.name_place, asked.call.block, "the gradient is asked for here"),
            f"the gradient in line {asked.call.line} is None for every variable",
        )


def _of_loss(program: Program, loss: Function, site: Site) -> Iterator[Hit]:
    scope = loss.scope
    plain = [item.name for item in scope.params if item.kind == "plain"][int(loss.receiver is not None) :]
    if scope.kind != "function" or scope.decorators or len(plain) < 2 or scope.generator:
        return
    yield from _all_cut(
        program, scope, frozenset({plain[1]}), at(site, label=f"{scope.name} is the loss here")
    )


def _of_model(program: Program, owner: Scope, site: Site) -> Iterator[Hit]:
    """Find a model whose own `call` returns only values without a gradient."""
    call = program.method(owner, "call")
    loss = site.call.argument(1, "loss")
    if call is None or not is_keras_model(program, owner) or loss is None or call.decorators:
        return
    if {"train_step", "compute_loss", "fit"} & {
        name for item in program.bases(owner).classes for name in item.children
    }:
        return
    fitted = any(
        other.call.method == "fit"
        and any(
            isinstance(value, Instance) and value.scope is owner for value in alternatives(other.receiver)
        )
        for other in flow_of(program).sites
    )
    if fitted:
        yield from _all_cut(program, call, frozenset(), at(site, label="compiled with a loss here"))


def _all_cut(program: Program, scope: Scope, sources: frozenset[str], related: Step) -> Iterator[Hit]:
    """Find a function whose returned values all block the gradient."""
    if written_for_one(program, scope):
        return
    returned = _returned_values(scope)
    ways = [_GradientWay(program, scope, sources) for _ in returned]
    if not returned or any(way.passes(expr) for way, expr in zip(ways, returned, strict=True)):
        return
    first = next((way.stops[0] for way in ways if way.stops), None)
    if first is not None:
        yield _cut_hit(*first, related, "no variable of the model gets a gradient, and fit raises ValueError")


def _cut_hit(scope: Scope, stop: Call | Compare, related: Step, effect: str) -> Hit:
    place = stop.name_place if isinstance(stop, Call) else stop.place
    block = stop.block if isinstance(stop, Call) else 0
    shown = (
        dotted(stop.func)
        if isinstance(stop, Call) and isinstance(stop.func, (Attribute, Name))
        else text(stop)
    )
    return hit_in(scope, place, block, {"step": shown, "effect": effect}, related=(related,))
