"""What Python's operators, built-in functions and the methods of its own types do with values."""

from __future__ import annotations

import builtins
import operator
import os
import posixpath
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from cfgfix.code.inference.interpreter.objects import (
    NONE,
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
    OpenFile,
    PartialText,
    Scalar,
    Sequence,
    Spot,
    Unknown,
    Value,
    alternatives,
    choice,
    held,
    origins_of,
    truth,
)

if TYPE_CHECKING:
    from cfgfix.code.inference.interpreter.run import Frame, Run

BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_")) | {"__import__"}
DICT_METHODS = frozenset(
    {"get", "pop", "items", "keys", "values", "update", "setdefault", "copy", "clear", "popitem", "fromkeys"}
)
BASES = {"KeyError": ("LookupError",), "IndexError": ("LookupError",), "AttributeError": ()}
"""Exceptions that a handler may name instead."""
MAX_TEXT = 2_000
"""Longest text that is computed."""
MAX_RANGE = 64
"""Longest `range` whose numbers are gone through."""
_NUMBERS = (int, float)

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}
_REDUCED: dict[str, Callable[[list[Any]], Any]] = {
    "min": min,
    "max": max,
    "sum": sum,
    "abs": lambda numbers: abs(numbers[0]),
    "round": lambda numbers: round(*numbers[:2]),
}
_COMPARES: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def binary(run: Run, sign: str, left: Value, right: Value, spot: Spot) -> Value:
    """Return what an operator makes of two values."""
    origins = left.origins | right.origins
    if type(left) is Scalar and type(right) is Scalar:
        result = _computed(run, sign, left, right, spot)
        if result is not None:
            return Scalar(result.value, origins, optional=left.optional or right.optional)
        return Unknown(origins)
    if sign == "/" and isinstance(left, FilePath):
        return FilePath(join_paths((left.text, text_of(right))))
    if sign == "/" and isinstance(right, FilePath):
        return FilePath(join_paths((text_of(left), right.text)))
    if sign == "+" and is_text(left) and is_text(right):
        return joined([*parts_of(left), *parts_of(right)], origins)
    if sign == "%" and type(left) is Scalar and isinstance(left.value, str):
        return percent(left, right)
    if sign == "+" and isinstance(left, Sequence) and isinstance(right, Sequence):
        return Sequence([*left.items, *right.items], open=left.open or right.open, kind=left.kind)
    if sign == "*" and isinstance(left, Sequence):
        times = right.value if type(right) is Scalar else None
        if isinstance(times, int) and len(left.items) * max(0, times) <= MAX_RANGE:
            return Sequence(left.items * times, open=left.open, kind=left.kind)
    for value in (left, right):
        if (
            isinstance(value, Scalar)
            and isinstance(value.value, str)
            and value.key is not None
            and sign in "-/"
        ):
            _no_number(run, value, spot, sign)
    for value in (left, right):
        for item in alternatives(value):
            if not isinstance(item, (Scalar, Unknown, Mapping, Sequence)):
                for inner in held(item, 2):
                    run.use(inner, spot)
    return Unknown(origins)


def _computed(run: Run, sign: str, left: Scalar, right: Scalar, spot: Spot) -> Scalar | None:
    one, other = left.value, right.value
    if sign == "%" and isinstance(one, str):
        found = percent(left, right)
        return found if type(found) is Scalar else None
    if isinstance(one, str) != isinstance(other, str) and sign in _OPERATORS:
        if not (sign == "*" and isinstance(one if isinstance(other, str) else other, int)):
            for value, beside in ((left, right), (right, left)):
                if isinstance(value.value, str) and isinstance(beside.value, _NUMBERS):
                    _no_number(run, value, spot, sign)
            return None
        number = one if isinstance(other, str) else other
        if value_key(left) is not None or value_key(right) is not None:
            return None
        if len(str(one if isinstance(one, str) else other)) * max(0, int(number)) > MAX_TEXT:
            return None
    function = _OPERATORS.get(sign)
    if function is None or one is None or other is None:
        for value in (left, right):
            if value.value is None and value.key is not None:
                run.refuse("wrong-type", value.key, f"`{sign}`", spot, "TypeError", value=None)
        return None
    if sign == "**":
        return None
    try:
        result = function(one, other)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return None
    if isinstance(result, str) and len(result) > MAX_TEXT:
        return None
    if isinstance(result, int) and result.bit_length() > 256:
        return None
    return Scalar(result)


def value_key(value: Value) -> ConfigKey | None:
    """Return the config key of a scalar."""
    return value.key if isinstance(value, Scalar) else None


def _no_number(run: Run, value: Scalar, spot: Spot, sign: str) -> None:
    if value.key is not None:
        run.refuse("no-number", value.key, f"`{sign}`", spot, "TypeError", value=value.value)


def compared(sign: str, left: Value, right: Value) -> bool | None:
    """Return what a comparison gives, or None where that is not known."""
    if type(left) is Scalar and type(right) is Scalar:
        if left.optional or right.optional:
            return None
        function = _COMPARES.get(sign)
        if function is None:
            return None
        try:
            return bool(function(left.value, right.value))
        except TypeError:
            return None
    if sign in ("==", "!="):
        kinds = (FunctionObject, ClassObject, Mapping, Sequence, Instance)
        for one, other in ((left, right), (right, left)):
            if isinstance(one, kinds) and type(other) is Scalar:
                return sign == "!="
    return None


# Texts and paths


def is_text(value: Value) -> bool:
    """Tell whether a value is certainly a text."""
    return isinstance(value, PartialText) or (type(value) is Scalar and isinstance(value.value, str))


def parts_of(value: Value) -> list[str | None]:
    """Return the known parts of a text, None for what is not known."""
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
    """Return a text made of parts."""
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


def formatted(value: Value, written: str | None) -> str | None:
    """Return a value as an f-string writes it, or None where that is not known."""
    if isinstance(value, FilePath):
        value = value.text
    if type(value) is not Scalar or written is None:
        return None
    try:
        return format(value.value, written)[:MAX_TEXT] if len(written) < 12 else None
    except (TypeError, ValueError):
        return None


def percent(left: Scalar, right: Value) -> Value:
    """Return what `text % values` gives."""
    values: Any = None
    if type(right) is Scalar:
        values = right.value
    elif isinstance(right, Sequence) and right.kind == "tuple" and not right.open:
        known = tuple(item.value for item in right.items if type(item) is Scalar)
        values = known if len(known) == len(right.items) else None
    if values is None or len(left.value) > MAX_TEXT or "*" in left.value:
        return Unknown(left.origins | origins_of(held(right, 2)))
    try:
        return Scalar((left.value % values)[:MAX_TEXT], left.origins | right.origins)
    except (TypeError, ValueError, KeyError, MemoryError):
        return Unknown(left.origins | right.origins)


def text_of(value: Value) -> Value:
    """Return a path or text as a text."""
    if isinstance(value, FilePath):
        return value.text
    if isinstance(value, (PartialText, Scalar)):
        return value
    return Unknown(value.origins)


def join_paths(values: Iterable[Value]) -> Value:
    """Return what `os.path.join` makes of some texts."""
    result: list[str | None] = []
    origins = NOTHING
    for value in values:
        parts = parts_of(text_of(value))
        origins = origins | value.origins
        first = parts[0] if parts else None
        if first is not None and first.startswith("/"):
            result = list(parts)
            continue
        if result and not (isinstance(result[-1], str) and result[-1].endswith("/")):
            result.append("/")
        result += parts
    found = joined(result, origins)
    if type(found) is Scalar:
        return Scalar(normal(found.value), found.origins)
    return found


def normal(path: str) -> str:
    """Return a path without the steps that mean nothing."""
    return posixpath.normpath(path) if path else path


def path_attribute(owner: FilePath, name: str) -> Value:
    """Return an attribute of a `pathlib.Path`."""
    found = constant_text(owner.text)
    if name == "parent":
        if found is not None:
            return FilePath(Scalar(posixpath.dirname(found) or ".", owner.origins))
        parts = parts_of(owner.text)
        if isinstance(parts[-1], str) and "/" in parts[-1]:
            return FilePath(joined([*parts[:-1], parts[-1].rpartition("/")[0]], owner.origins))
        return FilePath(Unknown(owner.origins))
    if found is not None and name in ("name", "stem", "suffix"):
        base = posixpath.basename(found)
        stem, ending = posixpath.splitext(base)
        return Scalar({"name": base, "stem": stem, "suffix": ending}[name], owner.origins)
    if name in ("name", "stem", "suffix", "parts", "root", "drive", "anchor"):
        return Unknown(owner.origins)
    if name == "parents":
        return Made("pathlib.parents", (owner,), {}, None)
    return Method(owner, name)


def constant_text(value: Value) -> str | None:
    """Return a text that is wholly known, or None."""
    if type(value) is Scalar and isinstance(value.value, str):
        return value.value
    if isinstance(value, FilePath):
        return constant_text(value.text)
    return None


def environment(run: Run, name: Value, spot: Spot, default: Value | None) -> Value:
    """Return an environment variable."""
    del spot
    known = constant_text(name)
    if known is not None:
        found = run.host.variable(known)
        if found is not None:
            return Scalar(found)
    if default is None:
        return UNKNOWN
    if type(default) is Scalar:
        return Scalar(default.value, default.origins, default.key, optional=True)
    return choice((default, UNKNOWN))


def range_items(value: Made) -> list[Value] | None:
    """Return the numbers of a `range`, or None where they are not known or too many."""
    numbers = [item.value for item in value.args if type(item) is Scalar and type(item.value) is int]
    if len(numbers) != len(value.args) or not 1 <= len(numbers) <= 3:
        return None
    try:
        found = range(*numbers)
    except ValueError:
        return None
    return [Scalar(number) for number in found] if len(found) <= MAX_RANGE else None


def key_value(holder: Mapping, name: Any) -> Value:
    """Return a key of a mapping as a value: it comes from no value of the config."""
    del holder
    return (
        Scalar(name)
        if not isinstance(name, tuple)
        else Sequence([Scalar(item) for item in name], kind="tuple")
    )


def copied(value: Value, depth: int = 0) -> Any:
    """Return a copy of a mapping or list, what it holds the same or, with depth, copied too."""
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
        return made
    if isinstance(value, Sequence):
        return Sequence(
            [copied(item, depth - 1) if depth else item for item in value.items],
            open=value.open,
            kind=value.kind,
            key=value.key,
        )
    if isinstance(value, Instance) and depth:
        made_instance = Instance(value.cls)
        made_instance.attributes = {name: copied(item, depth - 1) for name, item in value.attributes.items()}
        made_instance.sections, made_instance.open = value.sections, value.open
        made_instance.entries = copied(value.entries, depth - 1) if value.entries is not None else None
        return made_instance
    return value


# Methods of built-in types


def method(
    run: Run,
    frame: Frame,
    owner: Value,
    name: str,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
) -> Value | None:
    """Return what a method of a built-in type gives; None where the owner is none of them."""
    if isinstance(owner, Mapping):
        return mapping_method(run, frame, owner, name, args, keywords, spot)
    if isinstance(owner, Sequence):
        return _sequence_method(run, owner, name, args, spot)
    if isinstance(owner, FilePath):
        return _path_method(run, owner, name, args, keywords, spot)
    if isinstance(owner, OpenFile):
        if name in ("read", "readlines", "__enter__", "decode", "splitlines", "strip"):
            return owner
        for value in args:
            run.use(value, spot, deep=True)
        return UNKNOWN
    if is_text(owner):
        return _text_method(run, owner, name, args, keywords, spot)
    if isinstance(owner, Scalar):
        return Unknown(owner.origins)
    if isinstance(owner, External) and owner.name == "os.environ":
        if name in ("get", "setdefault", "pop"):
            return environment(run, args[0] if args else UNKNOWN, spot, args[1] if len(args) > 1 else NONE)
        return UNKNOWN
    if isinstance(owner, ClassObject) and name in ("__init__", "__new__"):
        return UNKNOWN
    if isinstance(owner, Instance) and name == "__setattr__" and len(args) == 2:
        key = constant_text(args[0])
        if key is not None:
            run.set_own(owner, key, args[1], spot)
        return NONE
    return None


def mapping_method(
    run: Run,
    frame: Frame,
    owner: Mapping,
    name: str,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
) -> Value:
    """Return what a method of a dictionary gives."""
    if name in ("get", "pop", "setdefault", "__getitem__") and args:
        given = args[1] if len(args) > 1 else keywords.get("default", keywords.get("d"))
        default = given if given is not None else (None if name in ("pop", "__getitem__") else NONE)
        found = run.item(frame, owner, args[0], spot, default=default)
        key = args[0].value if type(args[0]) is Scalar else None
        if name == "pop" and key is not None and run.sure:
            owner.entries.pop(key, None)
        if name == "setdefault" and key is not None and key not in owner.entries:
            owner.entries[key] = found
        return found
    if name == "items":
        pairs: list[Value] = []
        for key, value in owner.entries.items():
            pairs.append(Sequence([key_value(owner, key), value], kind="tuple"))
        return Sequence(pairs, open=owner.open)
    if name == "keys":
        return Sequence([key_value(owner, key) for key in owner.entries], open=owner.open)
    if name == "values":
        for value in owner.entries.values():
            run.taken(value, spot)
        return Sequence(list(owner.entries.values()), open=owner.open)
    if name == "update":
        for value in args:
            run.update(frame, owner, value, spot)
        for key, value in keywords.items():
            run.put(owner, key, value, spot)
        return NONE
    if name in ("copy", "__copy__"):
        return copied(owner)  # type: ignore[no-any-return]
    if name == "__setitem__" and len(args) == 2:
        run.set_item(frame, owner, args[0], args[1], spot)
        return NONE
    if name == "__contains__" and args:
        return UNKNOWN
    if name == "clear":
        if run.sure:
            owner.entries.clear()
        return NONE
    run.escape(frame, (owner, *args, *keywords.values()), spot)
    owner.open = True
    return UNKNOWN


def _sequence_method(run: Run, owner: Sequence, name: str, args: tuple[Value, ...], spot: Spot) -> Value:
    if name in ("append", "add") and args:
        if run.sure or not owner.open:
            owner.items.append(args[0])
        owner.open = owner.open or not run.sure
        return NONE
    if name in ("extend", "update", "union") and args:
        other = args[0]
        if isinstance(other, Sequence):
            owner.items.extend(other.items)
            owner.open = owner.open or other.open or not run.sure
        else:
            owner.open = True
        return owner if name == "union" else NONE
    if name == "insert" and len(args) == 2:
        owner.items.insert(0, args[1])
        owner.open = True
        return NONE
    if name == "pop":
        found = choice(owner.items) if owner.items else UNKNOWN
        owner.open = True
        return found
    if name == "copy":
        return copied(owner)  # type: ignore[no-any-return]
    if name in ("index", "count"):
        return Unknown(origins_of(owner.items))
    if name in ("sort", "reverse"):
        return NONE
    for item in owner.items:
        run.use(item, spot)
    return Unknown(origins_of(owner.items))


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


def _text_method(
    run: Run, owner: Value, name: str, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    origins = owner.origins | origins_of((*args, *keywords.values()))
    known = owner.value if type(owner) is Scalar else None
    values = [item.value if type(item) is Scalar else None for item in args]
    if isinstance(known, str) and None not in values and not keywords:
        if name in _PLAIN_TEXT or name in _TESTS:
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
    if name == "join" and args and isinstance(known, str):
        items = args[0]
        if isinstance(items, Sequence) and not items.open:
            found: list[str | None] = []
            for number, item in enumerate(items.items):
                if number:
                    found.append(known)
                found += parts_of(item)
            return joined(found, origins | origins_of(items.items))
        return Unknown(origins | origins_of(held(items, 2)))
    if name == "format" and isinstance(known, str):
        return _format(known, args, keywords, origins)
    if name in ("encode", "decode"):
        return owner
    for value in args:
        run.use(value, spot)
    return Unknown(origins)


def _format(
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


def _path_method(
    run: Run,
    owner: FilePath,
    name: str,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
) -> Value:
    if name in ("resolve", "absolute", "expanduser", "as_posix", "__fspath__", "relative_to"):
        return owner if name not in ("as_posix", "__fspath__") else owner.text
    if name == "joinpath":
        return FilePath(join_paths((owner.text, *map(text_of, args))))
    if name == "with_suffix" and args:
        known, ending = constant_text(owner.text), constant_text(args[0])
        if known is not None and ending is not None:
            return FilePath(Scalar(posixpath.splitext(known)[0] + ending, owner.origins))
        return FilePath(Unknown(owner.origins))
    if name == "with_name" and args:
        return FilePath(join_paths((path_attribute(owner, "parent"), text_of(args[0]))))
    if name == "open":
        return OpenFile(owner.text, writing=_writes(args[0] if args else keywords.get("mode")))
    if name in ("read_text", "read_bytes"):
        return OpenFile(owner.text)
    if name in ("glob", "rglob", "iterdir"):
        pattern = constant_text(args[0]) if args else "*"
        found = run.host.listed(owner.text, ("**/" if name == "rglob" else "") + (pattern or "*"), spot)
        if found is None:
            return Sequence([], open=True)
        return Sequence([FilePath(Scalar(path)) for path in found])
    for value in (*args, *keywords.values()):
        run.use(value, spot)
    run.use(owner, spot)
    return UNKNOWN


def _writes(mode: Value | None) -> bool:
    known = constant_text(mode) if mode is not None else None
    return known is not None and any(letter in known for letter in "wax+")


# Built-in functions


def builtin(
    run: Run, frame: Frame, name: str, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    """Return what a call of a built-in function gives."""
    handler = _FUNCTIONS.get(name)
    if handler is not None:
        return handler(run, frame, args, keywords, spot)
    values = (*args, *keywords.values())
    if name in ("print", "repr", "format", "input", "id", "hash", "vars", "dir"):
        for value in values:
            for item in held(value):
                for key in _keys(item):
                    key.logs.append(spot)
        return Unknown(origins_of(values))
    run.escape(frame, values, spot)
    return Unknown(origins_of(values))


def _keys(value: Value) -> Iterable[ConfigKey]:
    key = value.key if isinstance(value, (Scalar, Mapping, Sequence)) else None
    return {*value.origins, *([key] if key is not None else ())}


def _open(run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot) -> Value:
    del frame
    path = args[0] if args else keywords.get("file", UNKNOWN)
    mode = args[1] if len(args) > 1 else keywords.get("mode")
    run.use(path, spot)
    if isinstance(path, Choice):
        return choice(OpenFile(text_of(item), writing=_writes(mode)) for item in path.values)
    if type(path) is Scalar and not isinstance(path.value, str):
        # An option that is not given: which file it is, the command line says.
        return OpenFile(Unknown(path.origins), writing=_writes(mode))
    return OpenFile(text_of(path), writing=_writes(mode))


def _number(kind: type) -> Callable[..., Value]:
    def convert(
        run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
    ) -> Value:
        del keywords
        if not args:
            return Scalar(kind())
        return choice(_converted(run, frame, kind, item, spot) for item in alternatives(args[0]))

    return convert


def _converted(run: Run, frame: Frame, kind: type, value: Value, spot: Spot) -> Value:
    key = value_key(value)
    if key is not None:
        key.conversions.add(kind.__name__)
    if type(value) is Scalar:
        if isinstance(value.value, (str, int, float)) and len(str(value.value)) < 400:
            try:
                return Scalar(kind(value.value), value.origins, optional=value.optional)
            except (ValueError, OverflowError):
                if key is not None and not run.is_caught(frame, "ValueError"):
                    run.refuse("no-number", key, f"{kind.__name__}()", spot, "ValueError", value=value.value)
                return Unknown(value.origins)
        if value.value is None and key is not None:
            run.refuse("wrong-type", key, f"{kind.__name__}()", spot, "TypeError", value=None)
    if isinstance(value, (Mapping, Instance, Sequence)):
        return UNKNOWN
    return Unknown(value.origins)


def _bool(run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot) -> Value:
    del frame, keywords
    if not args:
        return Scalar(False)
    key = value_key(args[0])
    if key is not None:
        key.conversions.add("bool")
    run.use(args[0], spot)
    holds = truth(args[0])
    return Unknown(args[0].origins) if holds is None else Scalar(holds, args[0].origins)


def _str(run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot) -> Value:
    del run, frame, keywords, spot
    if not args:
        return Scalar("")
    value = args[0]
    if isinstance(value, (FilePath, OpenFile)):
        return value.text if isinstance(value, FilePath) else value
    if isinstance(value, PartialText):
        return value
    if type(value) is Scalar:
        return Scalar(str(value.value)[:MAX_TEXT], value.origins, optional=value.optional)
    return Unknown(origins_of(held(value, 3)))


def dict_made(
    run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    """Return what `dict(...)` gives."""
    result = Mapping()
    for value in args[:1]:
        if isinstance(value, Mapping):
            result = copied(value)
            result.access, result.absent, result.flavour = "items", "KeyError", "dict"
        else:
            run.update(frame, result, value, spot)
    for name, value in keywords.items():
        run.put(result, name, value, spot)
    return result


def _listed(kind: str) -> Callable[..., Value]:
    def convert(
        run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
    ) -> Value:
        del keywords
        if not args:
            return Sequence([], kind=kind)
        items = run.items_of(frame, args[0], spot)
        if items is None:
            inner: list[Value] = (
                list(args[0].items) if isinstance(args[0], Sequence) else [Unknown(args[0].origins)]
            )
            return Sequence(inner, open=True, kind=kind)
        key = args[0].key if isinstance(args[0], Sequence) else None
        return Sequence(items, kind=kind, key=key)

    return convert


def _getattr(
    run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    del keywords
    if len(args) < 2:
        return UNKNOWN
    default = args[2] if len(args) > 2 else None
    run.use(args[1], spot)
    name = constant_text(args[1])
    if name is None:
        run.walk(args[0], spot)
        if isinstance(args[0], (External, Made)):
            return Made(f"{args[0].name}.*", args[1:2], {}, spot)
        return UNKNOWN
    return choice(run.attribute(frame, item, name, spot, default) for item in alternatives(args[0]))


def _setattr(
    run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    del keywords
    if len(args) == 3:
        name = constant_text(args[1])
        for item in alternatives(args[0]):
            if name is not None:
                run.set_attribute(frame, item, name, args[2], spot)
            elif isinstance(item, Instance):
                item.open = True
                run.walk(args[2], spot)
    return NONE


def _hasattr(
    run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    del keywords, frame
    from cfgfix.code.inference.interpreter.events import GUARD, Asked

    if len(args) == 2:
        name = constant_text(args[1])
        owner = args[0]
        if name is not None and isinstance(owner, Mapping) and not owner.open:
            there = name in owner.entries
            if not there and owner.sections:
                run.asked.append(Asked(owner.sections, name, GUARD, spot, conditions=run.conditions))
            return Scalar(there)
        if name is not None and isinstance(owner, Instance):
            if name in owner.attributes or run.class_member(owner.cls, name) is not None:
                return Scalar(True)
            if not owner.open and not run.outside_bases(owner.cls):
                if owner.sections:
                    run.asked.append(Asked(owner.sections, name, GUARD, spot, conditions=run.conditions))
                return Scalar(False)
    return UNKNOWN


_CLASSES: dict[str, tuple[type, ...]] = {
    "builtins.str": (str,),
    "builtins.int": (int,),
    "builtins.float": (float,),
    "builtins.bool": (bool,),
    "numbers.Number": (int, float),
}


def _isinstance(
    run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    del keywords, frame, spot
    if len(args) != 2:
        return UNKNOWN
    wanted = args[1].items if isinstance(args[1], Sequence) else [args[1]]
    answers = {_is_a(run, args[0], item) for item in wanted}
    if True not in answers and answers != {False}:
        return UNKNOWN
    found = Scalar(True in answers)
    run.decide(found)
    return found


def _is_a(run: Run, value: Value, cls: Value) -> bool | None:
    if isinstance(cls, ClassObject):
        if isinstance(value, Instance):
            return any(item is cls for item in run.classes(value.cls)) or (
                None if run.outside_bases(value.cls) else False
            )
        return False if isinstance(value, (Scalar, Mapping, Sequence)) else None
    if not isinstance(cls, External):
        return None
    name = cls.name
    if name in (
        "builtins.dict",
        "collections.abc.Mapping",
        "typing.Mapping",
        "collections.OrderedDict",
        "typing.Dict",
        "collections.Mapping",
    ):
        if isinstance(value, Mapping):
            return value.flavour not in {"namespace", "argparse"}
        if isinstance(value, Instance) and value.entries is not None:
            return True
        return False if isinstance(value, (Scalar, Sequence, PartialText)) else None
    if name in (
        "builtins.list",
        "builtins.tuple",
        "builtins.set",
        "collections.abc.Sequence",
        "collections.abc.Iterable",
        "omegaconf.ListConfig",
    ):
        if isinstance(value, Sequence):
            return value.kind == name.rpartition(".")[2] or not name.startswith("builtins.")
        return False if isinstance(value, (Scalar, Mapping)) else None
    kinds = _CLASSES.get(name)
    if kinds is not None:
        if type(value) is Scalar:
            return isinstance(value.value, kinds) and (
                bool in kinds or int in kinds or not isinstance(value.value, bool)
            )
        if isinstance(value, PartialText):
            return str in kinds
        return False if isinstance(value, (Mapping, Sequence, Instance)) else None
    if isinstance(value, Mapping) and value.flavour != "dict":
        return None
    return (
        False if isinstance(value, (Scalar, Mapping, Sequence)) and not name.startswith("builtins.") else None
    )


def _len(run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot) -> Value:
    del frame, keywords
    if not args:
        return UNKNOWN
    value = args[0]
    if isinstance(value, Instance) and value.entries is not None:
        value = value.entries
    key = value.key if isinstance(value, (Sequence, Scalar)) else None
    origins = value.origins | ({key} if key is not None else NOTHING)
    if isinstance(value, Sequence):
        for item in value.items:
            run.taken(item, spot)
            run.use(item, spot)
        if not value.open:
            return Scalar(len(value.items), origins)
    elif isinstance(value, Mapping) and not value.open:
        run.walk(value, spot)
        return Scalar(len(value.entries))
    elif type(value) is Scalar and isinstance(value.value, str):
        return Scalar(len(value.value), value.origins)
    return Unknown(origins)


def _made(name: str) -> Callable[..., Value]:
    def make(
        run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
    ) -> Value:
        del frame
        for value in (*args, *keywords.values()):
            if name == "range":
                run.use(value, spot)
        if name == "range":
            for value in args:
                if type(value) is Scalar and value.key is not None and not isinstance(value.value, int):
                    run.refuse("wrong-type", value.key, "range()", spot, "TypeError", value=value.value)
        return Made(f"builtins.{name}", args, keywords, spot)

    return make


def _enumerate(
    run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    del keywords
    items = run.items_of(frame, args[0], spot) if args else None
    if items is None:
        item = run.item_of(args[0]) if args else UNKNOWN
        return Sequence([Sequence([UNKNOWN, item], kind="tuple")], open=True)
    return Sequence([Sequence([Scalar(number), item], kind="tuple") for number, item in enumerate(items)])


def _zip(run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot) -> Value:
    del keywords
    lists = [run.items_of(frame, value, spot) for value in args]
    if any(items is None for items in lists):
        return Sequence([Sequence([run.item_of(value) for value in args], kind="tuple")], open=True)
    return Sequence(
        [Sequence(list(row), kind="tuple") for row in zip(*(items or [] for items in lists), strict=False)]
    )


def _map(run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot) -> Value:
    del keywords
    if len(args) < 2:
        return UNKNOWN
    items = run.items_of(frame, args[1], spot)
    if items is not None and len(items) <= MAX_RANGE and len(args) == 2:
        return Sequence([run.call(frame, args[0], (item,), {}, spot) for item in items])
    return Sequence(
        [run.call(frame, args[0], tuple(run.item_of(value) for value in args[1:]), {}, spot)], open=True
    )


def _filter(run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot) -> Value:
    del keywords
    if len(args) == 2:
        items = run.items_of(frame, args[1], spot) or []
        for item in items[:MAX_RANGE]:
            run.use(run.call(frame, args[0], (item,), {}, spot), spot)
        return Sequence(items, open=True)
    return UNKNOWN


def _sorted(run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot) -> Value:
    del keywords
    items = run.items_of(frame, args[0], spot) if args else None
    if items is None:
        return Sequence([run.item_of(args[0])] if args else [], open=True)
    known = [item.value for item in items if type(item) is Scalar]
    if len(known) == len(items) and len({type(item) for item in known}) <= 1:
        try:
            return Sequence(sorted(items, key=lambda item: item.value))  # type: ignore[attr-defined]
        except TypeError:
            pass
    return Sequence(items)


def _arithmetic(name: str) -> Callable[..., Value]:
    def compute(
        run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
    ) -> Value:
        del keywords, frame
        values: list[Value] = []
        for value in args:
            values += value.items if isinstance(value, Sequence) else [value]
        numbers = [
            item.value
            for item in values
            if type(item) is Scalar and isinstance(item.value, _NUMBERS) and not item.optional
        ]
        origins = origins_of(values)
        for item in values:
            if (
                type(item) is Scalar
                and isinstance(item.value, str)
                and item.key is not None
                and len(values) > 1
                and numbers
            ):
                _no_number(run, item, spot, f"{name}()")
        if (
            len(numbers) == len(values)
            and numbers
            and not any(isinstance(v, Sequence) and v.open for v in args)
        ):
            try:
                result = _REDUCED[name](numbers)
            except (TypeError, ValueError, OverflowError):
                return Unknown(origins)
            if isinstance(result, Value):
                return Unknown(origins)
            return Scalar(result, origins)
        return Unknown(origins)

    return compute


def _type(run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot) -> Value:
    del run, frame, keywords, spot
    if len(args) == 1 and isinstance(args[0], Instance):
        return args[0].cls
    if len(args) == 1 and type(args[0]) is Scalar and args[0].value is not None:
        return External(f"builtins.{type(args[0].value).__name__}")
    return UNKNOWN


def _super(run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot) -> Value:
    del args, keywords, spot, run
    return Made("builtins.super", (frame.receiver or UNKNOWN, frame.owner or UNKNOWN), {}, None)


def _iter(run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot) -> Value:
    del keywords, run, frame, spot
    return args[0] if args else UNKNOWN


def _next(run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot) -> Value:
    del keywords
    items = run.items_of(frame, args[0], spot) if args else None
    if items:
        return items[0]
    return run.item_of(args[0]) if args else UNKNOWN


def _vars(run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot) -> Value:
    del keywords, spot
    if args and isinstance(args[0], Instance):
        return run.attributes_of(args[0])
    if args and isinstance(args[0], Mapping):
        made = copied(args[0])
        made.entries = args[0].entries
        made.access, made.absent, made.flavour = "items", "KeyError", "dict"
        return made  # type: ignore[no-any-return]
    if not args:
        return Mapping(frame.names.names, open=True)
    return UNKNOWN


def _any(run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot) -> Value:
    del keywords, frame
    for value in args:
        for item in held(value, 2):
            run.use(item, spot)
    return Unknown(origins_of(item for value in args for item in held(value, 2)))


_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "open": _open,
    "int": _number(int),
    "float": _number(float),
    "bool": _bool,
    "str": _str,
    "dict": dict_made,
    "list": _listed("list"),
    "tuple": _listed("tuple"),
    "set": _listed("set"),
    "frozenset": _listed("set"),
    "reversed": _listed("list"),
    "getattr": _getattr,
    "setattr": _setattr,
    "hasattr": _hasattr,
    "isinstance": _isinstance,
    "len": _len,
    "range": _made("range"),
    "enumerate": _enumerate,
    "zip": _zip,
    "map": _map,
    "filter": _filter,
    "sorted": _sorted,
    "min": _arithmetic("min"),
    "max": _arithmetic("max"),
    "sum": _arithmetic("sum"),
    "abs": _arithmetic("abs"),
    "round": _arithmetic("round"),
    "type": _type,
    "super": _super,
    "iter": _iter,
    "next": _next,
    "vars": _vars,
    "globals": _vars,
    "locals": _vars,
    "any": _any,
    "all": _any,
}

# Functions of `os` and `os.path`


def os_function(
    run: Run, name: str, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value | None:
    """Return what a function of `os` or `os.path` gives; None where it is not modelled."""
    first = args[0] if args else UNKNOWN
    if name == "os.path.join":
        return join_paths(args)
    if name in (
        "os.path.abspath",
        "os.path.realpath",
        "os.path.expanduser",
        "os.path.expandvars",
        "os.path.normpath",
        "os.fspath",
        "os.path.relpath",
    ):
        known = constant_text(text_of(first))
        return Scalar(normal(known), first.origins) if known is not None else text_of(first)
    if name == "os.path.dirname":
        return path_attribute(FilePath(text_of(first)), "parent").text  # type: ignore[attr-defined, no-any-return]
    if name == "os.path.basename":
        known = constant_text(first)
        return (
            Scalar(posixpath.basename(known), first.origins) if known is not None else Unknown(first.origins)
        )
    if name == "os.path.splitext":
        known = constant_text(first)
        if known is not None:
            return Sequence([Scalar(part, first.origins) for part in posixpath.splitext(known)], kind="tuple")
        return Sequence([Unknown(first.origins), Unknown(first.origins)], kind="tuple")
    if name in ("os.getcwd", "pathlib.Path.cwd"):
        return Scalar(".") if name.startswith("os") else FilePath(Scalar("."))
    if name in ("os.getenv", "os.environ.get"):
        return environment(run, first, spot, args[1] if len(args) > 1 else NONE)
    if name in ("os.listdir", "os.scandir", "glob.glob", "glob.iglob"):
        run.use(first, spot)
        if name.startswith("glob"):
            whole = text_of(first)
            found = (
                run.host.listed(Scalar("."), constant_text(whole) or "", spot)
                if constant_text(whole)
                else None
            )
            if found is None and isinstance(whole, PartialText):
                found = run.host.listed(
                    Scalar("."), "".join("*" if p is None else p for p in whole.parts), spot
                )
            return (
                Sequence([Scalar(path) for path in found]) if found is not None else Sequence([], open=True)
            )
        found = run.host.listed(text_of(first), "*", spot)
        if found is None:
            return Sequence([], open=True)
        return Sequence([Scalar(os.path.basename(path)) for path in found])
    if name in ("os.path.exists", "os.path.isfile", "os.path.isdir", "os.makedirs", "os.mkdir"):
        for value in (*args, *keywords.values()):
            run.use(value, spot)
        return UNKNOWN
    return None
