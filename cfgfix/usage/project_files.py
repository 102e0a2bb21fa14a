"""Which files a project has: configs that code may open, and files that say how its programs are started."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable

from cfgfix.code.model.python_files import is_ignored
from cfgfix.core.patterns import late
from cfgfix.core.source_file import read_regular

DATA = (".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".conf")
_COMMANDS = (
    ".sh",
    ".bash",
    ".md",
    ".rst",
    ".ipynb",
    ".mk",
    ".slurm",
    ".sbatch",
    ".pbs",
    ".job",
    ".lsf",
    ".sge",
    ".cmd",
    ".bat",
    ".ps1",
    ".txt",
)
_NAMED = frozenset({"Makefile", "makefile", "Dockerfile", "justfile", "Procfile", "tox.ini", "MLproject"})
JOB_FILE = late(
    r"(?:^|/)(?:(?:docker-)?compose(?:\.[\w-]+)?|dvc|(?:[\w.-]*[-_.])?(?:job|pod|cronjob|deployment)(?:[-_.][\w.-]*)?)\.ya?ml$"
    r"|(?:^|/)MLproject$|(?:^|/)(?:k8s|kube|kubernetes|deploy|deployments?|manifests|jobs)/(?:[\w.-]+/)*[\w.-]+\.ya?ml$"
)
"""Paths of files that describe what is run in containers or stages, by their names."""
VARIABLES = re.compile(r"\.env(?:\.\w+)?|[\w-]+\.env")
"""Names of files that set variables of the environment."""
_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "mlruns"})
_BUILT = frozenset({"build", "dist"})
_BUILDERS = frozenset({"setup.py", "setup.cfg", "pyproject.toml", "package.json", ".git"})
"""What lies beside folders of these names that hold what was built; elsewhere they are folders like others."""
_INSTALLED = ({"pyvenv.cfg"}, {"conda-meta"}, {"bin", "lib"})
"""What lies in an environment of Python."""
_TRACKED = re.compile(r"^wandb/(?:(?:offline-)?run-|sweep-|latest-run$)")
"""Folders in which W&B keeps copies of what past runs were made with."""
MAX_ENTRIES = 50_000
"""Most files and folders of one project that are listed."""


MAX_OPENED = 200
"""Most files without an ending that are looked into: one may be a script."""


def _is_script(path: str) -> bool:
    """Tell whether a file begins with `#!`."""
    try:
        return read_regular(path, 2) == b"#!"
    except OSError:
        return False


_KEY = re.compile(rb"[\"']?[\w.-]+[\"']?[ \t]*(?::(?=\s)|=)")
_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")


def words_of(path: str, content: bytes) -> frozenset[str]:
    """Return the words of a file that may be names in the code.

    Keys of configs are left out: a key is rarely the name of a function.
    """
    words = _WORD.findall(_KEY.sub(b" ", content) if path.endswith(DATA) else content)
    return frozenset(word.decode("ascii") for word in words)


class ProjectFiles:
    """The files of a project's folder, listed once; links to folders are not followed.

    Attributes:
        root: The folder, as an absolute path.
        data: Paths of files that may be configs, relative to the root, in order.
        texts: Paths of files that may contain commands.
        variables: Paths of files that set environment variables.
    """

    def __init__(self, root: str) -> None:
        self.root = os.path.abspath(root)
        self.data: list[str] = []
        self.texts: list[str] = []
        self.variables: list[str] = []
        self._from_folders: dict[str, list[str]] = {}
        self._is_whole = False
        count = opened = 0
        pending = [""]
        while pending:
            here = pending.pop()
            try:
                with os.scandir(os.path.join(self.root, here)) as scan:
                    entries = sorted(scan, key=lambda entry: entry.name)
            except OSError:
                continue
            names = {entry.name for entry in entries}
            if any(names >= marks for marks in _INSTALLED):
                continue
            skipped = _SKIPPED | _BUILT if not names.isdisjoint(_BUILDERS) else _SKIPPED
            parent = os.path.basename(here)
            folders: list[str] = []
            for entry in entries:
                count += 1
                if count > MAX_ENTRIES:
                    return
                path = f"{here}/{entry.name}" if here else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if (
                        entry.name in skipped
                        or _TRACKED.match(f"{parent}/{entry.name}")
                        or (entry.name.startswith(".") and entry.name not in (".github", ".circleci"))
                    ):
                        continue
                    folders.append(path)
                elif entry.name.endswith(DATA):
                    self.data.append(path)
                    if (
                        here.startswith((".github", ".circleci"))
                        or entry.name.startswith(".")
                        or entry.name in _NAMED
                        or JOB_FILE.search(path)
                    ):
                        self.texts.append(path)
                elif (
                    entry.name in _NAMED
                    or entry.name.endswith(_COMMANDS)
                    or ("." not in entry.name and opened < MAX_OPENED and _is_script(entry.path))
                ):
                    self.texts.append(path)
                elif VARIABLES.fullmatch(entry.name):
                    self.variables.append(path)
                opened += "." not in entry.name
            pending += reversed(folders)
        self._is_whole = True

    def would_list(self, path: str) -> bool:
        """Tell whether an absent config would be listed if it were there.

        Files that Git ignores are not listed: each user has his own.
        """
        inner = self.inside(path)
        if inner is None or not self._is_whole or os.path.lexists(path):
            return False
        parts = inner.split("/")
        if any(part.startswith(".") or part in _SKIPPED or part in _BUILT for part in parts):
            return False
        return not is_ignored(self.root, inner)

    def data_from(self, folder: str) -> list[str]:
        """Return the paths of `data` relative to a folder, in the same order."""
        found = self._from_folders.get(folder)
        if found is None:
            found = [os.path.relpath(os.path.join(self.root, path), folder) for path in self.data]
            self._from_folders[folder] = found
        return found

    @property
    def known(self) -> set[str]:
        """The paths of `data` as a set."""
        return set(self.data)

    def inside(self, path: str) -> str | None:
        """Return an absolute path relative to the root; None outside the root."""
        relative = os.path.relpath(path, self.root)
        return None if relative.startswith("..") else relative.replace(os.sep, "/")

    def matching(self, pattern: str, base: str) -> list[str]:
        """Return the data files below a folder that match a glob pattern.

        `**` stands for folders at any depth.
        """
        whole = os.path.normpath(os.path.join(base, pattern)).replace(os.sep, "/")
        if whole.startswith(("../", "/")):
            return []
        deep = "**" in whole
        plain = whole.replace("**/", "")
        found = []
        for path in self.data:
            if deep:
                head, _, tail = whole.partition("**/")
                if path.startswith(head) and fnmatch.fnmatchcase(
                    path.rpartition("/")[2], tail.rpartition("/")[2]
                ):
                    found.append(path)
            elif path.count("/") == plain.count("/") and fnmatch.fnmatchcase(path, plain):
                found.append(path)
        return found


def by_ending(paths: Iterable[str], ending: str) -> list[str]:
    """Return the paths that end with a given relative path."""
    return [path for path in paths if path == ending or path.endswith(f"/{ending}")]
