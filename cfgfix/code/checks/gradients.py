"""Gradients that are not there: of what a tape does not watch or has not recorded, and pairs the wrong way round."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cfgfix.code.checks.common import in_tests
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.inference.releases import written_for_one
from cfgfix.code.model.expressions import dotted, place_of, text, walk
from cfgfix.code.model.hit import Hit, Rewrite, Step, at
from cfgfix.code.model.program import Program, fold
from cfgfix.code.model.summary import (
    ATTRIBUTE,
    BINARY,
    CALL,
    COMPARE,
    CONSTANT,
    ITEMS,
    NAME,
    SUBSCRIPT,
    UNARY,
    Call,
    Event,
    Expr,
    Scope,
)
from cfgfix.code.model.values import External, Made, Site, Value, alternatives

NEEDLES = (b"GradientTape", b"apply_gradients", b".where(")

_VARIABLES = frozenset({"trainable_variables", "trainable_weights", "weights", "variables"})
_CONSTANTS = (
    "tensorflow.constant",
    "tensorflow.convert_to_tensor",
    "tensorflow.zeros",
    "tensorflow.ones",
    "tensorflow.cast",
    "tensorflow.expand_dims",
    "tensorflow.reshape",
    "tensorflow.image.",
    "tensorflow.random.",
    "tensorflow.stack",
    "tensorflow.concat",
    "tensorflow.linspace",
    "tensorflow.range",
    "tensorflow.identity",
    "tensorflow.io.",
)
"""Operations whose result is a new tensor, which a tape watches only where it is told to."""
_LEAVES = frozenset({"numpy", "item", "tolist"})
_WRAPS = ("tensorflow.convert_to_tensor", "tensorflow.constant", "tensorflow.cast", "tensorflow.reduce_", "tensorflow.math.reduce_", "tensorflow.Variable", "tensorflow.identity")  # fmt: skip
"""Operations that hand on what they are given: what NumPy made stays cut off from the tape."""
_DEPTH = 6


def reversed_pairs(program: Program) -> Iterator[Hit]:
    """Find `apply_gradients` of pairs with the variable first."""
    for module in program.modules:
        for scope in module.summary.scopes:
            for call in scope.calls:
                if call.method != "apply_gradients":
                    continue
                pairs = _zipped(scope, call.argument(0, "grads_and_vars"))
                if pairs is None or written_for_one(program, scope):
                    continue
                made, first, second = pairs
                if not _is_variables(scope, first) or not _is_gradients(scope, second):
                    continue
                yield Hit(
                    scope,
                    made.name_place,
                    call.block,
                    {"first": text(first, scope), "second": text(second, scope)},
                    rewrites=(
                        Rewrite(
                            "replace", scope, made.place, f"zip({text(second, scope)}, {text(first, scope)})"
                        ),
                    ),
                )


def _zipped(scope: Scope, expr: Expr | None) -> tuple[Call, Expr, Expr] | None:
    """Return the call of `zip` that gives some pairs, with its two arguments."""
    expr = _bound(scope, expr)
    if expr is None or expr[0] != CALL:
        return None
    call: Call = scope.calls[expr[1]]
    if call.func[:2] == (NAME, "list") and len(call.args) == 1 and call.args[0][0] == CALL:
        call = scope.calls[call.args[0][1]]
    if call.func[:2] != (NAME, "zip") or len(call.args) != 2 or call.keywords:
        return None
    return call, call.args[0], call.args[1]


def _bound(scope: Scope, expr: Expr | None) -> Expr | None:
    """Return what a name is given, where one assignment does; any other expression is itself."""
    for _ in range(_DEPTH):
        if expr is None or expr[0] != NAME:
            return expr
        bound = scope.binding(expr[1])
        if len(bound) != 1 or bound[0].kind != "assign" or bound[0].value is None:
            return None
        if not any(target[:2] == expr[:2] for target in bound[0].targets):
            return None
        expr = bound[0].value
    return None


def _is_variables(scope: Scope, expr: Expr) -> bool:
    found = _bound(scope, expr)
    return found is not None and found[0] == ATTRIBUTE and found[2] in _VARIABLES


def _is_gradients(scope: Scope, expr: Expr) -> bool:
    found = _bound(scope, expr)
    return found is not None and found[0] == CALL and scope.calls[found[1]].method == "gradient"


def unwatched(program: Program) -> Iterator[Hit]:
    """Find gradients with respect to tensors that the tape does not watch."""
    for asked in _asked(program):
        scope, call = asked.scope, asked.call
        sources = call.argument(1, "sources")
        if sources is None or _watches(scope, asked.name):
            continue
        for source in sources[2] if sources[0] == ITEMS else (sources,):
            if source[0] != NAME or not _plain_tensor(program, scope, source, asked.body):
                continue
            place = place_of(source, scope)
            yield Hit(
                scope,
                place or call.name_place,
                call.block,
                {"source": source[1], "tape": asked.name, "opened": asked.body.place[0]},
                related=(at(asked.tape, label=f"{asked.name} is not told to watch {source[1]}"),),
                no_fix=f"call {asked.name}.watch({source[1]}) first in the body of the tape",
            )
            break


class _Asked:
    """A gradient that is asked of a tape, behind the only `with` that enters it."""

    __slots__ = ("body", "call", "name", "scope", "tape")

    def __init__(self, scope: Scope, call: Call, name: str, body: Event, tape: Site) -> None:
        self.scope = scope
        self.call = call
        self.name = name
        self.body = body
        self.tape = tape


def _asked(program: Program) -> Iterator[_Asked]:
    """Yield the gradients that are asked of tapes, each call once."""
    seen: set[tuple[int, int]] = set()
    for tape in program.flow.named("tensorflow.GradientTape"):
        scope = tape.scope
        if in_tests(scope) or written_for_one(program, scope):
            continue
        body = next(
            (
                event
                for event in scope.events()
                if event.kind == "with" and (CALL, tape.call.number) in event.extra
            ),
            None,
        )
        if body is None:
            continue
        target = body.targets[body.extra.index((CALL, tape.call.number))]
        if target[0] != NAME or len(scope.binding(target[1])) != 1:
            continue
        for call in scope.calls:
            key = id(scope), call.number
            if call.method not in ("gradient", "jacobian") or call.func[1][:2] != (NAME, target[1]):
                continue
            if key in seen or not inside(scope, call.block, body.block):
                continue
            seen.add(key)
            yield _Asked(scope, call, target[1], body, tape)


def _watches(scope: Scope, name: str) -> bool:
    """Tell whether a tape is told to watch something, or handed on to what may tell it."""
    for call in scope.calls:
        if call.method == "watch" and call.func[1][:2] == (NAME, name):
            return True
        given = (*call.args, *(value for _, value in call.keywords))
        if any(part[:2] == (NAME, name) for item in given for part in walk(item, scope)):
            return True
    return False


def _plain_tensor(program: Program, scope: Scope, source: Expr, body: Event) -> bool:
    """Tell whether a name stands for a tensor that an operation made before the tape began."""
    bound = scope.binding(source[1])
    if not bound or any(event.kind != "assign" for event in bound):
        return False
    if any(event.place[:2] >= body.place[:2] for event in bound):
        return False
    if not all(any(target[:2] == source[:2] for target in event.targets) for event in bound):
        return False
    return all(_constant(program, scope, event.value) for event in bound)


def _constant(program: Program, scope: Scope, expr: Expr | None) -> bool:
    if expr is None or expr[0] != CALL:
        return False
    call: Call = scope.calls[expr[1]]
    sites = [site for site in program.flow.within(scope) if site.call is call]
    if not sites or any(site.targets or site.open for site in sites):
        return False
    if not all(site.name.startswith(_CONSTANTS) for site in sites):
        return False
    # What is computed from a variable is connected through it, but is still no source that a tape knows of before it began.
    return not any(
        isinstance(value, Made) and value.name == "tensorflow.Variable"
        for site in sites
        for given in site.args
        for value in alternatives(given)
    )


def cut_off(program: Program) -> Iterator[Hit]:
    """Find losses that NumPy computes inside a tape."""
    for asked in _asked(program):
        scope = asked.scope
        target = asked.call.argument(0, "target")
        found = _cut(program, scope, target, asked.body, 0) if target is not None else None
        if found is None:
            continue
        call, shown = found
        yield Hit(
            scope,
            call.name_place,
            call.block,
            {"what": shown, "tape": asked.name, "line": asked.call.place[0]},
            related=(
                at(asked.tape, label="the tape records operations of TensorFlow"),
                Step(scope, asked.call.name_place, asked.call.block, "the gradient is asked for here"),
            ),
        )


def _cut(program: Program, scope: Scope, expr: Expr, body: Event, depth: int) -> tuple[Call, str] | None:
    """Return the call of NumPy that all of an expression comes from."""
    if depth > _DEPTH:
        return None
    if expr[0] == NAME:
        bound = scope.binding(expr[1])
        if len(bound) != 1 or bound[0].kind != "assign" or bound[0].value is None:
            return None
        if not any(target[:2] == expr[:2] for target in bound[0].targets):
            return None
        if not inside(scope, bound[0].block, body.bodies[0][0]):
            return None
        return _cut(program, scope, bound[0].value, body, depth + 1)
    if expr[0] == BINARY:
        sides = [_cut(program, scope, side, body, depth + 1) for side in expr[2:4] if side[0] != CONSTANT]
        return sides[0] if sides and all(side is not None for side in sides) else None
    if expr[0] == UNARY:
        return _cut(program, scope, expr[2], body, depth + 1)
    if expr[0] == SUBSCRIPT:
        return _cut(program, scope, expr[1], body, depth + 1)
    if expr[0] != CALL:
        return None
    call: Call = scope.calls[expr[1]]
    if call.func[0] == ATTRIBUTE and call.func[2] in _LEAVES and not call.args:
        return call, f"{dotted(call.func) or '.' + call.func[2]}()"
    if call.func[:2] in ((NAME, "float"), (NAME, "int")) and len(call.args) == 1:
        return (call, f"{call.func[1]}()") if call.args[0][0] != CONSTANT else None
    names = {site.name for site in program.flow.within(scope) if site.call is call}
    if not names:
        value: Value = program.flow.stands_for(scope, call.func)
        names = {fold(value.name)} if isinstance(value, External) else set()
    if len(names) != 1:
        return None
    name = names.pop()
    if name.startswith("numpy.") and any(_computed(scope, item) for item in call.args):
        return call, dotted(call.func) or name
    if name.startswith(_WRAPS) and call.args:
        return _cut(program, scope, call.args[0], body, depth + 1)
    return None


def _computed(scope: Scope, expr: Expr) -> bool:
    """Tell whether an argument is computed from something, not a constant."""
    return any(part[0] in (NAME, CALL) for part in walk(expr, scope))


def asked_twice(program: Program) -> Iterator[Hit]:
    """Find the second gradient of a tape that is not persistent."""
    asked: dict[tuple[int, int], list[_Asked]] = {}
    for item in _asked(program):
        call = item.tape.call
        if call.opaque or call.args or call.keyword("persistent") is not None:
            continue
        asked.setdefault((id(item.scope), call.number), []).append(item)
    for items in asked.values():
        items.sort(key=lambda item: item.call.place)
        first = items[0]
        for item in items[1:]:
            scope = item.scope
            if not inside(scope, item.call.block, first.call.block) or _within(
                first.body, item.call, first.call
            ):
                continue
            yield Hit(
                scope,
                item.call.name_place,
                item.call.block,
                {"tape": item.name, "line": first.call.place[0]},
                related=(
                    Step(scope, first.call.name_place, first.call.block, "the first gradient"),
                    at(item.tape, label="not persistent"),
                ),
                rewrites=(Rewrite("keyword", scope, item.tape.call.place, "True", "persistent"),),
            )
            break


def _within(body: Event, *calls: Call) -> bool:
    """Tell whether one of some calls stands in the body of a tape, which it may be recorded by."""
    return any(body.place[:2] <= call.place[:2] < body.place[2:] for call in calls)


def log_of_the_other_branch(program: Program) -> Iterator[Hit]:
    """Find a `tf.where` that keeps log(0) out of the value only."""
    if not any(True for _ in program.flow.named("tensorflow.GradientTape")) and not any(
        call.method == "fit"
        for module in program.modules
        for scope in module.summary.scopes
        for call in scope.calls
    ):
        return
    seen: set[tuple[int, int]] = set()
    for site in program.flow.named("tensorflow.where"):
        scope, call = site.scope, site.call
        key = id(scope), call.number
        if key in seen or len(call.args) < 3 or in_tests(scope) or written_for_one(program, scope):
            continue
        seen.add(key)
        tested = _tested(scope, call.args[0])
        if tested is None:
            continue
        for branch in call.args[1:3]:
            log = _log_of(program, scope, branch, tested)
            if log is not None:
                yield Hit(
                    scope,
                    log.name_place,
                    log.block,
                    {"value": text(tested, scope), "line": call.name_place[0]},
                    related=(at(site, label="both branches are computed, and both have a gradient"),),
                    no_fix=f"give log a {text(tested, scope)} that is never 0: tf.where(..., {text(tested, scope)}, 1.0)",
                )
                break


def _tested(scope: Scope, test: Expr) -> Expr | None:
    """Return the tensor that a condition compares with zero."""
    test = _bound(scope, test) or test
    if test[0] == COMPARE and len(test[2]) == 1 and test[1][0] in (NAME, ATTRIBUTE):
        other = test[2][0][1]
        if other[0] == CONSTANT and other[1] in (0, 0.0) and test[2][0][0] in (">", "!=", "==", "<="):
            tested: Expr = test[1]
            return tested
    if test[0] == CALL:
        call = scope.calls[test[1]]
        name = (dotted(call.func) or "").rpartition(".")[2]
        zero = len(call.args) == 2 and call.args[1][0] == CONSTANT and call.args[1][1] in (0, 0.0)
        if name in ("greater", "not_equal", "equal", "less_equal") and zero:
            first: Expr = call.args[0]
            return first if first[0] in (NAME, ATTRIBUTE) else None
    return None


def _log_of(program: Program, scope: Scope, branch: Expr, tested: Expr) -> Call | None:
    """Return the call of `log` in a branch that takes the tested tensor as it is."""
    for part in walk(branch, scope):
        if part[0] != CALL:
            continue
        call: Call = scope.calls[part[1]]
        if (dotted(call.func) or "").endswith("math.log") and len(call.args) == 1:
            given = call.args[0]
            if given[:-1] == tested[:-1] and any(
                site.call is call and site.name == "tensorflow.math.log"
                for site in program.flow.within(scope)
            ):
                return call
    return None


def check(program: Program) -> Iterable[Hit]:
    """Run the first rule of the group."""
    return reversed_pairs(program)
