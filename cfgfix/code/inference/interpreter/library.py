"""What libraries do with values that a config passes through: loaders, containers, option parsers, classes of fields."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from cfgfix.code.inference.interpreter import fields, python
from cfgfix.code.inference.interpreter.events import Loading
from cfgfix.code.inference.interpreter.objects import (
    ATTRIBUTES,
    DICT,
    EITHER,
    NONE,
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
)
from cfgfix.code.inference.interpreter.run import Option

if TYPE_CHECKING:
    from cfgfix.code.inference.interpreter.run import Frame, Run

ENDS = frozenset({"sys.exit", "os._exit", "builtins.exit", "builtins.quit"})
"""Calls after which a program is over."""
DICT_CLASSES = frozenset(
    {"builtins.dict", "collections.OrderedDict", "collections.UserDict", "collections.defaultdict"}
)
METHODS_OF: dict[str, frozenset[str]] = {
    "namespace": frozenset(),
    "argparse": frozenset(),
    "yacs": python.DICT_METHODS
    | {
        "clone",
        "freeze",
        "defrost",
        "merge_from_file",
        "merge_from_list",
        "merge_from_other_cfg",
        "dump",
        "is_frozen",
        "register_deprecated_key",
        "set_new_allowed",
    },
    "ml_collections": python.DICT_METHODS
    | {
        "lock",
        "unlock",
        "to_dict",
        "to_yaml",
        "to_json",
        "copy_and_resolve_references",
        "update_from_flattened_dict",
        "is_locked",
        "type_safe",
        "ignore_type",
        "get_ref",
        "get_type",
        "eq_as_configdict",
        "to_json_best_effort",
        "get_oneway_ref",
        "unlocked",
    },
    "Box": python.DICT_METHODS | {"to_dict", "to_yaml", "to_json", "merge_update"},
    "DotMap": python.DICT_METHODS | {"toDict", "pprint"},
    "Munch": python.DICT_METHODS | {"toDict", "toJSON", "toYAML"},
    "addict": python.DICT_METHODS | {"to_dict", "freeze", "unfreeze", "deepcopy"},
}
"""Names that are methods of the classes configs are kept in, and so no keys."""
_CONTAINERS: dict[str, tuple[str, str, str | None]] = {
    "easydict.EasyDict": ("EasyDict", EITHER, "AttributeError"),
    "munch.Munch": ("Munch", EITHER, "AttributeError"),
    "munch.munchify": ("Munch", EITHER, "AttributeError"),
    "munch.Munch.fromDict": ("Munch", EITHER, "AttributeError"),
    "munch.DefaultMunch.fromDict": ("Munch", EITHER, None),
    "bunch.Bunch": ("Munch", EITHER, "AttributeError"),
    "bunch.bunchify": ("Munch", EITHER, "AttributeError"),
    "box.Box": ("Box", EITHER, "BoxKeyError"),
    "box.ConfigBox": ("Box", EITHER, "BoxKeyError"),
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
}
"""Classes that give a mapping attributes: flavour, access, what raises where a name is missing (None: nothing does)."""
_NAMESPACES = frozenset({"types.SimpleNamespace", "argparse.Namespace"})
_LOADS: dict[str, tuple[str, str]] = {
    "yaml.safe_load": ("yaml", "yaml.SafeLoader"),
    "yaml.full_load": ("yaml", "yaml.FullLoader"),
    "yaml.unsafe_load": ("yaml", "yaml.UnsafeLoader"),
    "yaml.load": ("yaml", ""),
    "yaml.safe_load_all": ("yaml", "yaml.SafeLoader"),
    "yaml.load_all": ("yaml", ""),
    "json.load": ("json", "json"),
    "json.loads": ("json", "json"),
    "tomllib.load": ("toml", "tomllib"),
    "tomllib.loads": ("toml", "tomllib"),
    "tomli.load": ("toml", "tomli"),
    "tomli.loads": ("toml", "tomli"),
    "toml.load": ("toml", "toml"),
    "toml.loads": ("toml", "toml"),
    "pytoml.load": ("toml", "pytoml"),
    "omegaconf.OmegaConf.load": ("omegaconf", "omegaconf"),
    "oyaml.safe_load": ("yaml", "yaml.SafeLoader"),
    "oyaml.load": ("yaml", ""),
    "hjson.load": ("json", "hjson"),
    "commentjson.load": ("json", "commentjson"),
    "json5.load": ("json", "json5"),
    "ruamel.yaml.safe_load": ("yaml", "ruamel"),
    "ruamel.yaml.load": ("yaml", "ruamel"),
    "ruamel.yaml.round_trip_load": ("yaml", "ruamel"),
    "mmcv.load": ("yaml", "yaml.FullLoader"),
    "mmengine.load": ("yaml", "yaml.FullLoader"),
}
"""Functions that turn a file or text into a value: format, and loader (empty: an argument says it)."""
LOADER_NEEDLES = (
    b"yaml", b"json", b"toml", b"OmegaConf", b"omegaconf", b"hydra", b"yacs", b"ml_collections", b"gin",
)  # fmt: skip
"""What a file that loads a config has in its text, in one spelling or another."""
_TELLING = frozenset({"print", "pprint", "log", "info", "debug", "warning", "warn", "critical", "exception"})
_LOGS = (
    "logging.",
    "pprint.",
    "loguru.",
    "absl.logging.",
    "rich.",
    "tqdm.",
    "warnings.",
    "wandb.config",
    "mlflow.log_param",
    "sys.stdout.",
    "sys.stderr.",
    "structlog.",
    "tensorflow.print",
    "tensorflow.logging",
    "tensorflow.get_logger",
    "tabulate.",
    "prettytable.",
)
_DUMPS = (
    "yaml.dump",
    "yaml.safe_dump",
    "json.dump",
    "json.dumps",
    "toml.dump",
    "toml.dumps",
    "pickle.dump",
    "omegaconf.OmegaConf.save",
    "omegaconf.OmegaConf.to_yaml",
    "ruamel.yaml.YAML.dump",
    "wandb.init",
    "wandb.config.update",
    "mlflow.log_params",
    "tensorflow.summary.text",
    "joblib.dump",
    "shutil.copy",
    "shutil.copyfile",
    "json.JSONEncoder",
)


OPTIONS = "<options>"
"""The source that the keys of command-line options have."""


def only_tells(name: str, receiver: Value | None) -> bool:
    """Tell whether a call only prints, logs or writes down what it is given."""
    del receiver
    if name.startswith(_LOGS) or name in _DUMPS:
        return True
    last = name.rpartition(".")[2]
    return last in _TELLING and ("logg" in name or "print" in last or "logging.getLogger" in name)


def external(
    run: Run,
    frame: Frame,
    name: str,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
    spread: Mapping | None = None,
    *,
    opaque: bool = False,
) -> Value:
    """Return what a call of something outside the project gives."""
    if name.startswith("builtins."):
        if name == "builtins.__import__":
            return UNKNOWN
        return python.builtin(run, frame, name[len("builtins.") :], args, keywords, spot)
    if name.startswith(("os.", "glob.", "pathlib.")):
        found = python.os_function(run, name, args, keywords, spot)
        if found is not None:
            return found
        if name in ("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath"):
            return FilePath(python.join_paths(args) if len(args) != 1 else python.text_of(args[0]))
    if name in _LOADS:
        return _loaded(run, frame, name, args, keywords, spot)
    container = _CONTAINERS.get(name)
    if container is not None:
        return _contained(run, frame, container, args, keywords, spot)
    if name in _NAMESPACES:
        return _namespace(run, name, args, keywords, spread, opaque=opaque)
    module, _, last = name.rpartition(".")
    if last == "add_implicit_resolver" and module.startswith("yaml"):
        return _add_resolver(run, [External(module)] if module != "yaml" else [], args, keywords)
    handler = _EXTERNALS.get(name)
    if handler is not None:
        found = handler(run, frame, args, keywords, spot)
        if found is not None:
            return found
    if name.rpartition(".")[0] in _FLAG_MODULES:
        return _define_flag(run, name.rpartition(".")[2], args, keywords, spot)
    return run.library_call(frame, name, args, keywords, spot, spread, opaque=opaque)


# Loading


def _loaded(
    run: Run, frame: Frame, name: str, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    how, loader = _LOADS[name]
    source = args[0] if args else keywords.get("stream", keywords.get("fp", keywords.get("f", UNKNOWN)))
    facts: dict[str, Any] = {"call": name, "class": loader}
    if not loader and how == "yaml":
        given = keywords.get("Loader", args[1] if len(args) > 1 else None)
        facts["class"], facts["resolvers"] = loader_of(run, given)
        facts["missing"] = given is None
    elif how == "yaml":
        facts["resolvers"] = _added_to(run, [loader])
    found = load(run, frame, how, source, spot, facts)
    hook = keywords.get("object_hook")
    if hook is not None:
        return _hooked(run, frame, found, hook, spot)
    if name.endswith("_all"):
        return Sequence([found], open=True)
    return found


def load(run: Run, frame: Frame, how: str, source: Value, spot: Spot, facts: dict[str, Any]) -> Value:
    """Return what loading a file gives: the config, or something of which nothing is known."""
    results: list[Value] = []
    for item in alternatives(source):
        path: Value
        if isinstance(item, OpenFile):
            path = item.path
        elif isinstance(item, FilePath):
            path = item.text
        elif (isinstance(item, (Scalar, PartialText)) and how in ("omegaconf", "toml", "yacs", "hydra")) or (
            isinstance(item, Unknown) and how in ("omegaconf", "yacs")
        ):
            path = item
        else:
            run.use(item, spot)
            results.append(Unknown(item.origins))
            continue
        run.use(path, spot)
        loading = Loading(how, path, spot, facts)
        run.loadings.append(loading)
        found = run.host.load(loading)
        results.append(found if found is not None else UNKNOWN)
    del frame
    return choice(results)


def loader_of(run: Run, given: Value | None) -> tuple[str, tuple[str, ...]]:
    """Return the canonical class of a YAML loader and the tags of the resolvers that the program has added to it."""
    for item in alternatives(given) if given is not None else ():
        if isinstance(item, ClassObject):
            outside = [name for name in run.outside_bases(item) if name.startswith("yaml.")]
            own = [tag for cls in run.classes(item) for tag in run.added.get(cls, ())]
            return outside[0] if outside else "?", (*own, *_added_to(run, outside))
        if isinstance(item, External):
            return item.name, _added_to(run, [item.name])
        if isinstance(item, Method) and isinstance(item.owner, External):
            return f"{item.owner.name}.{item.name}", ()
    return ("yaml.FullLoader" if given is None else "?"), ()


def _added_to(run: Run, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(tag for name in names for tag in run.added.get(name, ()))


_LOADERS_BY_DEFAULT = ("yaml.Loader", "yaml.FullLoader", "yaml.UnsafeLoader")
"""What `yaml.add_implicit_resolver` adds to where it is given no loader (PyYAML 6.0.3, `yaml/__init__.py`)."""


def _add_resolver(
    run: Run, owners: list[Value], args: tuple[Value, ...], keywords: dict[str, Value]
) -> Value:
    """Note that a program has its loaders read plain scalars in another way.

    Args:
        run: The run.
        owners: The loaders; none for the function of the module `yaml`.
        args: The arguments by position: tag, pattern, first letters and, of the function, the loader.
        keywords: The arguments by name.
    """
    tag = python.constant_text(args[0] if args else keywords.get("tag", UNKNOWN)) or ""
    given = None if owners else keywords.get("Loader", args[3] if len(args) > 3 else None)
    if given is not None:
        owners = list(alternatives(given))
    names: list[ClassObject | str] = []
    for item in owners:
        if isinstance(item, ClassObject):
            names.append(item)
        elif isinstance(item, External):
            names.append(item.name)
    for name in names or _LOADERS_BY_DEFAULT:
        run.added.setdefault(name, []).append(tag)
    return NONE


def _hooked(run: Run, frame: Frame, value: Value, hook: Value, spot: Spot) -> Value:
    """Return a value with a function applied to each of its mappings, the inner ones first."""
    if isinstance(value, Mapping):
        for name, item in list(value.entries.items()):
            value.entries[name] = _hooked(run, frame, item, hook, spot)
        return run.call(frame, hook, (value,), {}, spot)
    if isinstance(value, Sequence):
        value.items = [_hooked(run, frame, item, hook, spot) for item in value.items]
    return value


# Containers


def _contained(
    run: Run,
    frame: Frame,
    container: tuple[str, str, str | None],
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
) -> Value:
    flavour, access, absent = container
    value = args[0] if args else None
    if value is None or (type(value) is Scalar and value.value is None):
        made = Mapping(access=access, absent=absent, flavour=flavour)
    elif isinstance(value, ClassObject):
        return fields.instance_of(run, frame, value, None, spot)
    else:
        inner = value.entries if isinstance(value, Instance) and value.entries is not None else value
        outer = wrapped(inner, flavour, access, absent)
        if not isinstance(outer, Mapping):
            return outer
        made = outer
    for name, item in keywords.items():
        if name not in ("lock", "type_safe", "frozen_box", "default_box", "_dynamic", "flags", "new_allowed"):
            made.entries[name] = wrapped(item, flavour, access, absent)
    if python.constant_text(keywords.get("default_box", NONE)) is not None or (
        type(keywords.get("default_box")) is Scalar and keywords["default_box"].value  # type: ignore[attr-defined]
    ):
        made.absent = None
    return made


def wrapped(value: Value, flavour: str, access: str, absent: str | None) -> Value:
    """Return a value with all its mappings of another class."""
    if isinstance(value, Mapping):
        return Mapping(
            {name: wrapped(item, flavour, access, absent) for name, item in value.entries.items()},
            key=value.key,
            open=value.open,
            access=access,
            absent=absent,
            flavour=flavour,
            sections=value.sections,
        )
    if isinstance(value, Sequence):
        return Sequence(
            [wrapped(item, flavour, access, absent) for item in value.items],
            open=value.open,
            kind=value.kind,
            key=value.key,
        )
    if isinstance(value, Choice):
        return choice(wrapped(item, flavour, access, absent) for item in value.values)
    return value


def _namespace(
    run: Run,
    name: str,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spread: Mapping | None,
    *,
    opaque: bool,
) -> Value:
    del run, args
    flavour = "namespace" if name.startswith("types") else "argparse"
    made = Mapping({**keywords}, access=ATTRIBUTES, absent="AttributeError", flavour=flavour, open=opaque)
    if spread is not None:
        made.sections = spread.sections
    return made


# Option parsers


def _parser(run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot) -> Value:
    del frame
    made = Made("argparse.ArgumentParser", args, keywords, spot)
    run.parsers[id(made)] = []
    for parent in held(keywords.get("parents", UNKNOWN), 2):
        run.parsers[id(made)] += run.parsers.get(id(parent), [])
    run.kept.append(made)
    return made


def _add_argument(
    run: Run, owner: Made, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    names = tuple(name for name in map(python.constant_text, args) if name)
    if not names:
        return UNKNOWN
    long_names = [name for name in names if name.startswith("--")] or list(names)
    attribute = python.constant_text(keywords.get("dest", NONE)) or long_names[0].lstrip("-").replace(
        "-", "_"
    )
    positional = not names[0].startswith("-")
    action = python.constant_text(keywords.get("action", NONE)) or ""
    nargs = keywords.get("nargs")
    count = nargs.value if type(nargs) is Scalar else None
    default = keywords.get("default")
    if default is None and action == "store_true":
        default = Scalar(False)
    elif default is None and action == "store_false":
        default = Scalar(True)
    wanted = keywords.get("required")
    required = (positional and count not in ("?", "*")) or (type(wanted) is Scalar and bool(wanted.value))
    kind = keywords.get("type")
    option = Option(
        names,
        attribute,
        default,
        required,
        kind.name if isinstance(kind, External) else "?" if kind is not None else "",
        action,
        count in ("*", "+") or isinstance(count, int),
        ConfigKey(OPTIONS, (attribute,), None),
        spot,
    )
    run.parsers.setdefault(id(owner), []).append(option)
    run.options[attribute] = option
    return Made("argparse.Action", (), {}, spot)


def _parse_args(run: Run, owner: Made, name: str) -> Value:
    options = run.parsers.get(id(owner), [])
    given = run.host.arguments()
    found = Mapping(access=ATTRIBUTES, absent="AttributeError", flavour="argparse")
    values = _given(options, given) if given is not None else {}
    for option in options:
        if option.attribute in values:
            found.entries[option.attribute] = _option_value(option, values[option.attribute])
        elif option.default is not None:
            found.entries[option.attribute] = _default_value(option)
        elif given is not None or not option.required:
            found.entries[option.attribute] = Scalar(None, frozenset({option.key}), optional=True)
        else:
            found.entries[option.attribute] = Unknown(frozenset({option.key}))
    if not options:
        found.open = True
    if name == "parse_known_args":
        return Sequence([found, Sequence([], open=True)], kind="tuple")
    return found


def _default_value(option: Option) -> Value:
    default = option.default
    origins = frozenset({option.key})
    if type(default) is Scalar:
        value = default.value
        if isinstance(value, str) and option.kind in _CONVERSIONS:
            try:
                value = _CONVERSIONS[option.kind](value)
            except ValueError:
                return Unknown(origins)
        return Scalar(value, origins | default.origins, optional=True)
    if isinstance(default, Sequence):
        return default
    if isinstance(default, (FilePath, PartialText)):
        return default
    return Unknown(origins)


_CONVERSIONS: dict[str, Callable[[str], Any]] = {
    "builtins.int": int,
    "builtins.float": float,
    "builtins.str": str,
}


def _option_value(option: Option, given: list[str]) -> Value:
    origins = frozenset({option.key})
    if option.action in ("store_true", "store_false"):
        return Scalar(option.action == "store_true", origins)
    convert = _CONVERSIONS.get(option.kind, str)
    values: list[Value] = []
    for item in given:
        if item == SHELL:
            values.append(Unknown(origins))
            continue
        if option.kind == "pathlib.Path":
            values.append(FilePath(Scalar(item, origins)))
            continue
        try:
            values.append(
                Scalar(convert(item), origins)
                if option.kind in _CONVERSIONS or not option.kind
                else Unknown(origins)
            )
        except ValueError:
            values.append(Unknown(origins))
    if option.many:
        return Sequence(values)
    return values[-1] if values else Unknown(origins)


SHELL = "\x00"
"""What stands in a command's arguments for a part that only the shell knows."""


def _given(options: list[Option], arguments: list[str]) -> dict[str, list[str]]:
    """Return what a command's arguments say, by option."""
    by_name = {name: option for option in options for name in option.names if name.startswith("-")}
    places = [option for option in options if not option.names[0].startswith("-")]
    found: dict[str, list[str]] = {}
    number = 0
    while number < len(arguments):
        item = arguments[number]
        number += 1
        name, mark, value = item.partition("=")
        option = by_name.get(name if mark else item)
        if option is not None:
            if mark:
                found.setdefault(option.attribute, []).append(value)
            elif option.action.startswith("store_") or option.action in ("help", "version", "count"):
                found[option.attribute] = []
            elif option.many:
                while number < len(arguments) and not arguments[number].startswith("-"):
                    found.setdefault(option.attribute, []).append(arguments[number])
                    number += 1
            elif number < len(arguments):
                found.setdefault(option.attribute, []).append(arguments[number])
                number += 1
        elif not item.startswith("-") and places:
            option = places[0]
            found.setdefault(option.attribute, []).append(item)
            if not option.many:
                places.pop(0)
    return found


_FLAG_MODULES = frozenset({"absl.flags", "tensorflow.app.flags", "tensorflow.flags", "gflags"})
FLAGS = frozenset(
    {"absl.flags.FLAGS", "tensorflow.app.flags.FLAGS", "tensorflow.flags.FLAGS", "gflags.FLAGS"}
)


def _define_flag(
    run: Run, kind: str, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    name = python.constant_text(args[0]) if args else None
    if name is None or not kind.startswith(("DEFINE", "mark_")):
        return UNKNOWN
    if kind.startswith("mark_"):
        return NONE
    default = args[1] if len(args) > 1 else keywords.get("default")
    option = Option(
        (f"--{name}",), name, default, False, {"DEFINE_integer": "builtins.int", "DEFINE_float": "builtins.float"}.get(kind, ""),
        "", kind in ("DEFINE_list", "DEFINE_multi_string", "DEFINE_spaceseplist"), ConfigKey(OPTIONS, (name,), None), spot,
    )  # fmt: skip
    run.options[name] = option
    run.parsers.setdefault(0, []).append(option)
    made = Made("absl.flags.FlagHolder", args, keywords, spot)
    made.attributes["value"] = flag(run, name, spot)
    made.attributes["default"] = default if default is not None else NONE
    return made


def flag(run: Run, name: str, spot: Spot) -> Value:
    """Return the value of a flag of `absl`."""
    option = run.options.get(name)
    if option is None:
        return UNKNOWN
    option.key.reads.append(spot)
    given = run.host.arguments()
    if given is not None:
        values = _given(
            run.parsers.get(0, []),
            [f"-{item}" if item.startswith("-") and not item.startswith("--") else item for item in given],
        )
        if name in values:
            return _option_value(option, values[name])
    return _default_value(option) if option.default is not None else Unknown(frozenset({option.key}))


def argument(run: Run, index: Value) -> Value:
    """Return an item of `sys.argv`."""
    number = index.value if type(index) is Scalar else None
    given = run.host.arguments()
    if isinstance(number, int) and not isinstance(number, bool) and given is not None:
        if 1 <= number <= len(given) and given[number - 1] != SHELL:
            return Scalar(given[number - 1])
        if number == -1 and given and given[-1] != SHELL:
            return Scalar(given[-1])
    return UNKNOWN


def _app_run(
    run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value | None:
    main = args[0] if args else keywords.get("main", frame.names.names.get("main"))
    if isinstance(main, FunctionObject):
        return run.call(frame, main, (UNKNOWN,) if main.scope.params else (), {}, spot)
    return None


def _fire(
    run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value | None:
    del keywords
    if args and isinstance(args[0], FunctionObject):
        return run.call(frame, args[0], (), _command_keywords(run, args[0]), spot, opaque=True)
    if args and isinstance(args[0], (ClassObject, Instance)):
        value: Value = args[0]
        if isinstance(value, ClassObject):
            value = run.construct(frame, value, (), {}, spot, opaque=True)
        run.hand_over(frame, (value,))
        return UNKNOWN
    return None


def _command_keywords(run: Run, function: FunctionObject) -> dict[str, Value]:
    """Return what a command gives a function's parameters by their names: `--rate=0.1`, `--rate 0.1`."""
    given = run.host.arguments()
    if given is None:
        return {}
    names = {name for name, *_ in function.scope.params}
    found: dict[str, Value] = {}
    for number, item in enumerate(given):
        name, mark, value = item.lstrip("-").partition("=")
        name = name.replace("-", "_")
        if item.startswith("--") and name in names:
            if not mark and number + 1 < len(given):
                value = given[number + 1]
            found[name] = _literal(value) if value != SHELL else UNKNOWN
    plain = [
        item
        for number, item in enumerate(given)
        if not item.startswith("-")
        and not (number and given[number - 1].startswith("--") and "=" not in given[number - 1])
    ]
    for name, item in zip([name for name, *_ in function.scope.params], plain, strict=False):
        found.setdefault(name, _literal(item))
    return found


def _literal(text: str) -> Value:
    for kind in (int, float):
        try:
            return Scalar(kind(text))
        except ValueError:
            continue
    return Scalar({"True": True, "False": False, "None": None}.get(text, text))


# Calls of functions that decorators have changed


def decorated(run: Run, frame: Frame, made: Value, name: str, value: FunctionObject) -> Value:
    """Return a function as a decorator from outside the project leaves it."""
    del run, frame
    if name in ("hydra.main", "click.option", "click.argument") and isinstance(made, Made):
        value.keywords = {**value.keywords, f"<{name} {len(value.keywords)}>": made}
    return value


def called(
    run: Run,
    frame: Frame,
    function: FunctionObject,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
) -> Value | None:
    """Return what a call gives that a decorator answers; None for a plain call."""
    if not function.decorated:
        return None
    given = {name: made for name, made in function.keywords.items() if name.startswith("<")}
    if not given:
        return None
    plain = FunctionObject(
        function.scope,
        function.names,
        function.receiver,
        function.args,
        {name: value for name, value in function.keywords.items() if not name.startswith("<")},
        (),
        function.defaults,
    )
    if "hydra.main" in function.decorated and not args:
        made = next(item for name, item in given.items() if name.startswith("<hydra.main"))
        assert isinstance(made, Made)
        config = hydra_config(run, frame, made, spot)
        return run.enter(frame, plain, (config,), keywords, spot, None)
    if any(name.startswith("click.") for name in function.decorated) and not args:
        values: dict[str, Value] = {}
        options: list[Option] = []
        owner = Made("click", (), {}, None)
        for made in given.values():
            if isinstance(made, Made):
                _add_argument(run, owner, made.args, made.keywords, made.spot or spot)
        options = run.parsers.get(id(owner), [])
        parsed = _parse_args(run, owner, "parse_args")
        assert isinstance(parsed, Mapping)
        for option in options:
            values[option.attribute] = parsed.entries.get(option.attribute, UNKNOWN)
        return run.enter(frame, plain, (), {**values, **keywords}, spot, None, opaque=True)
    return None


def hydra_config(run: Run, frame: Frame, made: Made, spot: Spot) -> Value:
    """Return the config that `hydra.main` gives."""
    names = ("config_path", "config_name")
    given = dict(zip(names, made.args, strict=False)) | made.keywords
    where = made.spot or spot
    folder = python.path_attribute(FilePath(Scalar(where.path)), "parent")
    steps = [value for name in names if type(value := given.get(name)) is Scalar and value.value is not None]
    path = python.join_paths([folder, *steps])
    return load(run, frame, "hydra", path, where, {"call": "hydra.main", "class": "omegaconf"})


# Classes


def constructed(
    run: Run,
    frame: Frame,
    cls: ClassObject,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
    spread: Mapping | None,
    *,
    opaque: bool,
) -> Value | None:
    """Return an object of a class whose fields are annotated; None for any other class."""
    kind = fields.kind_of(run, cls)
    if not kind:
        return None
    return fields.construct(run, frame, cls, kind, args, keywords, spot, spread, opaque=opaque)


# Methods


def method(
    run: Run,
    frame: Frame,
    owner: Value,
    name: str,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
) -> Value | None:
    """Return what a method of a library's object gives; None where it is not modelled."""
    if isinstance(owner, Mapping):
        handler = _MAPPING_METHODS.get((owner.flavour, name)) or _MAPPING_METHODS.get(("", name))
        return handler(run, frame, owner, args, keywords, spot) if handler is not None else None
    if isinstance(owner, ClassObject):
        return _class_method(run, frame, owner, name, args, keywords, spot)
    if isinstance(owner, Instance):
        return _instance_method(run, frame, owner, name, args, keywords, spot)
    if not isinstance(owner, (Made, External)):
        return None
    kind = owner.name
    if kind == "builtins.super" and isinstance(owner, Made):
        return _super_method(run, frame, owner, name, args, keywords, spot)
    if kind == "argparse.ArgumentParser" and isinstance(owner, Made):
        if name == "add_argument":
            return _add_argument(run, owner, args, keywords, spot)
        if name in ("parse_args", "parse_known_args"):
            return _parse_args(run, owner, name)
        if name in ("add_argument_group", "add_mutually_exclusive_group", "add_parser", "add_subparsers"):
            return owner
        if name == "set_defaults":
            return NONE
        return UNKNOWN
    if (
        kind in ("ruamel.yaml.YAML", "ruamel.YAML")
        and name in ("load", "load_all")
        and isinstance(owner, Made)
    ):
        source = args[0] if args else UNKNOWN
        return load(
            run,
            frame,
            "yaml",
            source,
            spot,
            {"call": "ruamel.yaml.YAML.load", "class": "ruamel", "made": owner},
        )
    if name in (
        "map",
        "imap",
        "imap_unordered",
        "map_async",
        "starmap",
        "submit",
        "apply_async",
        "apply",
    ) and any(word in kind for word in ("Pool", "Executor")):
        return _pooled(run, frame, name, args, keywords, spot)
    if (
        kind in ("threading.Thread", "multiprocessing.Process")
        and name == "start"
        and isinstance(owner, Made)
    ):
        target = owner.keywords.get("target")
        given = owner.keywords.get("args")
        if isinstance(target, FunctionObject):
            items = given.items if isinstance(given, Sequence) else []
            inner = owner.keywords.get("kwargs")
            named = {str(k): v for k, v in inner.entries.items()} if isinstance(inner, Mapping) else {}
            run.call(frame, target, tuple(items), named, spot)
        return NONE
    return None


def _class_method(
    run: Run,
    frame: Frame,
    cls: ClassObject,
    name: str,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
) -> Value | None:
    if name == "add_implicit_resolver":
        return _add_resolver(run, [cls], args, keywords)
    if name in ("add_constructor", "add_multi_constructor"):
        return NONE
    if name in ("parse_obj", "model_validate", "from_dict", "validate") and args:
        kind = fields.kind_of(run, cls)
        if kind:
            return fields.from_mapping(run, frame, cls, kind, args[0], spot)
    if name in ("parse_raw", "parse_file", "model_validate_json") and fields.kind_of(run, cls):
        return UNKNOWN
    if name == "__new__":
        return Instance(cls)
    return None


def _instance_method(
    run: Run,
    frame: Frame,
    owner: Instance,
    name: str,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
) -> Value | None:
    del args, keywords
    if name in ("dict", "model_dump", "to_dict", "asdict") and fields.kind_of(run, owner.cls):
        return Mapping({**owner.attributes}, open=owner.open, sections=owner.sections)
    if name in ("copy", "model_copy") and fields.kind_of(run, owner.cls):
        return python.copied(owner, 1)  # type: ignore[no-any-return]
    if name in ("json", "model_dump_json", "__repr__", "__str__") and fields.kind_of(run, owner.cls):
        for item in held(owner):
            for key in item.origins:
                key.logs.append(spot)
        return UNKNOWN
    del frame
    return None


def _super_method(
    run: Run,
    frame: Frame,
    owner: Made,
    name: str,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
) -> Value:
    receiver, cls = owner.args[0], owner.args[1] if len(owner.args) > 1 else None
    start = (
        receiver.cls
        if isinstance(receiver, Instance)
        else receiver
        if isinstance(receiver, ClassObject)
        else None
    )
    if start is not None and isinstance(cls, ClassObject):
        later = False
        for item in run.classes(start):
            if later:
                member = item.names.names.get(name)
                if isinstance(member, FunctionObject):
                    return run.call(frame, member.bound(receiver), args, keywords, spot)
            later = later or item is cls
    if isinstance(receiver, Instance):
        if receiver.entries is not None:
            if name == "__init__":
                for value in args:
                    run.update(frame, receiver.entries, value, spot)
                for key, value in keywords.items():
                    receiver.entries.entries[key] = value
                return NONE
            return python.mapping_method(run, frame, receiver.entries, name, args, keywords, spot)
        if name in ("__setattr__", "__setitem__") and len(args) == 2:
            key_name = python.constant_text(args[0])
            if key_name is not None:
                run.set_own(receiver, key_name, args[1], spot)
            else:
                receiver.open = True
            return NONE
        outside = run.outside_bases(receiver.cls)
        if outside:
            return run.library_call(
                frame,
                outside[0] if name == "__init__" else f"{outside[0]}.{name}",
                args,
                keywords,
                spot,
                receiver=receiver,
            )
    if name == "__init__":
        return NONE
    run.escape(frame, (*args, *keywords.values()), spot)
    return UNKNOWN


def _pooled(
    run: Run, frame: Frame, name: str, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    if not args:
        return UNKNOWN
    target = args[0]
    if name == "submit":
        return Made("future", (run.call(frame, target, args[1:], keywords, spot),), {}, spot)
    if name in ("apply_async", "apply"):
        given = args[1] if len(args) > 1 else keywords.get("args")
        named = keywords.get("kwds")
        items = tuple(given.items) if isinstance(given, Sequence) else ()
        inner = {str(k): v for k, v in named.entries.items()} if isinstance(named, Mapping) else {}
        return Made("future", (run.call(frame, target, items, inner, spot),), {}, spot)
    iterable = args[1] if len(args) > 1 else UNKNOWN
    rows = run.items_of(frame, iterable, spot)
    results: list[Value] = []
    for item in (rows if rows is not None else [run.item_of(iterable)])[:8]:
        given_items = tuple(item.items) if name == "starmap" and isinstance(item, Sequence) else (item,)
        results.append(run.call(frame, target, given_items, {}, spot))
    return Sequence(results, open=True)


# Mappings of config libraries


def _clone(
    run: Run,
    frame: Frame,
    owner: Mapping,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
) -> Value:
    del run, frame, args, keywords, spot
    return python.copied(owner, 12)  # type: ignore[no-any-return]


def _merge_file(
    run: Run,
    frame: Frame,
    owner: Mapping,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
) -> Value:
    del keywords
    source = args[0] if args else UNKNOWN
    found = load(
        run,
        frame,
        "yacs",
        python.text_of(source),
        spot,
        {"call": "yacs.config.CfgNode.merge_from_file", "class": "yacs"},
    )
    if isinstance(found, Mapping):
        _merge_strict(run, frame, owner, found, spot, "yacs")
    return NONE


def _merge_other(
    run: Run,
    frame: Frame,
    owner: Mapping,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
) -> Value:
    del keywords
    if args and isinstance(args[0], Mapping):
        _merge_strict(run, frame, owner, args[0], spot, "yacs")
    return NONE


def _merge_strict(run: Run, frame: Frame, owner: Mapping, other: Mapping, spot: Spot, kind: str) -> None:
    """Lay a mapping over defaults that know all keys and their types."""
    for name, value in other.entries.items():
        before = owner.entries.get(name)
        key = value.key if isinstance(value, (Scalar, Mapping, Sequence)) else None
        if before is None:
            if owner.open:
                owner.entries[name] = value
            elif key is not None:
                run.refuse(
                    "unknown-key", key, "the defaults", spot, "KeyError", tuple(map(str, owner.entries))
                )
            continue
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            before.sections = (*before.sections, *value.sections)
            before.key = value.key
            _merge_strict(run, frame, before, value, spot, kind)
            continue
        if kind == "yacs":
            value = _decoded(value)  # noqa: PLW2901 - what yacs reads stands for what the file says
        if key is not None and not _fits(before, value, kind):
            run.refuse(
                "wrong-type",
                key,
                "the defaults",
                spot,
                "ValueError" if kind == "yacs" else "TypeError",
                value=getattr(value, "value", None),
            )
        if key is not None:
            key.reads.append(spot)
        owner.entries[name] = value


def _decoded(value: Value) -> Value:
    """Return a text as yacs reads it (0.1.8, `_decode_cfg_value`): what is a Python literal becomes its value."""
    if type(value) is not Scalar or not isinstance(value.value, str) or len(value.value) > 200:
        return value
    try:
        found = ast.literal_eval(value.value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value
    if value.key is not None:
        value.key.conversions.add(type(found).__name__)
    plain = isinstance(found, (int, float, str, bool, type(None)))
    return Scalar(found, value.origins, value.key) if plain else Unknown(value.origins)


def _fits(before: Value, value: Value, kind: str) -> bool:
    """Tell whether yacs (0.1.8, `_check_and_coerce_cfg_value_type`) or ml_collections takes a value in a default's place."""
    if type(before) is not Scalar or type(value) is not Scalar:
        if isinstance(before, Sequence) and isinstance(value, Sequence):
            return True
        return not (
            isinstance(before, (Scalar, Sequence))
            and isinstance(value, (Scalar, Sequence))
            and type(before) is not type(value)
        ) or (isinstance(before, Scalar) and before.value is None)
    if before.value is None or value.value is None:
        return True
    if kind == "ml_collections" and isinstance(before.value, float) and type(value.value) is int:
        return True
    return type(before.value) is type(value.value)


def _config_dict_update(
    run: Run,
    frame: Frame,
    owner: Mapping,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
) -> Value:
    for value in args:
        if isinstance(value, Mapping):
            _merge_config_dict(run, frame, owner, value, spot)
        else:
            owner.open = True
    for name, value in keywords.items():
        run.put(owner, name, value, spot)
    return NONE


def _merge_config_dict(run: Run, frame: Frame, owner: Mapping, other: Mapping, spot: Spot) -> None:
    if _locked(owner):
        _merge_strict(run, frame, owner, other, spot, "ml_collections")
        return
    for name, value in other.entries.items():
        before = owner.entries.get(name)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            before.sections = (*before.sections, *value.sections)
            _merge_config_dict(run, frame, before, value, spot)
        else:
            owner.entries[name] = wrapped(value, owner.flavour, owner.access, owner.absent)


def _locked(owner: Mapping) -> bool:
    return owner.locked


def _lock(
    run: Run,
    frame: Frame,
    owner: Mapping,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
) -> Value:
    del run, frame, args, keywords, spot
    for item in held(owner):
        if isinstance(item, Mapping):
            item.locked = True
    return owner


def _nothing(
    run: Run,
    frame: Frame,
    owner: Mapping,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
) -> Value:
    del run, frame, args, keywords, spot, owner
    return NONE


def _plain(
    run: Run,
    frame: Frame,
    owner: Mapping,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
) -> Value:
    del run, frame, args, keywords, spot
    return wrapped(owner, "dict", DICT, "KeyError")


def _told(
    run: Run,
    frame: Frame,
    owner: Mapping,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
) -> Value:
    del run, frame, args, keywords
    for item in held(owner):
        for key in item.origins:
            key.logs.append(spot)
    return UNKNOWN


def _opened(
    run: Run,
    frame: Frame,
    owner: Mapping,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
) -> Value:
    """Take values that are not known, for any key: what the file says may be replaced."""
    del frame, owner, keywords
    for value in args:
        for item in held(value, 2):
            run.use(item, spot)
    return NONE


_MAPPING_METHODS: dict[tuple[str, str], Callable[..., Value]] = {
    ("yacs", "clone"): _clone,
    ("yacs", "merge_from_file"): _merge_file,
    ("yacs", "merge_from_list"): _opened,
    ("yacs", "freeze"): _nothing,
    ("yacs", "defrost"): _nothing,
    ("yacs", "dump"): _told,
    ("yacs", "merge_from_other_cfg"): _merge_other,
    ("ml_collections", "update"): _config_dict_update,
    ("ml_collections", "lock"): _lock,
    ("ml_collections", "unlock"): _nothing,
    ("ml_collections", "to_dict"): _plain,
    ("ml_collections", "to_yaml"): _told,
    ("ml_collections", "to_json"): _told,
    ("Box", "to_dict"): _plain,
    ("Box", "to_yaml"): _told,
    ("DotMap", "toDict"): _plain,
    ("Munch", "toDict"): _plain,
    ("addict", "to_dict"): _plain,
    ("", "_asdict"): _plain,
}


# Other functions


def _copy(run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot) -> Value:
    del run, frame, keywords, spot
    return python.copied(args[0], 12) if args else UNKNOWN


def _shallow(
    run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    del run, frame, keywords, spot
    return python.copied(args[0]) if args else UNKNOWN


def _partial(
    run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    del run, frame
    if args and isinstance(args[0], FunctionObject):
        return args[0].given(args[1:], keywords)
    return Made("functools.partial", args, keywords, spot)


def _asdict(run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot) -> Value:
    del run, frame, keywords, spot
    value = args[0] if args else UNKNOWN
    if isinstance(value, Instance):
        return Mapping(
            {name: _as_plain(item) for name, item in value.attributes.items()},
            open=value.open,
            sections=value.sections,
        )
    return wrapped(value, "dict", DICT, "KeyError")


def _as_plain(value: Value) -> Value:
    if isinstance(value, Instance) and value.sections:
        return Mapping(
            {name: _as_plain(item) for name, item in value.attributes.items()},
            open=value.open,
            sections=value.sections,
        )
    return value


def _omega_merge(
    run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    del keywords
    result = Mapping(access=EITHER, absent="ConfigAttributeError", flavour="omegaconf")
    for value in args:
        for item in alternatives(value):
            if isinstance(item, Instance):
                of_fields = Mapping({**item.attributes}, open=item.open, sections=item.sections)
                _lay_over(run, frame, result, of_fields, spot)
            elif isinstance(item, Mapping):
                _lay_over(run, frame, result, item, spot)
            else:
                # What a command line adds is not known: any key may have another value, none is taken away.
                run.use(item, spot)
    return result


def _lay_over(run: Run, frame: Frame, holder: Mapping, other: Mapping, spot: Spot) -> None:
    for name, value in other.entries.items():
        before = holder.entries.get(name)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            _lay_over(run, frame, before, value, spot)
        else:
            run.put(
                holder,
                name,
                python.copied(wrapped(value, "omegaconf", EITHER, "ConfigAttributeError"), 12),
                spot,
            )
    holder.open = holder.open or other.open
    holder.sections = (*holder.sections, *(item for item in other.sections if item not in holder.sections))
    holder.key = holder.key or other.key


def _from_cli(
    run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    """Return what the command line gives as `a.b=c`."""
    del frame, keywords
    result = Mapping(access=EITHER, absent="ConfigAttributeError", flavour="omegaconf")
    given = run.host.arguments() if not args else None
    if args:
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
        holder.entries[last] = Unknown(origins) if SHELL in text else Scalar(_literal(text).value, origins)  # type: ignore[attr-defined]
    del spot
    return result


def _instantiate(
    run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    """Return what Hydra makes of a section with `_target_`."""
    if not args:
        return UNKNOWN
    return choice(_instantiated(run, frame, item, args[1:], keywords, spot) for item in alternatives(args[0]))


def _instantiated(
    run: Run,
    frame: Frame,
    value: Value,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
    spot: Spot,
) -> Value:
    if isinstance(value, Sequence):
        return Sequence(
            [_instantiated(run, frame, item, (), {}, spot) for item in value.items],
            open=value.open,
            kind=value.kind,
        )
    if not isinstance(value, Mapping) or "_target_" not in value.entries:
        return value
    target = value.entries["_target_"]
    for name in ("_target_", "_partial_", "_recursive_", "_convert_"):
        if name in value.entries:
            run.use(run.taken(value.entries[name], spot), spot)
    given = {
        str(name): _instantiated(run, frame, item, (), {}, spot)
        for name, item in value.entries.items()
        if not str(name).startswith("_")
    }
    positional = value.entries.get("_args_")
    if isinstance(positional, Sequence):
        args = (*positional.items, *args)
    spread = Mapping({**given}, key=value.key, open=value.open, sections=value.sections)
    path = python.constant_text(target)
    if path is None:
        run.escape(frame, given.values(), spot)
        return UNKNOWN
    callee = run.imported(path, frame.scope.module)
    partial = value.entries.get("_partial_")
    if type(partial) is Scalar and partial.value is True and isinstance(callee, FunctionObject):
        return callee.given(args, {**given, **keywords})
    return run.call(frame, callee, args, {**given, **keywords}, spot, spread=spread)


def _container(
    run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    del run, frame, keywords, spot
    return wrapped(args[0], "dict", DICT, "KeyError") if args else UNKNOWN


def _dacite(
    run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value | None:
    cls = args[0] if args else keywords.get("data_class")
    data = args[1] if len(args) > 1 else keywords.get("data")
    if isinstance(cls, ClassObject) and data is not None:
        return fields.from_mapping(run, frame, cls, "dacite", data, spot)
    return None


def _exec_module(
    run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    del keywords
    name = python.constant_text(args[0]) if args else None
    for value in args:
        run.use(value, spot)
    if name is not None:
        return run.imported(name, frame.scope.module)
    return UNKNOWN


def _second(run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot) -> Value:
    del run, frame, keywords, spot
    return args[1] if len(args) > 1 else UNKNOWN


def _default_mapping(
    run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    del run, frame, args, keywords, spot
    return Mapping(open=True)


def _identity(
    run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    del run, frame, keywords, spot
    return args[0] if args else UNKNOWN


def _omega_select(
    run: Run, frame: Frame, args: tuple[Value, ...], keywords: dict[str, Value], spot: Spot
) -> Value:
    path = python.constant_text(args[1]) if len(args) > 1 else None
    default = keywords.get("default", NONE)
    value: Value = args[0] if args else UNKNOWN
    if path is None:
        return UNKNOWN
    for step in path.split("."):
        value = run.item(frame, value, Scalar(step), spot, default=default)
    return value


_EXTERNALS: dict[str, Callable[..., Value | None]] = {
    "argparse.ArgumentParser": _parser,
    "configargparse.ArgumentParser": _parser,
    "configargparse.ArgParser": _parser,
    "absl.app.run": _app_run,
    "tensorflow.app.run": _app_run,
    "fire.Fire": _fire,
    "typer.run": _fire,
    "copy.copy": _shallow,
    "copy.deepcopy": _copy,
    "functools.partial": _partial,
    "dataclasses.asdict": _asdict,
    "attr.asdict": _asdict,
    "attrs.asdict": _asdict,
    "omegaconf.OmegaConf.merge": _omega_merge,
    "omegaconf.OmegaConf.from_cli": _from_cli,
    "hydra.utils.instantiate": _instantiate,
    "hydra.utils.call": _instantiate,
    "hydra.utils.get_class": _exec_module,
    "hydra.utils.get_method": _exec_module,
    "omegaconf.OmegaConf.unsafe_merge": _omega_merge,
    "omegaconf.OmegaConf.to_container": _container,
    "omegaconf.OmegaConf.to_object": _container,
    "omegaconf.OmegaConf.select": _omega_select,
    "munch.unmunchify": _container,
    "dacite.from_dict": _dacite,
    "importlib.import_module": _exec_module,
    "typing.cast": _second,
    "collections.OrderedDict": python.dict_made,
    "collections.defaultdict": _default_mapping,
    "io.StringIO": _identity,
    "os.path.expanduser": None,  # type: ignore[dict-item]
}
del _EXTERNALS["os.path.expanduser"]


def _iter_names() -> Iterator[str]:
    yield from _EXTERNALS
