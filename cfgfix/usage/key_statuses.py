"""What the code does with a key, from the ends of its reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cfgfix.code.inference.config_atoms import Path
from cfgfix.code.inference.config_values import MAX_STEPS
from cfgfix.code.inference.value_ends import End, ends_of, ends_of_attribute, ends_of_parameters
from cfgfix.code.inference.value_uses import COPIED, USED, Guards
from cfgfix.code.model.expressions import MISSING, constant, text
from cfgfix.code.model.nodes import Binary, Call, Compare, Expr, Literal, Name, Subscript
from cfgfix.code.model.summary import Scope
from cfgfix.usage.key_uses import INFERENCE, LIVE, NEVER, ONLY_LOGGED, TOOLS, UNSURE, Use, spots_of
from cfgfix.usage.reads import Collector


def use_of(collector: Collector, path: Path) -> Use:
    """Return what the code does with a key of a config."""
    key = collector.keys[path]
    core_reads = [item for item in key.reads if collector.core(item[1])]
    parameters_here = [item for item in key.parameters if collector.core(item[2])]
    ends: list[End] = ends_of(collector.uses, core_reads, path)
    for slot, _, _ in parameters_here:
        kind, scope, name = slot
        if kind == "v":
            ends += ends_of_parameters(collector.uses, [(scope, name)], path)
        else:
            ends += ends_of_attribute(collector.uses, scope, name, path)
    used = [end for end in ends if end.kind == USED and collector.core(end.scope)]
    whole = [item for item in key.whole if collector.core(item[2]) and item[0] == USED]
    maybe = [item for item in key.maybe if collector.core(item[1])]
    tools = [item for item in key.reads if collector.role[item[1].module.path] == TOOLS]
    inference = [item for item in key.reads if collector.role[item[1].module.path] == INFERENCE]
    inference += [
        item
        for item in key.maybe
        if collector.role[item[1].module.path] == INFERENCE and not isinstance(item[0], Literal)
    ]
    guards: Guards = frozenset()
    unsure = collector.follower.steps > MAX_STEPS
    if not used and not whole and maybe:
        unsure = unsure or any(
            isinstance(expr, Literal)
            or any(
                end.kind == USED and collector.core(end.scope)
                for end in ends_of(collector.uses, [(expr, scope)], path)
            )
            for expr, scope in maybe
        )
    if used:
        status = LIVE
        if not whole and not maybe:
            guards = frozenset.intersection(*(end.guards for end in used))
            guards = frozenset(guard for guard in guards if guard[0] != path and guard[0] in collector.keys)
    elif whole or unsure:
        status = UNSURE
    elif ends or core_reads or any(collector.core(item[2]) for item in key.whole):
        # A whole that is only stored names no key.
        copied = bool(ends) and all(end.kind == COPIED for end in ends)
        status = ONLY_LOGGED if (core_reads or ends) and not copied else NEVER
    else:
        status = NEVER
    if status == ONLY_LOGGED and inference:
        status = INFERENCE
    if status == ONLY_LOGGED:
        where = {collector.role[end.scope.module.path] for end in ends if end.kind == USED}
        status = INFERENCE if INFERENCE in where else TOOLS if TOOLS in where else ONLY_LOGGED
    if status == NEVER:
        status = INFERENCE if inference else TOOLS if tools else NEVER
    return Use(
        status,
        spots_of([*core_reads, *((expr, scope) for _, expr, scope in parameters_here)]),
        spots_of(tools),
        spots_of(inference),
        spots_of((expr, scope) for expr, scope, _, _ in key.writes),
        spots_of((expr, scope) for _, expr, scope in whole),
        spots_of(maybe),
        tuple(sorted(guards, key=repr)),
        () if key.writes else spots_of(_reads_calculated_with(collector, core_reads)),
    )


def _reads_calculated_with(
    collector: Collector, reads: Iterable[tuple[Expr, Scope]]
) -> list[tuple[Expr, Scope]]:
    """Return the expressions that calculate with a read value without conversion.

    A text there stops the program.
    """
    found: list[tuple[Expr, Scope]] = []
    for expr, scope in reads:
        around = collector.loads.around.get(id(expr))
        if around is None or not isinstance(around[0], Expr):
            continue
        if (isinstance(expr, Subscript) and constant(expr.index) is MISSING) or _is_prepared(
            collector, expr, scope
        ):
            continue
        parent, role = around
        if (isinstance(parent, Binary) and role in ("-", "/", "//", "**")) or (
            isinstance(parent, Compare)
            and any(
                item.operator in ("<", ">", "<=", ">=") and isinstance(constant(item.right), (int, float))
                for item in parent.rights
            )
        ):
            found.append((parent, scope))
    return found


def _is_prepared(collector: Collector, expr: Expr, scope: Scope) -> bool:
    """Tell whether a function converts a value, checks its type or catches exceptions."""
    shown = text(expr)
    for call in scope.calls:
        if (
            isinstance(call.func, Name)
            and call.func.name in ("isinstance", "type", "float", "int", "eval")
            and call.args
            and text(call.args[0]) == shown
        ):
            return True
    around: Any = collector.loads.around.get(id(expr), (None, None))[0]
    while isinstance(around, Expr) and not isinstance(around, Call):
        around = collector.loads.around.get(id(around), (None, None))[0]
    block = getattr(around, "block", None)
    return block is not None and any(item.kind == "try" for item in scope.block_chain(block))
