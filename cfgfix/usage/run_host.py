"""The world outside the code as one run of a program sees it: its command, folders and configs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping as Table
from typing import Any, Protocol

from cfgfix.code.inference.interpreter.command_line import OPTIONS
from cfgfix.code.inference.interpreter.events import Loading
from cfgfix.code.inference.interpreter.models.options import SHELL
from cfgfix.code.inference.interpreter.objects import (
    DICT,
    EITHER,
    ConfigKey,
    FilePath,
    Mapping,
    PartialText,
    Scalar,
    Sequence,
    Spot,
    Tagged,
    Unknown,
    Value,
)
from cfgfix.core.records import dataclass, field, replace
from cfgfix.usage.commands import Command
from cfgfix.usage.config_files import ConfigFile, Entry, KeyPath, Problem, Unread
from cfgfix.usage.entrances import Entrance
from cfgfix.usage.project_files import DATA, ProjectFiles, by_ending

_LOADERS = {
    "yaml.SafeLoader": "pyyaml", "yaml.CSafeLoader": "pyyaml", "yaml.BaseLoader": "pyyaml", "yaml.FullLoader": "pyyaml-full",
    "yaml.CFullLoader": "pyyaml-full", "yaml.Loader": "pyyaml-unsafe", "yaml.CLoader": "pyyaml-unsafe",
    "yaml.UnsafeLoader": "pyyaml-unsafe", "ruamel": "ruamel", "omegaconf": "omegaconf", "yacs": "pyyaml",
}  # fmt: skip
_MARKS = frozenset("$%{<@")
"""What a program may put something for, in a text that it fills in before it is parsed."""
Site = tuple[tuple[str, int, int], ...]
"""A load site: file, line and column of the call and, before it, of the calls through which the run comes there."""


def counts_as_read(key: ConfigKey) -> bool:
    """Tell whether a run reads a key or passes it on to code that may read it."""
    return bool(
        key.interpolated
        or key.overlaid
        or key.reads
        or key.uses
        or key.walks
        or key.escapes
        or key.offers
        or key.guards
    )


@dataclass(frozen=True, slots=True)
class Opened:
    """A config as one run has it.

    Attributes:
        file: The file.
        loader: The name of the loader in `LOADERS`.
        keys: The record of each key, by key path.
        root: Its values; None where it could not be loaded.
        problem: Why the config could not be loaded, or None.
        loading: The call that loads it; of several calls one whose path options or unknown values decide.
        evidence: In words how it is known that the call loads this file.
        loadings: All calls that load it.
    """

    file: ConfigFile
    loader: str
    keys: dict[KeyPath, ConfigKey]
    root: Entry | None
    problem: Problem | None
    loading: Loading
    evidence: str
    loadings: list[Loading] = field(default_factory=list)
    _read: dict[KeyPath, list[ConfigKey]] = field(default_factory=dict, compare=False, repr=False)

    def read_from(self, path: KeyPath) -> list[ConfigKey]:
        """Return the keys at or below a path that the run reads.

        To be called after the end of the run.
        """
        if not self._read:
            self._read[()] = []
            for place, key in self.keys.items():
                if counts_as_read(key):
                    for depth in range(len(place) + 1):
                        self._read.setdefault(place[:depth], []).append(key)
        return self._read.get(path, [])


@dataclass(frozen=True, slots=True)
class Repair:
    """A key of a config that a run moves to where a program looks for it.

    Attributes:
        file: The config, relative to the project.
        path: Where the key stands.
        section: The section where the run has the key.
        name: The name of the key in that section.
        word: The text that replaces the key's value in the run; None for its own value.
    """

    file: str
    path: KeyPath
    section: KeyPath
    name: str
    word: str | None = None


class ProjectConfigs(Protocol):
    """The configs of a project, as runs need them."""

    root: str
    files: ProjectFiles
    known: set[str]
    sites: dict[Site, Loading]

    def config(self, path: str) -> ConfigFile | None:
        """Return a config of the project by its path relative to the root."""

    def text_of(self, path: str) -> str:
        """Return the text of a config, or nothing where it cannot be read."""


class Host:
    """The world outside the code as one run sees it: command, folders, configs."""

    def __init__(
        self, configs: ProjectConfigs, entrance: Entrance, command: Command | None, forced: Table[Site, str]
    ) -> None:
        self.configs = configs
        self.entrance = entrance
        self.command = command if command is not None and command.is_said else None
        self.chosen_values = dict(command.chosen) if command is not None else {}
        self.forced = forced
        self.given: Table[tuple[str, KeyPath], str] = {}
        """Values that keys have in this run instead of their own, by file and path."""
        self.repairs: tuple[Repair, ...] = ()
        """Keys that stand in this run where the programs look for them."""
        self.opened: dict[str, Opened] = {}
        self.unresolved: dict[Site, tuple[Loading, ConfigKey]] = {}
        self.unknown_overrides: list[tuple[str, Mapping]] = []
        """Overrides of the command line that name no key, with the section that they ask."""
        self.groups: dict[tuple[str, str], str] = {}
        """The groups of which configs of Hydra choose: the folder of configs and the group, with the file that does."""
        self.touched: set[str] = set()
        """The config files whose text the run depends on."""
        script = os.path.dirname(os.path.abspath(entrance.module.path))
        folders = [os.getcwd()]
        if command is not None and command.is_said:
            folders.append(os.path.abspath(command.folder))
        folders += [configs.root, script, os.path.dirname(script)]
        self.folders = list(dict.fromkeys(folders))

    def is_known(self, path: str) -> bool:
        """Return whether the project has a config file at this path."""
        return path in self.configs.known

    def text_of(self, path: str) -> str:
        """Return the text of a config file of the project."""
        self.touched.add(path)
        return self.configs.text_of(path)

    def arguments(self) -> list[str] | None:
        """Return the arguments of the command; None without one."""
        return list(self.command.arguments) if self.command is not None else None

    def chosen(self, name: str) -> str | None:
        """Return the value that this run has for an option; None for its own."""
        return self.chosen_values.get(name)

    def variable(self, name: str) -> str | None:
        """Return the value of an environment variable that the command sets.

        None where the command sets none, or builds the value from another variable.
        """
        if self.command is None:
            return None
        return next(
            (value for key, value in self.command.variables if key == name and "$" not in value), None
        )

    def listed(self, folder: Value, pattern: str, spot: Spot) -> list[str] | None:
        """Return the paths of the configs in a folder that match a pattern; None for none."""
        del spot
        text = _text_of_value(folder)
        if text is None:
            return None
        for base in self.folders:
            inside = self.configs.files.inside(os.path.join(base, text))
            if inside is None:
                continue
            found = self.configs.files.matching(pattern, inside if inside != "." else "")
            if found:
                return [os.path.join(self.configs.root, path) for path in found]
        return None

    def load(self, loading: Loading) -> Value | None:
        """Return the values of the config file that a call loads.

        For an unknown file, a mapping that notes which keys are asked for; None where the file cannot be read.
        """
        site = site_of(loading)
        self.configs.sites.setdefault(site, loading)
        if loading.how == "hydra":
            from cfgfix.usage.hydra import composed

            return composed(self, loading)
        path = self.forced.get(site)
        evidence = "its keys are the ones that are read"
        if path is None and not (is_recursive(loading) and _named_end(loading.path) is None):
            path = self.resolve(loading.path)
            evidence = self.evidence(loading)
        if path is None:
            key = ConfigKey("", (), None)
            self.unresolved.setdefault(site, (loading, key))
            flavour = loading.how == "omegaconf"
            return Mapping(
                key=key,
                open=True,
                access=EITHER if flavour else DICT,
                absent="ConfigAttributeError" if flavour else "KeyError",
                flavour="omegaconf" if flavour else "dict",
            )
        return self.value_of(path, loading, evidence)

    def naming_absent(self, loading: Loading) -> ConfigKey | None:
        """Return the key that names a config to load which is absent; None for none.

        The same call must have loaded the config with that key: the program may make what other calls load.
        """
        text = _text_of_value(loading.path) or _named_end(loading.path)
        if text is None or SHELL in text or not text.endswith(DATA) or site_of(loading) in self.forced:
            return None
        spot = loading.spot
        named: list[ConfigKey] = []
        for key in loading.path.origins:
            opened = self.opened.get(key.source)
            if opened is None or opened.root is None or opened.loading.spot[:2] != spot[:2]:
                continue
            entry = next((item for item in opened.root.walk() if item.path == key.path), None)
            if entry is not None and entry.type is str and _ends_with(text, entry.data):
                named.append(key)
        if len(named) != 1 or self.resolve(loading.path) is not None:
            return None
        files, places = self.configs.files, self._possible_places(text)
        if _text_of_value(loading.path) is None:
            # It lies beside the file that names it, whichever that is.
            places = [os.path.normpath(os.path.join(files.root, os.path.dirname(named[0].source), text))]
        inner = [path for path in places if files.inside(path) is not None]
        ending = os.path.normpath(text).replace(os.sep, "/").lstrip("./")
        if not inner or by_ending(files.data, ending) or any(map(os.path.lexists, places)):
            return None
        return named[0] if all(map(files.would_list, inner)) else None

    def _possible_places(self, text: str) -> list[str]:
        """Return the absolute paths that a path in the code may mean."""
        return [os.path.normpath(os.path.join(folder, text)) for folder in self.folders]

    def instead(self, loading: Loading) -> str | None:
        """Return the file that replaces the program's own at a load site.

        None where the program chooses.
        """
        return self.forced.get(site_of(loading))

    def value_of(self, path: str, loading: Loading, evidence: str) -> Value | None:
        """Return the values of a project file for the call that loads it.

        None where the file cannot be read.
        """
        self.touched.add(path)
        config = self.configs.config(path)
        if config is None:
            return None
        loader = loader_name(loading)
        several = config.documents(loader) if loading.loader.get("all") else None
        root, problem = config.tree(loader) if several is None else (several, None)
        known = self.opened.get(path)
        keys = known.keys if known is not None else {}
        if known is None:
            self.opened[path] = Opened(config, loader, keys, root, problem, loading, evidence, [loading])
        else:
            known.loadings.append(loading)
            if from_outside(loading.path) and not from_outside(known.loading.path):
                self.opened[path] = replace(known, loading=loading, evidence=evidence)
        if root is None:
            return None
        omega = loading.how in ("omegaconf", "hydra")
        flavour = "omegaconf" if omega else "dict"
        maker = ValueMaker(path, keys, flavour, self.given, filled=bool(loading.loader.get("filled")))
        maker.repair(root, [item for item in self.repairs if item.file == path])
        made = maker.value(root)
        if several is not None and isinstance(made, Sequence):
            made.kind = "documents"
        if loading.how == "omegaconf" and isinstance(made, Mapping):
            from cfgfix.usage.hydra import interpolate

            interpolate(made)
        return made

    def evidence(self, loading: Loading) -> str:
        """Return in words how the file that a call loads is known."""
        path = loading.path
        if any(key.source == OPTIONS for key in path.origins):
            name = next(key.name for key in path.origins if key.source == OPTIONS)
            if self.command is not None:
                shown = os.path.relpath(self.command.path, self.configs.root)
                return f"the command in {shown}:{self.command.line} gives it as {name}"
            return f"it is the default of {name}"
        text = _text_of_value(path)
        if self.command is not None and text is not None and text in self.command.arguments:
            shown = os.path.relpath(self.command.path, self.configs.root)
            return f"the command in {shown}:{self.command.line} gives it"
        return "the code names it"

    def resolve(self, path: Value) -> str | None:
        """Return the project file that a path means; None for none or several."""
        text = _text_of_value(path)
        known = self.configs.known
        if text is not None:
            if SHELL in text:
                return None
            for folder in self.folders:
                inside = self.configs.files.inside(os.path.join(folder, text))
                if inside in known:
                    return inside
            ending = os.path.normpath(text).replace(os.sep, "/").lstrip("./")
            found = by_ending(self.configs.files.data, ending) if ending and not os.path.isabs(text) else []
            if not found and "\\" in text:
                # A path of Windows means the same file to whoever wrote it.
                return self.resolve(Scalar(text.replace("\\", "/")))
            return found[0] if len(found) == 1 else None
        if isinstance(path, FilePath):
            path = path.text
        if isinstance(path, PartialText):
            pattern = re.compile("".join(".*" if part is None else re.escape(part) for part in path.parts))
            tail = path.parts[-1]
            files = self.configs.files
            written = zip(files.data, *(files.data_from(folder) for folder in self.folders), strict=True)
            candidates = [
                item
                for item, *others in written
                if pattern.fullmatch(item)
                or pattern.fullmatch(f"./{item}")
                or any(map(pattern.fullmatch, others))
            ]
            if not candidates and isinstance(tail, str) and "/" in tail:
                candidates = by_ending(self.configs.files.data, tail.lstrip("/"))
            return candidates[0] if len(candidates) == 1 else None
        return None


def _ends_with(path: str, name: str) -> bool:
    """Tell whether a path ends with the name in a config, whatever its extension."""
    whole, end = os.path.normpath(path), os.path.normpath(name)
    while end.startswith(("../", "./")):
        end = end.partition("/")[2]
    return any(
        whole == item or whole.endswith(f"/{item}") for item in (end, *(end + ending for ending in DATA))
    )


def _named_end(path: Value) -> str | None:
    """Return the known part of a path behind an unknown folder; None if unknown.

    A wholly known path is returned as it is.
    """
    if isinstance(path, FilePath):
        path = path.text
    if not isinstance(path, PartialText):
        return _text_of_value(path)
    tail = path.parts[-1]
    return tail.lstrip("/") if tail is not None and tail.startswith("/") and len(path.parts) == 2 else None


def is_recursive(loading: Loading) -> bool:
    """Tell whether a call that loads a config runs inside its own function.

    Such a function loads the configs that a config names to build on.
    """
    spot = loading.spot
    return any(scope is spot.scope for scope, _ in spot.calls)


def site_of(loading: Loading) -> Site:
    """Return the load site of a call: its place and those of the calls around it."""
    way = [(scope.module.path, *place.start) for scope, place in loading.spot.calls]
    return (*way, (loading.spot.path, *loading.spot.place.start))


def from_outside(path: Value) -> bool:
    """Tell whether options or unknown values may decide which file is opened."""
    if isinstance(path, Unknown):
        return True
    return (
        any(key.source == OPTIONS for key in path.origins)
        or (isinstance(path, Scalar) and path.optional)
        or isinstance(path, PartialText)
    )


def _text_of_value(value: Value) -> str | None:
    if isinstance(value, FilePath):
        value = value.text
    return value.value if type(value) is Scalar and isinstance(value.value, str) else None


def loader_name(loading: Loading) -> str:
    """Return the name in `LOADERS` of the loader that a YAML call uses."""
    name = _LOADERS.get(str(loading.loader.get("class", "")), "pyyaml")
    for tag in loading.loader.get("resolvers") or ():
        if tag.endswith("float"):
            return "pyyaml-floats"
    made = loading.loader.get("made")
    if made is not None:
        kind = made.keywords.get("typ", made.args[0] if made.args else None)
        del kind
    return name


class ValueMaker:
    """Makes the values of a run from the entries of a config file."""

    def __init__(
        self,
        source: str,
        keys: dict[KeyPath, ConfigKey],
        flavour: str,
        given: Table[tuple[str, KeyPath], str],
        *,
        filled: bool = False,
    ) -> None:
        self.filled = filled
        self.source = source
        self.given = given
        self.keys = keys
        self.flavour = flavour
        self.moved: dict[KeyPath, None] = {}
        self.put: dict[KeyPath, list[tuple[str, Entry]]] = {}
        self.words: dict[KeyPath, str] = {}

    def repair(self, root: Entry, repairs: list[Repair]) -> None:
        """Move keys to the sections where the programs look for them."""
        if not repairs:
            return
        entries = {entry.path: entry for entry in root.walk()}
        for item in repairs:
            if item.word is not None:
                self.words[item.path] = item.word
            elif item.path in entries:
                self.moved[item.path] = None
                self.put.setdefault(item.section, []).append((item.name, entries[item.path]))

    def children(self, entry: Entry) -> list[tuple[Any, Entry]]:
        """Return the entries of a section after keys were moved."""
        own = [(name, child) for name, child in entry.children if child.path not in self.moved]
        return own + [(name, child) for name, child in self.put.get(entry.path, ())]

    def key(self, path: KeyPath) -> ConfigKey:
        """Return the record of what a run does with the key at a path."""
        found = self.keys.get(path)
        if found is None:
            parent = self.key(path[:-1]) if path else None
            found = self.keys[path] = ConfigKey(self.source, path, parent)
        return found

    def value(self, entry: Entry) -> Value:
        """Return an entry as a value of the run."""
        key = self.key(entry.path)
        if entry.kind == "scalar":
            if entry.type is Unread:
                return Tagged(entry.raw.tag, entry.raw.text, frozenset({key}))
            if self.filled and entry.type is str and not _MARKS.isdisjoint(entry.data):
                return Unknown(frozenset({key}))
            given = self.given.get((self.source, entry.path)) or self.words.get(entry.path)
            if given is not None:
                return Scalar(given, frozenset({key}), key)
            return Scalar.of_entry(entry, key)
        if entry.kind == "list":
            return Sequence([self.value(child) for _, child in entry.children], key=key)
        omega = self.flavour == "omegaconf"
        children = self.children(entry) if self.moved else entry.children
        key.size = len(children)
        return Mapping(
            {name: self.value(child) for name, child in children},
            key=key,
            access=EITHER if omega else DICT,
            absent="ConfigAttributeError" if omega else "KeyError",
            flavour=self.flavour,
        )
