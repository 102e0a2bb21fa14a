"""Python loops that compute with one tensor element in each turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cfgfix.code.checks.common import never_entered, only_value
from cfgfix.code.checks.compiled_scopes import compiled_scopes, eager_guard
from cfgfix.code.checks.models import kept_eager
from cfgfix.code.inference.conditions import Conditions
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import ELEMENT, GRAPH, PYTHON, hot_paths
from cfgfix.code.model.expressions import constant, dotted, is_name, text, walk
from cfgfix.code.model.hit import hit_in
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
    Call,
    Collection,
    Compare,
    Expr,
    Name,
    Place,
    Slice,
    Subscript,
    Unary,
)
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope, bind
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit

_FEW = 100
"""Turns from which on a loop of Python is told: one operation for all of them is then hundreds of times as fast."""
_OPERATIONS = frozenset(
    {
        "abs", "add", "argmax", "argmin", "cast", "constant", "cos", "divide", "dot", "equal", "exp", "greater", "less", "log", "maximum", "mean",
        "minimum", "multiply", "norm", "pow", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "relu", "round", "sigmoid",
        "sign", "sin", "sqrt", "square", "squared_difference", "stack", "subtract", "sum", "tanh", "tensordot", "where", "logical_and", "logical_or",
        "reshape", "expand_dims", "squeeze", "max", "min", "greater_equal", "less_equal", "not_equal", "floor", "negative", "convert_to_tensor",
        "tensor_scatter_nd_update", "tensor_scatter_nd_add", "zeros", "ones", "one_hot", "eval", "get_value", "zeros_like", "ones_like",
        "flatten", "reduce_std", "reduce_variance", "std", "var", "l2_loss", "l2_normalize", "softplus", "cumsum", "clip", "clip_by_value", "epsilon",
        "reduce_any", "reduce_all", "count_nonzero", "divide_no_nan", "concat",
    }
)  # fmt: skip
"""Operations that take as long for one element as for hundreds."""
_SCATTERS = frozenset({"tensor_scatter_nd_update", "tensor_scatter_nd_add"})
_DRAWS = ("tensorflow.random.uniform", "tensorflow.random.normal", "tensorflow.random.truncated_normal")
_LIBRARIES = (
    "tensorflow.math.",
    "tensorflow.linalg.",
    "tensorflow.nn.",
    "keras.backend.",
    "keras.ops.",
    "tensorflow.",
)
_PYTHON = frozenset(
    {"append", "numpy", "float", "int", "abs", "range", "len", "item", "min", "max", "sum", "bool"}
)
_OF_TENSORS = frozenset({"numpy", "item", "append"})
_READS = frozenset({"keras.backend.eval", "keras.backend.get_value"})


def loop_in_place_of_operation(program: Program) -> Iterator[Hit]:
    """Find loops over elements that one tensor operation could replace."""
    hot = hot_paths(program)
    for module in program.modules:
        for scope in module.summary.scopes:
            loops = [event for event in scope.events_of("for") if event.bodies and event.value is not None]
            if not loops or scope.kind not in ("module", "function") or scope.is_async:
                continue
            if (
                hot.reach(scope, GRAPH, ELEMENT, PYTHON) is not None
                or kept_eager(program, module, always=True)
                or written_for_one(program, scope)
                or never_entered(program, scope)
            ):
                continue
            for event in loops:
                found = _computed_with_element(program, scope, event, eager=True)
                if found is None or _holds_another(program, scope, event):
                    continue
                shown, turns = found
                if turns is not None and turns <= _FEW:
                    continue
                yield _loop_hit(
                    scope,
                    event,
                    shown,
                    f"{turns:,} times" if turns is not None else "in every turn",
                    "Python starts an operation of TensorFlow for each element",
                )
    for scope, reach in compiled_scopes(program):
        for event in scope.events_of("for"):
            if eager_guard(scope, event.block) or not reach.passes(event.block, None):
                continue
            turns = turns_in_graph(program, scope, event)
            if turns is None:
                continue
            calculated = _computed_with_element(program, scope, event, eager=False)
            yield hit_in(
                scope,
                _iterable_place(event),
                event.block,
                {
                    "shown": calculated[0] if calculated is not None else "the draw",
                    "loop_line": event.line,
                    "turns": f"{turns:,} times",
                    "why": f"the graph ({reach.via}) has all of it once for each element",
                },
                entry=reach,
            )


def _loop_hit(scope: Scope, event: Event, shown: str, turns: str, why: str) -> Hit:
    return hit_in(
        scope,
        _iterable_place(event),
        event.block,
        {"shown": shown, "loop_line": event.line, "turns": turns, "why": why},
    )


def _iterable_place(event: Event) -> Place:
    """Return the place of the expression that a loop iterates over."""
    value = event.value
    assert isinstance(value, (Call, Name))
    return value.place


class _BlockContents(NamedTuple):
    """The statements and calls of a scope by each block that they lie in."""

    events: dict[int, list[Event]]
    calls: dict[int, list[Call]]
    with_loops: frozenset[int]
    """The blocks in which a `for` stands itself."""


@once
def _contents_of_blocks(_program: Program, scope: Scope) -> _BlockContents:
    loops = (event for event in scope.events_of("for") if event.bodies and event.value is not None)
    found = _BlockContents({}, {}, frozenset(event.block for event in loops))
    for event in scope.events():
        for number in scope.block_numbers(event.block):
            found.events.setdefault(number, []).append(event)
    for call in scope.calls:
        for number in scope.block_numbers(call.block):
            found.calls.setdefault(number, []).append(call)
    return found


@once
def _loops_by_block(_program: Program, scope: Scope) -> dict[int, Event]:
    """Return the `for` loops of a scope by the blocks that are their bodies."""
    return {event.bodies[0][0]: event for event in scope.events_of("for") if event.bodies}


@once
def _sites_by_call(program: Program, scope: Scope) -> dict[int, Site]:
    """Return the sites of a scope by the numbers of their calls."""
    return {site.call.number: site for site in flow_of(program).within(scope)}


@once
def turns_in_graph(program: Program, scope: Scope, event: Event) -> int | None:
    """Return how many turns of a loop over elements are unrolled into a graph.

    None for any other loop, and for one with another loop over elements in it.
    """
    found = _computed_with_element(program, scope, event, eager=False)
    if found is None or found[1] is None or _holds_another(program, scope, event):
        return None
    return found[1] if found[1] >= _FEW else None


def _holds_another(program: Program, scope: Scope, event: Event) -> bool:
    """Tell whether a loop's body contains another loop."""
    return event.bodies[0][0] in _contents_of_blocks(program, scope).with_loops


def _computed_with_element(
    program: Program, scope: Scope, event: Event, *, eager: bool
) -> tuple[str, int | None] | None:
    """Return what a loop computes with an element, as text, and its number of turns.

    None where a turn needs the result of the turn before, or makes other calls than cheap operations.
    """
    variable = event.targets[0] if len(event.targets) == 1 else None
    body = event.bodies[0][0]
    if variable is None or event.value is None:
        return None
    turns, over = _turns_of_loop(program, scope, event)
    if not over:
        return None
    names: dict[str, None] = {}
    bind(variable, names)
    if not _only_operations(program, scope, body, depth=1):
        return None
    if _needs_last_turn(program, scope, event):
        return None
    sites = _sites_by_call(program, scope)
    inner = _contents_of_blocks(program, scope).events.get(body, [])
    iterates = not _is_range(event.value)
    own: dict[str, None] = dict(names) if iterates else {}
    for item in inner:
        # `row = x[i]`
        if (
            item.kind == "assign"
            and isinstance(item.value, Subscript)
            and _has_element(item.value, names, {})
            and isinstance(item.value.base, Name)
            and _is_tensor(program, scope, item.value.base)
        ):
            for target in item.targets:
                bind(target, own)
    shown = None
    for item in inner:
        if item.value is None:
            continue
        for part in walk(item.value):
            shown = shown or _on_element(program, scope, part, names, own, sites, eager=eager)
    if shown is None:
        return None
    return shown, turns


def _is_range(expr: Expr) -> bool:
    if isinstance(expr, Call) and (dotted(expr.func) or "").rpartition(".")[2] == "tqdm" and expr.args:
        expr = expr.args[0]
    return isinstance(expr, Call) and (dotted(expr.func) or "") in ("range", "trange")


def _turns_of_loop(program: Program, scope: Scope, event: Event) -> tuple[int | None, bool]:
    """Return a loop's number of turns, and whether it goes over elements.

    Outer loops multiply the number; None where it is not known.
    """
    total: int | None = None
    over = False
    here: Event | None = event
    while here is not None:
        number, counted = _own_turns(program, scope, here)
        if here is event:
            over = counted
            total = number
        elif counted and number is not None and total is not None:
            total *= number
        around = _innermost_for(scope, here.block)
        here = _loops_by_block(program, scope).get(around) if around is not None else None
    return total, over


def _innermost_for(scope: Scope, block: int) -> int | None:
    return next((number for number in scope.block_numbers(block) if scope.blocks[number].kind == "for"), None)


def _own_turns(program: Program, scope: Scope, event: Event) -> tuple[int | None, bool]:
    value = event.value
    if isinstance(value, Call) and (dotted(value.func) or "").rpartition(".")[2] == "tqdm" and value.args:
        value = value.args[0]
    if isinstance(value, Call) and is_name(value.func, "range") and 1 <= len(value.args) <= 2:
        if "range" in scope.names:
            return None, False
        bound = value.args[-1]
        known = _integer_value(program, scope, bound, event.line)
        first = _integer_value(program, scope, value.args[0], event.line) if len(value.args) == 2 else 0
        if known is not None and first is not None:
            return max(0, known - first), True
        if _is_name_of_length(bound):
            return None, True
        made = only_value(scope, bound)
        return None, made is not None and _is_name_of_length(made)
    if isinstance(value, Name):
        rows = _first_size(program, scope, value, event.line)
        return rows, rows is not None
    return None, False


def _is_name_of_length(expr: Expr) -> bool:
    """Tell whether an expression is `len(x)` or `x.shape[0]`."""
    if isinstance(expr, Call):
        return is_name(expr.func, "len") and len(expr.args) == 1 and isinstance(expr.args[0], Name)
    return (
        isinstance(expr, Subscript)
        and isinstance(expr.base, Attribute)
        and expr.base.attribute == "shape"
        and isinstance(expr.base.base, Name)
    )


def _integer_value(program: Program, scope: Scope, expr: Expr, line: int) -> int | None:
    """Return the known integer value of an expression, or None.

    The length or first size of a tensor of known shape counts.
    """
    found = Conditions(program, None).value(expr, scope, before=line)
    if type(found) is int:
        return found
    made = only_value(scope, expr) if isinstance(expr, Name) else expr
    if made is None:
        return None
    if isinstance(made, Call) and is_name(made.func, "len") and len(made.args) == 1:
        return _first_size(program, scope, made.args[0], line)
    if (
        isinstance(made, Subscript)
        and isinstance(made.base, Attribute)
        and made.base.attribute == "shape"
        and constant(made.index) == 0
    ):
        return _first_size(program, scope, made.base.base, line)
    return None


_SHAPED = ("zeros", "ones", "normal", "uniform", "truncated_normal", "fill", "random", "rand", "randn")


def _first_size(program: Program, scope: Scope, expr: Expr, line: int, depth: int = 3) -> int | None:
    """Return the known first size of a tensor or array, or None."""
    if depth == 0 or not isinstance(expr, Name):
        return None
    made = only_value(scope, expr)
    if made is None and any(item.name == expr.name for item in scope.params) and not scope.binding(expr.name):
        position = [item.name for item in scope.params].index(expr.name)
        sizes = {
            _first_size(program, caller.scope, given, caller.call.line, depth - 1)
            for caller in flow_of(program).callers(scope)
            for given in [caller.call.argument(position - int(program.owner(scope) is not None), expr.name)]
            if given is not None
        }
        return sizes.pop() if len(sizes) == 1 else None
    if made is None and scope.parent >= 0 and not scope.binding(expr.name):
        return _first_size(program, scope.module.summary.scopes[0], expr, line, depth - 1)
    if not isinstance(made, Call) or not made.args:
        return None
    last = (dotted(made.func) or "").rpartition(".")[2]
    if last in ("astype", "cast", "constant", "convert_to_tensor"):
        inner = made.receiver if last == "astype" else made.args[0]
        return _first_size(program, scope, inner, line, depth - 1) if inner is not None else None
    if last == "range" and len(made.args) == 1:
        found = Conditions(program, None).value(made.args[0], scope, before=line)
        return found if type(found) is int else None
    if last not in _SHAPED:
        return None
    shape = made.args[0]
    first = shape.items[0] if isinstance(shape, Collection) and shape.items else shape
    found = Conditions(program, None).value(first, scope, before=line)
    return found if type(found) is int else None


def _is_cheap_operation(name: str) -> bool:
    """Tell whether a full name is one of a cheap operation."""
    return name.startswith(_LIBRARIES) and name.rpartition(".")[2] in _OPERATIONS


def _only_operations(program: Program, scope: Scope, block: int, depth: int) -> bool:
    """Tell whether a block calls nothing but cheap operations, itself or in functions."""
    sites = _sites_by_call(program, scope)
    for call in _contents_of_blocks(program, scope).calls.get(block, []):
        site = sites.get(call.number)
        name = site.name if site is not None else ""
        last = (call.method or dotted(call.func) or "").rpartition(".")[2]
        if name and (_is_cheap_operation(name) or (name.startswith(_DRAWS) and _draws_one(call))):
            continue
        if last in _PYTHON and (not name or name.startswith("builtins.") or call.method in _OF_TENSORS):
            continue
        if site is None or not site.targets or depth == 0:
            return False
        if not all(
            not any(item.kind in ("for", "while") for item in target.scope.blocks)
            and _only_operations(program, target.scope, 0, depth - 1)
            for target in site.targets
        ):
            return False
    return True


def _draws_one(call: Call) -> bool:
    """Tell whether a call draws a single random number."""
    shape = call.argument(0, "shape")
    return isinstance(shape, Collection) and (
        not shape.items or (len(shape.items) == 1 and constant(shape.items[0]) == 1)
    )


def _needs_last_turn(program: Program, scope: Scope, event: Event) -> bool:
    """Tell whether a loop's turn uses a result of the turn before it.

    Sums, lists and scattered values do not count.
    """
    body = event.bodies[0][0]
    inner = _contents_of_blocks(program, scope).events.get(body, [])
    bound: set[str] = set()
    """Names given in this turn so far."""
    given = {
        name
        for item in inner
        for target in item.targets
        for name in _bound_names(target)
        if item.kind in ("assign", "annotate", "augment")
    }
    for item in inner:
        if item.kind in ("break", "raise", "return", "yield", "with", "try", "delete"):
            return True
        if item.kind == "augment":
            if item.operator not in ("+", "-", "*") or not all(
                isinstance(target, (Name, Subscript)) for target in item.targets
            ):
                return True
            if item.value is not None and _uses_names(item.value, given - bound):
                return True
            continue
        if item.value is None:
            continue
        value = item.value
        own = {name for target in item.targets for name in _bound_names(target)}
        if item.kind == "assign" and len(own) == 1:
            value_parts = _without_sum(value, next(iter(own)))
            if any(_uses_names(part, given - bound) for part in value_parts):
                return True
        elif _uses_names(value, given - bound):
            return True
        if item.kind in ("assign", "annotate"):
            if any(isinstance(target, Attribute) for target in item.targets):
                return True
            if not _carries_names(value, own):
                bound |= own
    return False


def _without_sum(value: Expr, name: str) -> tuple[Expr, ...]:
    """Return a value's parts without the running total: `part` of `total + part`."""
    if isinstance(value, Binary) and value.operator in ("+", "-"):
        if is_name(value.left, name):
            return (value.right,)
        if is_name(value.right, name):
            return (value.left,)
    if (
        isinstance(value, Call)
        and (dotted(value.func) or "").rpartition(".")[2] in _SCATTERS | {"add"}
        and value.args
        and is_name(value.args[0], name)
    ):
        return value.args[1:]
    return (value,)


def _carries_names(value: Expr, names: set[str]) -> bool:
    return any(isinstance(part, Name) and part.name in names for part in walk(value))


def _bound_names(target: Expr) -> set[str]:
    names: dict[str, None] = {}
    bind(target, names)
    return set(names)


def _uses_names(expr: Expr, names: set[str]) -> bool:
    return any(isinstance(part, Name) and part.name in names for part in walk(expr))


def _on_element(
    program: Program,
    scope: Scope,
    part: Expr,
    names: dict[str, None],
    own: dict[str, None],
    sites: dict[int, Site],
    *,
    eager: bool,
) -> str | None:
    """Return the text of an operation on the loop's element, or None."""
    if isinstance(part, Call):
        site = sites.get(part.number)
        if site is None:
            return None
        if not eager and site.name.startswith(_DRAWS) and _draws_one(part):
            return text(part)
        if _is_cheap_operation(site.name) and site.name.rpartition(".")[2] not in (
            "cast",
            "constant",
            "stack",
        ):
            if site.name in _READS and eager:
                return text(part)
            if any(_has_element(item, names, own) for item in part.args):
                return text(part)
        return None
    sides: tuple[Expr, ...] = ()
    if isinstance(part, Binary):
        sides = (part.left, part.right)
    elif isinstance(part, Compare):
        sides = (part.left, *(item.right for item in part.rights))
    elif isinstance(part, Unary):
        sides = (part.operand,)
    for side in sides:
        base = side.base if isinstance(side, Subscript) and _has_element(side, names, own) else None
        if base is None and isinstance(side, Name) and side.name in own:
            base = side
            return text(part)
        while isinstance(base, Subscript):
            base = base.base
        if isinstance(base, Name) and _is_tensor(program, scope, base):
            return text(part)
    return None


def _has_element(expr: Expr, names: dict[str, None], own: dict[str, None]) -> bool:
    """Tell whether an expression contains the element of a loop's turn."""
    for part in walk(expr):
        if isinstance(part, Name) and part.name in own:
            return True
        if isinstance(part, Subscript) and isinstance(part.base, (Name, Subscript)):
            index = part.index
            first = index.items[0] if isinstance(index, Collection) and index.items else index
            if isinstance(index, Collection) and any(isinstance(item, Slice) for item in index.items[:1]):
                continue
            if isinstance(first, Name) and first.name in names:
                return True
            if isinstance(index, Collection) and any(
                isinstance(item, Name) and item.name in names for item in index.items
            ):
                return True
    return False


@once
def _tensor_names(program: Program, scope: Scope) -> frozenset[str]:
    """Return the names of a scope that only a TensorFlow operation is assigned to."""
    sites = _sites_by_call(program, scope)
    found: set[str] = set()
    for event in scope.events_of("assign"):
        value = event.value
        if isinstance(value, Call) and len(event.targets) == 1 and isinstance(event.targets[0], Name):
            site = sites.get(value.number)
            name = event.targets[0].name
            if site is not None and _gives_tensor(site.name) and len(scope.binding(name)) == 1:
                found.add(name)
    return frozenset(found)


def _gives_tensor(name: str) -> bool:
    last = name.rpartition(".")[2]
    return name.startswith(("tensorflow.random.", "tensorflow.math.", "tensorflow.linalg.")) or (
        name.startswith("tensorflow.")
        and (last in _OPERATIONS or last in ("range", "fill", "matmul", "linspace"))
    )


def _is_of_step(program: Program, scope: Scope) -> bool:
    """Tell whether Keras calls a function with tensors, as a loss or a metric."""
    return any(root.scope is scope and root.is_of_step for root in hot_paths(program).roots)


def _is_tensor(program: Program, scope: Scope, name: Name) -> bool:
    """Tell whether a name is a tensor, in its function or at all of its callers."""
    if name.name in _tensor_names(program, scope):
        return True
    if scope.binding(name.name):
        return False
    names = [item.name for item in scope.params]
    if name.name in names:
        position = names.index(name.name) - int(program.owner(scope) is not None)
        callers = flow_of(program).callers(scope)
        given = [caller.call.argument(position, name.name) for caller in callers if position >= 0]
        if not callers and _is_of_step(program, scope):
            return True
        return bool(given) and all(
            item is not None and _is_given_tensor(program, caller.scope, item)
            for item, caller in zip(given, callers, strict=True)
        )
    return scope.kind != "module" and name.name in _tensor_names(program, scope.module.summary.scopes[0])


def _is_given_tensor(program: Program, scope: Scope, given: Expr) -> bool:
    """Tell whether an argument is the result of a TensorFlow operation."""
    if isinstance(given, Call):
        return any(_gives_tensor(site.name) for site in flow_of(program).within(scope) if site.call is given)
    return isinstance(given, Name) and (
        given.name in _tensor_names(program, scope)
        or (
            not scope.binding(given.name)
            and given.name in _tensor_names(program, scope.module.summary.scopes[0])
        )
    )
