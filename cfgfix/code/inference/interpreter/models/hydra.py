"""OmegaConf and Hydra: merged configs, command lines, objects made of `_target_` sections."""

from __future__ import annotations

from cfgfix.code.inference.interpreter import reading, writing
from cfgfix.code.inference.interpreter.models.loading import load
from cfgfix.code.inference.interpreter.models.options import SHELL, literal
from cfgfix.code.inference.interpreter.models.paths import folder_of, join_paths
from cfgfix.code.inference.interpreter.objects import (
    EITHER,
    NONE,
    UNKNOWN,
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
from cfgfix.code.inference.interpreter.run import OPTIONS, Call, Model
from cfgfix.code.inference.interpreter.values import alternatives, choice, constant_text, copied, wrapped
from cfgfix.core.records import replace


def hydra_config(call: Call, made: Made) -> Value:
    """Return the config that `hydra.main` gives."""
    names = ("config_path", "config_name")
    given = dict(zip(names, made.args, strict=False)) | made.keywords
    where = made.spot or call.spot
    folder = folder_of(Scalar(where.path))
    steps = [value for name in names if type(value := given.get(name)) is Scalar and value.value is not None]
    path = join_paths([folder, *steps])
    return load(replace(call, spot=where), "hydra", path, {"call": "hydra.main", "class": "omegaconf"})


def _merge(call: Call) -> Value:
    result = Mapping(access=EITHER, absent="ConfigAttributeError", flavour="omegaconf")
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


def _lay_over(call: Call, holder: Mapping, other: Mapping) -> None:
    for name, value in other.entries.items():
        before = holder.entries.get(name)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            _lay_over(call, before, value)
        else:
            writing.put(
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
    """Return what the command line gives as `a.b=c`."""
    result = Mapping(access=EITHER, absent="ConfigAttributeError", flavour="omegaconf")
    given = call.run.host.arguments() if not call.args else None
    if call.args:
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


def _select(call: Call) -> Value:
    path = constant_text(call.args[1]) if len(call.args) > 1 else None
    default = call.keywords.get("default", NONE)
    value = call.first
    if path is None:
        return UNKNOWN
    for step in path.split("."):
        value = reading.item(call.frame, value, Scalar(step), call.spot, default=default)
    return value


def _instantiate(call: Call) -> Value:
    """Return what Hydra makes of a section with `_target_`."""
    if not call.args:
        return UNKNOWN
    return choice(
        _instantiated(call, item, call.args[1:], call.keywords) for item in alternatives(call.args[0])
    )


def _instantiated(
    call: Call, value: Value, args: tuple[Value, ...] = (), keywords: dict[str, Value] | None = None
) -> Value:
    """Return what becomes of a section, with what `instantiate` adds to its arguments."""
    if isinstance(value, Sequence):
        return Sequence(
            [_instantiated(call, item) for item in value.items],
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
        str(name): _instantiated(call, item)
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


FUNCTIONS: dict[str, Model] = {
    "omegaconf.OmegaConf.merge": _merge,
    "omegaconf.OmegaConf.unsafe_merge": _merge,
    "omegaconf.OmegaConf.from_cli": _from_cli,
    "omegaconf.OmegaConf.select": _select,
    "hydra.utils.instantiate": _instantiate,
    "hydra.utils.call": _instantiate,
}
