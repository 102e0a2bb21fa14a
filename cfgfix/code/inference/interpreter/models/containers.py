"""Classes that give a mapping attributes: EasyDict, Munch, Box, HParams, namespaces and their like."""

from __future__ import annotations

from cfgfix.code.inference.interpreter import reading, writing
from cfgfix.code.inference.interpreter.models.field_objects import construct_unknown
from cfgfix.code.inference.interpreter.models.loading import load_named
from cfgfix.code.inference.interpreter.models.method_names import CONVERSIONS
from cfgfix.code.inference.interpreter.objects import (
    ATTRIBUTES,
    DICT,
    EITHER,
    NONE,
    UNKNOWN,
    ClassObject,
    Instance,
    Mapping,
    OpenFile,
    Scalar,
    Unknown,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call, Model
from cfgfix.code.inference.interpreter.values import (
    alternatives,
    choice,
    constant_text,
    held_values,
    key_of,
    origins_of,
    wrapped,
)

_HPARAMS = ("HParams", EITHER, "AttributeError")
CONTAINERS: dict[str, tuple[str, str, str | None]] = {
    "easydict.EasyDict": ("EasyDict", EITHER, "AttributeError"),
    "munch.Munch": ("Munch", EITHER, "AttributeError"),
    "munch.munchify": ("Munch", EITHER, "AttributeError"),
    "munch.Munch.fromDict": ("Munch", EITHER, "AttributeError"),
    "munch.DefaultMunch.fromDict": ("Munch", EITHER, None),
    "bunch.Bunch": ("Munch", EITHER, "AttributeError"),
    "bunch.bunchify": ("Munch", EITHER, "AttributeError"),
    "box.Box": ("Box", EITHER, "BoxKeyError"),
    "box.ConfigBox": ("ConfigBox", EITHER, "BoxKeyError"),
    "dotmap.DotMap": ("DotMap", EITHER, None),
    "addict.Dict": ("addict", EITHER, None),
    "attrdict.AttrDict": ("AttrDict", EITHER, "AttributeError"),
    "ml_collections.ConfigDict": ("ml_collections", EITHER, "AttributeError"),
    "ml_collections.config_dict.ConfigDict": ("ml_collections", EITHER, "AttributeError"),
    "ml_collections.FrozenConfigDict": ("ml_collections", EITHER, "AttributeError"),
    "yacs.config.CfgNode": ("yacs", EITHER, "AttributeError"),
    "omegaconf.OmegaConf.create": ("omegaconf", EITHER, "ConfigAttributeError"),
    "omegaconf.DictConfig": ("omegaconf", EITHER, "ConfigAttributeError"),
    "omegaconf.OmegaConf.structured": ("omegaconf", EITHER, "ConfigAttributeError"),
    "tensorflow.contrib.training.HParams": _HPARAMS,
    "tensorflow.contrib.training.python.training.hparam.HParams": _HPARAMS,
    "tensor2tensor.utils.hparam.HParams": _HPARAMS,
}
"""Classes that give a mapping attributes: flavour, access, what raises where a name is missing (None: nothing does)."""
_NAMESPACES = frozenset({"types.SimpleNamespace", "argparse.Namespace"})


_LOADED: dict[str, tuple[str, str]] = {
    **{
        f"box.{name}.from_{form}": (f"box.{name}", form)
        for name in ("Box", "ConfigBox")
        for form in ("yaml", "json", "toml")
    },
    "box.box_from_file": ("box.Box", ""),
    "munch.Munch.fromYAML": ("munch.Munch", "yaml"),
    "munch.Munch.fromJSON": ("munch.Munch", "json"),
    "munch.DefaultMunch.fromYAML": ("munch.DefaultMunch.fromDict", "yaml"),
}
"""What makes a container of a file: its class, and the format of the file where that is not said by its name."""


def _load_container(call: Call) -> Value:
    """Return the container that a loader such as `Box.from_yaml(filename=...)` makes."""
    name, form = _LOADED[call.name]
    by_name = call.name.endswith("box_from_file")
    path = call.argument(0 if by_name else 1, "file" if by_name else "filename")
    if call.name.startswith("munch."):
        path = None
    text = call.argument(0, f"{form}_string") or UNKNOWN
    source = OpenFile(path) if path is not None else text
    found = load_named(call, form, source, "yaml.FullLoader" if name.startswith("munch.") else "ruamel")
    return choice(_container_of(call, name, item) for item in alternatives(found))


def make_container(call: Call) -> Value:
    """Return a container made of a mapping and named arguments."""
    return _container_of(call, call.name, call.args[0] if call.args else None)


def _container_of(call: Call, name: str, value: Value | None) -> Value:
    flavour, access, absent = CONTAINERS[name]
    default = call.keywords.get("default_box", NONE)
    if constant_text(default) is not None or (type(default) is Scalar and default.value):
        absent = None
    if value is None or (type(value) is Scalar and value.value is None):
        made = Mapping(access=access, absent=absent, flavour=flavour)
    elif isinstance(value, ClassObject):
        return construct_unknown(call, value)
    else:
        inner = value.entries if isinstance(value, Instance) and value.entries is not None else value
        outer = wrapped(inner, flavour, access, absent)
        if not isinstance(outer, Mapping):
            return outer
        made = outer
    if call.opaque:
        made.open = True
    if call.spread is not None:
        made.sections = (*made.sections, *(s for s in call.spread.sections if s not in made.sections))
    for key, item in call.keywords.items() if call.name in CONTAINERS else ():
        if key not in ("lock", "type_safe", "frozen_box", "default_box", "_dynamic", "flags", "new_allowed"):
            made.entries[key] = wrapped(item, flavour, access, absent)
    written = call.run.code_settings
    if written is not None and made.absent is not None and not made.sections:
        if made.entries:
            written.arguments(made, call.spot)
        else:
            written.container(made, call.spot)
    return made


def _make_namespace(call: Call) -> Value:
    """Return a namespace made of named arguments."""
    flavour = "namespace" if call.name.startswith("types") else "argparse"
    made = Mapping(
        {**call.keywords}, access=ATTRIBUTES, absent="AttributeError", flavour=flavour, open=call.opaque
    )
    if call.spread is not None:
        made.sections = call.spread.sections
    elif call.run.code_settings is not None:
        call.run.code_settings.arguments(made, call.spot)
    return made


def _convert_entry(call: Call) -> Value:
    """Return an entry converted by a `ConfigBox`, or the default for a missing one."""
    owner, key = call.mapping, constant_text(call.first)
    default = call.argument(1, "default")
    found = reading.item(call.frame, owner, call.first, call.spot, default=default)
    if key is None or key not in owner.entries:
        return found
    kind = call.name.removeprefix("get")
    for item in alternatives(found):
        call.use(item)
        origin = key_of(item)
        if origin is not None:
            origin.conversions.add("bool" if kind == "boolean" else kind)
    return Unknown(origins_of(alternatives(found)))


def to_plain(call: Call) -> Value:
    """Return a mapping as a dictionary of dictionaries."""
    return wrapped(call.mapping, "dict", DICT, "KeyError")


def write_down(call: Call) -> Value:
    """Note that the values of a mapping are only written to a text."""
    for item in held_values(call.mapping):
        for key in item.origins:
            key.logs.append(call.spot)
    return UNKNOWN


def _to_dictionary(call: Call) -> Value:
    return wrapped(call.args[0], "dict", DICT, "KeyError") if call.args else UNKNOWN


def _add_hparam(call: Call) -> Value:
    """Add a value to the hyperparameters of TensorFlow 1, or change it."""
    owner, name, value = call.mapping, constant_text(call.first), call.argument(1, "value")
    if name is None or value is None:
        owner.open = True
        for item in call.values:
            call.run.walk(item, call.spot)
        return NONE
    writing.write_entry(call.run, owner, name, value, call.spot)
    key = key_of(value)
    if key is not None and key.name == name and key.parent is not None and key.parent not in owner.sections:
        own = sum(1 for item in owner.entries.values() if (k := key_of(item)) and k.parent is key.parent)
        if 0 < key.parent.size <= own:
            owner.sections = (*owner.sections, key.parent)
    return NONE


def _call_override(call: Call) -> Value:
    writing.update(call.frame, call.mapping, call.first, call.spot)
    return call.mapping


def _parse_hparams(call: Call) -> Value:
    """Take a text such as `rate=0.1,units=4`, which may replace any value."""
    for item in call.values:
        call.use(item)
    for name, value in list(call.mapping.entries.items()):
        call.mapping.entries[name] = choice((value, UNKNOWN))
    return call.mapping


FUNCTIONS: dict[str, Model] = {
    **dict.fromkeys(CONTAINERS, make_container),
    **dict.fromkeys(_LOADED, _load_container),
    **dict.fromkeys(_NAMESPACES, _make_namespace),
    "munch.unmunchify": _to_dictionary,
    "omegaconf.OmegaConf.to_container": _to_dictionary,
    "omegaconf.OmegaConf.to_object": _to_dictionary,
}
METHODS: dict[tuple[str, str], Model] = {
    ("HParams", "add_hparam"): _add_hparam,
    ("HParams", "set_hparam"): _add_hparam,
    ("HParams", "override_from_dict"): _call_override,
    ("HParams", "parse"): _parse_hparams,
    ("HParams", "parse_json"): _parse_hparams,
    ("HParams", "values"): to_plain,
    ("HParams", "to_json"): write_down,
    ("Box", "to_dict"): to_plain,
    ("Box", "to_yaml"): write_down,
    ("ConfigBox", "to_dict"): to_plain,
    ("ConfigBox", "to_yaml"): write_down,
    **{("ConfigBox", name): _convert_entry for name in CONVERSIONS},
    ("DotMap", "toDict"): to_plain,
    ("Munch", "toDict"): to_plain,
    ("addict", "to_dict"): to_plain,
    ("", "_asdict"): to_plain,
}
"""By the flavour of the mapping, empty for any, and the name."""
