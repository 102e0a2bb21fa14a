"""Learning rate schedules that decide in Python by the symbolic step."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.models import fits_eagerly, kept_eager, may_fit_eagerly
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import GRAPH, hot_paths
from cfgfix.code.inference.releases import refused_by_three
from cfgfix.code.inference.traced_tensors import TracedTensors
from cfgfix.code.model.expressions import dotted, is_none, place_of, text, walk
from cfgfix.code.model.hit import at, hit_in
from cfgfix.code.model.nodes import (
    Binary,
    Boolean,
    Call,
    Compare,
    Conditional,
    Expr,
    Literal,
    Name,
    Place,
    Unary,
)
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Instance, Site, Value, alternatives
from cfgfix.rules.hit import Hit

_SCHEDULE = "keras.optimizers.schedules."
_OPTIMIZER = "keras.optimizers."
_IDENTITY = frozenset({"is", "is not"})
_BUILT_IN = frozenset({"min", "max", "int", "float", "bool"})
_MOST_HELPERS = 8
_MOST_CALLERS = 32


def _schedule_calls(program: Program) -> Iterator[tuple[Scope, Scope]]:
    """Yield the project's schedule classes that take a step, each with its `__call__`."""
    for module in program.modules:
        for owner in module.summary.scopes:
            if owner.kind != "class" or "__call__" not in owner.children:
                continue
            if not any(name.startswith(_SCHEDULE) for name in program.bases(owner).outside):
                continue
            method = module.summary.scopes[owner.children["__call__"]]
            if len(method.params) >= 2 and not method.decorators:
                yield owner, method


def decided_in_python(program: Program) -> Iterator[Hit]:
    """Find schedules that decide, or count, with the step in Python.

    The step is a tensor without a value where Keras compiles the training.
    """
    if fits_eagerly(program):
        return
    for owner, method in _schedule_calls(program):
        if written_for_one(program, method):
            continue
        used = _optimizer_with(program, owner)
        if used is None or kept_eager(program, used.scope.module) or not _is_compiled(program):
            continue
        found = next(_decisions_by_step(program, method, frozenset({method.params[1].name})), None)
        if found is None:
            continue
        scope, place, block, what, error = found
        yield hit_in(
            scope,
            place,
            block,
            {"schedule": owner.name, "what": what, "error": error, "step": method.params[1].name},
            related=(at(used, label="follows the schedule"),),
            severity="warning" if may_fit_eagerly(program) else None,
        )


_OF_FLOATS = frozenset(
    {"rsqrt", "sqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sigmoid", "erf", "atan"}
)  # fmt: skip
"""Functions of TensorFlow that refuse integers."""
_OF_INTEGERS = frozenset({"+", "-", "*", "//", "%"})
_EITHER = frozenset({"minimum", "maximum"})


def integer_step(program: Program) -> Iterator[Hit]:
    """Find schedules that pass the step, an integer, to functions of floats only."""
    for owner, method in _schedule_calls(program):
        step = method.params[1].name
        used = _optimizer_with(program, owner)
        grade = refused_by_three(program, method)
        if used is None or grade is None or method.binding(step):
            continue
        for event in method.events():
            found = next(_given_to_floats(program, method, event, step), None)
            if found is None:
                continue
            yield hit_in(
                method,
                found.place,
                event.block,
                {"schedule": owner.name, "function": text(found.func), "step": step},
                related=(at(used, label="follows the schedule"),),
                severity=grade[0],
            )
            break


def _given_to_floats(program: Program, method: Scope, event: Event, step: str) -> Iterator[Call]:
    """Yield calls that pass the integer step to functions that take only floats."""
    for top in (event.value, *event.extra_nodes()):
        for part in walk(top) if top is not None else ():
            if not isinstance(part, Call) or not part.args or not _is_of(program, method, part, _OF_FLOATS):
                continue
            if _is_integer(program, method, part.args[0], step):
                yield part


def _is_of(program: Program, scope: Scope, call: Call, names: frozenset[str]) -> bool:
    """Tell whether a call is one of the given TensorFlow functions."""
    head, _, name = (program.static_name(call.func, scope) or "").rpartition(".")
    return name in names and head in ("tensorflow", "tensorflow.math")


def _is_integer(program: Program, scope: Scope, expr: Expr, step: str) -> bool:
    """Tell whether an expression is the step, or computed from it with integers."""
    if isinstance(expr, Name):
        return expr.name == step
    if isinstance(expr, Binary) and expr.operator in _OF_INTEGERS:
        sides = (expr.left, expr.right)
    elif isinstance(expr, Call) and len(expr.args) == 2 and _is_of(program, scope, expr, _EITHER):
        sides = (expr.args[0], expr.args[1])
    else:
        return False
    counted = [_is_integer(program, scope, side, step) for side in sides]
    whole = [isinstance(side, Literal) and type(side.value) is int for side in sides]
    return any(counted) and all(one or other for one, other in zip(counted, whole, strict=True))


@once
def _is_compiled(program: Program) -> bool:
    """Tell whether the program trains by `fit` or by its own compiled step."""
    for module in program.linked:
        for scope in module.summary.scopes:
            if scope.calls_of("fit", "train_on_batch", "fit_generator"):
                return True
            steps = scope.calls_of("apply_gradients", "minimize", "apply")
            if steps and hot_paths(program).reach(scope, GRAPH) is not None:
                return True
    return False


def _optimizer_with(program: Program, owner: Scope) -> Site | None:
    """Return the call that makes an optimizer with a schedule of a class, or None.

    Subclasses count as well.
    """
    return _optimizers_by_scope(program).get(id(owner))


@once
def _optimizers_by_scope(program: Program) -> dict[int, Site]:
    found: dict[int, Site] = {}
    for site in flow_of(program).under(_OPTIMIZER):
        if site.name.startswith(_SCHEDULE):
            continue
        for value in _values_given(program, site):
            if isinstance(value, Instance):
                for item in program.bases(value.scope).classes:
                    found.setdefault(id(item), site)
    return found


def _values_given(program: Program, site: Site) -> Iterator[Value]:
    """Yield the arguments of a call, and those that callers pass on to it."""
    for value in (*site.args, *site.keywords.values()):
        yield from alternatives(value)
    names = [item.name for item in site.scope.params]
    for expr in (*site.call.args, *(value for _, value in site.call.keywords)):
        if not isinstance(expr, Name) or expr.name not in names or site.scope.binding(expr.name):
            continue
        for caller in flow_of(program).callers(site.scope)[:_MOST_CALLERS]:
            target = next((item for item in caller.targets if item.scope is site.scope), None)
            if target is not None and not caller.call.opaque and not target.partial:
                position = names.index(expr.name) - int(target.receiver is not None)
                yield from alternatives(caller.argument(position, expr.name))


Decision = tuple[Scope, Place, int, str, str]


def _decisions_by_step(program: Program, method: Scope, given: frozenset[str]) -> Iterator[Decision]:
    """Yield the places where a method decides with the step in Python.

    Functions that it passes the step to are searched as well.
    """
    pending: list[tuple[Scope, frozenset[str]]] = [(method, given)]
    seen: set[int] = set()
    while pending and len(seen) < _MOST_HELPERS:
        scope, names = pending.pop(0)
        if id(scope) in seen or not names:
            continue
        seen.add(id(scope))
        tensors = TracedTensors(program, scope, names, guess=False)
        yield from _in_scope(program, scope, tensors)
        for site in flow_of(program).within(scope):
            if len(site.targets) == 1 and not site.open:
                target = site.targets[0]
                if not target.scope.decorators and target.scope.name != "__call__":
                    pending.append((target.scope, frozenset(tensors.handed_on(site, target))))


def _in_scope(program: Program, scope: Scope, tensors: TracedTensors) -> Iterator[Decision]:
    for event in scope.events():
        if _is_guarded(scope, event):
            continue
        tested = event.value if event.kind in ("if", "while", "assert") else None
        if tested is not None and _decides_on_tensor(tested, tensors):
            yield (
                scope,
                place_of(tested, scope) or event.place,
                event.block,
                f"{event.kind} {text(tested)}",
                "OperatorNotAllowedInGraphError",
            )
        for expr in (event.value, *event.extra_nodes()):
            for part in walk(expr) if expr is not None else ():
                if isinstance(part, Conditional) and _decides_on_tensor(part.test, tensors):
                    shown = f"... if {text(part.test)} else ..."
                    yield scope, part.place, event.block, shown, "OperatorNotAllowedInGraphError"
    for call in scope.calls:
        if any(item.kind in ("try", "except") for item in scope.block_chain(call.block)):
            continue
        error = _error_of_call(program, scope, call, tensors)
        if error:
            yield scope, call.place, call.block, text(call), error


def _is_guarded(scope: Scope, event: Event) -> bool:
    """Tell whether a `try` or a test for eager mode stands around a statement."""
    return any(
        item.kind in ("try", "except") or (item.test is not None and "eager" in text(item.test))
        for item in scope.block_chain(event.block)
    )


def _decides_on_tensor(test: Expr, tensors: TracedTensors) -> bool:
    """Tell whether a test needs the truth value of a tensor."""
    if isinstance(test, Boolean):
        return any(_decides_on_tensor(item, tensors) for item in test.operands)
    if isinstance(test, Unary):
        return _decides_on_tensor(test.operand, tensors)
    if isinstance(test, Compare):
        if any(item.operator in _IDENTITY or is_none(item.right) for item in test.rights):
            return False
        return any(tensors.holds(item) for item in (test.left, *(other.right for other in test.rights)))
    return isinstance(test, (Name, Call)) and tensors.holds(test)


def _error_of_call(program: Program, scope: Scope, call: Call, tensors: TracedTensors) -> str:
    """Return the error that a Python or NumPy function raises for a symbolic tensor.

    Empty where it raises none.
    """
    given = [item for item in call.args if tensors.holds(item)]
    if not given:
        return ""
    name = dotted(call.func) or ""
    if name in _BUILT_IN and name not in scope.names:
        if name in ("min", "max"):
            return "OperatorNotAllowedInGraphError" if len(call.args) > 1 else ""
        return "OperatorNotAllowedInGraphError" if name == "bool" else "AttributeError"
    full = program.static_name(call.func, scope) or ""
    if full.startswith("math."):
        return "TypeError"
    return "NotImplementedError" if full.startswith("numpy.") else ""
