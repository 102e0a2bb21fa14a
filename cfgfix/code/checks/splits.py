"""Data that stands class by class: cut off for validation, or trained on in that order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cfgfix.code.checks.models import compiles_of, model_calls
from cfgfix.code.checks.pipelines import upstream
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, dotted, is_name, text, walk
from cfgfix.code.model.hit import Step, at, hit_in
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
    Call,
    Collection,
    Comprehension,
    Expr,
    Literal,
    Name,
    Place,
    Subscript,
    Unary,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Constant, Dataset, Site, alternatives
from cfgfix.rules.hit import Hit

_KEEPS_ORDER = frozenset(
    {"array", "asarray", "astype", "to_categorical", "reshape", "expand_dims", "float32", "int32"}
)
_JOINS = frozenset({"concatenate", "hstack", "append", "vstack"})
_MIXES = re.compile(r"(?i)shuffle|permut|sample|split|choice|random_state|argsort|sort")
_KEEP_SEQUENCE = frozenset({"map", "batch", "prefetch", "cache", "repeat", "with_options"})
"""Methods of datasets that leave the order of examples as it is."""
_ADDS = ("append", "extend", "insert")
_DEPTH = 10


def split_of_sorted_labels(program: Program) -> Iterator[Hit]:
    """Find `validation_split` of labels that stand class by class."""
    seen: set[tuple[int, int]] = set()
    for fit in model_calls(program, "fit"):
        key = id(fit.scope), fit.call.number
        labels = fit.call.argument(1, "y")
        given = fit.call.argument(6, "validation_split")
        if labels is None or given is None or key in seen or fit.call.opaque:
            continue
        seen.add(key)
        part = alternatives(fit.argument(6, "validation_split"))
        if len(part) != 1 or not isinstance(part[0], Constant) or not isinstance(part[0].value, float):
            continue
        if not 0 < part[0].value < 1 or written_for_one(program, fit.scope) or not _has_classes(program, fit):
            continue
        made = _where_sorted(program, fit.scope, labels, _DEPTH)
        if made is not None:
            yield hit_in(
                fit.scope,
                given.place if isinstance(given, (Name, Literal)) else fit.call.name_place,
                fit.call.block,
                {"part": f"{part[0].value:.0%}".replace("%", " %"), "line": made.place.line},
                related=(made,),
            )


def sorted_data_unshuffled(program: Program) -> Iterator[Hit]:
    """Find datasets of arrays that stand class by class and are trained on unshuffled."""
    seen: set[tuple[int, int]] = set()
    for fit in model_calls(program, "fit"):
        key = id(fit.scope), fit.call.number
        data = alternatives(fit.argument(0, "x"))
        if key in seen or len(data) != 1 or not isinstance(data[0], Dataset) or fit.call.opaque:
            continue
        steps = [data[0], *upstream(data[0])]
        root = steps[-1]
        if root.op != "from_tensor_slices" or root.site is None or not root.site.call.args:
            continue
        if any(step.op not in _KEEP_SEQUENCE or len(step.parents) > 1 for step in steps[:-1]):
            continue
        given = root.site.call.args[0]
        if not isinstance(given, Collection) or given.kind != "tuple" or len(given.items) < 2:
            continue
        if written_for_one(program, fit.scope) or not _has_classes(program, fit):
            continue
        through = root.site.through or _ways_to(program, fit, root.site.scope)
        made = _where_sorted(program, root.site.scope, given.items[1], _DEPTH, through)
        if made is not None:
            seen.add(key)
            yield hit_in(
                root.site.scope,
                root.site.call.name_place,
                root.site.call.block,
                {"line": made.place.line, "fit": fit.call.name_line},
                related=(made, at(fit, label="trained here")),
            )


def _ways_to(program: Program, fit: Site, scope: Scope) -> tuple[Site, ...]:
    """Return the call of a function that makes the dataset of `fit`, as a tuple.

    Empty where there is none.
    """
    expr = fit.call.argument(0, "x")
    for _ in range(_DEPTH):
        if isinstance(expr, Name):
            bound = fit.scope.binding(expr.name)
            expr = bound[0].value if len(bound) == 1 and bound[0].kind == "assign" else None
        if not isinstance(expr, Call):
            return ()
        call = expr
        found = next((site for site in flow_of(program).callers(scope) if site.call is call), None)
        if found is not None:
            return (found,)
        expr = call.receiver
    return ()


def _has_classes(program: Program, fit: Site) -> bool:
    """Tell whether the loss of a model is a cross-entropy."""
    losses = [site.call.argument(1, "loss") for site in compiles_of(program, *alternatives(fit.receiver))]
    return bool(losses) and all(loss is not None and "crossentropy" in text(loss).lower() for loss in losses)


def _where_sorted(
    program: Program, scope: Scope, expr: Expr, depth: int, through: tuple[Site, ...] = ()
) -> Step | None:
    """Return where labels are made class by class, or None.

    Return None as well where something mixes them on the way.
    """
    expr = _array_behind(expr)
    if depth == 0:
        return None
    if isinstance(expr, Name):
        return _sorting_of_name(program, scope, expr.name, depth, through)
    if isinstance(expr, Attribute):
        return _sorting_of_attribute(program, scope, expr)
    joined = _joined_arrays(expr)
    if joined is not expr and isinstance(joined, Name) and len(getattr(_array_behind(expr), "args", ())) == 1:
        return _sorting_of_name(program, scope, joined.name, depth - 1, through)
    place = _class_by_class(expr)
    return Step(scope, place, 0, "the labels stand class by class") if place is not None else None


def _array_behind(expr: Expr) -> Expr:
    """Return the expression that an array is made from with its order kept."""
    for _ in range(_DEPTH):
        if (
            not isinstance(expr, Call)
            or (dotted(expr.func) or expr.method or "").rpartition(".")[2] not in _KEEPS_ORDER
        ):
            return expr
        if expr.method in ("astype", "reshape") and expr.receiver is not None and len(expr.args) < 3:
            expr = expr.receiver
        elif expr.args:
            expr = expr.args[0]
        else:
            return expr
    return expr


def _sorting_of_attribute(program: Program, scope: Scope, expr: Attribute) -> Step | None:
    """Return where an attribute of `self` is made class by class, or None.

    Only one method of the class may set it.
    """
    owner = program.owner(scope)
    if owner is None or not scope.params or not is_name(expr.base, scope.params[0].name):
        return None
    methods = [owner.module.summary.scopes[number] for number in owner.children.values()]
    if any(_may_reorder(call) for method in methods for call in method.calls):
        return None
    setters = [
        (method, event)
        for method in methods
        for event in method.events()
        if any(
            _is_own(part, method, expr.attribute)
            for target in event.targets
            for part in _target_parts(target)
        )
        and not (
            event.value is not None
            and _is_own(_array_behind(_joined_arrays(event.value)), method, expr.attribute)
        )
    ]
    if len(setters) != 1 or setters[0][1].kind != "assign" or setters[0][1].value is None:
        return None
    method, event = setters[0]
    given = next(
        (
            value
            for target in event.targets
            for part, value in _given_parts(target, event.value)
            if _is_own(part, method, expr.attribute)
        ),
        None,
    )
    if given is None:
        return None
    if isinstance(given, Collection) and not given.items:
        calls = [
            call
            for call in method.calls
            if call.method in _ADDS
            and isinstance(call.func, Attribute)
            and _is_own(call.func.base, method, expr.attribute)
        ]
        place = _append_in_order(method, calls)
        return Step(method, place, 0, "the labels are added class by class") if place is not None else None
    return _where_sorted(program, method, given, _DEPTH // 2)


def _is_own(expr: Expr, method: Scope, attribute: str) -> bool:
    """Tell whether an expression is a given attribute of a method's `self`."""
    return (
        isinstance(expr, Attribute)
        and expr.attribute == attribute
        and bool(method.params)
        and is_name(expr.base, method.params[0].name)
    )


def _target_parts(target: Expr) -> tuple[Expr, ...]:
    return target.items if isinstance(target, Collection) else (target,)


def _given_parts(target: Expr, value: Expr) -> Iterator[tuple[Expr, Expr]]:
    if isinstance(target, Collection) and isinstance(value, Collection):
        yield from zip(target.items, value.items, strict=False)
    elif not isinstance(target, Collection):
        yield target, value


def _joined_arrays(value: Expr) -> Expr:
    """Return the arrays that a call joins, in their order.

    Any other expression is returned without the calls around it.
    """
    inner = _array_behind(value)
    joins = isinstance(inner, Call) and (dotted(inner.func) or "").rpartition(".")[2] in _JOINS
    return inner.args[0] if joins and isinstance(inner, Call) and inner.args else inner


def _sorting_of_name(
    program: Program, scope: Scope, name: str, depth: int, through: tuple[Site, ...] = ()
) -> Step | None:
    here: Scope | None = scope
    while here is not None and not here.binding(name):
        position = next((number for number, item in enumerate(here.params) if item.name == name), None)
        if position is not None:
            return _sorting_by_caller(program, here, name, position, depth, through)
        here = program.outer(here)
    if here is None or any(_may_reorder(call) for one in (scope, here) for call in one.calls):
        return None
    bound = [
        event
        for event in here.binding(name)
        if not (event.value is not None and is_name(_array_behind(event.value), name))
    ]
    if len(bound) != 1 or bound[0].kind != "assign" or bound[0].value is None or bound[0].block != 0:
        return None
    event = bound[0]
    given = _value_given(event, name)
    if given is not None:
        empty = isinstance(given, Collection) and not given.items
        if empty or (isinstance(given, Call) and is_name(given.func, "list") and not given.args):
            place = _append_in_order(here, here.calls_on(name, *_ADDS))
            return Step(here, place, 0, "the labels are added class by class") if place is not None else None
        return _where_sorted(program, here, given, depth - 1)
    return _sorting_of_result(program, here, event, name, depth)


def _sorting_by_caller(
    program: Program, scope: Scope, name: str, position: int, depth: int, through: tuple[Site, ...]
) -> Step | None:
    """Return where a caller makes the argument of a parameter class by class.

    The caller is the last of some calls that the run came through. Return None where it does not.
    """
    if not through or any(_may_reorder(call) for call in scope.calls):
        return None
    caller = through[-1]
    target = next((item for item in caller.targets if item.scope is scope), None)
    if target is None or caller.call.opaque:
        return None
    given = caller.call.argument(position - int(target.receiver is not None), name)
    return _where_sorted(program, caller.scope, given, depth - 1, through[:-1]) if given is not None else None


def _value_given(event: Event, name: str) -> Expr | None:
    """Return the value that an assignment gives one name, or None.

    `x, y = [], []` gives each an empty list.
    """
    for target in event.targets:
        if is_name(target, name):
            return event.value
        if isinstance(target, Collection) and isinstance(event.value, Collection):
            pairs = zip(target.items, event.value.items, strict=False)
            return next((given for item, given in pairs if is_name(item, name)), None)
    return None


def _sorting_of_result(program: Program, scope: Scope, event: Event, name: str, depth: int) -> Step | None:
    """Return where a function makes one of several results class by class, or None."""
    target, call = event.targets[0], event.value
    if len(event.targets) != 1 or not isinstance(target, Collection) or not isinstance(call, Call):
        return None
    number = next((at for at, item in enumerate(target.items) if is_name(item, name)), None)
    site = next((item for item in flow_of(program).within(scope) if item.call is call), None)
    if number is None or site is None or len(site.targets) != 1 or site.open:
        return None
    inner = site.targets[0].scope
    returned = inner.events_of("return")
    if len(returned) != 1 or not isinstance(returned[0].value, Collection):
        return None
    items = returned[0].value.items
    if len(items) != len(target.items) or any(_may_reorder(call) for call in inner.calls):
        return None
    return _where_sorted(program, inner, items[number], depth - 1)


def _may_reorder(call: Call) -> bool:
    """Tell whether a call may reorder data or select some of it."""
    name = (dotted(call.func) or call.method or "").rpartition(".")[2]
    if name == "split" and not (dotted(call.func) or "").startswith(("np.", "numpy.", "tf.")):
        # Of a text.
        return False
    return name != "sorted" and _MIXES.search(name) is not None


def _class_by_class(expr: Expr) -> Place | None:
    """Return where an expression joins runs of equal labels, or None."""
    if isinstance(expr, Binary) and expr.operator == "+":
        runs = [_repeated_label(part) for part in _summed_arrays(expr)]
        return expr.place if None not in runs and len(set(runs)) > 1 else None
    if not isinstance(expr, Call):
        return None
    name = (dotted(expr.func) or "").rpartition(".")[2]
    if name == "repeat" and len(expr.args) == 2 and not expr.keywords:
        first = expr.args[0]
        counts = isinstance(first, Call) and (dotted(first.func) or "").rpartition(".")[2] in (
            "arange",
            "range",
        )
        listed = isinstance(first, Collection) and len(first.items) > 1
        return expr.place if counts or listed else None
    if name not in _JOINS or not expr.args:
        return None
    parts = expr.args[0]
    if name == "append" and len(expr.args) > 1:
        runs = [_repeated_label(part) for part in expr.args[:2]]
    elif isinstance(parts, Collection) and len(parts.items) > 1:
        runs = [_repeated_label(part) for part in parts.items]
    elif isinstance(parts, Comprehension) and len(parts.generators) == 1:
        return expr.place if _run_of(parts) else None
    else:
        return None
    return expr.place if None not in runs and len(set(runs)) == len(runs) else None


def _summed_arrays(expr: Binary) -> list[Expr]:
    parts: list[Expr] = []
    pending: list[Expr] = [expr]
    while pending:
        here = pending.pop()
        if isinstance(here, Binary) and here.operator == "+":
            pending += (here.left, here.right)
        else:
            parts.append(here)
    return parts


def _repeated_label(expr: Expr) -> object | None:
    """Return the label that an array or list repeats, or None."""
    expr = _array_behind(expr)
    if isinstance(expr, Binary) and expr.operator == "*":
        for run in (expr.left, expr.right):
            if isinstance(run, Collection) and run.kind == "list" and len(run.items) == 1:
                return _label_constant(run.items[0])
        for ones, factor in ((expr.left, expr.right), (expr.right, expr.left)):
            if _repeated_label(ones) == 1 and not isinstance(ones, Literal):
                return _label_constant(factor)
        return None
    if not isinstance(expr, Call):
        return None
    name = (dotted(expr.func) or "").rpartition(".")[2]
    if name in ("zeros", "ones", "zeros_like", "ones_like") and expr.args:
        shape = expr.args[0]
        if isinstance(shape, Collection) and len(shape.items) > 1 and constant(shape.items[1]) != 1:
            return None
        return 0 if name.startswith("zeros") else 1
    if name == "full" and len(expr.args) > 1:
        return _label_constant(expr.args[1])
    return None


def _label_constant(expr: Expr) -> object | None:
    value = expr.operand if isinstance(expr, Unary) else expr
    return value.value if isinstance(value, Literal) and isinstance(value.value, (int, float, str)) else None


def _run_of(parts: Comprehension) -> bool:
    """Tell whether each turn of a comprehension makes an array of one repeated label."""
    target, _, tests = parts.generators[0]
    item = _array_behind(parts.parts[-1])
    names = {part.name for part in walk(target) if isinstance(part, Name)}
    if tests or not isinstance(item, Call):
        return False
    name = (dotted(item.func) or "").rpartition(".")[2]
    given = item.args[1] if name == "full" and len(item.args) > 1 else None
    return isinstance(given, Name) and given.name in names


def _append_in_order(scope: Scope, calls: Sequence[Call]) -> Place | None:
    """Return where a loop appends labels class by class, or None.

    The label is that of an outer loop, or one number in each loop.
    """
    if not calls or any(call.method != "append" or len(call.args) != 1 for call in calls):
        return None
    loops = {event.bodies[0][0]: event for event in scope.events_of("for") if event.bodies}
    around = [[number for number in scope.block_numbers(call.block) if number in loops] for call in calls]
    if len(calls) == 1 and len(around[0]) == 1 and _is_run_of(calls[0].args[0], loops[around[0][0]]):
        return calls[0].place
    if len(calls) == 1 and len(around[0]) > 1:
        inner, outer = around[0][0], loops[around[0][1]]
        return calls[0].place if _is_of_outer(scope, calls[0].args[0], outer, inner) else None
    values = [constant(call.args[0]) for call in calls]
    if (
        len(calls) > 1
        and all(isinstance(value, (int, float)) for value in values)
        and len(set(values)) == len(values)
        and all(len(numbers) == 1 for numbers in around)
        and len({numbers[0] for numbers in around}) == len(calls)
    ):
        return calls[0].place
    return None


def _is_run_of(value: Expr, loop: Event) -> bool:
    """Tell whether an array repeats the variable of a loop: `np.full(count, label)`."""
    value = _array_behind(value)
    names = {part.name for target in loop.targets for part in walk(target) if isinstance(part, Name)}
    name = (dotted(value.func) or "").rpartition(".")[2] if isinstance(value, Call) else ""
    given = value.args[1] if isinstance(value, Call) and name == "full" and len(value.args) > 1 else None
    return isinstance(given, Name) and given.name in names


def _is_of_outer(scope: Scope, value: Expr, outer: Event, inner: int) -> bool:
    """Tell whether a label comes from the outer of two loops.

    It is the loop's variable, its place in a list, or its entry in a table.
    """
    bound = {part.name for target in outer.targets for part in walk(target) if isinstance(part, Name)}
    block = outer.bodies[0][0]
    for event in scope.events_of("assign"):
        if event.block == block and event.value is not None and _is_number_of(event.value, bound):
            bound |= {target.name for target in event.targets if isinstance(target, Name)}
    inside = {
        part.name
        for event in scope.events()
        if inner in scope.block_numbers(event.block) or any(number == inner for number, _ in event.bodies)
        for target in event.targets
        for part in walk(target)
        if isinstance(part, Name)
    }
    return _is_number_of(value, bound - inside)


def _is_number_of(value: Expr, names: set[str]) -> bool:
    """Tell whether a label is a name, its index in a list, or its entry in a table.

    The name is one of those given.
    """
    if isinstance(value, Name):
        return value.name in names
    if isinstance(value, Call):
        given = value.args[0] if value.method == "index" and len(value.args) == 1 else None
        return isinstance(given, Name) and given.name in names
    return isinstance(value, Subscript) and isinstance(value.index, Name) and value.index.name in names
