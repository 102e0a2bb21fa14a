"""What each kind of statement does, in order, and how control leaves it."""

from __future__ import annotations

from collections.abc import Callable

from cfgfix.code.inference.interpreter import classes, iterating, reading, writing
from cfgfix.code.inference.interpreter.ends_by_config import ends_by_config, lacking_keys, require_keys
from cfgfix.code.inference.interpreter.exceptions import caught_by, raised_instead
from cfgfix.code.inference.interpreter.expressions import (
    apply_operator,
    assign,
    evaluate,
    function_object,
    refuse_single,
)
from cfgfix.code.inference.interpreter.models.click import names_of_command
from cfgfix.code.inference.interpreter.models.decorators import note_decorator
from cfgfix.code.inference.interpreter.models.outside import ENDS
from cfgfix.code.inference.interpreter.models.sacred import decorate
from cfgfix.code.inference.interpreter.objects import (
    NONE,
    UNKNOWN,
    Choice,
    ClassObject,
    FunctionObject,
    Instance,
    Made,
    Mapping,
    Namespace,
    Scalar,
    Sequence,
    Value,
)
from cfgfix.code.inference.interpreter.patterns import matches
from cfgfix.code.inference.interpreter.run import (
    BREAK,
    CONTINUE,
    MAX_STEPS,
    MAX_TURNS,
    NORMAL,
    RAISE,
    RETURN,
    Call,
    Decided,
    Exhausted,
    Frame,
)
from cfgfix.code.inference.interpreter.values import (
    PLAIN,
    alternatives,
    choice,
    constant_of,
    held_values,
    name_of,
    truth,
)
from cfgfix.code.model import nodes
from cfgfix.code.model.expressions import dotted, text
from cfgfix.code.model.nodes import Expr
from cfgfix.code.model.summary import Event, Scope

MAX_NUMBERS = 8
"""Most turns of a loop over plain numbers."""


def run_suite(frame: Frame, events: list[Event]) -> int:
    """Run statements in order, and return the signal with which they end."""
    run = frame.run
    for event in events:
        run.steps += 1
        if run.steps > MAX_STEPS:
            raise Exhausted
        handler = _STATEMENTS.get(event.kind)
        if handler is not None:
            signal = handler(frame, event)
            if signal != NORMAL:
                return signal
    return NORMAL


def _evaluate(frame: Frame, event: Event) -> int:
    if event.value is None:
        return NORMAL
    value = evaluate(frame, event.value)
    if type(value) is Made and value.name in ENDS:
        fails = bool(value.args) and constant_of(value.args[0]) not in (0, None)
        if fails and ends_by_config(frame, event, "SystemExit", "ends with"):
            return NORMAL
        return RAISE if frame.run.sure else NORMAL
    for item in held_values(value, 2) if type(value) not in PLAIN else ():
        if type(item) is Made:
            # A call whose result is dropped is made for what it does.
            frame.run.use(item, frame.spot(event.place, event.block))
    return NORMAL


def _assign(frame: Frame, event: Event) -> int:
    assert event.value is not None
    value = evaluate(frame, event.value)
    for target in event.targets:
        assign(frame, target, value, event)
    return NORMAL


def _annotate(frame: Frame, event: Event) -> int:
    if event.value is not None:
        assign(frame, event.targets[0], evaluate(frame, event.value), event)
    return NORMAL


def _augment(frame: Frame, event: Event) -> int:
    assert event.value is not None
    target = event.targets[0]
    before = (
        evaluate(frame, target)
        if isinstance(target, (nodes.Name, nodes.Attribute, nodes.Subscript))
        else UNKNOWN
    )
    right = evaluate(frame, event.value)
    if event.operator == "+" and isinstance(before, Sequence) and isinstance(right, Sequence):
        before.extend(right.items)
        before.open = before.open or right.open
        return NORMAL
    if event.operator == "|" and isinstance(before, Mapping):
        writing.update(frame, before, right, frame.spot(event.place, event.block))
        return NORMAL
    assign(
        frame, target, apply_operator(frame, event.operator, before, right, event.place, event.block), event
    )
    return NORMAL


def _return(frame: Frame, event: Event) -> int:
    frame.returned.append(evaluate(frame, event.value) if event.value is not None else NONE)
    return RETURN


def _raise(frame: Frame, event: Event) -> int:
    if event.value is not None and frame.run.every_way and _says_in_error(frame, event.value):
        return RAISE
    if event.value is not None:
        raised = evaluate(frame, event.value)
        error = name_of(raised).rpartition(".")[2]
        if not error and isinstance(event.value, nodes.Call):
            # A built-in exception is not modelled: its name is what is called.
            error = (dotted(event.value.func) or "").rpartition(".")[2]
        if isinstance(raised, Instance):
            error = raised.cls.scope.name
        if ends_by_config(frame, event, error, "raises"):
            return NORMAL
    return RAISE


def _says_in_error(frame: Frame, raised: Expr) -> bool:
    """Tell whether a built-in exception is raised, whose arguments a reader sees and nothing uses."""
    if not isinstance(raised, nodes.Call) or not isinstance(raised.func, nodes.Name):
        return False
    name = raised.func.name
    if not name.endswith(("Error", "Exception")) or reading.variable(frame, name) is not None:
        return False
    for part in raised.args:
        frame.run.log(evaluate(frame, part), frame.spot(raised.place, raised.block))
    return True


def _leaves_scope(body: list[Event]) -> bool:
    """Tell whether a block ends with a statement that leaves the scope."""
    return bool(body) and body[-1].kind in ("return", "raise")


def _assert(frame: Frame, event: Event) -> int:
    if event.value is not None:
        spot = frame.spot(event.place, event.block)
        before = len(frame.run.asked)
        value = evaluate(frame, event.value)
        frame.run.use(value, spot)
        if truth(value) is False:
            lacking = lacking_keys(frame, event, value, before)
            if lacking:
                require_keys(frame, lacking, "AssertionError")
            else:
                frame.run.refuse_choice(frame, value, "AssertionError", "asserts something else", spot)
    return NORMAL


def _delete(frame: Frame, event: Event) -> int:
    run = frame.run
    for target in event.targets:
        if isinstance(target, nodes.Name):
            if run.sure:
                frame.names.names.pop(target.name, None)
        elif isinstance(target, nodes.Subscript):
            owner, index = evaluate(frame, target.base), evaluate(frame, target.index)
            name = constant_of(index)
            for item in alternatives(owner):
                if isinstance(item, Mapping) and name is not None:
                    gone = item.entries.get(name)
                    if gone is not None and run.sure:
                        del item.entries[name]
                    elif gone is not None:
                        item.unsure = item.unsure | {name}
    return NORMAL


def _leave_turn(_frame: Frame, event: Event) -> int:
    return BREAK if event.kind == "break" else CONTINUE


def _if(frame: Frame, event: Event) -> int:
    run = frame.run
    assert event.value is not None
    asked_before = len(run.asked)
    test = evaluate(frame, event.value)
    spot = frame.spot(event.place, event.block)
    run.use(test, spot)
    holds = run.holds(test, spot)
    holding, others = _bindings_by_condition(frame, event) if holds is None else ({}, {})
    if holding is None or others is None:
        holds = holding is not None
    run.note_branch(test, holds, spot)
    if holds is not None:
        run.note_outcome(event.value, test, holds)
        if not holds and len(event.bodies) == 1:
            if _leaves_scope(event.bodies[0][1]) and not run.every_way:
                frame.passed.append(Decided(frame.scope, event.block, test))
            return NORMAL
        block, body = event.bodies[0 if holds else 1]
        lacking = lacking_keys(frame, event, test, asked_before)
        run.deciding.append(Decided(frame.scope, block, test, lacking))
        try:
            return run_suite(frame, body)
        finally:
            run.deciding.pop()
    shown = run.condition(run.written(event.value), test)
    bodies = [(shown, event.bodies[0][1])]
    bodies.append((f"not {shown}", event.bodies[1][1] if len(event.bodies) > 1 else []))
    return _take_every_way(frame, bodies, [holding or {}, others or {}])


MAX_ALTERNATIVES = 6
"""Most values of a name that a condition is tried with."""


def _bindings_by_condition(
    frame: Frame, event: Event
) -> tuple[dict[str, Value] | None, dict[str, Value] | None]:
    """Return bindings for both branches of a condition on a name with several values.

    Each branch binds the name to the values that lead to it.

    Returns:
        The bindings where the condition holds, and where it does not; None for a branch that no value leads to, and empty
        ones where the condition is not about one such name.
    """
    assert event.value is not None
    if frame.run.every_way:
        return {}, {}
    names = {
        name: value
        for name in frame.run.names_in(event.value)
        if isinstance(value := frame.names.names.get(name), Choice) and len(value.values) <= MAX_ALTERNATIVES
    }
    if len(names) != 1:
        return {}, {}
    ((name, value),) = names.items()
    spot = frame.spot(event.place, event.block)
    holding: list[Value] = []
    others: list[Value] = []
    for each in value.values:
        frame.names.names[name] = each
        holds = frame.run.holds(evaluate(frame, event.value), spot)
        if holds is not False:
            holding.append(each)
        if holds is not True:
            others.append(each)
    frame.names.names[name] = value
    return (
        {name: choice(holding)} if holding else None,
        {name: choice(others)} if others else None,
    )


def _match(frame: Frame, event: Event) -> int:
    run = frame.run
    assert event.value is not None
    value = evaluate(frame, event.value)
    spot = frame.spot(event.place, event.block)
    run.use(value, spot)
    shown = run.condition(f"match {run.written(event.value)}", value)
    ways: list[tuple[str, list[Event]]] = []
    bindings: list[dict[str, Value]] = []
    # With another value in the config it is another of the patterns that fits.
    of_config = bool(value.origins) or (isinstance(value, Mapping) and bool(value.sections))
    settled = run.is_settled(value) if value.origins else bool(run.settled)
    any_may_fit = run.every_way and of_config and not settled
    for case, (block, body) in zip(event.cases, event.bodies, strict=True):
        pattern, *guards = case.parts
        guard = guards[0] if guards else None
        bound: dict[str, Value] = {}
        fits = matches(frame, pattern, value, bound, spot)
        if fits and guard is not None:
            before = frame.names.names
            frame.names.names = {**before, **bound}
            fits = run.holds(evaluate(frame, guard), spot)
            frame.names.names = before
        if any_may_fit:
            fits = None
        if fits is False:
            continue
        if fits and not ways and not run.every_way:
            frame.names.names.update(bound)
            run.deciding.append(Decided(frame.scope, block, value))
            try:
                return run_suite(frame, body)
            finally:
                run.deciding.pop()
        ways.append((shown, body))
        bindings.append(bound)
        if fits:
            return _take_every_way(frame, ways, bindings)
    return _take_every_way(frame, [*ways, (shown, [])], [*bindings, {}]) if ways else NORMAL


def _take_every_way(
    frame: Frame, bodies: list[tuple[str, list[Event]]], bindings: list[dict[str, Value]] | None = None
) -> int:
    """Take every branch of an unknown condition, and merge what they leave.

    Args:
        frame: The run.
        bodies: The condition of each way, and its statements.
        bindings: What is known of names on each way, in the same order; none for nothing.
    """
    run = frame.run
    before = frame.names.names
    ends: list[dict[str, Value]] = []
    signals: list[int] = []
    for number, (shown, body) in enumerate(bodies):
        frame.names.names = {**before, **(bindings[number] if bindings else {})}
        run.assumed.append(shown)
        try:
            signal = run_suite(frame, body) if body else NORMAL
        finally:
            run.assumed.pop()
        signals.append(signal)
        if signal == NORMAL:
            ends.append(frame.names.names)
    if not ends:
        frame.names.names = before
        return RETURN if RETURN in signals else signals[0]
    frame.names.names = _merge_names(ends)
    return NORMAL


def _for(frame: Frame, event: Event) -> int:
    assert event.value is not None
    iterable = evaluate(frame, event.value)
    body = event.bodies[0][1]
    refuse_single(frame, iterable, frame.spot(event.place, event.block))
    items = iterating.items_of(frame, iterable, frame.spot(event.place, event.block))
    signal = NORMAL
    if items is not None and len(items) <= MAX_TURNS:
        if isinstance(iterable, Made) and frame.run.tensors is None:
            items = items[:MAX_NUMBERS]
        for item in items:
            assign(frame, event.targets[0], item, event)
            told_apart: dict[str, Value] = {
                name: value for name, value in frame.names.names.items() if isinstance(value, Choice)
            }
            signal = run_suite(frame, body)
            _join_again(frame, told_apart)
            if signal == BREAK:
                break
            if signal in (RETURN, RAISE):
                return signal
    else:
        known = frame.run.tensors.each(iterable) if frame.run.tensors is not None else None
        item = known if known is not None else iterating.item_of(iterable)
        assign(frame, event.targets[0], item, event)
        signal = _run_loop_body(frame, body)
        if signal == RETURN and items is None:
            signal = NORMAL
    for _, other in event.bodies[1:]:
        if signal != BREAK:
            after = run_suite(frame, other)
            if after != NORMAL:
                return after
    return NORMAL


def _join_again(frame: Frame, before: dict[str, Value]) -> None:
    """Restore the values that a condition in a loop narrowed, for the next turn.

    The next turn may take the other branch.
    """
    names = frame.names.names
    for name, value in before.items():
        now = names.get(name)
        if (
            now is not None
            and now is not value
            and all(item in alternatives(value) for item in alternatives(now))
        ):
            names[name] = value


def _run_loop_body(frame: Frame, body: list[Event]) -> int:
    """Run the body of a loop with unknown items, and return the signal it ends with.

    Names keep their values from before as alternatives. The body of an outermost loop is run twice, since a turn may use
    what the one before has left.
    """
    run = frame.run
    before = dict(frame.names.names)
    signal = NORMAL
    outer = run.turns
    try:
        for _ in range(1 if outer else 2):
            # What is made in one turn is told apart from what is made in another by the steps taken before it.
            run.turns = (*outer, run.steps)
            signal = run_suite(frame, body)
            frame.names.names = _merge_names([frame.names.names, before])
            if signal in (BREAK, RETURN, RAISE):
                break
    finally:
        run.turns = outer
    return signal


def _while(frame: Frame, event: Event) -> int:
    run = frame.run
    assert event.value is not None
    for _ in range(MAX_TURNS):
        test = evaluate(frame, event.value)
        spot = frame.spot(event.place, event.block)
        run.use(test, spot)
        holds = run.holds(test, spot)
        if holds is False:
            return NORMAL
        if holds is None:
            _run_loop_body(frame, event.bodies[0][1])
            return NORMAL
        signal = run_suite(frame, event.bodies[0][1])
        if signal == BREAK:
            return NORMAL
        if signal in (RETURN, RAISE):
            return signal
        if type(test) is Scalar and isinstance(event.value, nodes.Literal):
            # `while True` ends by what is not known as a rule: once is enough.
            return NORMAL
    return NORMAL


def _with(frame: Frame, event: Event) -> int:
    for manager, target in zip(event.managers, event.targets, strict=True):
        value = evaluate(frame, manager)
        if not isinstance(target, nodes.NotKept):
            assign(frame, target, _managed_value(frame, value, event), event)
    return run_suite(frame, event.bodies[0][1])


def _managed_value(frame: Frame, value: Value, event: Event) -> Value:
    if isinstance(value, Instance):
        enter = classes.member(value.cls, "__enter__")
        if isinstance(enter, FunctionObject):
            spot = frame.spot(event.place, event.block)
            return frame.run.call(Call(frame, enter.bound(value), (), {}, spot))
    if isinstance(value, Sequence) and value.kind == "generator" and value.items:
        # A function that `contextlib.contextmanager` makes a manager of gives what it yields.
        return choice(value.items)
    return value


def _try(frame: Frame, event: Event) -> int:
    run = frame.run
    blocks = frame.scope.blocks
    handlers = [(block, suite) for block, suite in event.bodies[1:] if blocks[block].kind == "except"]
    before_here = len(frame.caught)
    for block, suite in reversed(handlers):
        frame.caught.append((frozenset(caught_by(blocks[block].test)), raised_instead(suite)))
    before = dict(frame.names.names)
    count = len(run.asked)
    signal = run_suite(frame, event.bodies[0][1])
    del frame.caught[before_here:]
    failed = any(item.caught for item in run.asked[count:]) or signal == RAISE
    after = frame.names.names
    ends = [after] if not failed or signal == NORMAL else []
    signals = [signal]
    for block, suite in handlers:
        frame.names.names = _merge_names([dict(before), dict(after)])
        bound = blocks[block].test
        run.assumed.append(f"{text(bound) if bound is not None else 'an exception'} is raised")
        try:
            inner = run_suite(frame, suite)
        finally:
            run.assumed.pop()
        signals.append(inner)
        if inner == NORMAL:
            ends.append(frame.names.names)
    frame.names.names = _merge_names(ends) if ends else after
    result = signal
    if signal == RAISE and handlers:
        result = NORMAL if ends else signals[-1]
    if result == NORMAL:
        for block, suite in event.bodies[1:]:
            if blocks[block].kind == "try-else":
                result = run_suite(frame, suite)
    for block, suite in event.bodies[1:]:
        if blocks[block].kind == "finally":
            last = run_suite(frame, suite)
            result = last if last != NORMAL else result
    return result


def _define(frame: Frame, event: Event) -> int:
    scope = frame.scope.module.summary.scopes[event.inner]
    head = evaluate(frame, event.value) if event.value is not None else None
    value = _defined_value(frame, scope, head)
    frame.names.names[scope.name] = value
    return NORMAL


def _group_of(frame: Frame, decorator: Expr) -> Value | None:
    """Return the group or app that `@group.command()` adds a function to, or None."""
    func = decorator.func if isinstance(decorator, nodes.Call) else decorator
    if not isinstance(func, nodes.Attribute) or func.attribute not in ("command", "group", "callback"):
        return None
    owner = evaluate(frame, func.base)
    is_group = isinstance(owner, FunctionObject) and "click.group" in owner.decorated
    return owner if is_group or (isinstance(owner, Made) and owner.name == "typer.Typer") else None


def _defined_value(frame: Frame, scope: Scope, head: Value | None) -> Value:
    run = frame.run
    value: Value
    if scope.kind == "class":
        bases = tuple(evaluate(frame, base) for base in scope.bases)
        names = Namespace(scope, frame.names)
        value = ClassObject(scope, names, bases)
        value.metaclass = head.entries.get("metaclass") if isinstance(head, Mapping) else None
        run.entered[id(scope)] = scope
        run_suite(Frame(run, scope, names, frame.way, frame.depth), scope.body)
        if run.code_settings is not None:
            run.code_settings.of_class(value)
        run.classes.append(value)
        hook = classes.derived_hook(value)
        if isinstance(hook, FunctionObject):
            # What stands in the head of the class beside its bases.
            given = head if isinstance(head, Mapping) else Mapping()
            named = {str(name): item for name, item in given.entries.items() if name != "metaclass"}
            spot = frame.spot(scope.place, scope.block)
            run.call(Call(frame, hook.bound(value), (), named, spot, opaque=given.open))
    else:
        value = function_object(frame, scope)
    for decorator in reversed(scope.decorators):
        made = evaluate(frame, decorator)
        group = _group_of(frame, decorator)
        if group is not None:
            called = names_of_command(scope.name, made)
            run.commands.setdefault(id(group), []).append((called, value))
        name = name_of(made)
        if isinstance(made, (FunctionObject, Instance)):
            result = run.call(Call(frame, made, (value,), {}, frame.spot(scope.place, scope.block)))
            if isinstance(result, (FunctionObject, ClassObject, Instance)):
                value = result
        elif name and isinstance(value, FunctionObject):
            value.decorated = (*value.decorated, name)
            note_decorator(value, made, name)
            if name.startswith("sacred."):
                decorate(frame, value, made, frame.spot(scope.place, scope.block))
    return value


def _import(frame: Frame, event: Event) -> int:
    run = frame.run
    for name, source in event.imports:
        module = frame.scope.module
        value = run.imported(source, module)
        if name:
            frame.names.names[name] = value
    for star in frame.scope.stars:
        found = run.program.module(star, frame.scope.module)
        if found is not None and found.scope is not None and found is not frame.scope.module:
            for name, value in run.module(found).names.names.items():
                if not name.startswith("_"):
                    frame.names.names.setdefault(name, value)
    return NORMAL


def _merge_names(ends: list[dict[str, Value]]) -> dict[str, Value]:
    """Return the names where several ways meet."""
    result = dict(ends[0])
    for other in ends[1:]:
        for name, value in other.items():
            mine = result.get(name)
            if mine is None:
                result[name] = value
            elif mine is not value:
                result[name] = choice((mine, value))
    return result


_STATEMENTS: dict[str, Callable[[Frame, Event], int]] = {
    "expr": _evaluate,
    "yield": _evaluate,
    "assign": _assign,
    "annotate": _annotate,
    "augment": _augment,
    "return": _return,
    "raise": _raise,
    "assert": _assert,
    "delete": _delete,
    "break": _leave_turn,
    "continue": _leave_turn,
    "if": _if,
    "match": _match,
    "for": _for,
    "while": _while,
    "with": _with,
    "try": _try,
    "define": _define,
    "import": _import,
}
