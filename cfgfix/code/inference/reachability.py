"""Which functions and classes a program may run, by the names that its code uses."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from cfgfix.code.model.expressions import children, dotted, is_name
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Attribute, Call, Expr, Literal, Name, Subscript
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import NODES_IN_EXTRA, Scope

_WORD = re.compile(r"[A-Za-z_]\w*")
_NAMES = re.compile(r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)*")
"""A text that may name something: `step`, `models.unet`, `package.module:function`."""
_BYTES = re.compile(rb"[A-Za-z_][A-Za-z_0-9]*")

MAX_SEARCHED = 3
"""Most functions and classes whose names all files are searched for, one by one."""


class Part:
    """A function or class at the top of a module, or the module's own statements.

    Attributes:
        unit: The function or class; None for the module's statements.
        plain: The names that it uses as they stand; they are the file's own, and where it imports all of a module also that one's.
        wide: What may name something of any file: attributes, imported names under the names they have there, names in texts.
        free: The same without the attributes of what is certainly no module of the program: of a method's own object, of what another
            package has or makes. `checkpoint.restore` is no function `restore`.
        texts: The names in texts alone.
    """

    __slots__ = ("free", "plain", "texts", "unit", "wide")

    def __init__(self, unit: Scope | None) -> None:
        self.unit = unit
        self.plain: set[str] = set()
        self.wide: set[str] = set()
        self.free: set[str] = set()
        self.texts: set[str] = set()


class Reached:
    """The functions and classes at the tops of modules that code that runs names.

    Names are taken as they stand, without asking what they mean: what has the name of something that runs is held to run. A text
    that is a name counts too, so that what is looked up by its name is found.

    Args:
        program: The program.
        begins: The paths of the modules that a run may begin with.
        imports: For the path of each module the paths of those that it imports.
    """

    def __init__(self, program: Program, begins: Iterable[str], imports: Mapping[str, Iterable[str]]) -> None:
        self._program = program
        self._modules = {module.path: module for module in program.modules if module.summary.scopes}
        self._parts: dict[str, list[Part]] = {}
        self._importers: dict[str, list[str]] = {}
        for path, targets in imports.items():
            for target in targets:
                self._importers.setdefault(target, []).append(path)
        self._imports = imports
        self._roots = {
            name.removesuffix(".py") for file in program.files.values() for name in file.path.split(os.sep)
        }
        """Names that an import of a module of the program may begin with."""
        self._entered: set[str] = set()
        for path in begins:
            self._enter_module(path)
        # What a config names, code may look up.
        self._chosen = {
            word
            for config in program.configs
            for leaf in config.leaves.values()
            for value in (leaf if isinstance(leaf, (list, tuple)) else (leaf,))
            if isinstance(value, str) and _NAMES.fullmatch(value)
            for word in _WORD.findall(value)
        }
        self._elsewhere: set[str] | None = None
        self._taken: set[int] | None = None
        self._searched = 0

    def __contains__(self, unit: Scope) -> bool:
        """Tell whether code that runs names a function or class."""
        if self._taken is None:
            # What names it stands as a rule in its own file and those that import it. Where nothing does there, the files in which its
            # name stands are looked at; all of them together only where that is asked for often.
            if self._is_named(unit, self._importing_paths):
                return True
            self._searched += 1
            if self._searched <= MAX_SEARCHED:
                return self._is_named(unit, self._files_naming)
            self._taken = self._all_reached()
        return id(unit) in self._taken

    def mentions(self, scope: Scope) -> bool:
        """Tell whether any read code names a function, whether it runs or not.

        Plain names count in the function's own file, and attributes, imports and texts in all files.
        """
        return any(
            scope.name in part.wide or (module is scope.module and scope.name in part.plain)
            for module in self._modules.values()
            for part in self._parts_of(module)
        )

    def has_text(self, name: str) -> bool:
        """Tell whether a string in the code or a config is or contains a name."""
        return name in self._chosen or any(
            name in part.texts for module in self._modules.values() for part in self._parts_of(module)
        )

    def _enter_module(self, path: str) -> None:
        """Mark a module and its imports as run."""
        pending = [path]
        while pending:
            here = pending.pop()
            if here in self._modules and here not in self._entered:
                self._entered.add(here)
                pending.extend(self._imports.get(here, ()))

    def _parts_of(self, module: Module) -> list[Part]:
        """Return the names used by a module's statements, functions and classes, as parts.

        The part of the module's own statements comes first.
        """
        found = self._parts.get(module.path)
        if found is None:
            body = Part(None)
            found = self._parts[module.path] = [body]
            aliases: dict[str, str] = {}
            stars = False
            owners: list[Part] = []
            for scope in module.summary.scopes:
                for bound, source in scope.imports.items():
                    aliases[bound] = source.rpartition(".")[2]
                stars = stars or bool(scope.stars)
                part = owners[scope.parent] if scope.parent > 0 else body
                if scope.parent == 0 and scope.kind in ("function", "class"):
                    part = Part(scope)
                    found.append(part)
                owners.append(part)
                _collect_names(scope, part, self._roots)
            for part in found:
                others = [aliases[word] for word in part.plain & aliases.keys()]
                part.wide.update(others)
                part.free.update(others)
                if stars:
                    part.wide |= part.plain
                    part.free |= part.plain
        return found

    def _is_named(self, unit: Scope, places: Callable[[Scope], Iterator[str]]) -> bool:
        """Tell whether names lead from code that runs to a function or class.

        Args:
            unit: The function or class.
            places: Gives the paths of the modules that may name one.
        """
        pending, seen = [unit], {id(unit)}
        while pending:
            here = pending.pop()
            if here.name in self._chosen:
                return True
            if here.decorators and self._is_entered(here.module.path):
                # A decorator may have registered it.
                return True
            for path in places(here):
                if path not in self._modules:
                    # A file that has nothing to do with TensorFlow was not read; what it names may run.
                    return True
                for part in self._parts_of(self._modules[path]):
                    own = path == here.module.path
                    if here.name not in part.free and not (own and here.name in part.plain):
                        continue
                    if part.unit is None:
                        if self._is_entered(path):
                            return True
                    elif id(part.unit) not in seen:
                        seen.add(id(part.unit))
                        pending.append(part.unit)
        return False

    def _is_entered(self, path: str) -> bool:
        """Tell whether a module is run or imported, or named in a file that was not read."""
        if path in self._entered:
            return True
        if self._elsewhere is None:
            self._elsewhere = self.written({_path_word(path) for path in self._modules})
        if _path_word(path) in self._elsewhere:
            self._enter_module(path)
        return path in self._entered

    def _files_naming(self, unit: Scope) -> Iterator[str]:
        """Yield the paths of the files that have the name of a function or class in them."""
        word = unit.name.encode()
        pattern = re.compile(rb"(?<!\w)" + re.escape(word) + rb"(?!\w)")
        for file in self._program.files.values():
            data = self._program.content_of(file.path)
            if word in data and (file.path in self._modules or pattern.search(data)):
                yield file.path

    def _importing_paths(self, unit: Scope) -> Iterator[str]:
        """Yield the paths of the module of a function or class, and of all its importers.

        Modules that import it by way of others are among them.
        """
        path = unit.module.path
        seen, pending = {path}, [path]
        while pending:
            here = pending.pop()
            if here in self._modules:
                yield here
            for other in self._importers.get(here, ()):
                if other not in seen:
                    seen.add(other)
                    pending.append(other)

    def _all_reached(self) -> set[int]:
        """Return the functions and classes, by identity, that code that runs leads to."""
        units: dict[str, list[Part]] = {}
        own: dict[str, dict[str, list[Part]]] = {}
        for path, module in self._modules.items():
            here = own[path] = {}
            for part in self._parts_of(module):
                if part.unit is not None:
                    units.setdefault(part.unit.name, []).append(part)
                    here.setdefault(part.unit.name, []).append(part)
        elsewhere = self.written({*units, *(_path_word(path) for path in self._modules)})
        for path in self._modules:
            if _path_word(path) in elsewhere:
                self._enter_module(path)
        taken: set[int] = set()
        known: set[str] = set()
        waiting: list[Part] = []

        def take(parts: Iterable[Part]) -> None:
            for part in parts:
                if part.unit is not None and id(part.unit) not in taken:
                    taken.add(id(part.unit))
                    waiting.append(part)

        for name in (elsewhere | self._chosen) & units.keys():
            take(units[name])
        for path in self._entered:
            parts = self._parts_of(self._modules[path])
            waiting.append(parts[0])
            take(part for part in parts[1:] if part.unit is not None and part.unit.decorators)
        paths = {id(part): path for path in self._modules for part in self._parts[path]}
        while waiting:
            part = waiting.pop()
            names = part.free - known
            known |= names
            for name in names & units.keys():
                take(units[name])
            here = own[paths[id(part)]]
            for name in part.plain & here.keys():
                take(here[name])
        return taken

    def written(self, wanted: set[str]) -> set[str]:
        """Return the words among some that stand in files that were not read as modules."""
        found: set[str] = set()
        for file in self._program.files.values():
            if file.path not in self._modules:
                data = self._program.content_of(file.path)
                found |= wanted & {word.decode() for word in set(_BYTES.findall(data))}
        return found


def _path_word(path: str) -> str:
    return os.path.basename(path).removesuffix(".py")


def _collect_names(scope: Scope, part: Part, roots: AbstractSet[str]) -> None:
    """Add to a part the names that a scope uses, and its strings that are names."""
    exprs: list[Expr] = []
    for event in scope.events():
        if event.value is not None:
            exprs.append(event.value)
        if event.targets:
            exprs += event.targets
        if event.kind in NODES_IN_EXTRA:
            exprs += event.extra_nodes()
    for call in scope.calls:
        exprs.append(call.func)
        exprs += call.args
        if call.keywords:
            exprs += [value for _, value in call.keywords]
    _gather_names(exprs, scope, part, roots)
    if scope.parent >= 0:
        outer: Scope = scope.module.summary.scopes[scope.parent]
        defaults = [default for _, _, default, _ in scope.params if default is not None]
        _gather_names([*scope.bases, *scope.decorators, *defaults], outer, part, roots)


def plain_names(scope: Scope) -> set[str]:
    """Return the plain names that a scope uses."""
    part = Part(None)
    _collect_names(scope, part, frozenset())
    return part.plain


_DEPTH = 4
"""How many calls are followed to what an object came from."""
_MOST = 4
"""Most statements that may bind a name whose objects are asked about."""


def _of_others(owner: Expr, scope: Scope, roots: AbstractSet[str], depth: int = 0) -> bool:
    """Tell whether the owner of an attribute is certainly no module of the program."""
    if depth > _DEPTH:
        return False
    while isinstance(owner, (Attribute, Subscript)):
        owner = owner.base
    if isinstance(owner, Call):
        return _of_others(owner.func, scope, roots, depth + 1)
    if not isinstance(owner, Name):
        return bool(isinstance(owner, Literal))
    here: Scope | None = scope
    while here is not None and owner.name not in here.names and owner.name not in here.imports:
        here = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
    if here is None:
        return False
    source = here.imports.get(owner.name)
    if source is not None:
        return not source.startswith(".") and source.partition(".")[0] not in roots and source != "importlib"
    if here.params and here.params[0].name == owner.name and here.parent >= 0:
        return bool(here.module.summary.scopes[here.parent].kind == "class")
    events = here.binding(owner.name)
    return 0 < len(events) <= _MOST and all(
        event.kind == "assign"
        and event.value is not None
        and isinstance(event.value, Call)
        and any(is_name(target, owner.name) for target in event.targets)
        and isinstance(event.value.func, Attribute)
        and (dotted(event.value.func) or "importlib").partition(".")[0] != owner.name
        and "import_module" not in (dotted(event.value.func) or "")
        and _of_others(event.value.func, here, roots, depth + 1)
        for event in events
    )


def _gather_names(pending: list[Expr], scope: Scope, part: Part, roots: AbstractSet[str]) -> None:
    plain, wide, free = part.plain, part.wide, part.free
    while pending:
        expr = pending.pop()
        if isinstance(expr, Name):
            plain.add(expr.name)
        elif isinstance(expr, Attribute):
            wide.add(expr.attribute)
            if expr.attribute not in free and not _of_others(expr.base, scope, roots):
                free.add(expr.attribute)
            pending.append(expr.base)
        elif isinstance(expr, Literal):
            if isinstance(expr.value, str) and _NAMES.fullmatch(expr.value):
                words = _WORD.findall(expr.value)
                wide.update(words)
                free.update(words)
                part.texts.update(words)
        elif not isinstance(expr, Call):
            # Calls are listed by themselves.
            pending.extend(children(expr))
