"""Loops of TensorFlow 1 that add operations to their graph in every turn."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import few_turns, short
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import innermost_loop, inside
from cfgfix.code.model.expressions import walk
from cfgfix.code.model.hit import at, hit_at
from cfgfix.code.model.nodes import Call, Expr, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit

_SESSIONS = ("tensorflow.Session.run", "tensorflow.InteractiveSession.run")
_ADDS = re.compile(
    r"tensorflow\.(?!Session|InteractiveSession|summary\.|train\.|Summary|ConfigProto|GPUOptions|RunOptions|RunMetadata|get_default|Graph|name_scope"
    r"|variable_scope|device|global_variables|trainable_variables|local_variables|io\.gfile|gfile|logging|python_io|app|flags|compat\.as_|dtypes|TensorShape"
    r"|get_collection|app\.)[\w.]+|tensorflow_hub\.Module\.__call__"
)
"""Calls that put operations into the graph."""


def grows(program: Program) -> Iterator[Hit]:
    """Find operations that a loop makes and runs in each turn."""
    seen: set[tuple[int, int]] = set()
    for run in flow_of(program).named(*_SESSIONS):
        scope = run.scope
        loop = innermost_loop(scope, run.call.block)
        given = run.call.argument(0, "fetches")
        if loop is None or given is None or few_turns(program, scope, loop, 20):
            continue
        made = _maker_in_loop(program, scope, given, loop)
        if made is None or (id(scope), made.call.number) in seen:
            continue
        if any(call.method in ("reset_default_graph", "clear_session") for call in scope.calls):
            continue
        seen.add((id(scope), made.call.number))
        yield hit_at(
            made,
            flow=(),
            values={"call": short(made), "loop_line": scope.blocks[loop].line},
            related=(at(run, label="and run here"),),
        )


def _maker_in_loop(program: Program, scope: Scope, given: Expr, loop: int) -> Site | None:
    """Return the call in a loop that makes the operation a session runs, or None."""
    for part in walk(given):
        expr: Expr | None = part
        if isinstance(part, Name):
            bound = scope.binding(part.name)
            expr = (
                bound[0].value
                if len(bound) == 1 and bound[0].kind == "assign" and inside(scope, bound[0].block, loop)
                else None
            )
        if expr is None or not isinstance(expr, Call):
            continue
        call: Call = expr
        if not inside(scope, call.block, loop):
            continue
        sites: list[Site] = flow_of(program).within(scope)
        for site in sites:
            if site.call is call and _ADDS.fullmatch(site.name) and not site.targets:
                return site
    return None
