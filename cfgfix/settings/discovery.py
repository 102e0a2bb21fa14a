"""Find the files a run is about."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator

from cfgfix.core.errors import UnreadableError
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import is_inside, project_folder
from cfgfix.settings.reader import Finder, Settings


@dataclass(frozen=True, slots=True)
class FoundFile:
    """One file to look at.

    Attributes:
        path: The file.
        named: Whether the user gave its path, not a folder's.
        settings: Those it lies under.
        included: Whether an include pattern of these fits it.
    """

    path: str
    named: bool
    settings: Settings
    included: bool = True


class Matcher:
    """Matches names and paths with the patterns of settings, compiled once."""

    __slots__ = ("_below", "_exclude", "_include", "_root")

    def __init__(self, settings: Settings) -> None:
        self._root = settings.root
        self._below: dict[str, str] = {}
        """Folders as seen from the settings' own, with a slash behind; empty where each path must be asked about."""
        self._include = _compiled_patterns(settings.include)
        self._exclude = _compiled_patterns(settings.exclude)

    def included(self, path: str) -> bool:
        """Tell whether a file matches an include pattern, by its name or path."""
        return self._fits_pattern(self._include, path)

    def excluded(self, path: str) -> bool:
        """Tell whether a file or folder matches an exclude pattern, by its name or path."""
        return self._fits_pattern(self._exclude, path)

    def outside(self, path: str) -> bool:
        """Tell whether a file or a folder above it matches an exclude pattern.

        Folders above that of the settings do not count.
        """
        relative = os.path.relpath(path, self._root)
        steps = [step for step in relative.split(os.sep) if step not in ("", ".", "..")]
        above = relative.count(".." + os.sep)
        start = os.path.normpath(os.path.join(self._root, *[".."] * above))
        return any(self.excluded(os.path.join(start, *steps[:length])) for length in range(1, len(steps) + 1))

    def _fits_pattern(self, pattern: re.Pattern[str], path: str) -> bool:
        folder, name = os.path.split(path)
        if pattern.match(name):
            return True
        below = self._below.get(folder)
        if below is None:
            relative = os.path.relpath(folder or os.curdir, self._root).replace(os.sep, "/")
            # Below a folder above the settings' own, a path may lead back to theirs.
            below = "" if relative.rsplit("/", 1)[-1] in (".", "..") else f"{relative}/"
            self._below[folder] = below
        if below and name not in ("", os.curdir, os.pardir):
            return bool(pattern.match(below + name))
        return bool(pattern.match(os.path.relpath(path, self._root).replace(os.sep, "/")))


def _compiled_patterns(patterns: Iterable[str]) -> re.Pattern[str]:
    import fnmatch

    return re.compile("|".join(fnmatch.translate(pattern.rstrip("/")) for pattern in patterns) or r"(?!)")


def find(paths: Iterable[str], finder: Finder, consulted: list[str] | None = None) -> list[FoundFile]:
    """Return the YAML files that paths name or hold, each once, in order.

    A file that the user names is taken whatever its name, unless its settings have `force-exclude`; a folder is
    searched, without following links to folders or to files outside the project.

    Args:
        paths: Files and folders.
        finder: The settings of every folder: what is included and excluded.
        consulted: Gets every folder that was listed.

    Raises:
        UnreadableError: A path does not exist.
        CfgfixError: A settings file is wrong.
    """
    matchers: dict[int, Matcher] = {}
    seen: set[str] = set()
    found: list[FoundFile] = []

    def matcher_of(settings: Settings) -> Matcher:
        matcher = matchers.get(id(settings))
        if matcher is None:
            matcher = matchers[id(settings)] = Matcher(settings)
        return matcher

    def add(path: str, settings: Settings, *, named: bool) -> None:
        key = os.path.normpath(path)
        if key not in seen:
            seen.add(key)
            found.append(FoundFile(path, named, settings, not named or matcher_of(settings).included(path)))

    for path in paths:
        try:
            mode = os.lstat(path).st_mode
        except (OSError, ValueError):
            mode = 0
        if stat.S_ISDIR(mode) or (stat.S_ISLNK(mode) and os.path.isdir(path)):
            for below, settings in sorted(
                _included_files(path, finder, matcher_of, consulted), key=lambda item: item[0]
            ):
                add(below, settings, named=False)
        elif mode:
            settings = finder.settings_in(os.path.dirname(path) or ".")
            if not (settings.force_exclude and matcher_of(settings).outside(path)):
                add(path, settings, named=True)
        else:
            raise UnreadableError(
                "does not exist",
                path=path,
                hint="check the path; without paths cfgfix looks for configs itself",
            )
    return found


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Tell whether an entry of a folder is a file, or a link that leads to one.

    Links that go round in a circle lead nowhere.
    """
    try:
        return entry.is_file()
    except OSError:
        return False


def _included_files(
    folder: str, finder: Finder, matcher_of: Callable[[Settings], Matcher], consulted: list[str] | None
) -> Iterator[tuple[str, Settings]]:
    """Yield the included files below a folder, each with its settings.

    Excluded folders are not searched.
    """
    pending = [(folder, finder.settings_in(folder))]
    while pending:
        here, above = pending.pop()
        if consulted is not None:
            consulted.append(here)
        try:
            with os.scandir(here) as scan:
                entries = list(scan)
        except OSError:
            continue
        settings = finder.below(here, above, {entry.name for entry in entries})
        matcher = matcher_of(settings)
        for entry in entries:
            path = entry.path[2:] if entry.path.startswith(f".{os.sep}") else entry.path
            if matcher.excluded(path):
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append((path, settings))
            elif matcher.included(path) and _is_file(entry):
                if entry.is_symlink() and not is_inside(path, project_folder(folder)):
                    # A link in an untrusted checkout must not have a file elsewhere shown, or changed.
                    continue
                yield path, settings
