"""Which variables of a module of settings the rest of a program takes, whether that is run or not."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.model.expressions import children
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Attribute, Call, Comprehension, Expr, Name
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope


@once
def names_taken(program: Program, module: Module) -> frozenset[str] | None:
    """Return the variable names of a module that any code reads.

    None where code may read others. Reads in the module itself count, as do `module.name`, `from module
    import name` and names after `import *`.
    """
    taken = set(_names_in(module))
    sources = {id(module)}
    pending = [module]
    while pending:
        here = pending.pop()
        for other in program.all_modules():
            if other is here:
                continue
            found = _taken_by(program, other, here)
            if found is None:
                return None
            names, gives_on = found
            taken |= names
            if gives_on and id(other) not in sources:
                # What it has by `*` others may take of it.
                sources.add(id(other))
                pending.append(other)
    return frozenset(taken)


def _taken_by(program: Program, module: Module, source: Module) -> tuple[set[str], bool] | None:
    """Return the names that a module reads of another, and whether `*` imports all.

    None where the other module is passed on as an object.
    """
    last = source.name.rpartition(".")[2]
    if last.encode() not in program.content_of(module.path):
        return set(), False
    names: set[str] = set()
    aliases: set[str] = set()
    gives_on = False
    for scope in module.summary.scopes:
        for event in scope.events_of("import"):
            for bound, imported in event.imports:
                if bound and program.module(imported, module) is source:
                    aliases.add(bound)
                head, _, name = imported.rpartition(".")
                if head and program.module(head, module) is source:
                    names.add(name)
        gives_on = gives_on or any(program.module(star, module) is source for star in scope.stars)
    if gives_on:
        names.update(_names_in(module))
    for scope in module.summary.scopes:
        for expr, base in _with_bases(scope):
            if isinstance(expr, Attribute) and _last_step(expr.base) in {*aliases, last}:
                names.add(expr.attribute)
            elif isinstance(expr, Name) and expr.name in aliases and not base:
                # It goes somewhere as a whole.
                return None
    return names, gives_on


def _last_step(expr: Expr) -> str:
    if isinstance(expr, Name):
        return expr.name
    return expr.attribute if isinstance(expr, Attribute) else ""


def _names_in(module: Module) -> Iterator[str]:
    """Yield the names of variables that a module reads."""
    for scope in module.summary.scopes:
        for expr, _ in _with_bases(scope):
            if isinstance(expr, Name):
                yield expr.name


def _with_bases(scope: Scope) -> Iterator[tuple[Expr, bool]]:
    """Yield the expressions that a scope reads, with whether it reads an attribute."""
    pending: list[tuple[Expr, bool]] = [(item, False) for item in (*scope.bases, *scope.decorators)]
    pending += [(item.default, False) for item in scope.params if item.default is not None]
    for event in scope.events():
        if event.value is not None:
            pending.append((event.value, False))
        targets = event.targets if event.kind == "augment" else _read_by_targets(event.targets)
        pending += [(item, False) for item in (*targets, *event.extra_nodes())]
    for call in scope.calls:
        pending.append((call.func, False))
        pending += [(item, False) for item in (*call.args, *(value for _, value in call.keywords))]
    while pending:
        here, base = pending.pop()
        yield here, base
        if isinstance(here, Call):
            # Calls are in the list of their scope, each once.
            continue
        is_attribute = isinstance(here, Attribute)
        pending += [(part, is_attribute) for part in children(here)]
        if isinstance(here, Comprehension):
            pending += [(target, False) for target, _, _ in here.generators]


def _read_by_targets(targets: tuple[Expr, ...]) -> Iterator[Expr]:
    """Yield the expressions that assignments read from their targets."""
    for target in targets:
        if isinstance(target, Attribute):
            yield target.base
        elif not isinstance(target, Name):
            yield target
