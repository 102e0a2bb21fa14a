"""What something in a project may be, as far as its config is concerned."""

from __future__ import annotations

from collections.abc import Iterable

from cfgfix.code.model.summary import Scope
from cfgfix.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.code.model.module import Module

Path = tuple[str, ...]
Role = int | str
"""As which part of a call or another expression something stands: its position, its keyword, or a word for the part."""


class Atom:
    """One thing that an expression may be."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ConfigObject(Atom):
    """An object of a config class, which is known by the identity of its scope."""

    config: int


@dataclass(frozen=True, slots=True)
class ConfigMapping(Atom):
    """A mapping made from an object of a config class."""

    config: int


@dataclass(frozen=True, slots=True)
class Loaded(Atom):
    """A value in a file that a loader has read, at a key path."""

    path: Path


@dataclass(frozen=True, slots=True)
class ObjectOf(Atom):
    """An object of another class of the project."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class ClassItself(Atom):
    """A class of the project."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class PlainFunction(Atom):
    """A function of the project."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class BoundMethod(Atom):
    """A method of an object or of a class of the project."""

    scope: Scope
    owner: Atom


@dataclass(frozen=True, slots=True)
class MappingMethod(Atom):
    """A method of a mapping."""

    name: str
    mapping: Atom


@dataclass(frozen=True, slots=True)
class ModuleItself(Atom):
    """A module of the project."""

    module: Module


@dataclass(frozen=True, slots=True)
class Outside(Atom):
    """Something outside of the project, by its dotted name."""

    name: str


Callee = ClassItself | PlainFunction | BoundMethod
"""What a call enters in the project."""
CALLEES = (ClassItself, PlainFunction, BoundMethod)
Atoms = frozenset[Atom]

UNKNOWN = Atom()
"""Anything."""
OTHER = Atom()
"""Nothing that has to do with a config."""


def names_outside(atoms: Atoms) -> set[str]:
    """Return the dotted names of the atoms outside of the project."""
    return {atom.name for atom in atoms if isinstance(atom, Outside)}


def is_outside_configs(atoms: Iterable[Atom]) -> bool:
    """Tell whether no atom has anything to do with a config."""
    return all(atom is OTHER or isinstance(atom, Outside) for atom in atoms)


def config_objects(atoms: Atoms) -> list[int]:
    """Return the config classes in atoms, by identity of their scopes.

    Empty where an atom is anything but an object of a config class.
    """
    found = [atom.config for atom in atoms if isinstance(atom, ConfigObject)]
    return found if len(found) == len(atoms) else []
