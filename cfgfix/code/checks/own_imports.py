"""Imports of the project's own modules that Python does not find."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from cfgfix.code.model.expressions import dotted, text, walk
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Attribute, Expr
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.rules.hit import Hit

_GENERATED = ("version", "_version", "_C", "config", "settings", "secrets", "credentials", "local")
_MOST_BYTES = 200_000


def missing_module(program: Program) -> Iterator[Hit]:
    """Find imports of the project's own modules that stop with ModuleNotFoundError."""
    for module in program.modules:
        if module.scope is None or not module.path.endswith(".py"):
            continue
        for scope in module.summary.scopes:
            for event in scope.events_of("import"):
                if _is_optional(scope, event.block):
                    continue
                found = _import_fault(program, module, event) or _fault_beside(program, module, event)
                if found is not None:
                    how, related = found
                    yield hit_in(scope, event.place, event.block, {"how": how}, related=related)


def _is_optional(scope: Scope, block: int) -> bool:
    """Tell whether a statement stands under any condition, or in a `try`."""
    return any(here.kind in ("if", "try", "except", "while", "match") for here in scope.block_chain(block))


_Found = tuple[str, tuple[Step, ...]]


def _import_fault(program: Program, module: Module, event: Event) -> _Found | None:
    """Return why a module in a project folder cannot be imported, or None."""
    for _, source in event.imports:
        head = source.rpartition(".")[0]
        first = head.partition(".")[0]
        if source.startswith("."):
            if not head.strip("."):
                continue
        elif "." not in head or first in sys.stdlib_module_names or _opens_paths(program):
            continue
        if program.path_of(head, module) is not None:
            continue
        gone = [_first_absent_path(base, parts) for base, parts in _module_folders(module, head)]
        if not gone or not all(gone) or (not source.startswith(".") and first not in _own_packages(program)):
            continue
        shown = gone[0] or ""
        if _may_come_later(shown) or _file_stem(shown) in _file_stems(program):
            continue
        return f"there is no module {head}", ()
    return None


def _module_folders(module: Module, head: str) -> list[tuple[str, list[str]]]:
    """Return the folders in which a module may lie, with the parts of its name."""
    if head.startswith("."):
        level = len(head) - len(head.lstrip("."))
        base = module.folder
        for _ in range(level - 1):
            base = os.path.normpath(os.path.join(base, ".."))
        return [(base, head.lstrip(".").split("."))]
    parts = head.split(".")
    folders = module.folder.split(os.sep)
    found = [
        (os.sep.join(folders[:number]) or ".", parts)
        for number, name in enumerate(folders)
        if name == parts[0]
    ]
    if os.path.isdir(os.path.join(module.folder, parts[0])):
        found.append((module.folder, parts))
    return found


def _first_absent_path(base: str, parts: list[str]) -> str | None:
    """Return the path of the first part of a name that does not exist.

    Return None where all parts exist.
    """
    for part in parts:
        try:
            stems = {entry.partition(".")[0] for entry in os.listdir(base)}
        except OSError:
            return None
        base = os.path.normpath(os.path.join(base, part))
        if part not in stems:
            return base.replace(os.sep, "/")
    return None


@once
def _own_packages(program: Program) -> frozenset[str]:
    """Return the names of project folders that some import resolves to."""
    found: set[str] = set()
    for module in program.modules:
        for source in module.scope.imports.values() if module.scope is not None else ():
            first, _, rest = source.partition(".")
            path = program.path_of(source.rpartition(".")[0], module) if first and rest else None
            if path is not None and first in path.replace(os.sep, "/").split("/")[:-1]:
                found.add(first)
    return frozenset(found)


def _file_stem(path: str) -> str:
    return path.rpartition("/")[2]


@once
def _file_stems(program: Program) -> frozenset[str]:
    """Return the names of all Python files of the project and of their folders."""
    found: set[str] = set()
    for key in program.files:
        path, _ = os.path.splitext(key)
        found.update(path.replace(os.sep, "/").split("/"))
    return frozenset(found)


def _may_come_later(path: str) -> bool:
    """Tell whether a module may be generated, built, or left out on purpose."""
    stem = _file_stem(path)
    if stem in _GENERATED or stem.endswith(("_pb2", "_grpc", "_ext", "_cuda")) or stem.startswith("_"):
        return True
    names = set(path.split("/"))
    folder = os.path.dirname(path)
    while True:
        for name in (".gitignore", ".gitmodules", "setup.py"):
            said = _text_of_file(os.path.join(folder, name))
            if name == ".gitignore":
                patterns = {line.strip().strip("/*").rpartition("/")[2] for line in said.splitlines()}
                if names & {*patterns, *(pattern.partition(".")[0] for pattern in patterns)} - {""}:
                    return True
            elif stem in said:
                return True
        if not folder or folder in (".", "/"):
            return False
        folder = os.path.dirname(folder)


def _text_of_file(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read(_MOST_BYTES)
    except OSError:
        return ""


@once
def _opens_paths(program: Program) -> bool:
    """Tell whether the project's code changes where Python looks for modules."""
    return any(
        isinstance(part, Attribute) and dotted(part) in ("sys.path", "sys.modules", "sys.meta_path")
        for module in program.all_modules()
        for scope in module.summary.scopes
        for event in scope.events()
        for part in _part_expressions(event)
    )


def _part_expressions(event: Event) -> Iterator[Expr]:
    for top in (event.value, *event.targets):
        if top is not None:
            yield from walk(top)


def _fault_beside(program: Program, module: Module, event: Event) -> _Found | None:
    """Return why an import of a module in the same folder fails, or None.

    It fails where a script in another folder imports this file.
    """
    if module.is_package or module.folder == "." or _runs_itself(module) or _opens_paths(program):
        return None
    for _, source in event.imports:
        name = source.partition(".")[0]
        if not name or source.startswith(".") or name in sys.stdlib_module_names:
            continue
        beside = os.path.join(module.folder, f"{name}.py")
        if os.path.normpath(beside) not in program.files or _count_named(program, name) != 1:
            continue
        importers = _imports_of_files(program).get(os.path.normpath(module.path), [])
        if not importers or any(
            where.module.folder == module.folder or not whole for where, _, whole in importers
        ):
            continue
        if _sets_paths(module.folder):
            continue
        where, found, _ = importers[0]
        folder, script = os.path.basename(module.folder), os.path.basename(where.module.path)
        return (
            f"{name} lies in {folder}, and {script} imports this file from another folder",
            (Step(where, found.place, found.block, "imports this file"),),
        )
    return None


def _runs_itself(module: Module) -> bool:
    """Tell whether a module may be run as a script."""
    scope = module.scope
    return scope is None or any(
        block.test is not None and "__name__" in text(block.test) for block in scope.blocks
    )


@once
def _count_named(program: Program, name: str) -> int:
    """Return how many files and folders of the project have a given name."""
    found = 0
    for key in program.files:
        parts = os.path.splitext(key)[0].replace(os.sep, "/").split("/")
        found += parts[-1] == name or name in parts[:-1]
    return found


@once
def _imports_of_files(program: Program) -> dict[str, list[tuple[Scope, Event, bool]]]:
    """Return the imports of each file, and whether each names the folder too."""
    found: dict[str, list[tuple[Scope, Event, bool]]] = {}
    for module in program.modules:
        for scope in module.summary.scopes:
            for event in scope.events_of("import"):
                for _, source in event.imports:
                    for name in (source, source.rpartition(".")[0]):
                        path = program.path_of(name, module) if name.strip(".") else None
                        if path is not None:
                            whole = "." in name
                            found.setdefault(os.path.normpath(path), []).append((scope, event, whole))
                            break
    return found


def _sets_paths(folder: str) -> bool:
    """Tell whether the project configures where Python looks for modules."""
    here = folder
    while True:
        here = os.path.dirname(here)
        for name in (
            "setup.py",
            "setup.cfg",
            "pyproject.toml",
            "Makefile",
            "Dockerfile",
            "README.md",
            ".env",
            "environment.yml",
        ):
            said = _text_of_file(os.path.join(here, name))
            if "package_dir" in said or "py_modules" in said or "PYTHONPATH" in said or "pythonpath" in said:
                return True
        if not here or here == "/":
            return False
