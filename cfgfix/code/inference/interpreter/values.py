"""Questions about values: what one may be, holds, comes from, and whether it is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, overload

from cfgfix.code.inference.interpreter.objects import (
    NOTHING,
    UNKNOWN,
    Choice,
    ClassObject,
    ConfigKey,
    External,
    FilePath,
    FunctionObject,
    Instance,
    Made,
    Mapping,
    Method,
    ModuleObject,
    PartialText,
    Scalar,
    Sequence,
    Unknown,
    Unnamed,
    Value,
)

MAX_CHOICES = 6
"""Most alternatives of one value; beyond it the value is unknown."""


def alternatives(value: Value) -> tuple[Value, ...]:
    """Return the alternatives of a `Choice`, or the value itself as the only one."""
    return value.values if type(value) is Choice else (value,)


def choice(values: Iterable[Value]) -> Value:
    """Return a value that may be any of some values."""
    found: list[Value] = []
    told: set[object] | None = None
    for value in values:
        for item in value.values if type(value) is Choice else (value,):
            if told is None and len(found) > MAX_CHOICES:
                # The files of a folder may be thousands: each is then looked up, not held against all others.
                told = {_sameness_key(other) for other in found}
            if told is not None:
                key = _sameness_key(item)
                if key not in told:
                    told.add(key)
                    found.append(item)
                continue
            for other in found:
                if item is other or are_same(item, other):
                    break
            else:
                found.append(item)
    if len(found) == 1:
        return found[0]
    if not found:
        return UNKNOWN
    if len(found) > MAX_CHOICES:
        found = _with_one_mapping(found)
    if len(found) == 1:
        return found[0]
    if len(found) > MAX_CHOICES:
        return Unknown(frozenset().union(*(all_origins(item) for item in found)))
    return Choice(tuple(found))


def _with_one_mapping(values: list[Value]) -> list[Value]:
    """Return values with all mappings among them merged into one.

    The merged mapping has the keys of all; a key that one lacks is unsure. Mappings of several classes are left as they are.
    """
    maps = [item for item in values if type(item) is Mapping]
    if len(maps) < 2 or len({(item.flavour, item.access, item.absent) for item in maps}) > 1:
        return values
    first = maps[0]
    made = Mapping(
        open=any(item.open for item in maps),
        access=first.access,
        absent=first.absent,
        flavour=first.flavour,
        sections=tuple(dict.fromkeys(section for item in maps for section in item.sections)),
    )
    for name in dict.fromkeys(name for item in maps for name in item.entries):
        made.entries[name] = choice(item.entries[name] for item in maps if name in item.entries)
        if any(name not in item.entries or name in item.unsure for item in maps):
            made.unsure |= {name}
    return [made, *(item for item in values if type(item) is not Mapping)]


def are_same(first: Value, second: Value) -> bool:
    """Tell whether two values are certainly the same."""
    if first is second:
        return True
    if type(first) is Scalar and type(second) is Scalar:
        return (
            first.key is second.key
            and first.origins == second.origins
            and type(first.value) is type(second.value)
            and first.value == second.value
        )
    if type(first) is Unknown and type(second) is Unknown:
        return first.origins == second.origins
    return type(first) is Mapping and type(second) is Mapping and _are_same_section(first, second)


def _are_same_section(first: Mapping, second: Mapping) -> bool:
    """Tell whether two mappings hold the same of one config section.

    Mappings that a program loads from one file at two places do.
    """
    return (
        bool(first.sections)
        and first.sections == second.sections
        and (first.key, first.flavour, first.access, first.absent, first.open, first.locked)
        == (second.key, second.flavour, second.access, second.absent, second.open, second.locked)
        and first.unsure == second.unsure
        and first.fields is second.fields
        and first.entries.keys() == second.entries.keys()
        and all(_hold_same(value, second.entries[name]) for name, value in first.entries.items())
    )


def _hold_same(first: Value, second: Value) -> bool:
    """Tell whether two entries or items are certainly the same."""
    if type(first) is Choice and type(second) is Choice:
        pairs = zip(first.values, second.values, strict=False)
        return len(first.values) == len(second.values) and all(are_same(*pair) for pair in pairs)
    if type(first) is Sequence and type(second) is Sequence:
        pairs = zip(first.items, second.items, strict=False)
        return (
            first.key is second.key
            and (first.kind, first.open, first.uncounted) == (second.kind, second.open, second.uncounted)
            and len(first.items) == len(second.items)
            and all(_hold_same(*pair) for pair in pairs)
        )
    return are_same(first, second)


def _sameness_key(value: Value) -> object:
    """Return a key that two values share exactly where they are certainly the same.

    See `are_same`.
    """
    if type(value) is Unknown:
        return value.origins
    if type(value) is Scalar and isinstance(value.value, (str, bytes, int, float, complex, type(None))):
        return (id(value.key), value.origins, type(value.value), value.value)
    return id(value)


def origins_of(values: Iterable[Value]) -> frozenset[ConfigKey]:
    """Return the config keys that some values come from."""
    found = NOTHING
    for value in values:
        if value.origins:
            found = found | value.origins
    return found


PLAIN = frozenset({Scalar, Unknown, External, Method})
"""What holds nothing."""


def held_values(value: Value, depth: int = 12, *, into_objects: bool = True) -> Iterator[Value]:
    """Yield a value and its contents: entries, items, attributes.

    Args:
        value: The value.
        depth: How many values may lie in one another.
        into_objects: Whether the attributes of objects of the project's classes are held.
    """
    if type(value) in PLAIN:
        # Most values hold nothing.
        yield value
        return
    pending = [(value, depth)]
    seen: set[int] = set()
    while pending:
        here, left = pending.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        yield here
        if left <= 0:
            continue
        if type(here) in PLAIN:
            continue
        inner: Iterable[Value] = ()
        if isinstance(here, Mapping):
            inner = here.entries.values()
        elif isinstance(here, Sequence):
            inner = here.items
        elif isinstance(here, Instance):
            stands_for_section = bool(here.sections) and not _is_network(here.cls)
            inner = here.attributes.values() if into_objects or stands_for_section else ()
            inner = [*inner, *([here.entries] if here.entries is not None else ())]
        elif isinstance(here, Choice):
            inner = here.values
        elif isinstance(here, FunctionObject):
            # Who gets a method can call it, but not look at its object.
            inner = [*here.args, *here.keywords.values()]
        elif isinstance(here, Made):
            inner = here.attributes.values()
            if here.name == "functools.partial":
                inner = [*inner, *here.args, *here.keywords.values()]
        if inner:
            left -= 1
            pending.extend([(item, left) for item in inner])


def _is_network(cls: ClassObject) -> bool:
    """Tell whether a class derives from a model, layer or module of TensorFlow or Keras.

    An object of such a class is no config section even if it keeps settings.
    """
    pending, seen = [cls], set[int]()
    while pending:
        here = pending.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        for base in here.bases:
            for item in alternatives(base):
                if isinstance(item, ClassObject):
                    pending.append(item)
                elif name_of(item).startswith(_FRAMEWORK) and name_of(item).rpartition(".")[2] in _NETWORKS:
                    return True
    return False


_FRAMEWORK = ("tensorflow.", "keras.")
_NETWORKS = frozenset({"Model", "Layer", "Module", "Sequential"})
"""Classes of the framework whose objects are parts of a network; a callback may show or use what it keeps at any time."""


def truth(value: Value) -> bool | None:
    """Return whether a value is true, or None where that is not known."""
    if type(value) is Scalar:
        return None if value.optional else bool(value.value)
    if isinstance(value, Mapping):
        return None if value.open else bool(value.entries)
    if isinstance(value, Sequence):
        return None if value.open else bool(value.items)
    if isinstance(value, (FunctionObject, ClassObject, ModuleObject, FilePath)):
        return True
    if isinstance(value, PartialText):
        return True if any(part for part in value.parts) else None
    if isinstance(value, Choice):
        found = {truth(item) for item in value.values}
        return found.pop() if len(found) == 1 else None
    return None


def constant_of(value: Value) -> Any:
    """Return the plain constant that a value is, or None.

    The constant None gives None too.
    """
    if type(value) is Scalar and not isinstance(value.value, bytes):
        return value.value
    if isinstance(value, Sequence) and value.kind == "tuple" and not value.open:
        items = tuple(constant_of(item) for item in value.items)
        return None if None in items else items
    if isinstance(value, FilePath):
        return constant_of(value.text)
    return None


def entry_name(value: Value) -> object:
    """Return the name under which a mapping keeps an entry: a constant or a class.

    None where it is not known.
    """
    return value if type(value) is ClassObject else constant_of(value)


def constant_text(value: Value) -> str | None:
    """Return a text that is wholly known, or None."""
    if type(value) is Scalar and isinstance(value.value, str):
        return value.value
    if isinstance(value, FilePath):
        return constant_text(value.text)
    return None


def key_of(value: Value) -> ConfigKey | None:
    """Return the config key whose unchanged value this is, or None."""
    if isinstance(value, (Scalar, Mapping, Sequence)):
        return value.key
    return None


def keys_of(value: Value) -> Iterator[ConfigKey]:
    """Yield the config keys that a value is or comes from."""
    key = key_of(value)
    if key is not None:
        yield key
    for item in value.origins:
        if item is not key:
            yield item


def all_origins(value: Value) -> set[ConfigKey]:
    """Return the config keys that a value and its contents are or come from."""
    return {key for item in held_values(value, 4) for key in keys_of(item)}


def name_of(value: Value) -> str:
    """Return the dotted name of something outside the project, or an empty text."""
    if isinstance(value, (External, Made)):
        return value.name
    if isinstance(value, Method) and isinstance(value.owner, (External, Made)):
        return f"{value.owner.name}.{value.name}"
    return ""


@overload
def copied(value: Mapping, depth: int = 0) -> Mapping: ...
@overload
def copied(value: Sequence, depth: int = 0) -> Sequence: ...
@overload
def copied(value: Value, depth: int = 0) -> Value: ...
def copied(value: Value, depth: int = 0) -> Value:
    """Return a copy of a mapping or list.

    What it holds is the same or, with depth, copied too.
    """
    if isinstance(value, Mapping):
        made = Mapping(
            {name: copied(item, depth - 1) if depth else item for name, item in value.entries.items()},
            key=value.key,
            open=value.open,
            access=value.access,
            absent=value.absent,
            flavour=value.flavour,
            sections=value.sections,
        )
        made.locked = value.locked
        made.fields = value.fields
        return made
    if isinstance(value, Sequence):
        made_sequence = Sequence(
            [copied(item, depth - 1) if depth else item for item in value.items],
            open=value.open,
            kind=value.kind,
            key=value.key,
        )
        made_sequence.uncounted = value.uncounted
        return made_sequence
    if isinstance(value, Instance) and depth:
        made_instance = Instance(value.cls)
        made_instance.attributes = {name: copied(item, depth - 1) for name, item in value.attributes.items()}
        made_instance.sections, made_instance.open = value.sections, value.open
        made_instance.entries = copied(value.entries, depth - 1) if value.entries is not None else None
        return made_instance
    return value


def key_value(name: Any) -> Value:
    """Return a mapping's key as a value without any config key as origin."""
    if isinstance(name, Unnamed):
        return UNKNOWN
    return (
        Scalar(name)
        if not isinstance(name, tuple)
        else Sequence([Scalar(item) for item in name], kind="tuple")
    )


def names_held(value: Value) -> list[Any]:
    """Return the known names or constants that `in` looks through in a value."""
    if isinstance(value, Mapping):
        return list(value.entries)
    if isinstance(value, Sequence):
        return [constant_of(item) for item in value.items]
    if isinstance(value, Instance):
        inner = value.entries.entries if value.entries is not None else ()
        return [*value.attributes, *value.cls.names.names, *inner]
    return []


def wrapped(value: Value, flavour: str, access: str, absent: str | None) -> Value:
    """Return a value with all its mappings converted to another class."""
    if isinstance(value, Mapping):
        return Mapping(
            {name: wrapped(item, flavour, access, absent) for name, item in value.entries.items()},
            key=value.key,
            open=value.open,
            access=access,
            absent=absent,
            flavour=flavour,
            sections=value.sections,
        )
    if isinstance(value, Sequence):
        return Sequence(
            [wrapped(item, flavour, access, absent) for item in value.items],
            open=value.open,
            kind=value.kind,
            key=value.key,
        )
    if isinstance(value, Choice):
        return choice(wrapped(item, flavour, access, absent) for item in value.values)
    return value
