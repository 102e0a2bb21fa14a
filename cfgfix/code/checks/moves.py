"""Fixes that move pipeline steps or statements, where that is possible."""

from __future__ import annotations

from cfgfix.code.checks.bindings import bound_in_loop, names_in
from cfgfix.code.checks.common import tensorflow_alias
from cfgfix.code.fixes.layout import suite_of
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.inference.references import api
from cfgfix.code.model.expressions import is_name, walk
from cfgfix.code.model.hit import Rewrite
from cfgfix.code.model.nodes import Attribute, Call, Expr, Lambda, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope, bind
from cfgfix.code.model.values import Site

ELSEWHERE = "the two stand in different places of the code; which one moves is for you to say"
"""Why there is no fix where a chain cannot be followed from one step to the other."""


def autotune(program: Program, scope: Scope) -> str | None:
    """Return how a scope writes AUTOTUNE, or None without a name for TensorFlow.

    Before TensorFlow 2.4 it is `tf.data.experimental.AUTOTUNE`, which later releases have too.
    """
    alias = tensorflow_alias(scope)
    if alias is None:
        return None
    requirement = api(program).requirement
    old = bool(requirement.text) and bool(requirement.of_two(range(4)))
    return f"{alias}.data.experimental.AUTOTUNE" if old else f"{alias}.data.AUTOTUNE"


def move(moved: Site, goal: Site, *, behind: bool) -> tuple[Rewrite, ...]:
    """Return the fix that moves a pipeline step before or behind another step.

    Empty where the move cannot be shown to be safe. Both steps must stand in one chain, or in statements of
    one suite that pass the dataset on by name. Nothing else may use the datasets between them, and the
    moved step's arguments must mean the same at both places.
    """
    scope = moved.scope
    first, last = (moved, goal) if behind else (goal, moved)
    if goal.scope is not scope or moved.call.opaque or moved.call.method is None:
        return ()
    passed: list[str] = []
    way = _statements_between(scope, last.call, first.call, passed)
    if way is None or not _OTHER_ELEMENTS.isdisjoint(passed):
        return ()
    given = [*moved.call.args, *(value for _, value in moved.call.keywords)]
    used = {name for item in given for name in names_in(item, scope)}
    if any(
        used & set(_names_bound(event))
        for event in scope.events()
        if way[0].place <= event.place < way[-1].place and way[0] is not way[-1]
    ):
        return ()
    if any(isinstance(part, Lambda) for item in given for part in walk(item)) and len(way) > 1:
        # What a lambda sees of names around it is settled when it is called.
        return ()
    own, other = _own_statement(scope, moved.call), _own_statement(scope, goal.call)
    if own is not None and other is not None:
        return (Rewrite("move-statement", scope, own.place, target=other.place, behind=behind),)
    return (
        Rewrite(
            "move-link",
            scope,
            moved.call.place,
            target=goal.call.place,
            behind=behind,
            statement=own.place if own is not None else None,
        ),
    )


REGROUPS = frozenset(
    {"unbatch", "rebatch", "flat_map", "interleave", "window", "group_by_window", "bucket_by_sequence_length"}
)
"""Steps behind which elements are others, made of several or parts of one."""
_OTHER_ELEMENTS = REGROUPS | {"apply", "scan", "zip", "take", "skip"}
"""Steps that nothing moves across: it would be about other things then, file names for examples."""


def _statements_between(scope: Scope, last: Call, first: Call, passed: list[str]) -> list[Event] | None:
    """Return the statements that pass a dataset from one step to a later one, or None.

    The methods between the two are added to `passed`.
    """
    event = _statement_of_call(scope, last)
    if event is None:
        return None
    way: list[Event] = []
    here: Expr = last
    for _ in range(400):
        while isinstance(here, Call):
            call = here
            if call is first:
                return way or [event]
            if not isinstance(call.func, Attribute):
                return None
            if call is not last:
                passed.append(call.func.attribute)
            here = call.func.base
        if not isinstance(here, Name):
            return None
        suite = suite_of(scope, event.place) or []
        place = next((index for index, item in enumerate(suite) if item is event), 0)
        earlier = next((item for item in reversed(suite[:place]) if _binds_name(item, here.name)), None)
        if earlier is None or earlier.kind != "assign" or earlier.value is None or earlier.bodies:
            return None
        if len(earlier.targets) != 1 or not isinstance(earlier.targets[0], Name):
            return None
        between = suite[suite.index(earlier) + 1 : place]
        if any(item.bodies or here.name in _names_mentioned(item, scope) for item in between):
            # Another branch of the pipeline begins there, or what happens there is not followed.
            return None
        if here.name not in _names_bound(event) and any(
            here.name in _names_mentioned(item, scope) for item in scope.events() if item.place > event.place
        ):
            return None
        if not way:
            way.append(event)
        way.insert(0, earlier)
        event, here = earlier, earlier.value
    return None


def _binds_name(event: Event, name: str) -> bool:
    return name in _names_bound(event) or bool(event.bodies)


def _names_bound(event: Event) -> list[str]:
    """Return the names that a statement binds."""
    found: dict[str, None] = {}
    for target in event.targets:
        bind(target, found)
    return list(found)


def _names_mentioned(event: Event, scope: Scope) -> set[str]:
    found: set[str] = set()
    for expr in (event.value, *event.targets):
        if expr is not None:
            found |= names_in(expr, scope)
    return found


def _statement_of_call(scope: Scope, call: Call) -> Event | None:
    """Return the simple statement that contains a call."""
    event = statement_of(scope, call.place)
    return event if event is not None and not event.bodies and event.block == call.block else None


def _own_statement(scope: Scope, call: Call) -> Event | None:
    """Return a call's statement if it has the form `d = d.cache()`, or None."""
    receiver = call.receiver
    event = _statement_of_call(scope, call)
    if (
        event is not None
        and event.kind == "assign"
        and event.value is call
        and len(event.targets) == 1
        and isinstance(receiver, Name)
        and is_name(event.targets[0], receiver.name)
    ):
        return event
    return None


def loop_head(scope: Scope, loop: int) -> Event | None:
    """Return the statement of a loop by its body's block, or None.

    A comprehension has none.
    """
    return next((item for item in scope.events() if any(number == loop for number, _ in item.bodies)), None)


def out_of_loop(program: Program, scope: Scope, event: Event, loop: int, own: str) -> tuple[Rewrite, ...]:
    """Return the fix that moves a statement of a loop's body before the loop.

    Empty where the statement does not stand directly in the body.
    """
    head = loop_head(scope, loop)
    if head is None or event.block != loop:
        return ()
    bound = [item for item in scope.binding(own) if item is not event]
    if any(item is head or item.block == loop for item in bound):
        return ()
    return (
        Rewrite(
            "move-statement",
            scope,
            event.place,
            target=head.place,
            without=tuple(sorted(bound_in_loop(program, scope, loop) - {own})),
        ),
    )


def free_name(scope: Scope, *wanted: str) -> str | None:
    """Return the first of several names that is free in a scope, or None."""
    taken: set[str] = set()
    here: Scope | None = scope
    while here is not None:
        taken |= here.names | set(here.imports) | set(here.children)
        here = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
    return next((name for name in wanted if name not in taken), None)
