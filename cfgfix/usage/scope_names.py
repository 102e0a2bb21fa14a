"""The names by which code may read the keys of a config."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from cfgfix.code.model.expressions import children, walk_own
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Attribute, Expr, Literal, Subscript
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope


@once
def names_of_configs(program: Program, module: Module) -> frozenset[str]:
    """Return the names in a module that may be keys of a config.

    These are attributes, texts, parameters, keyword arguments and names in classes.
    """
    del program
    found: set[str] = set()
    for scope in module.summary.scopes:
        found.update(names_read(scope))
        found.update(item.name for item in scope.params)
        found.update(name for call in scope.calls for name, _ in call.keywords if name is not None)
        if scope.kind == "class":
            found.update(scope.names)
    return frozenset(name for name in found if name.isidentifier())


def _read_by_target(target: Expr) -> Expr:
    """Return the expression that an assignment reads from its target."""
    if isinstance(target, Attribute):
        return target.base
    if isinstance(target, Subscript) and isinstance(target.index, Literal):
        return target.base
    return target


def names_read(scope: Scope) -> Iterator[str]:
    """Yield the attributes and texts of a scope, which may be names of keys."""
    pending: list[Expr] = []
    events = list(scope.body)
    while events:
        event = events.pop()
        if event.value is not None:
            pending.append(event.value)
        pending += event.targets if event.kind == "augment" else map(_read_by_target, event.targets)
        for expr in event.extra_nodes():
            pending += children(expr) if event.kind == "annotate" else (expr,)
        for _, inner in event.bodies or ():
            events += inner
    for call in scope.calls:
        pending += [call.func, *call.args, *(value for _, value in call.keywords)]
    for expr in islice(walk_own(pending), 50_000):
        if isinstance(expr, Attribute):
            yield expr.attribute
        elif isinstance(expr, Literal) and isinstance(expr.value, str) and len(expr.value) < 80:
            yield expr.value
            if "." in expr.value:
                yield from expr.value.split(".")
