"""The programs of a project that train, and whether they load a config."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cfgfix.code.inference.config_atoms import (
    UNKNOWN,
    BoundMethod,
    ClassItself,
    PlainFunction,
)
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Attribute, Name, Place
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import ClassValue, External, Function, ModuleValue
from cfgfix.usage.key_uses import (
    CORE,
    Entry,
    spot,
    spot_of,
)
from cfgfix.usage.load_calls import LoadCalls
from cfgfix.usage.roles import is_entry, is_main, trains

MAX_REACHED = 20_000
"""Most functions that one program is followed through."""
_VAGUE = frozenset({"load", "get", "main", "run", "save", "open", "read", "update", "close", "add", "append", "join", "format", "items", "keys", "values", "info", "debug", "warning", "error"})  # fmt: skip
"""Method names that say nothing about which class is meant."""


class TrainingPrograms:
    """Finds the programs that train with a config class, and what each enters."""

    def __init__(self, loads: LoadCalls) -> None:
        self._loads = loads
        self._found = loads.found

    def entries(self) -> Iterator[Entry]:
        """Yield the training programs, each with whether it may load a config file."""
        loading = {id(scope) for scope, _, _ in self._loads.calls}
        if not loading:
            return
        by_name: dict[str, list[Scope]] = {}
        for module in self._found.modules:
            for scope in module.summary.scopes:
                if scope.kind == "function":
                    by_name.setdefault(scope.name, []).append(scope)
        for module in self._found.modules:
            if (
                self._found.role[module.path] != CORE
                or module.path.endswith(".ipynb")
                or not is_entry(module)
            ):
                continue
            call = trains(module)
            if call is None or not self._makes_config(module):
                continue
            reached = self._scopes_entered(module, by_name)
            main = next(block for block in module.summary.scopes[0].blocks if is_main(block.test))
            yield Entry(
                spot_of(module.summary.scopes[0], Place(main.line, 0, main.line, 2), "__main__"),
                bool(reached & loading),
                spot(call[1], call[0]),
            )

    def _makes_config(self, module: Module) -> bool:
        """Tell whether a module makes an object of a config class."""
        sections = self._found.sections
        if sections is None:
            return False
        return any(
            isinstance(atom, ClassItself)
            and any(id(above) in sections.by_class for above in self._loads.program.bases(atom.scope).classes)
            for scope in module.summary.scopes
            for call in scope.calls
            if isinstance(call.func, (Name, Attribute))
            for atom in self._loads.follower.atoms_of(call.func, scope)
        )

    def _scopes_entered(self, module: Module, by_name: Mapping[str, list[Scope]]) -> set[int]:
        """Return the scopes that a program may enter, by identity.

        A call of an unknown object enters all methods of that name in the files that the program imports.
        """
        near = self._files_imported(module)
        pending: list[Scope] = list(module.summary.scopes)
        reached = {id(scope) for scope in pending}
        while pending and len(reached) < MAX_REACHED:
            scope = pending.pop()
            for call in scope.calls:
                func = call.func
                targets: list[Scope] = []
                atoms = self._loads.follower.atoms_of(func, scope)
                for atom in atoms:
                    if isinstance(atom, (PlainFunction, BoundMethod)):
                        targets.append(atom.scope)
                    elif isinstance(atom, ClassItself):
                        method = self._loads.program.method(atom.scope, "__init__")
                        targets += [method] if method is not None else []
                if not atoms or UNKNOWN in atoms:
                    name = (
                        func.attribute
                        if isinstance(func, Attribute)
                        else func.name
                        if isinstance(func, Name)
                        else ""
                    )
                    vague = name in _VAGUE
                    targets += [
                        item
                        for item in by_name.get(name, ())
                        if item.module.path in near and (not vague or item.module is scope.module)
                    ]
                for target in targets:
                    if id(target) not in reached:
                        reached.add(id(target))
                        pending.append(target)
        return reached

    def _files_imported(self, module: Module) -> set[str]:
        """Return the files that a program imports, directly or through other files."""
        found = {module.path}
        pending = [module]
        while pending:
            here = pending.pop()
            for scope in here.summary.scopes:
                for source in (*scope.imports.values(), *scope.stars):
                    value = self._loads.program.find(source, here)
                    other: Module | None = None
                    if isinstance(value, ModuleValue):
                        other = value.module
                    elif isinstance(value, (ClassValue, Function)):
                        other = value.scope.module
                    elif isinstance(value, External) and "." in value.name:
                        other = self._loads.program.module(value.name.rpartition(".")[0])
                    if other is not None and other.path not in found:
                        found.add(other.path)
                        pending.append(other)
        return found
