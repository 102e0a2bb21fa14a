"""Functions that a loop compiles anew in every turn."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.bindings import bound_in_loop
from cfgfix.code.checks.common import few_turns, goes_through_experiments, in_tests
from cfgfix.code.checks.moves import out_of_loop
from cfgfix.code.inference.conditions import Conditions
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.inference.hot_paths import innermost_loop, inside
from cfgfix.code.model.expressions import is_name, place_of, walk
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Collection, Expr, Name, Place
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Instance, Site, alternatives
from cfgfix.rules.hit import Hit


def made_in_loop(program: Program) -> Iterator[Hit]:
    """Find a `tf.function` made anew in every turn of a loop over steps or data."""
    for site in flow_of(program).named("tensorflow.function"):
        if site.call.number < 0:
            continue
        event = statement_of(site.scope, site.call.place)
        named, name = None, ""
        if (
            event is not None
            and event.kind == "assign"
            and event.value is site.call
            and len(event.targets) == 1
        ):
            target = event.targets[0]
            if isinstance(target, Name):
                named, name = event, target.name
        given = site.call.argument(0, "func")
        used = {part.name for part in walk(given) if isinstance(part, Name)} if given is not None else set()
        if innermost_loop(site.scope, site.call.block) is None:
            yield from _in_called(program, site.scope, site.call, site.call.name_place, event, name)
        else:
            yield from _in_loop(program, site.scope, site.call.block, site.call.name_place, named, name, used)
    for module in program.modules:
        for scope in module.summary.scopes:
            outer = program.outer(scope)
            if scope.kind != "function" or outer is None or not scope.decorators:
                continue
            for decorator in scope.decorators:
                if (
                    not isinstance(decorator, Call)
                    and program.static_name(decorator, outer) == "tensorflow.function"
                ):
                    place = place_of(decorator, outer) or scope.place
                    event = _definitions_by_number(program, outer).get(scope.number)
                    if innermost_loop(outer, scope.block) is None:
                        yield from _in_called(program, outer, None, place, event, scope.name)
                    else:
                        yield from _in_loop(
                            program, outer, scope.block, place, event, scope.name, _free_names(scope)
                        )


def _free_names(scope: Scope) -> set[str]:
    """Return the names that a function reads from enclosing scopes."""
    found: set[str] = set()
    for event in scope.events():
        for expr in (*event.targets, event.value):
            found |= (
                {part.name for part in walk(expr) if isinstance(part, Name)} if expr is not None else set()
            )
    for call in scope.calls:
        found |= {part.name for part in walk(call) if isinstance(part, Name)}
    for block in scope.blocks:
        if block.test is not None:
            found |= {part.name for part in walk(block.test) if isinstance(part, Name)}
    return found - scope.names


def _in_called(
    program: Program, scope: Scope, made: Call | None, place: Place, event: Event | None, name: str
) -> Iterator[Hit]:
    """Yield the finding for a compiled function made in a function that a loop calls."""
    if scope.kind != "function" or not _only_called(scope, made, event, name):
        return
    pending: list[tuple[Scope, tuple[Site, ...]]] = [(scope, ())]
    seen = {id(scope)}
    while pending:
        here, way = pending.pop(0)
        for caller in flow_of(program).callers(here):
            if in_tests(caller.scope) or id(caller.scope) in seen:
                continue
            path = (caller, *way)
            loop = innermost_loop(caller.scope, caller.call.block)
            if loop is not None and not few_turns(program, caller.scope, loop, 3):
                if _traced_for_its_graph(scope, 0):
                    return
                yield hit_in(
                    scope,
                    place,
                    event.block if event is not None else 0,
                    {"loop_line": caller.scope.blocks[loop].line},
                    flow=tuple(
                        Step(item.scope, item.call.name_place, item.call.block, "calls it") for item in path
                    ),
                    no_fix="where it can be made once, beside the function or when its object is made, is for you to say",
                )
                return
            seen.add(id(caller.scope))
            if len(path) < 3:
                pending.append((caller.scope, path))


@once
def _definitions_by_number(program: Program, scope: Scope) -> dict[int, Event]:
    """Return the statements that define a scope's functions and classes, by number."""
    del program
    return {event.inner: event for event in scope.events_of("define")}


def _only_called(scope: Scope, made: Call | None, event: Event | None, name: str) -> bool:
    """Tell whether an inner function is only called, not stored or returned."""
    if any(
        block.kind in ("if", "except") for block in scope.block_chain(event.block if event is not None else 0)
    ):
        # Made once, where it is not there yet.
        return False
    if made is not None and event is not None and event.kind != "assign":
        return any(call.func is made for call in scope.calls)
    if made is not None and (event is None or event.value is not made):
        return any(call.func is made for call in scope.calls)
    if not name or scope.outer & {name}:
        return False
    called = [call for call in scope.calls if is_name(call.func, name)]
    if not called:
        return False
    places = {call.name_place for call in called}
    for other in scope.module.summary.scopes:
        if other is not scope and other.parent == scope.number and name in _free_names(other):
            return False
    for item in scope.events():
        for expr in (*item.targets, item.value, *item.managers):
            for part in walk(expr) if expr is not None else ():
                if is_name(part, name) and part.place not in places and item is not event:
                    return False
    return True


def _traced_for_its_graph(scope: Scope, block: int) -> bool:
    return any(
        call.method in ("trace_export", "get_concrete_function", "from_concrete_functions")
        and inside(scope, call.block, block)
        for call in scope.calls
    )


def _written_out(program: Program, scope: Scope, test: Expr, line: int) -> bool:
    """Tell whether a loop goes over a literal or a short known list."""
    if isinstance(test, Collection):
        return True
    value = Conditions(program, None).value(test, scope, before=line)
    return isinstance(value, (list, tuple)) and len(value) <= 10


def _in_loop(
    program: Program, scope: Scope, block: int, place: Place, event: Event | None, name: str, used: set[str]
) -> Iterator[Hit]:
    loop = innermost_loop(scope, block)
    if loop is None:
        return
    item = scope.blocks[loop]
    if item.kind == "for":
        func = item.test.func if item.test is not None and isinstance(item.test, Call) else None
        counted = func is not None and isinstance(func, Name) and func.name in ("range", "tqdm", "trange")
        if not counted and (
            # Another function or model in each turn is another graph.
            used & bound_in_loop(program, scope, loop)
            or item.test is None
            or _written_out(program, scope, item.test, item.line)
        ):
            return
    if _traced_for_its_graph(scope, loop):
        # Each is made to be traced once, for its graph.
        return
    yield hit_in(
        scope,
        place,
        block,
        {"loop_line": item.line},
        rewrites=out_of_loop(program, scope, event, loop, name) if event is not None else (),
        no_fix="it is not made by a statement of its own in the loop",
    )


def method_of_new_object(program: Program) -> Iterator[Hit]:
    """Find objects that a loop makes in every turn to call a compiled method.

    Each object traces the method anew.
    """
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).compiled:
        scope = site.scope
        func = site.call.func
        if not isinstance(func, Attribute) or not isinstance(func.base, (Name, Call)):
            continue
        target = next((item for item in site.targets if item.compiled is not None), None)
        if target is None or program.owner(target.scope) is None or site.open:
            continue
        made = _object_in_loop(scope, site.call, func.base)
        if made is None:
            continue
        loop = innermost_loop(scope, made.block)
        if loop is None or (id(scope), made.number) in seen or few_turns(program, scope, loop, 10):
            continue
        test = scope.blocks[loop].test
        if test is not None and isinstance(test, Collection):
            continue
        owner = program.owner(target.scope)
        assert owner is not None
        if not any(
            isinstance(value, Instance) and owner in program.bases(value.scope).classes
            for item in flow_of(program).within(scope)
            if item.call is made
            for value in alternatives(item.result)
        ):
            continue
        seen.add((id(scope), made.number))
        yield hit_in(
            scope,
            made.name_place,
            made.block,
            {
                "loop_line": scope.blocks[loop].line,
                "name": owner.name,
                "method": target.scope.name,
                "line": target.scope.line,
            },
            severity="info" if goes_through_experiments(program, scope, test) else None,
            needs=((scope, site.call.block),),
            related=(
                Step(target.scope, target.scope.place, 0, "compiled for each object by itself"),
                Step(scope, site.call.name_place, site.call.block, "called here"),
            ),
        )


def _object_in_loop(scope: Scope, call: Call, receiver: Expr) -> Call | None:
    """Return the call that makes the object of a method call in each turn, or None."""
    if isinstance(receiver, Call):
        found: Call = receiver
        return found
    if not isinstance(receiver, Name):
        return None
    bound = [event for event in scope.binding(receiver.name) if event.place.start < call.place.start]
    last = bound[-1] if bound else None
    if last is None or last.kind != "assign" or last.value is None or not isinstance(last.value, Call):
        return None
    loop = innermost_loop(scope, last.block)
    if loop is None or not inside(scope, call.block, loop):
        return None
    for item in scope.block_chain(last.block):
        if item.kind in ("if", "except"):
            return None
    if any(
        other.method in ("append", "add", "put", "extend", "setdefault")
        and inside(scope, other.block, loop)
        and any(is_name(part, receiver.name) for given in other.args for part in walk(given))
        for other in scope.calls
    ):
        return None
    for event in scope.events():
        if (
            event.kind == "assign"
            and is_name(event.value, receiver.name)
            and inside(scope, event.block, loop)
        ):
            return None
    return last.value
