"""Find the files a run is about."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from cfgfix.errors import UnreadableError
from cfgfix.records import dataclass
from cfgfix.settings import Settings


@dataclass(frozen=True, slots=True)
class Found:
    """One file to look at; `named` when the user gave its path, not a folder's."""

    path: str
    named: bool


class Matcher:
    """Names and paths against the settings' patterns, compiled once."""

    __slots__ = ("_exclude", "_include", "_root")

    def __init__(self, settings: Settings) -> None:
        self._root = settings.root
        self._include = _compile(settings.include)
        self._exclude = _compile(settings.exclude)

    def included(self, path: str) -> bool:
        """Tell whether a file's name or path fits an include pattern."""
        return self._fits(self._include, path)

    def excluded(self, path: str) -> bool:
        """Tell whether a file's or folder's name or path fits an exclude pattern."""
        return self._fits(self._exclude, path)

    def _fits(self, pattern: re.Pattern[str], path: str) -> bool:
        if pattern.match(os.path.basename(path)):
            return True
        return bool(pattern.match(os.path.relpath(path, self._root).replace(os.sep, "/")))


def _compile(patterns: Iterable[str]) -> re.Pattern[str]:
    import fnmatch

    return re.compile("|".join(fnmatch.translate(pattern.rstrip("/")) for pattern in patterns) or r"(?!)")


def find(paths: Iterable[str], settings: Settings, consulted: list[str] | None = None) -> list[Found]:
    """Return the YAML files that the paths mean, each once, in order.

    A file that the user names is taken whatever its name; a folder is searched, without following links to folders.

    Args:
        paths: Files and folders.
        settings: What is included and excluded.
        consulted: Gets every folder that was listed.

    Raises:
        UnreadableError: A path does not exist.
    """
    matcher: Matcher | None = None
    seen: set[str] = set()
    found: list[Found] = []

    def add(path: str, *, named: bool) -> None:
        key = os.path.normpath(path)
        if key not in seen:
            seen.add(key)
            found.append(Found(path, named))

    for path in paths:
        if os.path.isdir(path):
            matcher = matcher or Matcher(settings)
            for below in walk(path, matcher, consulted):
                add(below, named=False)
        elif os.path.lexists(path):
            add(path, named=True)
        else:
            raise UnreadableError(
                "does not exist",
                path=path,
                hint="check the path; without paths cfgfix looks for configs itself",
            )
    return found


def walk(folder: str, matcher: Matcher, consulted: list[str] | None = None) -> list[str]:
    """Return the included files below a folder, sorted, excluded folders left out."""
    found: list[str] = []
    pending = [folder]
    while pending:
        here = pending.pop()
        if consulted is not None:
            consulted.append(here)
        try:
            entries = sorted(os.scandir(here), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            path = entry.path[2:] if entry.path.startswith(f".{os.sep}") else entry.path
            if matcher.excluded(path):
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(path)
            elif matcher.included(path) and entry.is_file():
                found.append(path)
    return sorted(found)
