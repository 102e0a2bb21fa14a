"""Texts of which all or parts are known, and the methods of text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from cfgfix.code.inference.interpreter.objects import (
    NOTHING,
    ConfigKey,
    FilePath,
    OpenFile,
    PartialText,
    Scalar,
    Sequence,
    Unknown,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call
from cfgfix.code.inference.interpreter.values import held_values, origins_of

MAX_TEXT = 2_000
"""Longest text that is computed."""
MAX_RANGE = 64
"""Longest `range` whose numbers are gone through."""


def is_text(value: Value) -> bool:
    """Tell whether a value is certainly a text."""
    return isinstance(value, PartialText) or (type(value) is Scalar and isinstance(value.value, str))


def parts_of(value: Value) -> list[str | None]:
    """Return the known parts of a text, with None for each unknown part."""
    if isinstance(value, PartialText):
        return list(value.parts)
    if type(value) is Scalar and not value.optional and value.value is not None:
        return [str(value.value)]
    if type(value) is Scalar and isinstance(value.value, str):
        return [value.value]
    if isinstance(value, FilePath):
        return parts_of(value.text)
    return [None]


def joined(parts: Iterable[str | None], origins: frozenset[ConfigKey] = NOTHING) -> Value:
    """Return a text joined from its parts, with None for an unknown part."""
    found: list[str | None] = []
    for part in parts:
        if found and part is not None and found[-1] is not None:
            found[-1] += part
        elif not (found and part is None and found[-1] is None):
            found.append(part)
    if not found:
        return Scalar("", origins)
    if None not in found:
        return Scalar("".join(part for part in found if part)[:MAX_TEXT], origins)
    if found == [None]:
        return Unknown(origins)
    return PartialText(tuple(found), origins)


_WIDE = re.compile(r"\d{4}")
"""A width or precision of a format that asks for a text longer than any that is kept."""
_WIDE_PERCENT = re.compile(r"%[^%A-Za-z]*\d{4}")
"""The same in a text with `%` signs."""


def formatted(value: Value, written: str | None) -> str | None:
    """Return a value as an f-string writes it, or None where that is not known."""
    if isinstance(value, FilePath):
        value = value.text
    if type(value) is not Scalar or written is None:
        return None
    try:
        return None if _WIDE.search(written) else format(value.value, written)[:MAX_TEXT]
    except (TypeError, ValueError):
        return None


def percent(left: Scalar, right: Value) -> Value:
    """Return the result of `text % values`."""
    values: Any = None
    if type(right) is Scalar:
        values = right.value
    elif isinstance(right, Sequence) and right.kind == "tuple" and not right.open:
        known = tuple(item.value for item in right.items if type(item) is Scalar)
        values = known if len(known) == len(right.items) else None
    origins = left.origins | origins_of(held_values(right, 2))
    if values is None and type(right) is not Scalar:
        return _percent_in_part(left.value, right, origins)
    if values is None or len(left.value) > MAX_TEXT or "*" in left.value or _WIDE_PERCENT.search(left.value):
        return Unknown(origins)
    try:
        return Scalar((left.value % values)[:MAX_TEXT], origins)
    except (TypeError, ValueError, KeyError, MemoryError):
        return Unknown(origins)


def _percent_in_part(text: str, right: Value, origins: frozenset[ConfigKey]) -> Value:
    """Return the partly known result of `text % values` with unknown values.

    Unknown unless all signs in the text are `%s`.
    """
    literals = text.split("%s")
    is_tuple = isinstance(right, Sequence) and right.kind == "tuple" and not right.open
    items = right.items if is_tuple and isinstance(right, Sequence) else [right]
    if (
        len(text) > MAX_TEXT
        or any("%" in item for item in literals)
        or len(items) != len(literals) - 1
        or not all(isinstance(item, (FilePath, PartialText, Scalar, Unknown)) for item in items)
    ):
        return Unknown(origins)
    parts: list[str | None] = [literals[0]]
    for item, literal in zip(items, literals[1:], strict=True):
        parts += [*parts_of(item), literal]
    return joined(parts, origins)


def text_of(value: Value) -> Value:
    """Return a path or text as a text."""
    if isinstance(value, FilePath):
        return value.text
    if isinstance(value, (PartialText, Scalar)):
        return value
    return Unknown(value.origins)


_PLAIN_TEXT = frozenset(
    {
        "lower",
        "upper",
        "strip",
        "lstrip",
        "rstrip",
        "replace",
        "title",
        "capitalize",
        "removeprefix",
        "removesuffix",
        "casefold",
        "zfill",
        "swapcase",
    }
)

_TESTS = frozenset({"startswith", "endswith", "isdigit", "isalpha", "isnumeric", "isidentifier"})


def text_method(call: Call, owner: Value) -> Value:
    """Return the result of a method of a text."""
    name = call.name
    origins = owner.origins | origins_of(call.values)
    known = owner.value if type(owner) is Scalar else None
    values = [item.value if type(item) is Scalar else None for item in call.args]
    if isinstance(known, str) and None not in values and not call.keywords:
        if name in _PLAIN_TEXT or name in _TESTS:
            if _may_grow(known, name, values):
                return Unknown(origins)
            try:
                result = getattr(known, name)(*values)
            except (TypeError, ValueError, OverflowError):
                return Unknown(origins)
            return (
                Scalar(result, origins)
                if not isinstance(result, str) or len(result) < MAX_TEXT
                else Unknown(origins)
            )
        if name in ("split", "rsplit", "splitlines", "partition", "rpartition"):
            try:
                parts = getattr(known, name)(*values)
            except (TypeError, ValueError):
                return Unknown(origins)
            if len(parts) <= MAX_RANGE:
                return Sequence([Scalar(part, origins) for part in parts])
    if name == "join" and call.args and isinstance(known, str):
        items = call.args[0]
        if isinstance(items, OpenFile):
            # `"".join(file.readlines())` is the text of the file.
            return items
        if isinstance(items, Sequence) and not items.open:
            found: list[str | None] = []
            for number, item in enumerate(items.items):
                if number:
                    found.append(known)
                found += parts_of(item)
            return joined(found, origins | origins_of(items.items))
        return Unknown(origins | origins_of(held_values(items, 2)))
    if name == "format" and isinstance(known, str):
        if call.spread is not None:
            # `"{site}: {loss}".format(**config)`: the text says which of the keys it takes.
            for field, value in call.keywords.items():
                if f"{{{field}" in known:
                    call.use(call.run.taken(value, call.spot))
        return _formatted_text(known, call.args, call.keywords, origins)
    if name in ("encode", "decode"):
        return owner
    for value in call.args:
        call.use(value)
    return Unknown(origins)


def _may_grow(known: str, name: str, values: list[Any]) -> bool:
    """Tell whether a method's result may be longer than the longest text kept."""
    if name == "zfill":
        return not (values and type(values[0]) is int and values[0] <= MAX_TEXT)
    if name == "replace" and len(values) > 1 and isinstance(values[1], str):
        return (len(known) + 1) * len(values[1]) > MAX_TEXT
    return False


def _formatted_text(
    known: str, args: tuple[Value, ...], keywords: dict[str, Value], origins: frozenset[ConfigKey]
) -> Value:
    import string

    parts: list[str | None] = []
    count = 0
    try:
        for literal, field, spec, _ in string.Formatter().parse(known[:MAX_TEXT]):
            parts.append(literal)
            if field is None:
                continue
            value: Value | None
            if not field:
                value = args[count] if count < len(args) else None
                count += 1
            elif field.isdigit():
                value = args[int(field)] if int(field) < len(args) else None
            else:
                value = keywords.get(field)
            parts.append(formatted(value, spec or "") if value is not None else None)
    except ValueError:
        return Unknown(origins)
    return joined(parts, origins)
