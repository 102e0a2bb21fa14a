"""The summaries of a project, linked: names to what they stand for, classes with their bases.

What a function does with datasets and callbacks is followed in `inference/flow/`, which is built on this.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar

from cfgfix.code.model.canonical_names import canonical_name
from cfgfix.code.model.expressions import dotted, is_name
from cfgfix.code.model.module import Module, absolute
from cfgfix.code.model.nodes import Attribute, Conditional, Expr, Name
from cfgfix.code.model.program_files import ProgramFiles
from cfgfix.code.model.python_files import PythonFile
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.summary_cache import SummaryStore
from cfgfix.code.model.values import ClassValue, External, Function, ModuleValue, Site, Value
from cfgfix.code.tensorflow.requirement import NOTHING, Requirement


def _base_expressions(base: Expr) -> tuple[Expr, ...]:
    """Return the expressions that a base of a class may be.

    For `Layer if HAS_TENSORFLOW else object` these are the sides but `object`; any other base is returned itself.
    """
    if not isinstance(base, Conditional):
        return (base,)
    return tuple(side for side in (base.then, base.otherwise) if not is_name(side, "object"))


P = ParamSpec("P")
T = TypeVar("T")


def once(function: Callable[Concatenate[Program, P], T]) -> Callable[Concatenate[Program, P], T]:
    """Answer a question about a program once and keep the answer with the program.

    The further arguments tell one question from another; modules and scopes count by identity.
    """

    @functools.wraps(function)
    def asked(program: Program, /, *args: P.args, **kwargs: P.kwargs) -> T:
        known = program.answers.get(function)
        if known is None:
            known = program.answers[function] = {}
        key = (args, *kwargs.items()) if kwargs else args
        try:
            found: T = known[key]
        except KeyError:
            found = known[key] = function(program, *args, **kwargs)
        return found

    return asked


class NamedLeaves(Protocol):
    """The values of a config file, by their key paths."""

    @property
    def path(self) -> str:
        """The file, as shown to the user."""

    @property
    def leaves(self) -> Mapping[tuple[Any, ...], Any]:
        """The values that are no sections."""


class Runs(Protocol):
    """The questions of lower packages to the runs over a program."""

    def callers(self, scope: Scope) -> Sequence[Site]:
        """Return the calls that may enter a scope."""


MAX_REEXPORTS = 60
"""Most steps from a name to where it is defined, through modules that import it from one another."""


class Bases(NamedTuple):
    """A class with all it is derived from, the nearest first.

    Attributes:
        classes: Itself and its bases in the project.
        outside: The names of its bases outside of the project.
    """

    classes: list[Scope]
    outside: list[str]


class _NameSearch:
    """One search for a name's definition: its depth, and the names it has looked up."""

    __slots__ = ("depth", "seen")

    def __init__(self) -> None:
        self.depth = 0
        self.seen: set[tuple[int, str]] = set()


class Program(ProgramFiles):
    """The linked files of a project."""

    def __init__(
        self,
        files: Iterable[PythonFile],
        store: SummaryStore,
        needles: Iterable[bytes],
        overlay: Mapping[str, bytes] | None = None,
    ) -> None:
        super().__init__(files, store, needles, overlay)
        self._found: dict[tuple[str, int], Value] = {}
        self._members: dict[tuple[int, str], Value] = {}
        self.flow: Runs | None = None
        """The runs over the program, once made (`flow_of` gives them with all they can be asked)."""
        self.requirement: Requirement = NOTHING
        """What the project asks for."""
        self.configs: tuple[NamedLeaves, ...] = ()
        """The configs that the program is judged under."""
        self.answers: dict[Callable[..., Any], dict[Any, Any]] = {}
        """What was asked of the program once (`once`), by the function that answers."""
        self._mro: dict[int, Bases] = {}
        self._heads: dict[tuple[int, str], str | None] = {}

    def find(self, name: str, importer: Module | None = None) -> Value:
        """Return the value of a dotted import source.

        It is a module, class or function of the project, or an external.
        """
        key = (name, id(importer))
        known = self._found.get(key)
        if known is None:
            known = self._found[key] = self._find_definition(name, importer, _NameSearch())
        return known

    def _find_definition(self, name: str, importer: Module | None, search: _NameSearch) -> Value:
        if importer is not None:
            name = absolute(name, importer)
        if search.depth > MAX_REEXPORTS:
            return External(name)
        module = self.module(name, importer)
        if module is not None:
            return ModuleValue(module)
        head, _, last = name.rpartition(".")
        if head:
            above = self.module(head, importer)
            if above is None and "." in head:
                search.depth += 1
                outer = self._find_definition(head, importer, search)
                search.depth -= 1
                if isinstance(outer, ClassValue):
                    child = outer.scope.children.get(last)
                    if child is not None:
                        return self.defined(outer.scope.module.summary.scopes[child])
                above = outer.module if isinstance(outer, ModuleValue) else None
            if above is not None:
                return self._member(above, last, search)
        return External(name)

    def member(self, module: Module, name: str) -> Value:
        """Return the value of a module's top-level name, following re-exports."""
        key = (id(module), name)
        known = self._members.get(key)
        if known is None:
            known = self._members[key] = self._member(module, name, _NameSearch())
        return known

    def _member(self, module: Module, name: str, search: _NameSearch) -> Value:
        scope = module.scope
        key = (id(module), name)
        if scope is None or search.depth > MAX_REEXPORTS or key in search.seen:
            # What was looked through before in one search has no answer: with `import *` in a circle there are many ways to it.
            return External(f"{module.name}.{name}")
        search.seen.add(key)
        child = scope.children.get(name)
        if child is not None:
            return self.defined(module.summary.scopes[child])
        search.depth += 1
        try:
            source = scope.imports.get(name)
            if source is not None:
                if self._is_one_of_several(module, scope, name):
                    return External(f"{module.name}.{name}")
                return self._find_definition(source, module, search)
            if module.is_package or not scope.names:
                inner = self.module(f"{module.name}.{name}")
                if inner is not None:
                    return ModuleValue(inner)
            for star in scope.stars:
                found = self._find_definition(star, module, search)
                if isinstance(found, ModuleValue) and found.module is not module:
                    value = self._member(found.module, name, search)
                    if not isinstance(value, External):
                        return value
        finally:
            search.depth -= 1
        return External(f"{module.name}.{name}")

    def _is_one_of_several(self, module: Module, scope: Scope, name: str) -> bool:
        """Tell whether a module imports a name from one of several files of the project."""
        bound = scope.binding(name)
        if len(bound) < 2:
            return False
        sources = {source for event in bound for imported, source in event.imports if imported == name}
        return sum(self._is_own(source, module) for source in sources) > 1

    def _is_own(self, source: str, importer: Module) -> bool:
        head = source.rpartition(".")[0]
        return self._key_of(source, importer) is not None or (
            bool(head) and self._key_of(head, importer) is not None
        )

    def defined(self, scope: Scope) -> Value:
        """Return the value of a function or class definition."""
        return ClassValue(scope) if scope.kind == "class" else Function(scope)

    def imported(self, scope: Scope, name: str) -> Value | None:
        """Return the value of a name imported in a scope or around it, or None."""
        here: Scope | None = scope
        while here is not None:
            source = here.imports.get(name)
            if source is not None:
                return self.find(source, here.module)
            here = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
        return None

    def static_name(self, expr: Expr, scope: Scope) -> str | None:
        """Return the full dotted name of an expression by imports alone, or None.

        An example is `tensorflow.keras.Model`. None where a scope on the way binds the first name in another way.
        """
        below: list[str] = []
        while isinstance(expr, Attribute):
            below.append(expr.attribute)
            expr = expr.base
        if not isinstance(expr, Name):
            return None
        key = id(scope), expr.name
        if key not in self._heads:
            self._heads[key] = _imported_as(expr.name, scope)
        full = self._heads[key]
        if full is None or not below:
            return full
        below.append(full)
        return ".".join(reversed(below))

    def bases(self, scope: Scope) -> Bases:
        """Return a class with its project bases, and its external bases by name.

        The nearest base comes first.
        """
        known = self._mro.get(id(scope))
        if known is not None:
            return known
        classes: list[Scope] = [scope]
        outside: list[str] = []
        found = self._mro[id(scope)] = Bases(classes, outside)
        outer = scope.module.summary.scopes[scope.parent] if scope.parent >= 0 else scope
        for base in (part for item in scope.bases for part in _base_expressions(item)):
            value = self.static_value(base, outer)
            if isinstance(value, ClassValue):
                inner, others = self.bases(value.scope)
                classes += [item for item in inner if item not in classes]
                outside += others
            elif isinstance(value, External):
                outside.append(canonical_name(value.name))
        return found

    def static_value(self, expr: Expr, scope: Scope) -> Value | None:
        """Return the value of a dotted expression by definitions and imports, or None."""
        text = dotted(expr)
        if text is None:
            return None
        head, *rest = text.split(".")
        here: Scope | None = scope
        value: Value | None = None
        while here is not None and value is None:
            if head in here.children and head not in here.imports:
                value = self.defined(here.module.summary.scopes[here.children[head]])
            elif head in here.imports:
                value = self.find(here.imports[head], here.module)
            elif head in here.names:
                value = self._other_name(head, here)
                if value is None:
                    return None
            elif here.parent < 0:
                for star in here.stars:
                    found = self.find(star, here.module)
                    if isinstance(found, ModuleValue):
                        member = self.member(found.module, head)
                        if not isinstance(member, External):
                            value = member
                            break
            here = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
        for part in rest:
            if isinstance(value, ModuleValue):
                value = self.member(value.module, part)
            elif isinstance(value, External):
                value = External(f"{value.name}.{part}")
            elif isinstance(value, ClassValue):
                child = value.scope.children.get(part)
                value = self.defined(value.scope.module.summary.scopes[child]) if child is not None else None
            else:
                return None
        return value

    def _other_name(self, name: str, scope: Scope) -> Value | None:
        """Return the value of a module's alias such as `Layer = keras.layers.Layer`.

        None where the name is bound in any other way, or more than once.
        """
        bound = scope.binding(name) if scope.kind == "module" else []
        if len(bound) != 1 or bound[0].kind != "assign" or bound[0].block != 0 or bound[0].value is None:
            return None
        given = bound[0].value
        shown = dotted(given)
        if not isinstance(given, Attribute) or shown is None or shown.partition(".")[0] == name:
            return None
        if not any(is_name(target, name) for target in bound[0].targets):
            return None
        return self.static_value(given, scope)

    def method(self, owner: Scope, name: str) -> Scope | None:
        """Return the method of a class by name, looked for in its bases in order."""
        for scope in self.bases(owner).classes:
            child = scope.children.get(name)
            if child is not None:
                found: Scope = scope.module.summary.scopes[child]
                return found
        return None

    def is_subclass(self, owner: Scope, names: frozenset[str]) -> bool:
        """Tell whether a class has one of some external classes among its bases.

        The external classes are given by their canonical names.
        """
        return any(name in names for name in self.bases(owner).outside)

    def owner(self, scope: Scope) -> Scope | None:
        """Return the class a method belongs to, or None."""
        if scope.kind != "function" or scope.parent < 0:
            return None
        above: Scope = scope.module.summary.scopes[scope.parent]
        return above if above.kind == "class" else None

    def outer(self, scope: Scope) -> Scope | None:
        """Return the scope around a scope, or None for a module."""
        return scope.module.summary.scopes[scope.parent] if scope.parent >= 0 else None


def is_keras_model(program: Program, owner: Scope) -> bool:
    """Tell whether a class of the project is a Keras model."""
    return any(
        name in ("keras.Model", "keras.Sequential") or name.startswith("keras.applications.")
        for name in program.bases(owner).outside
    )


def is_keras_part(program: Program, owner: Scope) -> bool:
    """Tell whether a class of the project is a Keras model or layer."""
    return is_keras_model(program, owner) or any(
        name == "keras.Layer" or name.startswith("keras.layers.") for name in program.bases(owner).outside
    )


def _imported_as(name: str, scope: Scope) -> str | None:
    """Return the full dotted name of a name that an import binds for a scope, or None."""
    here: Scope | None = scope
    while here is not None:
        source = here.imports.get(name)
        if source is not None:
            return absolute(source, here.module)
        if name in here.names and not (here.kind == "class" and here is not scope):
            return None
        here = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
    return None
