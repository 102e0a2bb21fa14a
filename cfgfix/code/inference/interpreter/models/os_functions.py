"""Functions of `os`, `os.path`, `glob` and `pathlib`, and the environment."""

from __future__ import annotations

import os
import posixpath

from cfgfix.code.inference.interpreter.command_line import ENVIRONMENT
from cfgfix.code.inference.interpreter.models.outside import note
from cfgfix.code.inference.interpreter.models.paths import folder_of, join_paths, normal
from cfgfix.code.inference.interpreter.models.texts import text_of
from cfgfix.code.inference.interpreter.objects import (
    NONE,
    NOTHING,
    UNKNOWN,
    ConfigKey,
    FilePath,
    PartialText,
    Scalar,
    Sequence,
    Spot,
    Unknown,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call, Model, Run
from cfgfix.code.inference.interpreter.values import choice, constant_text


def environment(run: Run, name: Value, default: Value | None, spot: Spot) -> Value:
    """Return an environment variable."""
    known = constant_text(name)
    if known is not None:
        key = run.variables.setdefault(known, ConfigKey(ENVIRONMENT, (known,), None))
        key.reads.append(spot)
        key.fallback = key.fallback or default
        origins = frozenset({key})
        found = run.host.chosen(f"${known}")
        if found is None:
            found = run.host.variable(known)
        if found is not None:
            return Scalar(found, origins)
    else:
        origins = NOTHING
    if default is None:
        return Unknown(origins)
    if type(default) is Scalar:
        return Scalar(default.value, default.origins | origins, default.key, optional=True)
    return choice((default, Unknown(origins)))


def read_environment(call: Call) -> Value:
    """Return the result of `os.getenv` or a method of `os.environ`."""
    return environment(call.run, call.first, call.args[1] if len(call.args) > 1 else NONE, call.spot)


def _call_join(call: Call) -> Value:
    return join_paths(call.args)


def _same_file(call: Call) -> Value:
    """Return the path itself for calls that keep the file, such as `os.path.abspath`."""
    path = text_of(call.first)
    known = constant_text(path)
    return Scalar(normal(known), call.first.origins) if known is not None else path


def _folder_of_path(call: Call) -> Value:
    return folder_of(text_of(call.first))


def _base_name(call: Call) -> Value:
    known = constant_text(call.first)
    origins = call.first.origins
    return Scalar(posixpath.basename(known), origins) if known is not None else Unknown(origins)


def _split_ending(call: Call) -> Value:
    known = constant_text(call.first)
    origins = call.first.origins
    if known is None:
        return Sequence([Unknown(origins), Unknown(origins)], kind="tuple")
    return Sequence([Scalar(part, origins) for part in posixpath.splitext(known)], kind="tuple")


def _working_folder(_: Call) -> Value:
    return Scalar(".")


def _working_path(_: Call) -> Value:
    return FilePath(Scalar("."))


def _call_path(call: Call) -> Value:
    return FilePath(join_paths(call.args) if len(call.args) != 1 else text_of(call.args[0]))


def _list_folder(call: Call) -> Value:
    call.use(call.first)
    note(call, call.name)
    found = call.run.host.listed(text_of(call.first), "*", call.spot)
    if found is None:
        return Sequence([], open=True)
    return Sequence([Scalar(os.path.basename(path)) for path in found])


def _call_glob(call: Call) -> Value:
    call.use(call.first)
    note(call, call.name)
    whole = text_of(call.first)
    pattern = constant_text(whole)
    if isinstance(whole, PartialText):
        pattern = "".join("*" if part is None else part for part in whole.parts)
    found = call.run.host.listed(Scalar("."), pattern, call.spot) if pattern else None
    return Sequence([Scalar(path) for path in found]) if found is not None else Sequence([], open=True)


def _test_path(call: Call) -> Value:
    """Note that the program tests whether a path exists."""
    known = constant_text(text_of(call.first))
    if known is not None:
        call.run.tested_paths.add(known)
    return _use_path(call)


def _use_path(call: Call) -> Value:
    for value in call.values:
        call.use(value)
    return UNKNOWN


FUNCTIONS: dict[str, Model] = {
    "os.path.join": _call_join,
    "os.path.abspath": _same_file,
    "os.path.realpath": _same_file,
    "os.path.expanduser": _same_file,
    "os.path.expandvars": _same_file,
    "os.path.normpath": _same_file,
    "os.path.relpath": _same_file,
    "os.fspath": _same_file,
    "os.path.dirname": _folder_of_path,
    "os.path.basename": _base_name,
    "os.path.splitext": _split_ending,
    "os.path.exists": _test_path,
    "os.path.isfile": _test_path,
    "os.path.isdir": _test_path,
    "os.makedirs": _use_path,
    "os.mkdir": _use_path,
    "os.getcwd": _working_folder,
    "os.getenv": read_environment,
    "os.environ.get": read_environment,
    "os.listdir": _list_folder,
    "os.scandir": _list_folder,
    "glob.glob": _call_glob,
    "glob.iglob": _call_glob,
    "pathlib.Path": _call_path,
    "pathlib.PurePath": _call_path,
    "pathlib.PosixPath": _call_path,
    "pathlib.Path.cwd": _working_path,
}
