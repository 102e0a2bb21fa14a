"""Figures of Matplotlib that a training draws again and again and never closes."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import few_turns, in_tests, line_beside, only_value
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.expressions import dotted, walk
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import Call, Collection, Expr
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.rules.hit import Hit

_OPENS = frozenset({"matplotlib.pyplot.figure", "matplotlib.pyplot.subplots"})
_CLOSES = frozenset({"close", "clf", "cla", "show", "switch_backend", "ioff", "pause", "draw"})
_LOOPS = ("for", "while")


def unclosed_figures(program: Program) -> Iterator[Hit]:
    """Find figures that each turn of a loop makes anew and nothing closes."""
    for module in program.all_modules(words=(b"pyplot",)):
        if module.path.endswith(".ipynb"):
            # A notebook shows and closes what a cell has drawn.
            continue
        for scope in module.summary.scopes:
            if scope.kind == "class":
                continue
            for call in scope.calls:
                name = program.static_name(call.func, scope) if dotted(call.func) else None
                if name not in _OPENS or (name.endswith("figure") and call.args) or call.keyword("num"):
                    continue
                if not any(item.method == "savefig" for item in scope.calls) or _closes_figures(scope):
                    continue
                found = _loop_around(program, scope, call)
                if found is None:
                    continue
                where, caller, line = found
                yield hit_in(
                    scope,
                    call.name_place,
                    call.block,
                    {"loop_line": line_beside(scope, where, line)},
                    related=()
                    if caller is call
                    else (Step(where, caller.name_place, caller.block, "in each turn of this loop"),),
                )


def _closes_figures(scope: Scope) -> bool:
    return any(call.method in _CLOSES for call in scope.calls)


def _loop_around(program: Program, scope: Scope, call: Call) -> tuple[Scope, Call, int] | None:
    """Return the scope, the call and the line of a loop that runs a call many times.

    Return None where no loop does. A calling function that closes figures does not count.
    """
    ways = [(scope, call)] + [(site.scope, site.call) for site in flow_of(program).callers(scope)]
    for where, what in ways:
        if in_tests(where) or (where is not scope and _closes_figures(where)):
            continue
        for number in where.block_numbers(what.block):
            block = where.blocks[number]
            if (
                block.kind in _LOOPS
                and not few_turns(program, where, number, 20)
                and not _over_kinds(where, block.test)
                and inside(where, what.block, number)
            ):
                return where, what, block.line
    return None


def _over_kinds(scope: Scope, expr: Expr | None) -> bool:
    """Tell whether a loop goes over the entries of a dictionary or a written list.

    Those are kinds of something, and few.
    """
    value = only_value(scope, expr)
    if isinstance(value, Collection):
        return len(value.items) <= 20
    return value is not None and any(
        isinstance(part, Call) and part.method in ("keys", "items") and not part.args for part in walk(value)
    )
