"""Missing gradients: unwatched or unrecorded tensors, and swapped pairs."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import only_value
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.inference.traced_tensors import is_operation
from cfgfix.code.model.canonical_names import canonical_name
from cfgfix.code.model.expressions import children, dotted, is_name, is_same_expression, place_of, text, walk
from cfgfix.code.model.hit import Rewrite, Step, at, hit_in
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
from cfgfix.code.model.program import Program, is_keras_model, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Dataset, External, Made, Site, Value, alternatives
from cfgfix.rules.hit import Hit

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
_MOST_CALLERS = 32
_STEPS = frozenset({"train_step", "test_step"})
"""Methods of a model that Keras hands the data of a batch."""


def reversed_pairs(program: Program) -> Iterator[Hit]:
    """Find `apply_gradients` of pairs whose first item is the variable."""
    for module in program.modules:
        for scope in module.summary.scopes:
            for call in scope.calls:
                if call.method != "apply_gradients":
                    continue
                pairs = _zip_of_pairs(scope, call.argument(0, "grads_and_vars"))
                if pairs is None or written_for_one(program, scope):
                    continue
                made, first, second = pairs
                if not _is_variables(scope, first) or not _is_gradients(scope, second):
                    continue
                yield hit_in(
                    scope,
                    made.name_place,
                    call.block,
                    {"first": text(first), "second": text(second)},
                    rewrites=(Rewrite("replace", scope, made.place, f"zip({text(second)}, {text(first)})"),),
                )


def _zip_of_pairs(scope: Scope, expr: Expr | None) -> tuple[Call, Expr, Expr] | None:
    """Return the `zip` that makes gradient pairs, with both arguments, or None."""
    expr = only_value(scope, expr)
    if expr is None or not isinstance(expr, Call):
        return None
    call: Call = expr
    if is_name(call.func, "list") and len(call.args) == 1 and isinstance(call.args[0], Call):
        call = call.args[0]
    if not is_name(call.func, "zip") or len(call.args) != 2 or call.keywords:
        return None
    return call, call.args[0], call.args[1]


def _is_variables(scope: Scope, expr: Expr) -> bool:
    found = only_value(scope, expr)
    return found is not None and isinstance(found, Attribute) and found.attribute in _VARIABLES


def _is_gradients(scope: Scope, expr: Expr) -> bool:
    found = only_value(scope, expr)
    return found is not None and isinstance(found, Call) and found.method == "gradient"


def unwatched_tensor(program: Program) -> Iterator[Hit]:
    """Find gradients with respect to tensors that the tape does not watch."""
    for asked in asked_gradients(program):
        scope, call = asked.scope, asked.call
        sources = call.argument(1, "sources")
        if sources is None or asked.name in _given_names(program, scope):
            continue
        watched = _watched_names(scope, asked.name)
        if watched is None:
            continue
        for source in sources.items if isinstance(sources, Collection) else (sources,):
            if not isinstance(source, Name) or _stands_for(scope, source) & watched:
                continue
            if not _plain_tensor(program, scope, source, asked.body):
                continue
            place = place_of(source, scope)
            yield hit_in(
                scope,
                place or call.name_place,
                call.block,
                {"source": source.name, "tape": asked.name, "opened": asked.body.line},
                related=(at(asked.tape, label=f"{asked.name} is not told to watch {source.name}"),),
                no_fix=f"call {asked.name}.watch({source.name}) first in the body of the tape",
            )
            break


class AskedGradient:
    """A call that asks a tape for a gradient, with the tape and its `with`."""

    __slots__ = ("body", "call", "name", "scope", "tape")

    def __init__(self, scope: Scope, call: Call, name: str, body: Event, tape: Site) -> None:
        self.scope = scope
        self.call = call
        self.name = name
        self.body = body
        self.tape = tape


def asked_gradients(program: Program) -> Iterator[AskedGradient]:
    """Yield each gradient call of a tape that a `with` enters."""
    seen: set[tuple[int, int]] = set()
    for tape in flow_of(program).named("tensorflow.GradientTape"):
        scope = tape.scope
        if written_for_one(program, scope):
            continue
        body = statement_of(scope, tape.call.place)
        if body is None or tape.call not in body.managers:
            continue
        target = body.targets[body.managers.index(tape.call)]
        if not isinstance(target, Name) or len(scope.binding(target.name)) != 1:
            continue
        for call in scope.calls_on(target.name, "gradient", "jacobian"):
            key = id(scope), call.number
            if key in seen or not inside(scope, call.block, body.block):
                continue
            seen.add(key)
            yield AskedGradient(scope, call, target.name, body, tape)


def _watched_names(scope: Scope, name: str) -> frozenset[str] | None:
    """Return the names that a tape watches, or None where others may be watched."""
    found: set[str] = set()
    for call in scope.calls_on(name, "watch"):
        given = call.argument(0, "tensor")
        for item in given.items if isinstance(given, Collection) else (given,):
            if not isinstance(item, Name):
                return None
            found |= _stands_for(scope, item)
    return frozenset(found)


def _stands_for(scope: Scope, source: Name) -> frozenset[str]:
    """Return a name and the names that it is assigned from."""
    found: set[str] = set()
    pending: list[Expr | None] = [source]
    while pending and len(found) < _DEPTH:
        here = pending.pop()
        if isinstance(here, Name) and here.name not in found:
            found.add(here.name)
            pending += [
                event.value
                for event in scope.binding(here.name)
                if event.kind == "assign" and any(is_name(target, here.name) for target in event.targets)
            ]
    return frozenset(found)


@once
def _given_names(program: Program, scope: Scope) -> set[str]:
    """Return the names that a scope passes to calls, without receivers."""
    del program
    found: set[str] = set()
    for call in scope.calls:
        pending = [*call.args, *(value for _, value in call.keywords)]
        while pending:
            part = pending.pop()
            if isinstance(part, Name):
                found.add(part.name)
            elif isinstance(part, Call):
                # Its arguments have their turn; what it is called on is not handed on.
                continue
            elif not (isinstance(part, Attribute) and isinstance(part.base, Name)):
                pending += children(part)
    return found


def _plain_tensor(program: Program, scope: Scope, source: Name, body: Event) -> bool:
    """Tell whether a name holds a tensor that was made before the tape began."""
    bound = scope.binding(source.name)
    if any(event.place.start >= body.place.start for event in bound):
        return False
    if any(item.name == source.name for item in scope.params):
        return not bound and _given_tensors(program, scope, source.name)
    return bool(bound) and all(_binds_tensor(program, scope, source.name, event, _DEPTH) for event in bound)


def _binds_tensor(program: Program, scope: Scope, name: str, event: Event, depth: int) -> bool:
    """Tell whether a statement binds a name to a new tensor.

    New tensors are results of operations and elements of datasets.
    """
    if event.kind == "for":
        return (
            event.value is not None and len(event.targets) == 1 and _is_dataset(program, scope, event.value)
        )
    if event.kind != "assign" or event.value is None:
        return False
    if any(is_name(target, name) for target in event.targets):
        return _new_tensor(program, scope, event.value, depth)
    if scope.name not in _STEPS or len(scope.params) != 2 or not is_name(event.value, scope.params[1].name):
        return False
    owner = program.owner(scope)
    # What Keras hands to a step of its own are tensors.
    return owner is not None and is_keras_model(program, owner)


def _is_dataset(program: Program, scope: Scope, expr: Expr) -> bool:
    """Tell whether an expression is a dataset, here or at every caller."""
    if isinstance(flow_of(program).value_of_name(scope, expr), Dataset):
        return True
    names = [item.name for item in scope.params]
    if not isinstance(expr, Name) or expr.name not in names or scope.binding(expr.name):
        return False
    sites = flow_of(program).callers(scope)
    if not sites or len(sites) > _MOST_CALLERS:
        return False
    for site in sites:
        target = next((item for item in site.targets if item.scope is scope), None)
        if target is None or site.call.opaque or target.partial or target.fixed:
            return False
        position = names.index(expr.name) - int(target.receiver is not None)
        if not isinstance(site.argument(position, expr.name), Dataset):
            return False
    return True


def _given_tensors(program: Program, scope: Scope, name: str) -> bool:
    """Tell whether all callers pass new tensors for a parameter."""
    sites = flow_of(program).callers(scope)
    if not sites or len(sites) > _MOST_CALLERS or scope.decorators:
        return False
    names = [item.name for item in scope.params]
    for site in sites:
        target = next((item for item in site.targets if item.scope is scope), None)
        if target is None or site.call.opaque or target.partial or target.fixed:
            return False
        written = site.call.argument(names.index(name) - int(target.receiver is not None), name)
        if written is None or site.scope is scope:
            return False
        if isinstance(written, Name):
            bound = site.scope.binding(written.name)
            if any(item.name == written.name for item in site.scope.params) or not bound:
                return False
            if any(event.place.start >= site.call.place.start for event in bound) or not all(
                _binds_tensor(program, site.scope, written.name, event, _DEPTH) for event in bound
            ):
                return False
        elif not _new_tensor(program, site.scope, written, _DEPTH):
            return False
    return True


def _new_tensor(program: Program, scope: Scope, expr: Expr, depth: int) -> bool:
    """Tell whether an expression makes a new tensor, by an operation or arithmetic."""
    if depth <= 0:
        return False
    if isinstance(expr, Call):
        return _is_constant_call(program, scope, expr)
    if isinstance(expr, Name):
        bound = scope.binding(expr.name)
        return (
            not any(item.name == expr.name for item in scope.params)
            and len(bound) == 1
            and bound[0].place.start < expr.place.start
            and _binds_tensor(program, scope, expr.name, bound[0], depth - 1)
        )
    if not isinstance(expr, Binary):
        return False
    sides = (expr.left, expr.right)
    return any(_new_tensor(program, scope, side, depth - 1) for side in sides)


def _is_constant_call(program: Program, scope: Scope, expr: Expr | None) -> bool:
    if expr is None or not isinstance(expr, Call):
        return False
    call: Call = expr
    sites = flow_of(program).of_calls(scope, (call.number,))
    if not sites or any(site.targets or site.open for site in sites):
        return False
    if not all(
        site.name.startswith(_CONSTANTS)
        or (site.name.startswith("tensorflow.") and is_operation(site.name) and "variable" not in site.name)
        for site in sites
    ):
        return False
    # What is computed from a variable is connected through it, but is still no source that a tape knows of before it began.
    return not any(
        isinstance(value, Made) and value.name == "tensorflow.Variable"
        for site in sites
        for given in site.args
        for value in alternatives(given)
    )


def loss_outside_tape(program: Program) -> Iterator[Hit]:
    """Find losses computed by NumPy or plain Python inside a tape."""
    for asked in asked_gradients(program):
        scope = asked.scope
        target = asked.call.argument(0, "target")
        found = (
            _call_leaving_tensorflow(program, scope, target, asked.body, 0) if target is not None else None
        )
        if found is None:
            continue
        call, shown = found
        yield hit_in(
            scope,
            call.name_place,
            call.block,
            {"what": shown, "tape": asked.name, "line": asked.call.line},
            related=(
                at(asked.tape, label="the tape records operations of TensorFlow"),
                Step(scope, asked.call.name_place, asked.call.block, "the gradient is asked for here"),
            ),
        )


def _call_leaving_tensorflow(
    program: Program, scope: Scope, expr: Expr, body: Event, depth: int
) -> tuple[Call, str] | None:
    """Return the call that takes an expression out of TensorFlow, with its text.

    None where part of the expression stays in TensorFlow.
    """
    if depth > _DEPTH:
        return None
    if isinstance(expr, Name):
        bound = scope.binding(expr.name)
        if len(bound) != 1 or bound[0].kind != "assign" or bound[0].value is None:
            return None
        if not any(is_name(target, expr.name) for target in bound[0].targets):
            return None
        if not inside(scope, bound[0].block, body.bodies[0][0]):
            return None
        return _call_leaving_tensorflow(program, scope, bound[0].value, body, depth + 1)
    if isinstance(expr, Binary):
        sides = [
            _call_leaving_tensorflow(program, scope, side, body, depth + 1)
            for side in (expr.left, expr.right)
            if not isinstance(side, Literal)
        ]
        return sides[0] if sides and all(side is not None for side in sides) else None
    if isinstance(expr, Unary):
        return _call_leaving_tensorflow(program, scope, expr.operand, body, depth + 1)
    if isinstance(expr, Subscript):
        return _call_leaving_tensorflow(program, scope, expr.base, body, depth + 1)
    if not isinstance(expr, Call):
        return None
    call: Call = expr
    if isinstance(call.func, Attribute) and call.func.attribute in _LEAVES and not call.args:
        return call, f"{dotted(call.func) or '.' + call.func.attribute}()"
    if isinstance(call.func, Name) and call.func.name in ("float", "int") and len(call.args) == 1:
        return (call, f"{call.func.name}()") if not isinstance(call.args[0], Literal) else None
    names = {site.name for site in flow_of(program).within(scope) if site.call is call}
    if not names:
        value: Value = flow_of(program).value_of_name(scope, call.func)
        names = {canonical_name(value.name)} if isinstance(value, External) else set()
    if len(names) != 1:
        return None
    name = names.pop()
    if name.startswith("numpy.") and any(_is_computed(item) for item in call.args):
        return call, dotted(call.func) or name
    if name.startswith(_WRAPS) and call.args:
        return _call_leaving_tensorflow(program, scope, call.args[0], body, depth + 1)
    return None


def _is_computed(expr: Expr) -> bool:
    """Tell whether an argument is computed, not a constant."""
    return any(isinstance(part, (Name, Call)) for part in walk(expr))


def second_gradient(program: Program) -> Iterator[Hit]:
    """Find second gradients taken from a tape that is not persistent."""
    asked: dict[tuple[int, int], list[AskedGradient]] = {}
    for item in asked_gradients(program):
        call = item.tape.call
        if call.opaque or call.args or call.keyword("persistent") is not None:
            continue
        asked.setdefault((id(item.scope), call.number), []).append(item)
    for items in asked.values():
        items.sort(key=lambda item: item.call.place)
        first = items[0]
        for item in items[1:]:
            scope = item.scope
            if not inside(scope, item.call.block, first.call.block) or _is_in_tape(
                first.body, item.call, first.call
            ):
                continue
            yield hit_in(
                scope,
                item.call.name_place,
                item.call.block,
                {"tape": item.name, "line": first.call.line},
                related=(
                    Step(scope, first.call.name_place, first.call.block, "the first gradient"),
                    at(item.tape, label="not persistent"),
                ),
                rewrites=(Rewrite("keyword", scope, item.tape.call.place, "True", "persistent"),),
            )
            break


def _is_in_tape(body: Event, *calls: Call) -> bool:
    """Tell whether a call is in the body of a tape."""
    return any(body.place.start <= call.place.start < body.place.end for call in calls)


def log_of_the_other_branch(program: Program) -> Iterator[Hit]:
    """Find `tf.where` around `log` that leaves the gradient NaN at zero."""
    if not any(True for _ in flow_of(program).named("tensorflow.GradientTape")) and not any(
        call.method == "fit"
        for module in program.modules
        for scope in module.summary.scopes
        for call in scope.calls
    ):
        return
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named("tensorflow.where"):
        scope, call = site.scope, site.call
        key = id(scope), call.number
        if key in seen or len(call.args) < 3 or written_for_one(program, scope):
            continue
        seen.add(key)
        tested = _compared_tensor(scope, call.args[0])
        if tested is None:
            continue
        for branch in call.args[1:3]:
            log = _log_of(program, scope, branch, tested)
            if log is not None:
                yield hit_in(
                    scope,
                    log.name_place,
                    log.block,
                    {"value": text(tested), "line": call.name_line},
                    related=(at(site, label="both branches are computed, and both have a gradient"),),
                    no_fix=f"give log a {text(tested)} that is never 0: tf.where(..., {text(tested)}, 1.0)",
                )
                break


def _compared_tensor(scope: Scope, test: Expr) -> Expr | None:
    """Return the name or attribute that a condition compares with zero, or None."""
    test = only_value(scope, test) or test
    if isinstance(test, Compare) and len(test.rights) == 1 and isinstance(test.left, (Name, Attribute)):
        other = test.rights[0].right
        if (
            isinstance(other, Literal)
            and other.value in (0, 0.0)
            and test.rights[0].operator in (">", "!=", "==", "<=")
        ):
            tested: Expr = test.left
            return tested
    if isinstance(test, Call):
        call = test
        name = (dotted(call.func) or "").rpartition(".")[2]
        zero = len(call.args) == 2 and isinstance(call.args[1], Literal) and call.args[1].value in (0, 0.0)
        if name in ("greater", "not_equal", "equal", "less_equal") and zero:
            first: Expr = call.args[0]
            return first if isinstance(first, (Name, Attribute)) else None
    return None


def _log_of(program: Program, scope: Scope, branch: Expr, tested: Expr) -> Call | None:
    """Return the `log` call of the tested tensor in a branch, or None."""
    for part in walk(branch):
        if not isinstance(part, Call):
            continue
        call: Call = part
        if (dotted(call.func) or "").endswith("math.log") and len(call.args) == 1:
            given = call.args[0]
            if is_same_expression(given, tested) and any(
                site.call is call and site.name == "tensorflow.math.log"
                for site in flow_of(program).within(scope)
            ):
                return call
    return None
