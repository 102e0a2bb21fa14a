"""Values copied to the host in every step of a loop."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import few_turns
from cfgfix.code.checks.step_loops import loops_over_data, outermost_name
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import ELEMENT, GRAPH, PYTHON, hot_paths, innermost_loop, inside
from cfgfix.code.model.expressions import is_name
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import Call, Collection, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit


def _is_rare(scope: Scope, block: int, loop: int) -> bool:
    """Tell whether a block inside a loop is under a condition or a handler."""
    while block >= 0 and block != loop:
        if scope.blocks[block].kind in ("if", "except", "match"):
            return True
        block = scope.blocks[block].parent
    return False


def host_reads(program: Program) -> Iterator[Hit]:
    """Find loops that copy several values to the host in every step.

    Examples: `float(loss)`, `loss.numpy()`.
    """
    hot = hot_paths(program)
    done: set[tuple[int, int]] = set()
    for scope, block, step in hot.step_loops():
        if (id(scope), block) in done or not loops_over_data(program, scope, block):
            continue
        done.add((id(scope), block))
        results = _result_names(scope, step)
        reads = []
        for call in scope.calls:
            if innermost_loop(scope, call.block) != block or _is_rare(scope, call.block, block):
                continue
            by_method = call.method == "numpy" and not call.args and outermost_name(call.receiver) in results
            by_float = isinstance(call.func, Name) and call.func.name == "float" and len(call.args) == 1
            if by_method or (by_float and outermost_name(call.args[0]) in results):
                reads.append(call)
        if len(reads) >= 2:
            first = reads[0]
            yield hit_in(
                scope,
                first.name_place,
                first.block,
                {"count": len(reads), "loop_line": scope.blocks[block].line},
                related=tuple(Step(scope, call.name_place, call.block, "and here") for call in reads[1:6]),
            )
    yield from _reads_beside_tape(program, done)


def _reads_beside_tape(program: Program, done: set[tuple[int, int]]) -> Iterator[Hit]:
    """Find reads in an eager loop that opens the gradient tape itself."""
    hot = hot_paths(program)
    for tape in flow_of(program).named("tensorflow.GradientTape"):
        scope = tape.scope
        block = innermost_loop(scope, tape.call.block)
        if (
            block is None
            or (id(scope), block) in done
            or hot.reach(scope, GRAPH, ELEMENT, PYTHON) is not None
            or few_turns(program, scope, block)
        ):
            continue
        done.add((id(scope), block))
        computed = _tensors_in_loop(scope, tape, block)
        reads = [
            call
            for call in scope.calls
            if inside(scope, call.block, block)
            and not _is_rare(scope, call.block, block)
            and (
                (call.method == "numpy" and not call.args and outermost_name(call.receiver) in computed)
                or (
                    is_name(call.func, "float")
                    and len(call.args) == 1
                    and outermost_name(call.args[0]) in computed
                )
            )
        ]
        if len(reads) >= 2:
            yield hit_in(
                scope,
                reads[0].name_place,
                reads[0].block,
                {"count": len(reads), "loop_line": scope.blocks[block].line},
                related=tuple(Step(scope, call.name_place, call.block, "and here") for call in reads[1:6]),
            )


def _tensors_in_loop(scope: Scope, tape: Site, block: int) -> set[str]:
    """Return the names of tensors in a loop.

    They are assigned under its tape, or bound by a loop over a step's dict.
    """
    found: set[str] = set()
    made: set[str] = set()
    for event in scope.events():
        if not inside(scope, event.block, block):
            continue
        names = {
            part.name
            for target in event.targets
            for part in (target.items if isinstance(target, Collection) else (target,))
            if isinstance(part, Name)
        }
        number = event.block
        under = False
        while number >= 0 and number != block:
            item = scope.blocks[number]
            under = under or (item.kind == "with" and item.test is tape.call)
            number = scope.blocks[number].parent
        if event.kind in ("assign", "augment") and event.value is not None:
            if under:
                found |= names
            elif isinstance(event.value, Call):
                made |= names
        elif event.kind == "for" and event.value is not None and isinstance(event.value, Call):
            call = event.value
            if call.method in ("items", "values") and outermost_name(call.receiver) in made | found:
                last = event.targets[0]
                last = last.items[-1] if isinstance(last, Collection) else last
                if isinstance(last, Name):
                    found.add(last.name)
    return found


def _result_names(scope: Scope, step: Site) -> set[str]:
    for event in scope.events():
        if event.kind == "assign" and event.value is step.call:
            return {
                part.name
                for target in event.targets
                for part in (target.items if isinstance(target, Collection) else (target,))
                if isinstance(part, Name)
            }
    return set()
