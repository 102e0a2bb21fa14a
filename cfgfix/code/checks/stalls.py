"""Work in every step that stops the training loop."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import few_turns
from cfgfix.code.checks.step_loops import applies_gradients, loops_over_data
from cfgfix.code.inference.conditions import Conditions
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import hot_paths, innermost_loop, inside
from cfgfix.code.model.expressions import text, walk
from cfgfix.code.model.hit import Step, at, hit_at, hit_in
from cfgfix.code.model.nodes import Attribute, Binary, Boolean, Call, Compare, Expr, Name, Unary
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope, bind
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit

_STALLS = {
    "keras.backend.clear_session": "clear_session throws away all compiled functions",
    "keras.utils.clear_session": "clear_session throws away all compiled functions",
    "gc.collect": "gc.collect stops Python for a full collection",
    "matplotlib.pyplot.savefig": "a figure is drawn and written",
    "matplotlib.pyplot.figure": "a figure is made",
    "matplotlib.pyplot.subplots": "a figure is made",
}


def stalls(program: Program) -> Iterator[Hit]:
    """Find work that stops the training loop in every step.

    Collections, figures and clearing the session are such work.
    """
    hot = hot_paths(program)
    for scope, block, step in hot.step_loops():
        if not loops_over_data(program, scope, block) or _by_chunks(scope, block):
            continue
        for site in flow_of(program).within(scope):
            if not inside(scope, site.call.block, block) or innermost_loop(scope, site.call.block) != block:
                continue
            found = _stall_in_words(program, site)
            if found is None:
                continue
            what, path = found
            every = _period_of_place(program, scope, site.call.block, block)
            if every is None:
                continue
            if "figure" in what and not any(
                applies_gradients(program, target.scope, set()) for target in step.targets
            ):
                # A loop that only predicts is there for its figures.
                continue
            yield hit_at(
                site,
                flow=(at(step, label="the step of this loop"), *(at(item) for item in path)),
                values={
                    "what": what,
                    "when": f"{_period_text(every)} of the loop at line {scope.blocks[block].line}",
                },
                # What is compiled anew stops training however seldom it is thrown away.
                severity=None if every <= OFTEN or "clear_session" in what else "info",
            )
    yield from _stalls_in_callbacks(program)


OFTEN = 100
"""What takes as long as a hundred small steps is felt when it comes as often (`benchmarks/evidence/on_gpu.py`)."""
_SELDOM = 1 << 30
"""Stands for a number of steps that the code does not tell."""


def _period_text(every: int) -> str:
    return (
        "in every step"
        if every == 1
        else "every so many steps"
        if every == _SELDOM
        else f"in every {every}th step"
    )


def _period_of_place(program: Program, scope: Scope, block: int, loop: int) -> int | None:
    """Return how often a place runs in a loop: 1 for every turn, n for every n-th.

    `if step % n == 0` gives n, any other condition None.
    """
    every = 1
    for number in scope.block_numbers(block):
        if number == loop:
            return every
        item = scope.blocks[number]
        if item.kind in ("except", "match", "finally", "loop-else"):
            return None
        if item.kind == "if":
            found = (
                _period_of_test(program, scope, item.test, item.line)
                if item.branch and item.test is not None
                else None
            )
            if found is None:
                return None
            every = max(every, found)
    return every


def _period_of_test(program: Program, scope: Scope, test: Expr, line: int) -> int | None:
    """Return the n of a test such as `step % n == 0` or `not step % n`.

    Return `_SELDOM` where n is not known, and None for any other test.
    """
    if isinstance(test, Boolean) and test.operator == "and":
        known = [_period_of_test(program, scope, part, line) for part in test.operands]
        return next((item for item in known if item is not None), None)
    if isinstance(test, Unary) and test.operator == "not":
        test = test.operand
    elif isinstance(test, Compare) and len(test.rights) == 1 and test.rights[0].operator == "==":
        test = test.left
    else:
        return None
    if not isinstance(test, Binary) or test.operator != "%":
        return None
    value = Conditions(program, None).value(test.right, scope, before=line)
    return value if type(value) is int and value > 0 else _SELDOM


_EACH_BATCH = re.compile(r"on_(?:train_)?batch_(?:begin|end)")


def _stalls_in_callbacks(program: Program) -> Iterator[Hit]:
    """Yield findings for stalling work in callbacks that Keras calls for every batch."""
    for module in program.linked:
        for scope in module.summary.scopes:
            owner = program.owner(scope) if _EACH_BATCH.fullmatch(scope.name) else None
            if owner is None or not any(
                name.startswith("keras.callbacks.") for name in program.bases(owner).outside
            ):
                continue
            for site in flow_of(program).within(scope):
                found = _stall_in_words(program, site)
                if found is None:
                    continue
                what, path = found
                every = _period_of_place(program, scope, site.call.block, 0)
                if every is None:
                    continue
                yield hit_at(
                    site,
                    flow=tuple(at(item) for item in path),
                    values={
                        "what": what,
                        "when": f"{_period_text(every)}: Keras calls {scope.name} for each",
                    },
                    severity=None if every <= OFTEN or "clear_session" in what else "info",
                )


def _by_chunks(scope: Scope, block: int) -> bool:
    """Tell whether one turn of a loop makes many steps.

    Example: `while step < total: ...; step += steps_per_loop`.
    """
    test = scope.blocks[block].test
    return (
        scope.blocks[block].kind == "while"
        and test is not None
        and any(
            event.kind == "augment"
            and inside(scope, event.block, block)
            and event.value is not None
            and isinstance(event.value, (Name, Attribute))
            and any(
                re.search(rf"\b{re.escape(target.name)}\b", text(test))
                for target in event.targets
                if isinstance(target, Name)
            )
            for event in scope.events()
        )
    )


def _stall_in_words(program: Program, site: Site) -> tuple[str, tuple[Site, ...]] | None:
    """Return in words how a call stops training, with the calls inside it; or None."""
    if site.name in _STALLS:
        return _STALLS[site.name], ()
    for target in site.targets:
        for inner in flow_of(program).within(target.scope):
            what = _STALLS.get(inner.name)
            if what is not None and _period_of_place(program, inner.scope, inner.call.block, 0) == 1:
                return what, (inner,)
    return None


_TRAINS = frozenset({"train_on_batch", "fit", "apply_gradients"})


def copied_weights(program: Program) -> Iterator[Hit]:
    """Find loops that copy model weights through the host in every step."""
    for module in program.linked:
        for scope in module.summary.scopes:
            for call in scope.calls_of("set_weights"):
                if len(call.args) != 1 or not _is_copy(scope, call.args[0]):
                    continue
                found = _loop_of_copy(program, scope, call)
                if found is None:
                    continue
                where, loop, made = found
                step = _step_beside(program, where, loop)
                if step is None or step.method == "fit":
                    # A fit trains for long; a copy beside it is small.
                    continue
                yield hit_in(
                    scope,
                    call.name_place,
                    call.block,
                    {"loop_line": where.blocks[loop].line, "step": step.method or text(step.func)},
                    flow=() if made is None else (at(made, label="called in every step"),),
                    related=(Step(where, step.name_place, step.block, "one step of training"),),
                )


def _is_copy(scope: Scope, given: Expr) -> bool:
    """Tell whether weights come from `get_weights` or are mixed from models' weights."""
    if isinstance(given, Call):
        return given.method == "get_weights"
    if not isinstance(given, Name):
        return False
    mixed: set[str] = set()
    for _ in range(2):
        for event in scope.events():
            if event.value is None:
                continue
            if not any(
                (isinstance(part, Call) and part.method == "get_weights")
                or (isinstance(part, Attribute) and part.attribute == "weights")
                or (isinstance(part, Name) and part.name in mixed)
                for part in walk(event.value)
            ):
                continue
            if event.kind in ("assign", "for"):
                names: dict[str, None] = {}
                for target in event.targets:
                    bind(target, names)
                mixed |= set(names)
            elif (
                isinstance(event.value, Call)
                and event.value.method == "append"
                and isinstance(event.value.receiver, Name)
            ):
                mixed.add(event.value.receiver.name)
    return given.name in mixed


def _loop_of_copy(program: Program, scope: Scope, call: Call) -> tuple[Scope, int, Site | None] | None:
    """Return the scope and the loop that copy weights in every turn, or None.

    With them comes the call that leads from the loop to the copy. A loop of few turns gives None.
    """
    loop = innermost_loop(scope, call.block)
    if loop is not None:
        if few_turns(program, scope, loop, 50) or _period_of_place(program, scope, call.block, loop) != 1:
            return None
        return scope, loop, None
    if _period_of_place(program, scope, call.block, 0) != 1 and call.block != 0:
        return None
    callers: list[Site] = flow_of(program).callers(scope)
    for caller in callers:
        loop = innermost_loop(caller.scope, caller.call.block)
        if (
            loop is not None
            and not few_turns(program, caller.scope, loop, 50)
            and _period_of_place(program, caller.scope, caller.call.block, loop) == 1
        ):
            return caller.scope, loop, caller
    return None


def _step_beside(program: Program, scope: Scope, loop: int) -> Call | None:
    """Return the call in a loop that trains in each turn, or None.

    It is a method of Keras, or a function that applies gradients.
    """
    for call in scope.calls:
        if call.method in _TRAINS and innermost_loop(scope, call.block) == loop:
            return call
    sites: list[Site] = flow_of(program).within(scope)
    for site in sites:
        if innermost_loop(scope, site.call.block) == loop and any(
            not any(block.kind in ("for", "while") for block in target.scope.blocks)
            and applies_gradients(program, target.scope, set())
            for target in site.targets
        ):
            return site.call
    return None
