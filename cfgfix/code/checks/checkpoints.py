"""Checkpoints looked up in another folder than the one they are written to."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import only_value
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, dotted, text
from cfgfix.code.model.hit import at, hit_at
from cfgfix.code.model.nodes import Attribute, Call, Expr, Literal, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit

_DEPTH = 5
_Part = tuple[str, int]
"""How a part of a path is written, and the scope whose names it uses; 0 for a text."""


def looked_for_elsewhere(program: Program) -> Iterator[Hit]:
    """Find checkpoints looked up in a parent of the folder they are written to."""
    written: list[tuple[Site, tuple[_Part, ...]]] = []
    for site in flow_of(program).named("tensorflow.train.CheckpointManager"):
        folder = _path_parts(program, site.scope, site.call.argument(1, "directory"))
        if folder:
            written.append((site, folder))
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named("tensorflow.train.latest_checkpoint"):
        key = id(site.scope), site.call.number
        given = site.call.argument(0, "checkpoint_dir")
        asked = _path_parts(program, site.scope, given) if key not in seen else ()
        if not asked or written_for_one(program, site.scope):
            continue
        seen.add(key)
        near = [item for item in written if item[0].scope.module is site.scope.module]
        below = [item for item in near if len(item[1]) > len(asked) and item[1][: len(asked)] == asked]
        if below and len(below) == len(near):
            made, folder = below[0]
            yield hit_at(
                site,
                flow=(),
                values={
                    "folder": text(given),
                    "below": "/".join(part for part, _ in folder[len(asked) :]),
                    "line": made.call.name_line,
                },
                related=(at(made, label="writes there"),),
            )


def _path_parts(program: Program, scope: Scope, expr: Expr | None, depth: int = _DEPTH) -> tuple[_Part, ...]:
    """Return the parts of a path joined from names and texts.

    Empty for any other expression.
    """
    if expr is None or depth == 0:
        return ()
    if isinstance(expr, Literal):
        found = constant(expr)
        return (
            tuple((part, 0) for part in found.strip("/").split("/"))
            if isinstance(found, str) and found
            else ()
        )
    if isinstance(expr, Name):
        given = only_value(scope, expr)
        if given is not None and given is not expr:
            return _path_parts(program, scope, given, depth - 1)
        here: Scope | None = scope
        while here is not None and expr.name not in here.names:
            here = program.outer(here)
        if here is None or (here.binding(expr.name) and here is scope):
            return ()
        if here is not scope and (given := only_value(here, expr)) is not None:
            return _path_parts(program, here, given, depth - 1)
        return () if here.binding(expr.name) else ((expr.name, id(here)),)
    if isinstance(expr, Attribute):
        return _of_attribute(program, scope, expr, depth)
    if isinstance(expr, Call) and (dotted(expr.func) or "").endswith("path.join") and not expr.keywords:
        joined: tuple[_Part, ...] = ()
        for item in expr.args:
            inner = _path_parts(program, scope, item, depth - 1)
            if not inner:
                return ()
            joined += inner
        return joined
    return ()


def _of_attribute(program: Program, scope: Scope, expr: Attribute, depth: int) -> tuple[_Part, ...]:
    """Return the path parts of an attribute: those of the only value assigned to it.

    An attribute of another object is a part itself.
    """
    owner = program.owner(scope)
    shown = dotted(expr)
    if shown is None:
        return ()
    if owner is None or not scope.params or dotted(expr.base) != scope.params[0].name:
        return ((shown, 0),) if shown.count(".") == 1 else ()
    stored = [
        (where, event)
        for where, event, target in owner.module.stores()
        if target.attribute == expr.attribute and program.owner(where) is owner
    ]
    if len(stored) != 1:
        return ()
    return _path_parts(program, stored[0][0], stored[0][1].value, depth - 1)
