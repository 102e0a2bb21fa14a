"""Functions that turn a file or text into a value, and the classes of YAML loaders."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from typing import Any

from cfgfix.code.inference.interpreter import classes
from cfgfix.code.inference.interpreter.command_line import ENVIRONMENT
from cfgfix.code.inference.interpreter.events import Loading
from cfgfix.code.inference.interpreter.models.outside import FRAMEWORK
from cfgfix.code.inference.interpreter.objects import (
    DICT,
    EITHER,
    NONE,
    UNKNOWN,
    ClassObject,
    External,
    FilePath,
    FunctionObject,
    Made,
    Mapping,
    Method,
    OpenFile,
    PartialText,
    Scalar,
    Sequence,
    Tagged,
    Unknown,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call, Model, Run
from cfgfix.code.inference.interpreter.values import (
    alternatives,
    choice,
    constant_text,
    copied,
    key_of,
    wrapped,
)

_ENDINGS = (".yaml", ".yml", ".json")
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


_WRITTEN = frozenset({"json.dumps", "yaml.dump", "yaml.safe_dump"})
"""Functions that give the text of a value."""


def _load_by_function(call: Call) -> Value:
    """Return the value that a function such as `yaml.load` loads."""
    name = call.name
    how, loader = _LOADS[name]
    named = (call.keywords.get(name) for name in ("stream", "fp", "f"))
    source = call.args[0] if call.args else next((value for value in named if value is not None), UNKNOWN)
    facts: dict[str, Any] = {"call": name, "class": loader, "all": name.endswith("_all")}
    if loader and how == "yaml":
        facts["resolvers"] = _added_to(call.run, [loader])
    if not loader and how == "yaml":
        given = call.keywords.get("Loader", call.args[1] if len(call.args) > 1 else None)
        facts["class"], facts["resolvers"] = _loader_of(call.run, given)
        facts["missing"] = given is None
    found = load(call, how, source, facts)
    if call.run.constructors and how == "yaml":
        found = _construct_tagged(call, found)
    hook = call.keywords.get("object_hook")
    if hook is not None:
        return _apply_to_mappings(call, found, hook)
    if name.endswith("_all"):
        # Of a file of several documents all are known.
        several = isinstance(found, Sequence) and found.kind == "documents"
        return found if several else Sequence([found], open=True)
    return found


def load(
    call: Call,
    how: str,
    source: Value,
    facts: dict[str, Any],
    stored: tuple[tuple[tuple[str, str], Value | None], ...] = (),
) -> Value:
    """Return the config loaded from a file or text, or an unknown value."""
    results: list[Value] = []
    for item in _without_arguments(alternatives(source)):
        path: Value
        if isinstance(item, OpenFile):
            path = item.path
            if item.filled:
                facts = {**facts, "filled": True}
        elif isinstance(item, FilePath):
            path = item.text
        elif (
            isinstance(item, (Scalar, PartialText))
            and how in ("omegaconf", "toml", "yacs", "hydra", "package")
        ) or (isinstance(item, Unknown) and how in ("omegaconf", "yacs")):
            path = item
        elif isinstance(item, Made) and item.name in _WRITTEN and item.args:
            # What was written as a text is read from that again.
            results.append(wrapped(copied(item.args[0], 12), "dict", DICT, "KeyError"))
            continue
        else:
            call.use(item)
            results.append(Unknown(item.origins))
            continue
        call.use(path)
        loading = Loading(how, path, call.spot, facts, stored)
        call.run.loadings.append(loading)
        _refuse_absent(call, loading)
        found = call.run.host.load(loading)
        results.append(found if found is not None else UNKNOWN)
        for one in alternatives(found) if found is not None else ():
            root = key_of(one)
            if root is not None:
                call.run.loaded.setdefault(root.source)
    return choice(results)


def _refuse_absent(call: Call, loading: Loading) -> None:
    """Note that a config names a missing file that the program loads.

    Files that the program tests for, or whose absence it catches, do not count.
    """
    run = call.run
    text = constant_text(loading.path)
    if not loading.path.origins or not run.sure or run.every_way or text in run.tested_paths:
        return
    key = run.host.naming_absent(loading)
    if key is None or call.frame.catches("FileNotFoundError"):
        return
    run.refuse("absent-file", key, "the program", call.spot, "FileNotFoundError", value=text or "")


def load_named(call: Call, how: str, source: Value, loader: str) -> Value:
    """Return the value of a file that a library class loads by itself.

    Args:
        call: The call of the class.
        how: The format; empty where the name of the file tells it.
        source: The file or its text.
        loader: What reads YAML unless the call says it.
    """
    if not how:
        path = constant_text(source.path) if isinstance(source, OpenFile) else None
        how = {".json": "json", ".toml": "toml"}.get(posixpath.splitext(path or "")[1], "yaml")
    if how != "yaml":
        return load(call, how, source, {"call": call.name, "class": how})
    facts: dict[str, Any] = {"call": call.name, "class": loader}
    given = call.keywords.get("Loader")
    if given is not None:
        facts["class"], facts["resolvers"] = _loader_of(call.run, given)
    return load(call, how, source, facts)


def _without_arguments(sources: tuple[Value, ...]) -> list[Value]:
    """Return the known files among several, where the others come from a command line.

    All are returned where that is not so.

    `sys.argv[1] if len(sys.argv) > 1 else "run.yaml"` is `run.yaml` for a program that is started without arguments.
    """
    paths = [
        item.path if isinstance(item, OpenFile) else item.text if isinstance(item, FilePath) else item
        for item in sources
    ]
    known = [path for path in paths if constant_text(path) is not None]
    if not known or not any(
        isinstance(path, Unknown) and all(key.source == ENVIRONMENT for key in path.origins) for path in paths
    ):
        return list(sources)
    found: list[Value] = []
    for item, path in zip(sources, paths, strict=True):
        if type(path) is Scalar:
            given = Scalar(path.value, path.origins, path.key, optional=True)
            found.append(
                OpenFile(given)
                if isinstance(item, OpenFile)
                else FilePath(given)
                if isinstance(item, FilePath)
                else given
            )
    return found


def _loader_of(run: Run, given: Value | None) -> tuple[str, tuple[str, ...]]:
    """Return the canonical class of a YAML loader and the tags of added resolvers."""
    for item in alternatives(given) if given is not None else ():
        if isinstance(item, ClassObject):
            outside = [name for name in classes.outside_bases(item) if name.startswith("yaml.")]
            own = [tag for cls in classes.lineage(item) for tag in run.resolvers.get(cls, ())]
            return outside[0] if outside else "?", (*own, *_added_to(run, outside))
        if isinstance(item, External):
            return item.name, _added_to(run, [item.name])
        if isinstance(item, Method) and isinstance(item.owner, External):
            return f"{item.owner.name}.{item.name}", ()
    return ("yaml.FullLoader" if given is None else "?"), ()


def _added_to(run: Run, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(tag for name in names for tag in run.resolvers.get(name, ()))


def _apply_to_mappings(call: Call, value: Value, hook: Value) -> Value:
    """Apply a hook to each mapping in a value, inner ones first; return the result."""
    if isinstance(value, Mapping):
        for name, item in list(value.entries.items()):
            value.entries[name] = _apply_to_mappings(call, item, hook)
        return call.then(hook, (value,))
    if isinstance(value, Sequence):
        value.items = [_apply_to_mappings(call, item, hook) for item in value.items]
    return value


def add_constructor(call: Call) -> Value:
    """Note the program's constructor for a YAML tag."""
    tag, function = constant_text(call.argument(0, "tag") or UNKNOWN), call.argument(1, "constructor")
    if tag is not None and function is not None:
        call.run.constructors[tag] = function
    return NONE


def _construct_tagged(call: Call, value: Value) -> Value:
    """Return a value with its tagged parts made by the program's constructors."""
    if isinstance(value, Tagged):
        function = call.run.constructors.get(value.tag)
        if not isinstance(function, FunctionObject) or value.text is None:
            return value
        call.use(value)
        node = Made("yaml.ScalarNode", (), {}, call.spot)
        node.attributes["value"] = Scalar(value.text, value.origins)
        return call.then(function, (Made(YAML_LOADER, (), {}, call.spot), node))
    if isinstance(value, Mapping):
        for name, item in list(value.entries.items()):
            value.entries[name] = _construct_tagged(call, item)
    elif isinstance(value, Sequence):
        value.items = [_construct_tagged(call, item) for item in value.items]
    return value


YAML_LOADER = "yaml.SafeLoader()"
"""What a constructor of the program is given as its loader."""


def read_node(call: Call) -> Value | None:
    """Return the text that a YAML loader reads from a scalar node; None for others."""
    node = call.first
    return (
        node.attributes.get("value") if isinstance(node, Made) and call.name == "construct_scalar" else None
    )


_LOADERS_BY_DEFAULT = ("yaml.Loader", "yaml.FullLoader", "yaml.UnsafeLoader")
"""What `yaml.add_implicit_resolver` adds to where it is given no loader (PyYAML 6.0.3, `yaml/__init__.py`)."""


def add_resolver(call: Call, *owners: Value) -> Value:
    """Note that a program changes how YAML loaders read plain scalars.

    Args:
        call: The call, with tag, pattern, first letters and, of the function, the loader.
        owners: The loaders; none for the function of the module `yaml`.
    """
    tag = constant_text(call.argument(0, "tag") or UNKNOWN) or ""
    given = None if owners else call.keywords.get("Loader", call.args[3] if len(call.args) > 3 else None)
    if given is not None:
        owners = alternatives(given)
    names: list[ClassObject | str] = []
    for item in owners:
        if isinstance(item, ClassObject):
            names.append(item)
        elif isinstance(item, External):
            names.append(item.name)
    for name in names or _LOADERS_BY_DEFAULT:
        call.run.resolvers.setdefault(name, []).append(tag)
    return NONE


def load_by_ruamel(call: Call, loader: Made) -> Value:
    """Return the value that a method of `ruamel.yaml.YAML` loads."""
    facts = {"call": "ruamel.yaml.YAML.load", "class": "ruamel", "made": loader}
    return load(call, "yaml", call.first, facts)


_BY_PACKAGES = re.compile(
    r"(?:(?:load|read|parse|get|open)_?)?(?:[a-z]+_)?(?:config|configuration|cfg|conf|hparams|hyperparams|settings|params)(?:_?file)?",
    re.IGNORECASE,
)
"""Names of functions and classes of packages that turn the file of a path into a config, where nothing more is known of them."""
_NO_CONFIGS = frozenset(
    {"logging", "configparser", "transformers", "matplotlib", "pandas", "sys", "os", "setuptools"}
)
"""Packages in which such a name means something else."""


def may_load(name: str) -> bool:
    """Tell whether a function outside the project may load a config, by its name."""
    root, last = name.partition(".")[0], name.rpartition(".")[2]
    return not (root in _NO_CONFIGS or f"{root}." in FRAMEWORK or not _BY_PACKAGES.fullmatch(last))


def load_by_package(call: Call) -> Value | None:
    """Return the config that an unknown package loads from a file named in a call.

    None where the call names no config file. The callee's name must be one for which `may_load` is true.
    """
    path = next((item for item in call.values if (constant_text(item) or "").endswith(_ENDINGS)), None)
    if path is None or call.spread is not None:
        return None
    how = "json" if (constant_text(path) or "").endswith(".json") else "package"
    found = load(call, how, path if how != "json" else OpenFile(path), {"call": call.name, "class": ""})
    if not isinstance(found, Mapping) or found.open:
        return None
    made = wrapped(found, "package", EITHER, "KeyError")
    for item in call.values:
        if item is not path:
            call.use(item, deep=True)
    return made


FUNCTIONS: dict[str, Model] = dict.fromkeys(_LOADS, _load_by_function)
