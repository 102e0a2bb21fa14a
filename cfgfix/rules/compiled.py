"""Compiled content: rules, dialects and schemas as Python code that loads in a millisecond.

A built package carries the generated modules. In a checkout they are made from the YAML files on first use and kept
in the user's cache until one of those files changes.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable

from cfgfix.core import cache as caching

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def data_folder(kind: str) -> str:
    """Return the folder that holds `rules` or `schemas`.

    Inside the package, or beside it in a checkout.
    """
    packaged = os.path.join(_PACKAGE, "_data", kind)
    return packaged if os.path.isdir(packaged) else os.path.join(os.path.dirname(_PACKAGE), kind)


def files_below(folder: str, endings: tuple[str, ...]) -> list[str]:
    """Return the files below a folder with one of these endings, sorted.

    Links are not followed.
    """
    found: list[str] = []
    pending = [folder]
    while pending:
        here = pending.pop()
        try:
            entries = list(os.scandir(here))
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                pending.append(entry.path)
            elif entry.name.endswith(endings) and entry.is_file(follow_symlinks=False):
                found.append(entry.path)
    return sorted(found)


def manifest(paths: Iterable[str]) -> tuple[tuple[str, int, int], ...]:
    """Return path, time of change and size of each file, to tell when one changes."""
    rows: list[tuple[str, int, int]] = []
    for path in paths:
        facts = os.stat(path)
        rows.append((path, facts.st_mtime_ns, facts.st_size))
    return tuple(rows)


def namespace(
    name: str, paths: Callable[[], list[str]], build: Callable[[], str], scope: dict[str, Any]
) -> dict[str, Any]:
    """Return the names that a compiled module defines.

    Args:
        name: The module's name, such as `rules`; a built package has it as `cfgfix._compiled.rules`.
        paths: The source files it is made from, asked for in a checkout only.
        build: Makes its Python source, asked for when no fresh copy is cached.
        scope: The global names its code may use.
    """
    if os.path.isdir(os.path.join(_PACKAGE, "_data")):
        module = importlib.import_module(f"cfgfix._compiled.{name}")
        source_names = vars(module)
        return {key: value for key, value in source_names.items() if not key.startswith("__")}
    key = manifest(paths())
    code = caching.load(f"compiled-{name}", key)
    if code is None:
        code = compile(build(), f"<cfgfix {name}>", "exec", dont_inherit=True)
        caching.store(f"compiled-{name}", key, code)
    names = dict(scope)
    exec(code, names)  # noqa: S102 - the source is generated from checked data, the cache folder is the user's own
    return names
