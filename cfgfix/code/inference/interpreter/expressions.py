"""The value of each kind of expression, and the binding of targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cfgfix.code.inference.interpreter import classes, iterating, reading, writing
from cfgfix.code.inference.interpreter.comparisons import comparison_result, has_one_outcome
from cfgfix.code.inference.interpreter.models.builtin_functions import BUILTINS
from cfgfix.code.inference.interpreter.models.operators import binary
from cfgfix.code.inference.interpreter.models.options import SHELL
from cfgfix.code.inference.interpreter.models.texts import formatted, joined
from cfgfix.code.inference.interpreter.objects import (
    NONE,
    UNKNOWN,
    Choice,
    ClassObject,
    External,
    FunctionObject,
    Instance,
    Mapping,
    Namespace,
    Scalar,
    Sequence,
    Spot,
    Unknown,
    Unnamed,
    Value,
)
from cfgfix.code.inference.interpreter.run import MAX_STEPS, MAX_TURNS, Call, Exhausted, Frame
from cfgfix.code.inference.interpreter.values import (
    alternatives,
    choice,
    constant_of,
    copied,
    key_of,
    name_of,
    names_held,
    origins_of,
    truth,
)
from cfgfix.code.model import nodes
from cfgfix.code.model.expressions import place_of, text
from cfgfix.code.model.nodes import Expr
from cfgfix.code.model.summary import Event, Scope
from cfgfix.core.records import replace


def evaluate(frame: Frame, expr: Expr) -> Value:
    """Evaluate an expression, with its effects, and return its value."""
    run = frame.run
    run.steps += 1
    if run.steps > MAX_STEPS:
        raise Exhausted
    if isinstance(expr, nodes.Name):
        # Most expressions are names of the scope itself.
        found = frame.names.names.get(expr.name)
        return found if found is not None else _evaluate_name(frame, expr)
    if isinstance(expr, nodes.Literal):
        return Scalar(expr.value)
    handler = _EXPRESSIONS.get(type(expr))
    return handler(frame, expr) if handler is not None else UNKNOWN


def _evaluate_name(frame: Frame, expr: nodes.Name) -> Value:
    found = reading.variable(frame, expr.name)
    if found is not None:
        return found
    if expr.name in BUILTINS:
        return External(f"builtins.{expr.name}")
    return UNKNOWN


def _evaluate_constant(_frame: Frame, expr: nodes.Literal) -> Value:
    return Scalar(expr.value)


def _evaluate_attribute(frame: Frame, expr: nodes.Attribute) -> Value:
    owner = evaluate(frame, expr.base)
    found = reading.plain_attribute(frame.run, owner, expr.attribute)
    if found is not None:
        return found
    spot = frame.spot(expr.place)
    if type(owner) is not Choice:
        return reading.attribute(frame, owner, expr.attribute, spot)
    return _of_each(frame, owner, expr, lambda item: reading.attribute(frame, item, expr.attribute, spot))


def _evaluate_subscript(frame: Frame, expr: nodes.Subscript) -> Value:
    owner = evaluate(frame, expr.base)
    if isinstance(expr.index, nodes.Slice):
        part = _part_of(frame, owner, expr.index, frame.spot(expr.place))
        if part is not None:
            return part
    index = evaluate(frame, expr.index)
    spot = frame.spot(expr.place)
    if type(owner) is not Choice:
        return reading.item(frame, owner, index, spot)
    return _of_each(frame, owner, expr, lambda item: reading.item(frame, item, index, spot))


def _of_each(frame: Frame, owner: Choice, expr: Expr, read: Callable[[Value], Value]) -> Value:
    """Return the result of a read from a value with several alternatives.

    A key that only some alternatives lack is noted as missing on that condition.
    """
    run = frame.run
    found: list[Value] = []
    lacking: list[int] = []
    accesses = len(run.wrong_access)
    for item in owner.values:
        before = len(run.asked)
        found.append(read(item))
        lacking += range(before, len(run.asked))
    if len(run.wrong_access) - accesses < len(owner.values):
        # Another one may be what is there.
        del run.wrong_access[accesses:]
    names = {run.asked[number].name for number in lacking}
    if len(lacking) < len(owner.values) and len(names) == 1:
        shown = f"{text(expr)} is there"
        for number in lacking:
            asked = run.asked[number]
            run.asked[number] = replace(asked, conditions=(*asked.conditions, shown))
    return choice(found)


def _part_of(frame: Frame, owner: Value, bounds: nodes.Slice, spot: Spot) -> Value | None:
    """Return a slice of a list with known items or of `sys.argv`.

    None for any other value.
    """
    numbers = [
        evaluate(frame, bound) if bound is not None else Scalar(None)
        for bound in (bounds.lower, bounds.upper, bounds.step)
    ]
    if not all(type(item) is Scalar and (item.value is None or type(item.value) is int) for item in numbers):
        return None
    cut = slice(*(item.value for item in numbers if type(item) is Scalar))
    if isinstance(owner, External) and owner.name == "sys.argv":
        given = frame.run.host.arguments()
        if given is None:
            return Sequence([], open=True)
        whole: list[Value] = [UNKNOWN, *(UNKNOWN if item == SHELL else Scalar(item) for item in given)]
        return Sequence(whole[cut]) if cut.step != 0 else None
    if isinstance(owner, Sequence) and not owner.open and cut.step != 0:
        for item in numbers:
            frame.run.use(item, spot)
        return Sequence(owner.items[cut], kind=owner.kind)
    return None


def _evaluate_items(frame: Frame, expr: nodes.Collection) -> Value:
    made = Sequence([], kind=expr.kind)
    for part in expr.items:
        if isinstance(part, nodes.Starred):
            inner = evaluate(frame, part.value)
            found = iterating.items_of(frame, inner, None)
            if found is None:
                made.open = True
                made.items.append(Unknown(inner.origins))
            else:
                made.extend(found)
        else:
            made.items.append(evaluate(frame, part))
    return made


def _evaluate_mapping(frame: Frame, expr: nodes.Dictionary) -> Value:
    result = Mapping()
    place = expr.place
    for key, value in expr.entries:
        inner = evaluate(frame, value)
        if key is None:
            writing.update(frame, result, inner, frame.spot(place))
            continue
        name = constant_of(evaluate(frame, key))
        if name is None:
            # `{placeholder: rate}`: what gets the mapping may use it.
            result.open = True
            frame.run.use(inner, frame.spot(place), deep=True)
        else:
            writing.write_entry(frame.run, result, name, inner, frame.spot(place))
    if len(result.entries) > 1 and not result.open and not result.sections:
        frame.run.written_tables[id(result)] = result
    if frame.run.code_settings is not None and result.entries:
        frame.run.code_settings.dictionary(expr, result, frame.spot(place))
    return result


def _evaluate_binary(frame: Frame, expr: nodes.Binary) -> Value:
    left, right = evaluate(frame, expr.left), evaluate(frame, expr.right)
    return apply_operator(frame, expr.operator, left, right, expr.place, 0)


def apply_operator(
    frame: Frame, operator: str, left: Value, right: Value, place: nodes.Place, block: int
) -> Value:
    """Return the result of a binary operator."""
    spot = frame.spot(place, block)
    if operator == "|" and isinstance(left, Mapping) and isinstance(right, (Mapping, Instance)):
        result: Mapping = copied(left)
        writing.update(frame, result, right, spot)
        return result
    for owner, other, name in ((left, right, "__{}__"), (right, left, "__r{}__")):
        if isinstance(owner, Instance) and operator in _METHODS:
            method = classes.member(owner.cls, name.format(_METHODS[operator]))
            if isinstance(method, FunctionObject):
                return frame.run.call(Call(frame, method.bound(owner), (other,), {}, spot))
    return binary(frame.run, operator, left, right, spot)


_METHODS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
    "@": "matmul", "|": "or", "&": "and", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
"""Operators and the methods by which classes define them."""


def _evaluate_unary(frame: Frame, expr: nodes.Unary) -> Value:
    run = frame.run
    value = evaluate(frame, expr.operand)
    if expr.operator == "not":
        spot = frame.spot(expr.place)
        run.use(value, spot)
        holds = run.holds(value, spot)
        if holds is None:
            return Unknown(value.origins)
        found = Scalar(not holds, value.origins)
        if (named := run.name_tests.get(id(value))) is not None:
            run.name_tests[id(found)] = named._replace(outcome=found)
        return found
    if type(value) is Scalar and isinstance(value.value, (int, float)) and expr.operator in "-+":
        return Scalar(-value.value if expr.operator == "-" else value.value, value.origins)
    return Unknown(value.origins)


def _evaluate_boolean(frame: Frame, expr: nodes.Boolean) -> Value:
    run = frame.run
    found: list[Value] = []
    spot_place = expr.place
    pushed = 0
    try:
        for number, part in enumerate(expr.operands):
            value = evaluate(frame, part)
            last = number == len(expr.operands) - 1
            holds = run.holds(value, frame.spot(spot_place)) if not last else None
            if not last:
                run.use(value, frame.spot(spot_place))
                if holds is None:
                    found.append(value)
                    run.assumed.append(run.condition(text(part), value))
                    pushed += 1
                    continue
                if holds is (expr.operator == "or"):
                    found.append(value)
                    break
                continue
            found.append(value)
    finally:
        for _ in range(pushed):
            run.assumed.pop()
    if len(found) == 1:
        return found[0]
    if expr.operator == "and" and any(truth(item) is False for item in found):
        result = Scalar(False, origins_of(found))
        if any(run.is_decided(item) and truth(item) is False for item in found):
            run.decide(result)
        return result
    return choice(found)


def _evaluate_comparison(frame: Frame, expr: nodes.Compare) -> Value:
    left = left_value = evaluate(frame, expr.left)
    results: list[bool | None] = []
    values = [left]
    for side in expr.rights:
        right = evaluate(frame, side.right)
        values.append(right)
        results.append(comparison_result(frame, side.operator, left, right, expr))
        left = right
    spot = frame.spot(expr.place)
    for value in values:
        # What is left out of a comprehension where it is None has no effect by that alone.
        is_filter = frame.run.filtering and any(
            type(item) is Scalar and item.value is None for item in values
        )
        if not isinstance(value, (Mapping, Instance, Sequence)) and not is_filter:
            frame.run.use(value, spot)
    origins = origins_of(values)
    if None in results and False not in results:
        return Unknown(origins)
    found = Scalar(False not in results, origins)
    if frame.run.value_classes:
        frame.run.test_classes(values, found)
    if (
        len(values) == 2
        and id(values[0]) in frame.run.key_names
        and expr.rights[0].operator in ("in", "not in")
    ):
        frame.run.test_name(values[0], names_held(values[1]), found)
    if (
        frame.run.every_way
        and not origins
        and (
            _asks_for_left_out(frame, expr, left_value) or has_one_outcome(frame, expr, False not in results)
        )
    ):
        frame.run.decide(found)
    if len(values) == 2 and frame.run.is_written_out(values[1]) and not origins:
        # Only a membership test is made of a mapping.
        frame.run.decide(found)
    return found


def _asks_for_left_out(frame: Frame, expr: nodes.Compare, value: Value) -> bool:
    """Tell whether a comparison asks if a parameter is None that the call leaves to its default."""
    return (
        isinstance(expr.left, nodes.Name)
        and frame.left_out.get(expr.left.name) is value
        and _asks_for_none(expr)
        and len(expr.rights) == 1
    )


def _evaluate_choice(frame: Frame, expr: nodes.Conditional) -> Value:
    run = frame.run
    test = evaluate(frame, expr.test)
    spot = frame.spot(expr.place)
    run.use(test, spot)
    holds = run.holds(test, spot)
    if holds is True:
        return evaluate(frame, expr.then)
    if holds is False:
        return evaluate(frame, expr.otherwise)
    shown = run.condition(text(expr.test), test)
    found = []
    for condition, part in ((shown, expr.then), (f"not {shown}", expr.otherwise)):
        run.assumed.append(condition)
        try:
            found.append(evaluate(frame, part))
        finally:
            run.assumed.pop()
    return choice(found)


def _evaluate_lambda(frame: Frame, expr: nodes.Lambda) -> Value:
    return function_object(frame, frame.scope.module.summary.scopes[expr.number])


def _evaluate_starred(frame: Frame, expr: nodes.Starred) -> Value:
    return evaluate(frame, expr.value)


def _evaluate_format(frame: Frame, expr: nodes.FString) -> Value:
    values = [evaluate(frame, part) for part in expr.parts]
    parts: list[str | None] = []
    for piece in expr.pieces:
        if isinstance(piece, str):
            parts.append(piece)
            continue
        number, written = piece
        value = values[number] if number < len(values) else UNKNOWN
        parts.append(formatted(value, written))
    return joined(parts, origins_of(values))


def _evaluate_slice(frame: Frame, expr: nodes.Slice) -> Value:
    parts = [NONE if part is None else evaluate(frame, part) for part in (expr.lower, expr.upper, expr.step)]
    if frame.run.tensors is not None and all(isinstance(part, Scalar) for part in parts):
        return Sequence(parts, kind="slice")
    return Unknown(origins_of(parts))


def _evaluate_comprehension(frame: Frame, expr: nodes.Comprehension) -> Value:
    kind, parts = expr.kind, expr.parts
    names = Namespace(frame.scope, frame.names)
    inner = Frame(frame.run, frame.scope, names, frame.way, frame.depth, frame.receiver, frame.owner)
    inner.caught = frame.caught
    results: list[tuple[Value, ...]] = []
    perhaps: set[int] = set()
    element = parts[-2:] if kind == "dict" else parts[-1:]
    complete = _run_generator(inner, expr.generators, 0, element, results, perhaps)
    if kind == "dict":
        result = Mapping(open=not complete)
        place = frame.scope.place
        for number, (name, value) in enumerate(results):
            constant = constant_of(name)
            if constant is None:
                result.open = True
                frame.run.walk(value, frame.spot(place))
            else:
                result.entries[constant] = value
                if number in perhaps:
                    result.unsure |= {constant}
                key = key_of(value)
                if (
                    key is not None
                    and key.parent is not None
                    and key.name == str(constant)
                    and key.parent not in result.sections
                ):
                    result.sections = (*result.sections, key.parent)
        return result
    complete = complete and not perhaps
    return Sequence([item for (item,) in results], open=not complete, kind="set" if kind == "set" else "list")


def _run_generator(
    frame: Frame,
    generators: tuple[tuple[Expr, Expr, tuple[Expr, ...]], ...],
    number: int,
    element: tuple[Expr, ...],
    results: list[tuple[Value, ...]],
    perhaps: set[int],
) -> bool:
    """Run one `for` of a comprehension, and tell whether all its items are known.

    The numbers of results that a condition which is not known may leave out are added to `perhaps`.
    """
    run = frame.run
    if number == len(generators):
        results.append(tuple(evaluate(frame, part) for part in element))
        return True
    target, iterable_expr, conditions = generators[number]
    iterable = evaluate(frame, iterable_expr)
    spot = frame.spot(frame.scope.place)
    place = place_of(iterable_expr, frame.scope)
    refuse_single(frame, iterable, frame.spot(place) if place is not None else spot)
    items = iterating.items_of(frame, iterable, spot)
    complete = items is not None and len(items) <= MAX_TURNS * 4
    if items is None or not complete:
        items = [iterating.item_of(iterable)]
    if isinstance(iterable, Sequence) and iterable.uncounted:
        complete = False
    for item in items:
        assign(frame, target, item, _NO_EVENT)
        holds: bool | None = True
        for condition in conditions:
            run.filtering += 1
            test = evaluate(frame, condition)
            run.filtering -= 1
            if not _asks_for_none(condition):
                run.use(test, spot)
            inner = run.holds(test, spot)
            if inner is False:
                holds = False
                break
            if inner is None:
                holds = None
        if holds is False:
            continue
        before = len(results)
        complete = _run_generator(frame, generators, number + 1, element, results, perhaps) and complete
        if holds is None:
            perhaps.update(range(before, len(results)))
    return complete


def refuse_single(frame: Frame, iterable: Value, spot: Spot) -> None:
    """Note a config number in place of the list that a loop iterates over."""
    run = frame.run
    if (
        type(iterable) is Scalar
        and iterable.key is not None
        and isinstance(iterable.value, (int, float))
        and run.sure
        and not run.every_way
        and not frame.catches("TypeError")
    ):
        run.refuse("wrong-type", iterable.key, "the loop", spot, "TypeError", value=iterable.value)


def _asks_for_none(condition: Expr) -> bool:
    """Tell whether a condition only asks whether something is None."""
    return isinstance(condition, nodes.Compare) and any(
        isinstance(item.right, nodes.Literal) and item.right.value is None for item in condition.rights
    )


def _evaluate_assignment(frame: Frame, expr: nodes.Assigned) -> Value:
    value = evaluate(frame, expr.value)
    _bind_name(frame, expr.name, value)
    return value


def _evaluate_yield(frame: Frame, expr: nodes.Yield) -> Value:
    value = evaluate(frame, expr.value)
    if not isinstance(expr.value, nodes.Starred):
        frame.yielded.append(value)
        return UNKNOWN
    # `yield from` another one gives its items.
    items = iterating.items_of(frame, value, None)
    if items is None:
        items = list(value.items) if isinstance(value, Sequence) else [Unknown(value.origins)]
    frame.yielded += items
    return UNKNOWN


def _evaluate_call(frame: Frame, call: nodes.Call) -> Value:
    run = frame.run
    callee = evaluate(frame, call.func)
    args: list[Value] = []
    opaque = False
    for part in call.args:
        if isinstance(part, nodes.Starred):
            inner = evaluate(frame, part.value)
            found = iterating.items_of(frame, inner, None)
            if found is None:
                opaque = True
                run.walk(inner, frame.spot(call.place, call.block))
            else:
                args.extend(found)
        else:
            args.append(evaluate(frame, part))
    keywords: dict[str, Value] = {}
    spread: Mapping | None = None
    for name, part in call.keywords:
        value = evaluate(frame, part)
        if name is not None:
            keywords[name] = value
            continue
        given = iterating.spread_of(value)
        if given is None:
            run.use(value, frame.spot(call.place, call.block), deep=True)
            opaque = True
            continue
        spread = given
        if not given.entries and given.key is not None:
            # That there is nothing to pass is what the config says.
            given.key.uses.append(frame.spot(call.place, call.block))
        for key, item in given.entries.items():
            if isinstance(key, Unnamed) or (key in given.unsure and type(callee) not in _OF_PROJECT):
                run.use(item, frame.spot(call.place, call.block), deep=True)
            else:
                if str(key) in keywords:
                    _note_given_twice(frame, call, str(key), item)
                keywords[str(key)] = item
        opaque = opaque or given.open or bool(given.unsure)
    spot = frame.spot(call.place, call.block)
    if type(callee) is not Choice:
        return run.call(Call(frame, callee, tuple(args), keywords, spot, spread, opaque=opaque))
    results = []
    for item in callee.values:
        shown = f"{text(call.func)} is {_callee_text(item)}"
        run.config_conditions.add(shown)
        run.assumed.append(shown)
        try:
            results.append(
                run.call(Call(frame, item, tuple(args), dict(keywords), spot, spread, opaque=opaque))
            )
        finally:
            run.assumed.pop()
    return choice(results)


def _note_given_twice(frame: Frame, call: nodes.Call, name: str, value: Value) -> None:
    """Note a key that `**section` passes to a call which also writes the argument out."""
    key = key_of(value)
    if key is not None and frame.run.sure and not frame.catches("TypeError"):
        spot = frame.spot(call.place, call.block)
        frame.run.refuse("given-twice", key, f"{text(call.func)}()", spot, "TypeError", name=name)


def assign(frame: Frame, target: Expr, value: Value, event: Event) -> None:
    """Bind an assignment target to a value."""
    if isinstance(target, nodes.Name):
        _bind_name(frame, target.name, value)
        if frame.scope.kind == "module" and (key := key_of(value)) is not None:
            key.kept_as.add(target.name)
    elif isinstance(target, nodes.Collection):
        count = len(target.items)
        items = iterating.items_of(frame, value, None)
        if isinstance(value, Choice):
            rows = [iterating.items_of(frame, item, None) for item in value.values]
            if all(row is not None and len(row) == count for row in rows):
                items = [choice(row[place] for row in rows if row is not None) for place in range(count)]
        stars = [number for number, item in enumerate(target.items) if isinstance(item, nodes.Starred)]
        starred = bool(stars)
        if len(stars) == 1 and items is not None and len(items) >= count - 1:
            rest = len(items) - count + 1
            items[stars[0] : stars[0] + rest] = [Sequence(items[stars[0] : stars[0] + rest])]
            starred = False
        for position, inner in enumerate(target.items):
            if items is not None and not starred and len(items) == count:
                assign(
                    frame, inner.value if isinstance(inner, nodes.Starred) else inner, items[position], event
                )
            else:
                assign(frame, inner, Unknown(value.origins), event)
    elif isinstance(target, nodes.Starred):
        assign(frame, target.value, Unknown(value.origins), event)
    elif isinstance(target, nodes.Attribute):
        owner = evaluate(frame, target.base)
        spot = frame.spot(event.place, event.block)
        for item in alternatives(owner):
            writing.set_attribute(frame, item, target.attribute, value, spot)
    elif isinstance(target, nodes.Subscript):
        owner = evaluate(frame, target.base)
        index = evaluate(frame, target.index)
        spot = frame.spot(event.place, event.block)
        of_mapping = any(isinstance(item, Mapping) for item in alternatives(owner))
        for item in alternatives(owner):
            if of_mapping and type(item) is Unknown and not item.origins:
                # On another way the same mapping is not known: what becomes of its entries is seen on this one.
                continue
            writing.set_item(frame, item, index, value, spot)


def _bind_name(frame: Frame, name: str, value: Value) -> None:
    names = frame.names
    if name in frame.scope.outer:
        above = names.parent
        while above is not None and name not in above.names:
            above = above.parent
        if above is not None:
            names = above
        elif frame.scope.kind != "module":
            names = frame.run.module(frame.scope.module).names
    names.names[name] = value


def function_object(frame: Frame, scope: Scope) -> FunctionObject:
    """Return the function that a `def` or `lambda` makes."""
    defaults = {name: evaluate(frame, default) for name, _, default, _ in scope.params if default is not None}
    return FunctionObject(scope, frame.names, defaults=defaults)


def _callee_text(value: Value) -> str:
    """Return the callee as a text for messages."""
    if isinstance(value, (FunctionObject, ClassObject)):
        return value.scope.name
    return name_of(value) or "another one"


_OF_PROJECT = (FunctionObject, ClassObject)
_NO_EVENT = Event("assign", 0, nodes.FILE_START)

_EXPRESSIONS: dict[type[Expr], Callable[[Frame, Any], Value]] = {
    nodes.Name: _evaluate_name,
    nodes.Literal: _evaluate_constant,
    nodes.Attribute: _evaluate_attribute,
    nodes.Subscript: _evaluate_subscript,
    nodes.Call: _evaluate_call,
    nodes.Binary: _evaluate_binary,
    nodes.Unary: _evaluate_unary,
    nodes.Boolean: _evaluate_boolean,
    nodes.Compare: _evaluate_comparison,
    nodes.Conditional: _evaluate_choice,
    nodes.Collection: _evaluate_items,
    nodes.Dictionary: _evaluate_mapping,
    nodes.Lambda: _evaluate_lambda,
    nodes.Starred: _evaluate_starred,
    nodes.FString: _evaluate_format,
    nodes.Slice: _evaluate_slice,
    nodes.Comprehension: _evaluate_comprehension,
    nodes.Assigned: _evaluate_assignment,
    nodes.Yield: _evaluate_yield,
}
