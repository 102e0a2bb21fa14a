"""Configs that are Python files named by a flag: `config_flags.DEFINE_config_file` of ml_collections."""

from __future__ import annotations

import os
from collections.abc import Iterator

from cfgfix.code.inference.interpreter import writing
from cfgfix.code.inference.interpreter.command_line import OPTIONS
from cfgfix.code.inference.interpreter.models.options import FLAG_HOLDER
from cfgfix.code.inference.interpreter.objects import (
    UNKNOWN,
    ConfigKey,
    FunctionObject,
    Made,
    Mapping,
    Scalar,
    Unknown,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call, Model, Run
from cfgfix.code.inference.interpreter.values import constant_text
from cfgfix.code.model.module import Module

MAX_FOLDERS = 4
"""Most folders above the program from which the path of its config may be meant."""
_MAKER = "get_config"
"""The function by which such a file gives its config."""


def _config_file(call: Call) -> Value:
    """Return the flag for a config that a Python file of the project makes."""
    name = constant_text(call.argument(0, "name") or UNKNOWN)
    if name is None:
        return UNKNOWN
    given = [text for path, text in _overrides_given(call.run, name) if not path]
    said = given[-1] if given else constant_text(call.argument(1, "default") or UNKNOWN)
    made: Value = UNKNOWN
    path, mark, argument = (said or "").partition(":")
    module = _module_of(call.run, path) if path else None
    maker = call.run.module(module).names.names.get(_MAKER) if module is not None else None
    if isinstance(maker, FunctionObject):
        made = call.run.call(Call(call.frame, maker, (Scalar(argument),) if mark else (), {}, call.spot))
    return _flag_with_config(call, name, made)


def _config_dict(call: Call) -> Value:
    """Return the flag for a config that the program makes itself."""
    name = constant_text(call.argument(0, "name") or UNKNOWN)
    return UNKNOWN if name is None else _flag_with_config(call, name, call.argument(1, "config") or UNKNOWN)


def _flag_with_config(call: Call, name: str, made: Value) -> Value:
    """Note and return a flag with its config, as the command overrides the keys."""
    for path, text in _overrides_given(call.run, name):
        if path and isinstance(made, Mapping):
            _override_key(call, made, path, text)
    call.run.config_flags[name] = made
    holder = Made(FLAG_HOLDER, (Scalar(name),), {}, call.spot)
    holder.attributes["value"] = made
    return holder


def _override_key(call: Call, config: Mapping, path: tuple[str, ...], text: str) -> None:
    """Set a config's key to its value on the command line."""
    holder: Value = config
    for step in path[:-1]:
        holder = holder.entries.get(step, UNKNOWN) if isinstance(holder, Mapping) else UNKNOWN
    if not isinstance(holder, Mapping) or holder.open:
        return
    section, key = call.run.option_section, None
    for step in path:
        section = key = ConfigKey(OPTIONS, (*section.path, step), section)
    if path[-1] not in holder.entries:
        if key is not None:
            call.run.added_options.append((key, holder))
        return
    before = holder.entries[path[-1]]
    if call.run.code_settings is not None:
        call.run.code_settings.replaced(before)
    del text
    writing.write_entry(call.run, holder, path[-1], Unknown(before.origins), call.spot)


def _overrides_given(run: Run, name: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the overrides of a config on the command line, as key path and text.

    The key path is empty for the config's file.
    """
    arguments = run.arguments() or []
    for number, item in enumerate(arguments):
        option, mark, text = item.lstrip("-").partition("=")
        if not item.startswith("-") or option.partition(".")[0] != name:
            continue
        if not mark:
            text = arguments[number + 1] if number + 1 < len(arguments) else ""
        yield tuple(option.split(".")[1:]), text


def _module_of(run: Run, path: str) -> Module | None:
    """Return the module of a file named by a flag, or None.

    The name is relative to the program's folder or one above.
    """
    base = os.path.dirname(run.started_at())
    for _ in range(MAX_FOLDERS):
        found = run.program.module_at(os.path.join(base, path))
        if found is not None and found.scope is not None:
            return found
        base = os.path.join(base, os.pardir)
    return None


FUNCTIONS: dict[str, Model] = {
    f"ml_collections.{inside}{name}": model
    for inside in ("config_flags.", "config_flags.config_flags.")
    for name, model in (("DEFINE_config_file", _config_file), ("DEFINE_config_dict", _config_dict))
}
