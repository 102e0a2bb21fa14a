"""Which folder holds the code that may read a file: its repository, or what stands for one."""

from __future__ import annotations

import os
from collections.abc import Sequence

from cfgfix.core.source_file import is_inside, project_folder


def repository_folder(path: str, paths: Sequence[str]) -> str:
    """Return the folder in which the code that reads a file is looked for.

    That is the file's repository, else the checked folder or the project around the file.

    Args:
        path: The file.
        paths: What the request names.
    """
    folder = os.path.dirname(os.path.abspath(path))
    found = project_folder(folder)
    if os.path.exists(os.path.join(found, ".git")):
        return found
    here = os.path.realpath(".")
    for named in paths or (".",):
        whole = os.path.realpath(named)
        if os.path.isdir(whole) and is_inside(folder, whole):
            # The programs that read `runs/` lie beside it, where a person starts them.
            return _project_without_repository(whole, here) if is_inside(whole, here) else whole
    return _project_without_repository(folder, here) if is_inside(folder, here) else folder


def _project_without_repository(folder: str, here: str) -> str:
    """Return the project folder around a folder that is in no repository.

    The answer is never above the working folder, and no folder of many projects.
    """
    if _is_marked(here):
        return here
    found = above = folder
    while above != here and not _holds_projects(above):
        if _is_marked(above):
            return above
        above = os.path.dirname(above)
        if _looks_like_project(above) and not _holds_projects(above):
            found = above
    return found


_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "environment.yml", "cfgfix.toml")


def _is_marked(folder: str) -> bool:
    """Tell whether a folder has a file that stands at the top of a project."""
    return any(os.path.exists(os.path.join(folder, name)) for name in _MARKS)


def _holds_projects(folder: str) -> bool:
    """Tell whether a folder is the home folder, the temporary folder or the root."""
    places = (os.path.expanduser("~"), _SHARED, *(os.environ.get(name) for name in _TEMPORARY))
    return folder == os.path.dirname(folder) or any(
        place and folder == os.path.realpath(place) for place in places
    )


_SHARED = "/tmp"  # noqa: S108 - nothing is written there
_TEMPORARY = ("TMPDIR", "TEMP", "TMP")
_OF_PROJECTS = (".py", "pyproject.toml", "setup.cfg", "requirements.txt")


def _looks_like_project(folder: str) -> bool:
    """Tell whether a folder holds Python files, or files from the top of a project."""
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.endswith(_OF_PROJECTS) for entry in entries)
    except OSError:
        return False
