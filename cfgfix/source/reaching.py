"""What a run comes to: from what a program begins with, by the names that it uses."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from cfgfix.source.expr import children
from cfgfix.source.program import Module, Program
from cfgfix.source.summary import ATTRIBUTE, CALL, CONSTANT, FORMAT, NAME, Expr, Scope

_WORD = re.compile(r"[A-Za-z_]\w*")
_BYTES = re.compile(rb"[A-Za-z_][A-Za-z_0-9]*")


class Reached:
    """Which functions and classes at the top of a program's modules are named by something that runs.

    Names are taken as they stand, without asking what they mean: what has the name of something that runs is held to run. Words
    in texts count as names, so that what is looked up by its name is found.

    Args:
        program: The program.
        begins: The paths of the modules that a run may begin with.
        imports: For the path of each module the paths of those that it imports.
    """

    def __init__(self, program: Program, begins: Iterable[str], imports: Mapping[str, Iterable[str]]) -> None:
        self._imports = imports
        self._modules = {module.path: module for module in program.modules if module.summary.scopes}
        self._entered: set[str] = set()
        self._units: dict[str, list[Scope]] = {}
        self._taken: set[int] = set()
        self._bodies: dict[str, list[Scope]] = {}
        self._inside: dict[int, list[Scope]] = {}
        self._aliases: dict[str, dict[str, str]] = {}
        for module in self._modules.values():
            self._sort(module)
        self._waiting: list[Scope] = []
        self._known: set[str] = set()
        for path in begins:
            self._enter(path)
        wanted = {*self._units, *(_word(path) for path in self._modules)}
        # Files that have nothing to do with TensorFlow were not read; what they call may have.
        for word in wanted & _written(program, self._modules):
            self._use(word)
            for path in self._modules:
                if _word(path) == word:
                    self._enter(path)
        while self._waiting:
            self._follow(self._waiting.pop())

    def __contains__(self, unit: Scope) -> bool:
        """Tell whether something that runs names a function or class."""
        return id(unit) in self._taken

    def _sort(self, module: Module) -> None:
        """Note which scopes of a module belong to which of its functions and classes, and which to the module itself."""
        scopes = module.summary.scopes
        body = self._bodies[module.path] = [scopes[0]]
        aliases = self._aliases[module.path] = {}
        units: list[Scope | None] = [None] * len(scopes)
        for number, scope in enumerate(scopes):
            for bound, source in scope.imports.items():
                aliases[bound] = source.rpartition(".")[2]
            if number == 0:
                continue
            own = scope.parent == 0 and scope.kind in ("function", "class")
            unit = units[number] = scope if own else units[scope.parent]
            if unit is None:
                body.append(scope)
            else:
                self._inside.setdefault(id(unit), []).append(scope)
            if own:
                self._units.setdefault(scope.name, []).append(scope)

    def _enter(self, path: str) -> None:
        """Run a module: its own statements, those of what it imports, and what a decorator may have registered."""
        pending = [path]
        while pending:
            here = pending.pop()
            module = self._modules.get(here)
            if module is None or here in self._entered:
                continue
            self._entered.add(here)
            pending.extend(self._imports.get(here, ()))
            self._waiting.extend(self._bodies[here])
            for unit in module.summary.scopes[1:]:
                if unit.parent == 0 and unit.decorators:
                    self._take(unit)

    def _take(self, unit: Scope) -> None:
        if id(unit) not in self._taken:
            self._taken.add(id(unit))
            self._waiting.extend(self._inside.get(id(unit), ()))

    def _use(self, name: str) -> None:
        if name not in self._known:
            self._known.add(name)
            for unit in self._units.get(name, ()):
                self._take(unit)

    def _follow(self, scope: Scope) -> None:
        aliases = self._aliases[scope.module.path]
        for word in _words(scope):
            self._use(word)
            if word in aliases:
                self._use(aliases[word])


def _word(path: str) -> str:
    return os.path.basename(path).removesuffix(".py")


def _written(program: Program, modules: Collection[str]) -> set[str]:
    """Return all words of the files that are no modules at hand."""
    found: set[str] = set()
    for file in program.files.values():
        if file.path not in modules:
            found.update(word.decode() for word in set(_BYTES.findall(program.content_of(file.path))))
    return found


def _words(scope: Scope) -> Iterator[str]:
    """Yield the names that a scope uses, and the words of its texts."""
    exprs: list[Expr] = []
    for event in scope.events():
        if event.value is not None:
            exprs.append(event.value)
        exprs += event.targets
        if event.kind == "with":
            exprs += event.extra
    for call in scope.calls:
        exprs += [call.func, *call.args, *(value for _, value in call.keywords)]
    yield from _named(exprs, scope)
    if scope.parent >= 0:
        outer: Scope = scope.module.summary.scopes[scope.parent]
        defaults = [default for _, _, default, _ in scope.params if default is not None]
        yield from _named([*scope.bases, *scope.decorators, *defaults], outer)


def _named(exprs: Iterable[Expr], scope: Scope) -> Iterator[str]:
    # Calls are listed by themselves, so none need be entered.
    pending = list(exprs)
    while pending:
        part = pending.pop()
        kind = part[0]
        if kind == NAME:
            yield part[1]
        elif kind == ATTRIBUTE:
            yield part[2]
            pending.append(part[1])
        elif kind == CONSTANT:
            if isinstance(part[1], str):
                yield from _WORD.findall(part[1])
        elif kind != CALL:
            pending.extend(children(part, scope))
            if kind == FORMAT and isinstance(part[2], str):
                yield from _WORD.findall(part[2])
