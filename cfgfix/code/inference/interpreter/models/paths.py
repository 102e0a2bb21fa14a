"""Paths as values: how they are joined, and what `pathlib.Path` and open files give."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from cfgfix.code.inference.interpreter.models.texts import joined, parts_of, text_of
from cfgfix.code.inference.interpreter.objects import (
    NOTHING,
    UNKNOWN,
    FilePath,
    Made,
    Method,
    OpenFile,
    Scalar,
    Sequence,
    Unknown,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call
from cfgfix.code.inference.interpreter.values import constant_text


def join_paths(values: Iterable[Value]) -> Value:
    """Return the path that `os.path.join` makes of texts."""
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
    """Return a path without redundant steps such as `.`."""
    return posixpath.normpath(path) if path else path


def folder_of(path: Value) -> Value:
    """Return the text of the folder that a path lies in."""
    found = constant_text(path)
    if found is not None:
        return Scalar(posixpath.dirname(found) or ".", path.origins)
    parts = parts_of(path)
    if isinstance(parts[-1], str) and "/" in parts[-1]:
        return joined([*parts[:-1], parts[-1].rpartition("/")[0]], path.origins)
    return Unknown(path.origins)


def path_attribute(owner: FilePath, name: str) -> Value:
    """Return an attribute of a `pathlib.Path`."""
    if name == "parent":
        return FilePath(folder_of(owner.text))
    found = constant_text(owner.text)
    if found is not None and name in ("name", "stem", "suffix"):
        base = posixpath.basename(found)
        stem, ending = posixpath.splitext(base)
        return Scalar({"name": base, "stem": stem, "suffix": ending}[name], owner.origins)
    if name in ("name", "stem", "suffix", "parts", "root", "drive", "anchor"):
        return Unknown(owner.origins)
    if name == "parents":
        return Made("pathlib.parents", (owner,), {}, None)
    return Method(owner, name)


def path_method(call: Call, owner: FilePath) -> Value:
    """Return the result of a method of a `pathlib.Path`."""
    name = call.name
    if name in ("resolve", "absolute", "expanduser", "as_posix", "__fspath__", "relative_to"):
        return owner if name not in ("as_posix", "__fspath__") else owner.text
    if name == "joinpath":
        return FilePath(join_paths((owner.text, *map(text_of, call.args))))
    if name == "with_suffix" and call.args:
        known, ending = constant_text(owner.text), constant_text(call.args[0])
        if known is not None and ending is not None:
            return FilePath(Scalar(posixpath.splitext(known)[0] + ending, owner.origins))
        return FilePath(Unknown(owner.origins))
    if name == "with_name" and call.args:
        return FilePath(join_paths((folder_of(owner.text), text_of(call.args[0]))))
    if name == "open":
        return OpenFile(owner.text, writing=opens_for_writing(call.argument(0, "mode")))
    if name in ("read_text", "read_bytes"):
        return OpenFile(owner.text)
    if name in ("glob", "rglob", "iterdir"):
        pattern = constant_text(call.args[0]) if call.args else "*"
        found = call.run.host.listed(
            owner.text, ("**/" if name == "rglob" else "") + (pattern or "*"), call.spot
        )
        if found is None:
            return Sequence([], open=True)
        return Sequence([FilePath(Scalar(path)) for path in found])
    if name in ("exists", "is_file") and (known := constant_text(owner)) is not None:
        call.run.tested_paths.add(known)
    for value in call.values:
        call.use(value)
    call.use(owner)
    return UNKNOWN


def opens_for_writing(mode: Value | None) -> bool:
    """Tell whether a file is opened to be written."""
    known = constant_text(mode) if mode is not None else None
    return known is not None and any(letter in known for letter in "wax+")


def file_method(call: Call, owner: OpenFile) -> Value:
    """Return the result of a method of an open file or its text."""
    if call.name in ("read", "readlines", "__enter__", "decode", "splitlines", "strip"):
        return owner
    for value in call.args:
        call.use(value, deep=True)
    if call.name in ("format", "format_map", "expandtabs", "replace", "render"):
        return OpenFile(owner.path, filled=True)
    return UNKNOWN
