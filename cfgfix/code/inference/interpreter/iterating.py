"""The items that a loop or an unpacking gets of a value."""

from __future__ import annotations

from cfgfix.code.inference.interpreter import classes
from cfgfix.code.inference.interpreter.models.texts import MAX_RANGE
from cfgfix.code.inference.interpreter.objects import (
    Choice,
    FunctionObject,
    Instance,
    Made,
    Mapping,
    Scalar,
    Sequence,
    Spot,
    Unknown,
    Unnamed,
    Value,
)
from cfgfix.code.inference.interpreter.run import MAX_TURNS, Call, Frame
from cfgfix.code.inference.interpreter.values import (
    choice,
    constant_of,
)


def items_of(frame: Frame, value: Value, spot: Spot | None) -> list[Value] | None:
    """Return the items that iterating over a value gives.

    None where not all of them are known.
    """
    run = frame.run
    if isinstance(value, Sequence):
        if spot is not None:
            for item in value.items:
                run.taken(item, spot)
            if not value.items and value.key is not None:
                # Of a list that is empty here, what would lie in it would count.
                value.key.uses.append(spot)
                if run.every_way:
                    return None
        return None if value.open else list(value.items)
    if isinstance(value, Instance):
        if value.entries is not None:
            value = value.entries
        else:
            method = classes.member(value.cls, "__iter__")
            if isinstance(method, FunctionObject) and spot is not None:
                made = run.call(Call(frame, method.bound(value), (), {}, spot))
                return items_of(frame, made, spot) if made is not value else None
            return None
    if isinstance(value, Mapping):
        if value.open and not (value.key is not None and value.key.size):
            return None
        # What the program adds to a section under names that are not known is none of the file's.
        named = value.entries.items()
        return [run.name_of(name, inner) for name, inner in named if not isinstance(name, Unnamed)]
    if isinstance(value, Scalar) and isinstance(value.value, str):
        return (
            [Scalar(letter, value.origins) for letter in value.value[:MAX_TURNS]]
            if len(value.value) <= MAX_TURNS
            else None
        )
    if isinstance(value, Made) and value.name == "builtins.range":
        return _range_items(value)
    if isinstance(value, Made) and run.tensors is not None:
        return run.tensors.items(value)
    if isinstance(value, Choice):
        rows = [items_of(frame, other, spot) for other in value.values]
        names = [None if row is None else [constant_of(part) for part in row] for row in rows]
        alike = names[0] is not None and None not in names[0] and all(each == names[0] for each in names)
        return rows[0] if alike else None
    if spot is not None:
        run.use(value, spot)
    return None


def spread_of(value: Value) -> Mapping | None:
    """Return the mapping whose entries `**value` passes.

    None where the value is not known. Where it may be one of several mappings, an entry that one of them lacks is unsure.
    """
    if isinstance(value, Instance):
        value = value.entries if value.entries is not None else value
    if isinstance(value, Mapping):
        return value
    if not isinstance(value, Choice):
        return None
    found = [spread_of(item) for item in value.values]
    several = [item for item in found if item is not None]
    if not several:
        return None
    made = Mapping(
        open=len(several) < len(found) or any(item.open for item in several),
        sections=tuple(dict.fromkeys(section for item in several for section in item.sections)),
    )
    for name in dict.fromkeys(name for item in several for name in item.entries):
        made.entries[name] = choice(item.entries[name] for item in several if name in item.entries)
        if any(name not in item.entries or name in item.unsure for item in several):
            made.unsure |= {name}
    return made


def item_of(value: Value) -> Value:
    """Return a value that stands for any item of an iterable."""
    if isinstance(value, Sequence) and value.items:
        return choice(value.items)
    if isinstance(value, Choice):
        return choice(item_of(other) for other in value.values)
    return Unknown(value.origins)


def _range_items(value: Made) -> list[Value] | None:
    """Return the numbers of a `range`, or None where they are not known or too many."""
    numbers = [item.value for item in value.args if type(item) is Scalar and type(item.value) is int]
    if len(numbers) != len(value.args) or not 1 <= len(numbers) <= 3:
        return None
    try:
        found = range(*numbers)
    except ValueError:
        return None
    return [Scalar(number) for number in found] if len(found) <= MAX_RANGE else None
