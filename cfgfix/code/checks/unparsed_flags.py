"""Flags of absl that a module reads while it is imported, before anything has parsed them."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.model.expressions import constant, dotted, walk
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Attribute, Call, Expr, Name, Place
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.rules.hit import Hit

_FLAGS = "absl.flags.FLAGS"
_PARSING = frozenset({"mark_as_parsed", "parse_flags_with_usage"})
_UNSURE = frozenset({"if", "try", "except", "finally", "while", "match"})


def read_before_parsing(program: Program) -> Iterator[Hit]:
    """Find flags that are read at the top of a module that programs import or start."""
    for module in program.modules:
        top = module.scope
        if top is None or not _defines_or_reads(top) or _parses(program):
            continue
        importer = _importer(program, module)
        if importer is None and not _runs_app(program, top):
            continue
        for scope, event, expr in _expressions_at_import(top):
            for part in walk(expr):
                if not isinstance(part, Attribute) or not _is_flags(program, part.base, scope):
                    continue
                defined = _definitions(program).get(part.attribute)
                if defined is None:
                    continue
                steps = [Step(*defined, "is defined here")]
                if importer is not None:
                    steps.append(
                        Step(importer[0], importer[1].place, importer[1].block, "imports the module")
                    )
                yield hit_in(
                    scope,
                    part.place,
                    event.block,
                    {"name": part.attribute},
                    related=tuple(steps),
                )


def _defines_or_reads(top: Scope) -> bool:
    return any(source.startswith("absl.") or source == "absl" for source in top.imports.values())


def _expressions_at_import(top: Scope) -> Iterator[tuple[Scope, Event, Expr]]:
    """Yield what certainly runs while a module is imported: its top, its classes, what functions take by default."""
    scopes = [top, *(scope for scope in _inner(top) if scope.kind == "class")]
    for scope in scopes:
        for event in scope.events():
            if event.value is None or _is_unsure(scope, event.block):
                continue
            yield scope, event, event.value


def _inner(top: Scope) -> Iterator[Scope]:
    for scope in top.module.summary.scopes:
        if scope.parent == top.number and scope is not top:
            yield scope


def _is_unsure(scope: Scope, block: int) -> bool:
    return any(here.kind in _UNSURE for here in scope.block_chain(block))


def _is_flags(program: Program, expr: Expr, scope: Scope) -> bool:
    """Tell whether an expression is the object of all flags."""
    if program.static_name(expr, scope) == _FLAGS:
        return True
    if not isinstance(expr, Name):
        return False
    top = scope.module.summary.scopes[0]
    bound = top.binding(expr.name)
    return (
        len(bound) == 1
        and bound[0].kind == "assign"
        and bound[0].value is not None
        and program.static_name(bound[0].value, top) == _FLAGS
    )


@once
def _definitions(program: Program) -> dict[str, tuple[Scope, Place, int]]:
    """Return where each flag is defined, by name."""
    found: dict[str, tuple[Scope, Place, int]] = {}
    for module in program.modules:
        for scope in module.summary.scopes:
            for call in scope.calls:
                name = (dotted(call.func) or "").rpartition(".")[2]
                flag = constant(call.args[0]) if call.args and name.startswith("DEFINE_") else None
                if isinstance(flag, str):
                    found.setdefault(flag, (scope, call.place, call.block))
    return found


@once
def _parses(program: Program) -> bool:
    """Tell whether any module parses the flags itself, so that they may be known at any import."""
    return any(
        _parses_flags(program, scope, call)
        for module in program.modules
        for scope in module.summary.scopes
        for call in scope.calls
    )


def _parses_flags(program: Program, scope: Scope, call: Call) -> bool:
    last = (dotted(call.func) or "").rpartition(".")[2]
    return last in _PARSING or _is_flags(program, call.func, scope)


def _runs_app(program: Program, top: Scope) -> bool:
    return any(program.static_name(call.func, top) == "absl.app.run" for call in top.calls)


def _importer(program: Program, module: Module) -> tuple[Scope, Event] | None:
    """Return a statement at the top of a started module that imports another one, or None."""
    for other in program.modules:
        top = other.scope
        if top is None or other is module or not _runs_app(program, top):
            continue
        for event in top.events_of("import"):
            for _, source in event.imports:
                whole = program.module(source, other) or program.module(source.rpartition(".")[0], other)
                if whole is module and not _is_unsure(top, event.block):
                    return top, event
    return None
