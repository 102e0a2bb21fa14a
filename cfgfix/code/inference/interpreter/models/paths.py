"""Paths, files and the environment: `pathlib`, `os`, `glob`."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable

from cfgfix.code.inference.interpreter.models.texts import joined, parts_of, text_of
from cfgfix.code.inference.interpreter.objects import (
    NONE,
    NOTHING,
    UNKNOWN,
    FilePath,
    Made,
    Method,
    OpenFile,
    PartialText,
    Scalar,
    Sequence,
    Unknown,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call, Run
from cfgfix.code.inference.interpreter.values import choice, constant_text


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


def path_method(call: Call, owner: FilePath) -> Value:
    """Return what a method of a `pathlib.Path` gives."""
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
        return FilePath(join_paths((path_attribute(owner, "parent"), text_of(call.args[0]))))
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
    for value in call.values:
        call.use(value)
    call.use(owner)
    return UNKNOWN


def opens_for_writing(mode: Value | None) -> bool:
    """Tell whether a file is opened to be written."""
    known = constant_text(mode) if mode is not None else None
    return known is not None and any(letter in known for letter in "wax+")


def environment(run: Run, name: Value, default: Value | None) -> Value:
    """Return an environment variable."""
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


def os_function(call: Call) -> Value | None:
    """Return what a function of `os` or `os.path` gives; None where it is not modelled."""
    name = call.name
    first = call.first
    if name == "os.path.join":
        return join_paths(call.args)
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
        return environment(call.run, first, call.args[1] if len(call.args) > 1 else NONE)
    if name in ("os.listdir", "os.scandir", "glob.glob", "glob.iglob"):
        call.use(first)
        if name.startswith("glob"):
            whole = text_of(first)
            found = (
                call.run.host.listed(Scalar("."), constant_text(whole) or "", call.spot)
                if constant_text(whole)
                else None
            )
            if found is None and isinstance(whole, PartialText):
                found = call.run.host.listed(
                    Scalar("."), "".join("*" if p is None else p for p in whole.parts), call.spot
                )
            return (
                Sequence([Scalar(path) for path in found]) if found is not None else Sequence([], open=True)
            )
        found = call.run.host.listed(text_of(first), "*", call.spot)
        if found is None:
            return Sequence([], open=True)
        return Sequence([Scalar(os.path.basename(path)) for path in found])
    if name in ("os.path.exists", "os.path.isfile", "os.path.isdir", "os.makedirs", "os.mkdir"):
        for value in call.values:
            call.use(value)
        return UNKNOWN
    return None
