"""OmegaConf and Hydra: merged configs, command lines, objects made of `_target_` sections."""

from __future__ import annotations

from typing import Any

from cfgfix.code.inference.interpreter import reading, writing
from cfgfix.code.inference.interpreter.command_line import OPTIONS
from cfgfix.code.inference.interpreter.models.containers import make_container
from cfgfix.code.inference.interpreter.models.field_declarations import fields_of, kind_of
from cfgfix.code.inference.interpreter.models.loading import load
from cfgfix.code.inference.interpreter.models.options import SHELL, literal
from cfgfix.code.inference.interpreter.models.paths import folder_of, join_paths
from cfgfix.code.inference.interpreter.models.texts import text_of
from cfgfix.code.inference.interpreter.objects import (
    EITHER,
    NONE,
    UNKNOWN,
    ClassObject,
    ConfigKey,
    FunctionObject,
    Instance,
    Made,
    Mapping,
    Scalar,
    Sequence,
    Unknown,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call, Model
from cfgfix.code.inference.interpreter.values import (
    alternatives,
    choice,
    constant_text,
    copied,
    held_values,
    key_of,
    name_of,
    wrapped,
)
from cfgfix.code.model.expressions import dotted
from cfgfix.code.model.nodes import Literal, Slice, Subscript

MAX_NESTED = 12
_TRUTH = frozenset({"on", "off", "yes", "no", "true", "false", "y", "n", "1", "0"})
"""Texts that a field of type bool takes (OmegaConf 2.3, `BooleanNode`)."""


def hydra_config(call: Call, made: Made) -> Value:
    """Return the config that `hydra.main` passes to its function."""
    names = ("config_path", "config_name")
    given = dict(zip(names, made.args, strict=False)) | made.keywords
    where = made.spot or call.spot
    folder = folder_of(Scalar(where.path))
    steps = [value for name in names if type(value := given.get(name)) is Scalar and value.value is not None]
    path = join_paths([folder, *steps])
    at_main = Call(call.frame, call.callee, call.args, call.keywords, where, call.spread, opaque=call.opaque)
    return _composed_config(at_main, path, constant_text(given.get("config_name", NONE)), "hydra.main")


def _composed_config(call: Call, path: Value, name: str | None, by: str) -> Value:
    """Return the config that Hydra makes of a file, of what the program has stored, or of both."""
    stored = {place: _of_stored(call, value) for place, value in call.run.stored_configs.items()}
    found = load(call, "hydra", path, {"call": by, "class": "omegaconf"}, tuple(stored.items()))
    if isinstance(found, Mapping):
        _hold_to_schema(call, found, 0)
        return found
    whole = stored.get(("", name)) if name is not None else None
    return whole if whole is not None else found


def _of_stored(call: Call, value: Value) -> Mapping | None:
    """Return the config that Hydra makes of a class, object or mapping that the program stores."""
    if isinstance(value, Mapping):
        return wrapped(copied(value, 12), "omegaconf", EITHER, "ConfigAttributeError")  # type: ignore[return-value]
    cls = value.cls if isinstance(value, Instance) else value
    return _schema_of(call, cls, 0) if isinstance(cls, ClassObject) else None


def _hold_to_schema(call: Call, holder: Mapping, depth: int) -> None:
    """Note the keys of a composed config that its schema does not take, and convert the values of the others."""
    for name, value in list(holder.entries.items()):
        if holder.fields is not None and (key := key_of(value)) is not None and key.source != OPTIONS:
            fitted = _fit_to_schema(call, holder, str(name), value)
            if fitted is None:
                del holder.entries[name]
                continue
            holder.entries[name] = fitted
        if isinstance(value, Mapping) and depth < MAX_NESTED:
            _hold_to_schema(call, value, depth + 1)


def _call_store(call: Call) -> Value:
    """Note a class or mapping that the program stores for Hydra by a name."""
    name, node = constant_text(call.argument(0, "name") or UNKNOWN), call.argument(1, "node")
    group = constant_text(call.argument(2, "group") or Scalar(""))
    if name is not None and node is not None and group is not None and call.run.sure:
        call.run.stored_configs[group, name] = node
    elif node is not None:
        call.run.escape(call.frame, (node,), call.spot)
    return NONE


def store_method(call: Call, owner: Made) -> Value | None:
    """Return the result of a method of Hydra's `ConfigStore`; None for others."""
    return _call_store(call) if owner.name.endswith("ConfigStore.instance") and call.name == "store" else None


def _config_of_class(call: Call) -> Value | None:
    """Return the config that OmegaConf makes of a class with declared fields.

    The config has the class's keys and types as its schema.
    """
    cls = call.first.cls if isinstance(call.first, Instance) else call.first
    if not isinstance(cls, ClassObject):
        return make_container(call)
    made = _schema_of(call, cls, 0)
    if made is not None and isinstance(call.first, Instance):
        made.entries.update(call.first.attributes)
    return made if made is not None else make_container(call)


def _schema_of(call: Call, cls: ClassObject, depth: int) -> Mapping | None:
    kind = kind_of(call.run, cls)
    if kind not in ("dataclass", "attrs") or depth > MAX_NESTED:
        return None
    made = Mapping(access=EITHER, absent="ConfigAttributeError", flavour="omegaconf")
    made.fields = {field.name: field for field in fields_of(call.run, cls, kind)}
    written = call.run.code_settings
    if written is not None:
        made.sections = written.sections_of(cls)
    for name, field in made.fields.items():
        inner = _schema_of(call, field.cls, depth + 1) if field.cls is not None else None
        if inner is not None:
            made.entries[name] = inner
        elif name_of(field.default) in ("omegaconf.MISSING", "dataclasses.MISSING") or field.required:
            made.absent = "MissingMandatoryValue"
        else:
            default = field.default
            made.entries[name] = written.field(cls, name, default) if written is not None else default
    return made


def _fit_to_schema(call: Call, holder: Mapping, name: str, value: Value) -> Value | None:
    """Return a value as a config with a schema converts it, noting a refusal.

    None for a key that the schema does not have.
    """
    field = (holder.fields or {}).get(name)
    key = key_of(value)
    if field is None:
        if key is not None:
            takes = tuple(holder.fields or ())
            call.run.refuse("unknown-key", key, "the schema", call.spot, "ConfigKeyError", takes)
        return None
    if type(value) is not Scalar or not field.types:
        return value
    found, fits = _converted_value(value.value, field.types, optional=field.optional)
    if not fits:
        if key is not None:
            by, takes = f"the field {name} of the schema", tuple(sorted(field.types))
            call.run.refuse("wrong-type", key, by, call.spot, "ValidationError", takes, value=value.value)
        return value
    if key is not None:
        key.conversions.update(field.types & {"int", "float"})
    return value if found is value.value else Scalar(found, value.origins | ({key} if key else set()))


def _converted_value(value: Any, types: frozenset[str], *, optional: bool) -> tuple[Any, bool]:
    """Return a value as OmegaConf 2.3 converts it to a type, and whether it can."""
    if value is None:
        return None, optional or "None" in types
    if isinstance(value, str) and ("${" in value or value == "???"):
        return value, True
    if len(types - {"None"}) != 1:
        return value, True
    (kind,) = types - {"None"}
    try:
        if kind == "int":
            return (
                (int(value), True)
                if isinstance(value, (int, str)) and not isinstance(value, bool)
                else (value, False)
            )
        if kind == "float":
            return (float(value), True) if isinstance(value, (int, float, str)) else (value, False)
        if kind == "bool":
            known = isinstance(value, (bool, int)) or str(value).lower() in _TRUTH
            return value, known
    except ValueError:
        return value, False
    return (str(value), True) if kind == "str" else (value, kind not in ("list", "dict"))


def _call_merge(call: Call) -> Value:
    result = Mapping(access=EITHER, absent="ConfigAttributeError", flavour="omegaconf")
    if isinstance(call.first, Mapping) and call.first.fields is not None:
        result = copied(call.first, 12)
        call = call.handing(call.callee, call.args[1:], call.keywords)
    for value in call.args:
        for item in alternatives(value):
            if isinstance(item, Instance):
                of_fields = Mapping({**item.attributes}, open=item.open, sections=item.sections)
                _lay_over(call, result, of_fields)
            elif isinstance(item, Mapping):
                _lay_over(call, result, item)
            else:
                # What a command line adds is not known: any key may have another value, none is taken away.
                call.use(item)
    return result


def _given_by_command(value: Value) -> set[ConfigKey]:
    """Return the command-line keys that a value and its contents come from."""
    return {key for item in held_values(value, 3) for key in item.origins if key.source == OPTIONS}


def _lay_over(call: Call, holder: Mapping, other: Mapping) -> None:
    for name, given in other.entries.items():
        fitted = _fit_to_schema(call, holder, str(name), given) if holder.fields is not None else given
        if fitted is None:
            call.run.refused_options += [(key, holder) for key in _given_by_command(given)]
            continue
        value: Value = fitted
        before = holder.entries.get(name)
        if before is None and holder.sections and not holder.open and not other.sections:
            call.run.added_options += [(key, holder) for key in _given_by_command(value)]
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            _lay_over(call, before, value)
        else:
            writing.write_entry(
                call.run,
                holder,
                name,
                copied(wrapped(value, "omegaconf", EITHER, "ConfigAttributeError"), 12),
                call.spot,
            )
    holder.open = holder.open or other.open
    holder.sections = (*holder.sections, *(item for item in other.sections if item not in holder.sections))
    holder.key = holder.key or other.key


def _from_cli(call: Call) -> Value:
    """Return the mapping of the command line's `a.b=c` arguments."""
    result = Mapping(access=EITHER, absent="ConfigAttributeError", flavour="omegaconf")
    of_command = not call.args or _is_whole_command(call)
    given = call.run.host.arguments() if of_command else None
    if not of_command or (call.args and given is None):
        result.open = True
    for item in given or ():
        name, mark, text = item.partition("=")
        if not mark or not name.replace(".", "").replace("_", "").isalnum():
            continue
        holder = result
        *above, last = name.split(".")
        for step in above:
            inner = holder.entries.get(step)
            if not isinstance(inner, Mapping):
                inner = holder.entries[step] = Mapping(
                    access=EITHER, absent="ConfigAttributeError", flavour="omegaconf"
                )
            holder = inner
        origins = frozenset({ConfigKey(OPTIONS, tuple(name.split(".")), None)})
        holder.entries[last] = Unknown(origins) if SHELL in text else Scalar(literal(text).value, origins)
    return result


def _is_whole_command(call: Call) -> bool:
    """Tell whether a call is given all arguments of the command: `sys.argv[1:]`."""
    here = next((item for item in call.spot.scope.calls if item.place == call.spot.place), None)
    given = here.args[0] if here is not None and len(here.args) == 1 else None
    if not isinstance(given, Subscript) or not isinstance(given.index, Slice):
        return False
    part = given.index
    return (
        dotted(given.base) in ("sys.argv", "argv")
        and isinstance(part.lower, Literal)
        and part.lower.value == 1
        and part.upper is None
        and part.step is None
    )


def _from_dotlist(call: Call) -> Value | None:
    """Return the mapping of a list of `a.b=c` texts where it is the whole command; None for other lists."""
    return _from_cli(call.handing(call.callee, (), {})) if _is_whole_command(call) else None


def _change_no_value(_: Call) -> Value:
    return NONE


def _call_select(call: Call) -> Value:
    path = constant_text(call.args[1]) if len(call.args) > 1 else None
    default = call.keywords.get("default", NONE)
    value = call.first
    if path is None:
        return UNKNOWN
    for step in path.split("."):
        value = reading.item(call.frame, value, Scalar(step), call.spot, default=default)
    return value


def _call_instantiate(call: Call) -> Value:
    """Return the object that Hydra makes of a section with `_target_`."""
    if not call.args:
        return UNKNOWN
    return choice(
        _instantiate_section(call, item, call.args[1:], call.keywords) for item in alternatives(call.args[0])
    )


def _instantiate_section(
    call: Call, value: Value, args: tuple[Value, ...] = (), keywords: dict[str, Value] | None = None
) -> Value:
    """Return the object that Hydra makes of a section, with further arguments.

    Lists are gone through; other values are returned as they are.
    """
    if isinstance(value, Sequence):
        return Sequence(
            [_instantiate_section(call, item) for item in value.items],
            open=value.open,
            kind=value.kind,
        )
    if not isinstance(value, Mapping) or "_target_" not in value.entries:
        return value
    target = value.entries["_target_"]
    for name in ("_target_", "_partial_", "_recursive_", "_convert_"):
        if name in value.entries:
            call.use(call.run.taken(value.entries[name], call.spot))
    given = {
        str(name): _instantiate_section(call, item)
        for name, item in value.entries.items()
        if not str(name).startswith("_")
    }
    positional = value.entries.get("_args_")
    if isinstance(positional, Sequence):
        args = (*positional.items, *args)
    spread = Mapping({**given}, key=value.key, open=value.open, sections=value.sections)
    path = constant_text(target)
    if path is None:
        call.run.escape(call.frame, given.values(), call.spot)
        return UNKNOWN
    callee = call.run.imported(path, call.frame.scope.module)
    partial = value.entries.get("_partial_")
    if type(partial) is Scalar and partial.value is True and isinstance(callee, FunctionObject):
        return callee.given(args, {**given, **(keywords or {})})
    return call.then(callee, args, {**given, **(keywords or {})}, spread=spread)


def _call_initialize(call: Call) -> Value:
    """Note the folder of configs, relative to the file of the call."""
    given = call.argument(0, "config_path")
    folder = folder_of(Scalar(call.spot.path))
    call.run.hydra_folder = folder if given is None else join_paths([folder, given])
    return Made("hydra.initialize", call.args, call.keywords, call.spot)


def _initialize_dir(call: Call) -> Value:
    given = call.argument(0, "config_dir")
    call.run.hydra_folder = text_of(given) if given is not None else None
    return Made("hydra.initialize_config_dir", call.args, call.keywords, call.spot)


def _call_compose(call: Call) -> Value | None:
    """Return the config that `compose` makes of the files in the folder."""
    name = call.argument(0, "config_name")
    folder = call.run.hydra_folder
    if name is None or folder is None:
        return None
    return _composed_config(call, join_paths([folder, name]), constant_text(name), "hydra.compose")


FUNCTIONS: dict[str, Model] = {
    "hydra.initialize": _call_initialize,
    "hydra.experimental.initialize": _call_initialize,
    "hydra.initialize_config_dir": _initialize_dir,
    "hydra.experimental.initialize_config_dir": _initialize_dir,
    "hydra.compose": _call_compose,
    "hydra.experimental.compose": _call_compose,
    "omegaconf.OmegaConf.structured": _config_of_class,
    "omegaconf.OmegaConf.merge": _call_merge,
    "omegaconf.OmegaConf.unsafe_merge": _call_merge,
    "omegaconf.OmegaConf.from_cli": _from_cli,
    "omegaconf.OmegaConf.from_dotlist": _from_dotlist,
    "omegaconf.OmegaConf.select": _call_select,
    "omegaconf.OmegaConf.set_struct": _change_no_value,
    "omegaconf.OmegaConf.set_readonly": _change_no_value,
    "omegaconf.OmegaConf.resolve": _change_no_value,
    "hydra.utils.instantiate": _call_instantiate,
    "hydra.utils.call": _call_instantiate,
}
