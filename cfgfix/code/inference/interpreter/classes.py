"""What classes of the project inherit."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.inference.interpreter.objects import ClassObject, Instance, Value
from cfgfix.code.inference.interpreter.values import alternatives, name_of


def lineage(cls: ClassObject) -> Iterator[ClassObject]:
    """Yield a class and its bases of the project, nearest first."""
    seen: set[int] = set()
    pending = [cls]
    while pending:
        here = pending.pop(0)
        if id(here) in seen:
            continue
        seen.add(id(here))
        yield here
        bases = (item for base in here.bases for item in alternatives(base) if isinstance(item, ClassObject))
        pending = [*bases, *pending]


def outside_bases(cls: ClassObject) -> list[str]:
    """Return the canonical names of a class's bases outside the project.

    A base that is not known is `?`.
    """
    found: list[str] = []
    for here in lineage(cls):
        for base in here.bases:
            for item in alternatives(base):
                if isinstance(item, ClassObject):
                    continue
                name = name_of(item)
                if name == "builtins.object":
                    continue
                found.append(name or "?")
    return found


def is_user_dictionary(value: Instance) -> bool:
    """Tell whether an object is a `UserDict`, whose attribute `data` has its entries."""
    return value.entries is not None and "collections.UserDict" in outside_bases(value.cls)


def derived_hook(cls: ClassObject) -> Value | None:
    """Return the `__init_subclass__` that a base of the project has, or None."""
    for here in list(lineage(cls))[1:]:
        found = here.names.names.get("__init_subclass__")
        if found is not None:
            return found
    return None


def of_metaclass(cls: ClassObject, name: str) -> Value | None:
    """Return what a class has from a metaclass of the project; None for nothing."""
    for here in lineage(cls):
        if isinstance(here.metaclass, ClassObject):
            return member(here.metaclass, name)
    return None


def member(cls: ClassObject, name: str) -> Value | None:
    """Return the member of a name in a class or its project bases, or None."""
    for here in lineage(cls):
        found = here.names.names.get(name)
        if found is not None:
            return found
    return None
