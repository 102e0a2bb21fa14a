"""The Python files of a run, as the settings and the command line name them."""

from __future__ import annotations

import os
from collections.abc import Sequence

from cfgfix.code.model.python_files import PythonFile, find_python
from cfgfix.settings.discovery import Matcher
from cfgfix.settings.reader import Settings


def python_files(paths: Sequence[str], settings: Settings) -> list[PythonFile]:
    """Return the Python files of a run.

    They are the named files and those below named folders and the source roots.
    """
    roots = [settings.inside(root) for root in settings.source_roots]
    roots = [relative_path(root) for root in roots]
    named = [path for path in paths if path.endswith((".py", ".ipynb")) or os.path.isdir(path)]
    wanted = (named or roots or ["."]) if not paths else [*named, *roots]
    excluded = Matcher(settings).excluded
    return find_python(dict.fromkeys(wanted), excluded, by_person=bool(paths) and not settings.force_exclude)


def relative_path(path: str) -> str:
    """Return a path relative to the working folder, where it lies below it."""
    relative = os.path.relpath(path)
    return relative if not relative.startswith("..") else path
