"""Take over what the code says of configs in which only values have changed that nothing looks at.

A run that hands a value on, and never asks which it is, goes the same way with another one of its type. So it is kept which
values the runs, and what is said of them, were decided by (`Entry.looks`). Where the text of a config has changed and its
keys, its order and all these values are the same, the answer is the old one with its places moved.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cfgfix.config.dialects.parameters import Reached
from cfgfix.core import cache
from cfgfix.core.findings import Location
from cfgfix.core.records import dataclass, replace
from cfgfix.core.source_file import SourceFile
from cfgfix.rules.hit import Hit, span_of
from cfgfix.usage.code_facts import CodeFacts, KnownCode
from cfgfix.usage.config_files import ConfigFile, Entry, KeyPath, Span
from cfgfix.usage.job_manifests import may_limit
from cfgfix.usage.project_files import ProjectFiles, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.usage.program_runs import ProjectRuns

MAX_CHARACTERS = 100_000
"""Longest text of which it is kept which values count."""
MAX_KEPT = 3_000_000
"""Most characters of such texts in one project."""
SETTINGS = frozenset({"pyproject.toml", "package.json", "setup.cfg", "tox.ini"})
"""Files that say how the project is built, what it installs and what it needs."""


@dataclass(frozen=True, slots=True)
class KeptConfig:
    """A config as it was when the code was run over it.

    Attributes:
        text: Its text.
        looked: For each loader that read it, the key paths of the values that decided something.
    """

    text: str
    looked: Mapping[str, frozenset[KeyPath]]


@dataclass(frozen=True, slots=True)
class KeptConfigs:
    """The configs of a project as they were when the code was run over them.

    Attributes:
        read: The configs that were read; None for one whose answer is taken over only where nothing has changed.
        limits: The files that may give limits of jobs.
        unnamed: Names of functions and classes that stand nowhere in the code but where they are defined; None where it
            was not asked whether they stand in a config.
        naming: For each file that was not read as a config, the unnamed functions whose names it contains.
    """

    read: Mapping[str, KeptConfig | None]
    limits: frozenset[str]
    unnamed: frozenset[str] | None
    naming: Mapping[str, frozenset[str]]


def kept_configs(project: ProjectRuns, before: KeptConfigs | None = None) -> KeptConfigs:
    """Return what is kept of the configs that a project's runs read.

    Args:
        project: The runs.
        before: What was kept of the configs that were not read again.
    """
    from cfgfix.usage.uncalled import unnamed_names

    read: dict[str, KeptConfig | None] = dict(before.read) if before is not None else {}
    left = MAX_KEPT
    for path, config in project.configs.items():
        kept = _kept_config(config) if config is not None else None
        left -= len(kept.text) if kept is not None else 0
        read[path] = kept if left >= 0 else None
    limits = before.limits if before is not None else files_with_limits(project)
    unnamed = before.unnamed if before is not None else None
    naming = dict(before.naming) if before is not None else {}
    if unnamed is None and project.uncalled is not None:
        unnamed = unnamed_names(project.program)
        for path in project.files.data:
            if path not in read:
                config = _config_as_read(project, path)
                if config is None or not _is_plain(config):
                    read[path] = None
                elif found := unnamed & _words_of_text(path, config.source.text):
                    naming[path] = found
    return KeptConfigs(read, limits, unnamed, naming)


def files_with_limits(project: ProjectRuns) -> frozenset[str]:
    """Return the YAML files of a project that may give limits of jobs."""
    found = set()
    for path in project.files.data:
        if path.endswith((".yaml", ".yml")):
            config = _config_as_read(project, path)
            if config is None or may_limit(config.source.text):
                found.add(path)
    return frozenset(found)


def _config_as_read(project: ProjectRuns, path: str) -> ConfigFile | None:
    return project.configs.get(path) or ConfigFile.read(os.path.join(project.root, path))


def _is_plain(config: ConfigFile) -> bool:
    """Tell whether a file is UTF-8 without a byte order mark."""
    return config.source.encoding == "utf-8" and not config.source.bom


def _kept_config(config: ConfigFile) -> KeptConfig | None:
    text = config.source.text
    trees = config.trees()
    if config.looked_through or len(text) > MAX_CHARACTERS or not _is_plain(config):
        return None
    if any(root is None for root in trees.values()):
        return None
    looked = {
        loader: frozenset(entry.path for entry in root.walk() if entry.looks)
        for loader, root in trees.items()
        if root is not None
    }
    return KeptConfig(text, looked)


def packed_configs(kept: KeptConfigs) -> Any:
    """Return kept configs as data that `marshal` can write."""
    read = [
        (
            path,
            None
            if item is None
            else (item.text, [(loader, sorted(paths, key=str)) for loader, paths in item.looked.items()]),
        )
        for path, item in kept.read.items()
    ]
    unnamed = None if kept.unnamed is None else sorted(kept.unnamed)
    return read, sorted(kept.limits), unnamed, [(path, sorted(names)) for path, names in kept.naming.items()]


def unpacked_configs(data: Any) -> KeptConfigs:
    """Return the kept configs from the data that `packed_configs` made."""
    read, limits, unnamed, naming = data
    return KeptConfigs(
        {
            path: None
            if item is None
            else KeptConfig(item[0], {loader: frozenset(paths) for loader, paths in item[1]})
            for path, item in read
        },
        frozenset(limits),
        None if unnamed is None else frozenset(unnamed),
        {path: frozenset(names) for path, names in naming},
    )


def facts_after_changes(
    known: KnownCode, kept: KeptConfigs, changed: Iterable[str], files: ProjectFiles
) -> KnownCode | None:
    """Return the known facts adapted to changed texts of configs.

    None where a change may affect what is known.

    Args:
        known: What was known before.
        kept: The configs as they were before.
        changed: The configs whose text may have changed, relative to the project.
        files: The files of the project.
    """
    configs = dict(known.configs)
    options = known.options
    texts = frozenset(files.texts)
    for path in changed:
        if path in texts or os.path.basename(path) in SETTINGS or path in kept.limits:
            return None
        whole = os.path.join(files.root, path)
        shown = os.path.relpath(whole)
        config = ConfigFile.read(whole if shown.startswith("..") else shown)
        if config is None or not _is_plain(config) or len(config.source.text) > MAX_CHARACTERS:
            return None
        if may_limit(config.source.text):
            return None
        text = config.source.text
        if path not in kept.read:
            # Its words alone count, where they name functions.
            if kept.unnamed is None or kept.unnamed & _words_of_text(path, text) == kept.naming.get(
                path, frozenset()
            ):
                continue
            return None
        before = kept.read[path]
        if before is None or (
            kept.unnamed and kept.unnamed & (_words_of_text(path, before.text) ^ _words_of_text(path, text))
        ):
            return None
        moved = _how_moved(before, config)
        if moved is None:
            return None
        for other, says in configs.items():
            made = _with_changed(says, moved, own=other == path)
            if made is None:
                return None
            configs[other] = made
        if options is not None and any(_names_config(hit, config.path) for _, _, hit in options):
            return None
    return KnownCode(configs, known.followed, options, known.modules, known.classes)


def name_same_functions(kept: KeptConfigs, changed: Iterable[str], root: str) -> bool:
    """Tell whether changed configs name the same functions and classes as before.

    Only those count that no code names.

    Args:
        kept: The configs as they were.
        changed: The configs whose text may have changed, relative to the project.
        root: The project's folder.
    """
    if not kept.unnamed:
        return True
    for path in changed:
        before = kept.read.get(path)
        config = ConfigFile.read(os.path.join(root, path))
        if config is None or not _is_plain(config) or (before is None and path in kept.read):
            return False
        named = (
            kept.unnamed & _words_of_text(path, before.text)
            if before is not None
            else kept.naming.get(path, frozenset())
        )
        if kept.unnamed & _words_of_text(path, config.source.text) != named:
            return False
    return True


def _text_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _words_of_text(path: str, text: str) -> frozenset[str]:
    return words_of(path, _text_bytes(text))


class _MovedConfig:
    """How the places and values of a changed config have moved."""

    def __init__(self, before: str, config: ConfigFile) -> None:
        self.config = config
        self.values: dict[KeyPath, tuple[Any, Any]] = {}
        """Those that have changed, by key path: as it was and as it is."""
        self._spans: dict[Span, Span | None] = {}
        now = config.source.text
        most = min(len(before), len(now))
        self._head = next((at for at in range(most) if before[at] != now[at]), most)
        most -= self._head
        tail = next((at for at in range(most) if before[-1 - at] != now[-1 - at]), most)
        self._tail = len(before) - tail
        self._by = len(now) - len(before)

    def pair(self, before: Span, now: Span) -> None:
        """Note where a place is now."""
        known = self._spans.setdefault(before, now)
        if known != now:
            self._spans[before] = None

    def span(self, before: Span) -> Span | None:
        """Return where a place is now; None where that is not certain."""
        if before in self._spans:
            return self._spans[before]
        if before[1] < self._head:
            return before
        if before[0] > self._tail:
            return before[0] + self._by, before[1] + self._by
        return None


def _how_moved(before: KeptConfig, config: ConfigFile) -> _MovedConfig | None:
    """Return how places in a config moved; None where the change may affect verdicts."""
    old = ConfigFile(config.path, SourceFile.from_text(before.text, config.path))
    moved = _MovedConfig(before.text, config)
    for loader, looked in before.looked.items():
        then, now = old.tree(loader)[0], config.tree(loader)[0]
        if then is None or now is None or not _is_same(then, now, looked, moved):
            return None
    return moved


def _is_same(then: Entry, now: Entry, looked: frozenset[KeyPath], moved: _MovedConfig) -> bool:
    """Tell whether two trees differ only in values that decided nothing.

    The places and changed values are noted in `moved`.
    """
    pending = [(then, now)]
    seen: set[tuple[int, int]] = set()
    while pending:
        one, other = pending.pop()
        if (id(one), id(other)) in seen:
            continue
        seen.add((id(one), id(other)))
        if (one.kind, one.path, one.plain, one.shared, one.anchored, one.type, len(one.children)) != (
            other.kind, other.path, other.plain, other.shared, other.anchored, other.type, len(other.children),
        ):  # fmt: skip
            return False
        moved.pair(one.key, other.key)
        moved.pair(one.value, other.value)
        if one.kind == "scalar":
            # `-0.0` equals `0.0`, and is another value.
            if repr(one.raw) != repr(other.raw) and one.raw is not other.raw:
                if one.path in looked:
                    return False
                moved.values[one.path] = one.raw, other.raw
            continue
        for (name, child), (named, changed) in zip(one.children, other.children, strict=True):
            if type(name) is not type(named) or name != named:
                return False
            pending.append((child, changed))
    return True


def _with_changed(says: CodeFacts, moved: _MovedConfig, *, own: bool) -> CodeFacts | None:
    """Return the facts about a config after a change of some config.

    None where they may be affected.

    Args:
        says: The facts before the change.
        moved: How the changed config has moved.
        own: Whether the changed config is this one.
    """
    if not own:
        return None if any(_names_config(hit, moved.config.path) for _, hit in says.hits) else says
    hits: list[tuple[str, Hit]] = []
    for name, hit in says.hits:
        at = span_of(hit)
        span = moved.span((at.start, at.end))
        if span is None or _names_config(hit, moved.config.path):
            return None
        hits.append((name, replace(hit, at=replace(at, start=span[0], end=span[1]))))
    reached: list[Reached] = []
    for item in says.reached:
        if item.path is not None and item.path in moved.values and item.known:
            before, now = moved.values[item.path]
            if type(item.value) is not type(before) or item.value != before:
                return None
            item = replace(item, value=now)  # noqa: PLW2901 - the same with another value
        reached.append(item)
    digest = cache.digest(_text_bytes(moved.config.source.text))
    return replace(says, hits=tuple(hits), reached=tuple(reached), digest=digest)


def _names_config(hit: Hit, path: str) -> bool:
    """Tell whether a hit has a related place in a config."""
    return any(place.path == path for place in _related_places(hit))


def _related_places(hit: Hit) -> Iterator[Location]:
    yield from (place for place in hit.related if isinstance(place, Location))
