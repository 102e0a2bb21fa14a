"""Statements that end a run because of a config: what is raised, asserted or left for a value or a missing key."""

from __future__ import annotations

from cfgfix.code.inference.interpreter.events import GUARD, REQUIRED, Asked
from cfgfix.code.inference.interpreter.objects import (
    Sequence,
    Value,
)
from cfgfix.code.inference.interpreter.run import (
    Decided,
    Frame,
)
from cfgfix.code.inference.interpreter.values import (
    constant_of,
    keys_of,
)
from cfgfix.code.model import nodes
from cfgfix.code.model.expressions import walk
from cfgfix.code.model.nodes import Expr
from cfgfix.code.model.summary import Event
from cfgfix.core.records import replace


def ends_by_config(frame: Frame, event: Event, error: str, does: str) -> bool:
    """Note that a statement ends the run because of a config's value or missing key.

    Only a test of that value or key alone, in front of the statement, counts.

    Returns:
        Whether the config ends the run; if so, the run goes on as if the config were right.
    """
    run = frame.run
    decided = _test_before(frame, event) if error else None
    if decided is None:
        return False
    named = run.name_tests.get(id(decided.test))
    if named is not None:
        by = f"{frame.scope.name}()" if frame.scope.kind == "function" else "the program"
        ends = run.refuse_name(frame, named, error, by, frame.spot(event.place, event.block))
    elif id(decided.test) in run.class_tests:
        spot = frame.spot(event.place, event.block)
        value = run.class_tests[id(decided.test)][1]
        ends = run.refuse_choice(frame, value, error, f"{does} {error} for its type", spot)
    elif decided.lacking:
        ends = require_keys(frame, decided.lacking, error)
    else:
        spot = frame.spot(event.place, event.block)
        ends = run.refuse_choice(frame, decided.test, error, f"{does} {error} for it", spot)
    frame.went_on = frame.went_on or ends
    return ends


def _test_before(frame: Frame, event: Event) -> Decided | None:
    """Return the test that leads to a statement.

    It is that of its block, or the last one before it whose block leaves the scope.
    """
    deciding = frame.run.deciding
    if deciding and deciding[-1].block == event.block and deciding[-1].scope is frame.scope:
        return deciding[-1]
    blocks = frame.scope.blocks
    around = [event.block]
    while (here := blocks[around[-1]]).kind == "if" and not here.branch:
        # Code after `if c: return` stands in a block of its own.
        around.append(here.parent)
    passed = [item for item in frame.passed if item.block in around]
    keys = {key for item in passed for key in keys_of(item.test)}
    return passed[-1] if passed and (len(keys) == 1 or len(passed) == 1) else None


def _names_of_calls(expr: Expr) -> set[str]:
    """Return the names in an expression and in the calls in it."""
    return {item.name for item in walk(expr) if isinstance(item, nodes.Name)}


def require_keys(frame: Frame, lacking: tuple[Asked, ...], error: str) -> bool:
    """Note that missing config keys end the run, and tell whether they do."""
    run = frame.run
    if not run.sure or run.every_way or frame.catches(error):
        return False
    run.asked += [replace(item, how=REQUIRED, error=error) for item in lacking]
    return True


def lacking_keys(frame: Frame, event: Event, test: Value, before: int) -> tuple[Asked, ...]:
    """Return the missing config keys that a test looks for.

    There are none unless each of them alone decides the test.

    Args:
        frame: The run.
        event: The statement with the test.
        test: Its value.
        before: How many keys had been asked for before it.
    """
    assert event.value is not None
    run = frame.run
    found: tuple[Asked, ...] = ()
    if not isinstance(test, Sequence) and len(run.asked) == before and not test.origins:
        # `if len(lacking) > 0`
        of_names = [frame.names.names.get(name) for name in _names_of_calls(event.value)]
        test = next((item for item in of_names if isinstance(item, Sequence) and item.items), test)
    if isinstance(test, Sequence):
        names = {constant_of(item) for item in test.items}
        by_name = {item.name: item for item in run.asked if item.how == GUARD and item.name in names}
        found = tuple(by_name.values()) if names == by_name.keys() else ()
    elif not test.origins:
        asked = tuple(item for item in run.asked[before:] if item.how == GUARD)
        shown = run.written(event.value)
        one_of_several = "any(" in shown or isinstance(event.value, nodes.Boolean)
        if len(asked) == 1 or not one_of_several:
            found = asked
    return found
