"""Summary writers made in each turn, and profilers that are never stopped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import few_turns, in_tests, line_beside
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.expressions import is_true, text, walk
from cfgfix.code.model.hit import Step, hit_at
from cfgfix.code.model.nodes import Compare, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit

_LOOPS = ("for", "while")
_OF_TURNS = re.compile(r"(?:^|_)(?:epoch|step|iteration|episode|fold|trial|i|n|name)(?:_|$)", re.IGNORECASE)


def writers_made_each_turn(program: Program) -> Iterator[Hit]:
    """Find writers of summaries that a function makes whenever a loop calls it."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named("tensorflow.summary.create_file_writer"):
        scope, key = site.scope, (id(site.scope), site.call.number)
        if key in seen or written_for_one(program, scope) or _is_kept(site):
            continue
        seen.add(key)
        found = _loop_around(program, site)
        if found is None:
            continue
        where, line = found
        yield hit_at(
            site,
            flow=(),
            values={"loop_line": line_beside(scope, where.scope, line)},
            related=(Step(where.scope, where.call.name_place, where.call.block, "in each turn of this loop"),)
            if where is not site
            else (),
        )


def _is_kept(site: Site) -> bool:
    """Tell whether a writer is reused, stored, returned or closed."""
    scope = site.scope
    folder = site.call.argument(0, "logdir")
    if folder is None or any(isinstance(part, Name) and _OF_TURNS.search(part.name) for part in walk(folder)):
        return True
    if any(item.kind in ("if", "except", "try") for item in scope.block_chain(site.call.block)):
        return True
    if any(call.method == "close" for call in scope.calls):
        return True
    statement = statement_of(scope, site.call.place)
    if statement is None or statement.kind not in ("assign", "with"):
        return True
    return (
        statement.kind == "assign" and not all(isinstance(item, Name) for item in statement.targets)
    ) or any(
        event.kind == "return" and event.value is not None and _mentions_writer(event, statement)
        for event in scope.events()
    )


def _mentions_writer(event: Event, made: Event) -> bool:
    kept = {item.name for item in made.targets if isinstance(item, Name)}
    return event.value is not None and any(name in text(event.value) for name in kept)


def _loop_around(program: Program, site: Site) -> tuple[Site, int] | None:
    """Return the call of a function in a training loop, and the loop's line, or None.

    A loop of few turns does not count.
    """
    scope = site.scope
    if scope.kind != "function" or scope.name.startswith("__"):
        return None
    for caller in flow_of(program).callers(scope):
        if in_tests(caller.scope):
            continue
        for number in caller.scope.block_numbers(caller.call.block):
            block = caller.scope.blocks[number]
            if block.kind not in _LOOPS:
                continue
            if few_turns(program, caller.scope, number, 10) or not _trains_in(caller.scope, number):
                continue
            return caller, block.line
    return None


def _trains_in(scope: Scope, loop: int) -> bool:
    """Tell whether the names of a loop say that it goes over epochs or steps."""
    block = scope.blocks[loop]
    names = " ".join(
        text(target)
        for event in scope.events()
        if any(number == loop for number, _ in event.bodies)
        for target in event.targets
    )
    shown = f"{names} {text(block.test) if block.test is not None else ''}".lower()
    return any(word in shown for word in ("epoch", "step", "iter", "episode", "batch"))


# Profilers


def profilers_left_on(program: Program) -> Iterator[Hit]:
    """Find profilers that run through the whole loop over epochs."""
    for site in flow_of(program).named(
        "tensorflow.summary.trace_on", "tensorflow.profiler.experimental.start"
    ):
        scope = site.scope
        if written_for_one(program, scope):
            continue
        if site.name.endswith("trace_on") and not is_true(site.call.argument(1, "profiler")):
            continue
        if any(item.kind in ("if", *_LOOPS) for item in scope.block_chain(site.call.block)):
            continue
        loop = next(
            (
                event
                for event in scope.events()
                if event.kind in _LOOPS
                and event.place.start > site.call.place.start
                and event.bodies
                and _over_epochs(program, scope, event)
            ),
            None,
        )
        if loop is None or _stops_before(scope, site, loop):
            continue
        yield hit_at(site, flow=(), values={"loop_line": loop.place.line, "shown": text(site.call.func)})


def _over_epochs(program: Program, scope: Scope, loop: Event) -> bool:
    number = loop.bodies[0][0]
    shown = (
        f"{' '.join(map(text, loop.targets))} {text(loop.value) if loop.value is not None else ''}".lower()
    )
    return "epoch" in shown and not few_turns(program, scope, number, 2)


_STOPS = frozenset({"trace_export", "trace_off", "stop"})


def _stops_before(scope: Scope, site: Site, loop: Event) -> bool:
    """Tell whether a profiler is stopped before a loop, or in a turn that is not its last."""
    return any(
        call.method in _STOPS
        and call.place.start > site.call.place.start
        and (
            call.place.start < loop.place.start
            or (
                any(inside(scope, call.block, number) for number, _ in loop.bodies)
                and not _in_last_turn(scope, call.block, loop)
            )
        )
        for call in scope.calls
    )


def _in_last_turn(scope: Scope, block: int, loop: Event) -> bool:
    """Tell whether a place runs only in the last turn of a loop.

    Example of a test around it: `if epoch == epochs - 1`.
    """
    over = (
        {part.name for part in walk(loop.value) if isinstance(part, Name)}
        if loop.value is not None
        else set()
    )
    for item in scope.block_chain(block):
        test = item.test
        if item.kind != "if" or not isinstance(test, Compare) or len(test.rights) != 1:
            continue
        sides = (test.left, test.rights[0].right)
        names = [{part.name for part in walk(side) if isinstance(part, Name)} for side in sides]
        turn = {target.name for target in loop.targets if isinstance(target, Name)}
        if test.rights[0].operator == "==" and any(turn & names[a] and over & names[1 - a] for a in (0, 1)):
            return True
    return False
