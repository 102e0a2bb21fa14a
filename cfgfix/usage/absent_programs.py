"""Commands of stages, makefiles and scripts that start a program of the project where it does not lie."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from cfgfix.code.inference.interpreter.objects import Spot
from cfgfix.code.model.nodes import FILE_START
from cfgfix.core.source_file import read_regular
from cfgfix.usage.commands import Command
from cfgfix.usage.declared_options import OptionVerdict
from cfgfix.usage.program_runs import ProjectRuns

MAX_TEXT = 400_000
"""Largest script that is looked through for a change of its folder, in bytes."""
_STAGES = re.compile(r"(?:^|/)(?:dvc\.ya?ml|[Mm]akefile|[\w.-]+\.(?:mk|sh|bash|slurm|sbatch|pbs))$")
"""Files whose commands run in the project's own folder, or that of the file."""
_GOES_ELSEWHERE = re.compile(
    r"\b(?:cd|pushd|chdir|workdir|--chdir|git\s+clone|wget|curl|cp|mv)\b|-C\s", re.IGNORECASE
)
"""What makes a folder or a file another one than those that are there."""


def absent_programs(project: ProjectRuns) -> Iterator[OptionVerdict]:
    """Yield verdicts on commands whose program lies elsewhere in the project."""
    told: set[tuple[str, int]] = set()
    for command in project.starting_nothing:
        path = os.path.relpath(command.path, project.root).replace(os.sep, "/")
        if command.is_module or not _is_plain(command) or _STAGES.search(path) is None:
            continue
        if (path, command.line) in told or _program_exists(project, command) or _changes_files(command.path):
            continue
        name = os.path.basename(command.program)
        scripts = [
            item
            for item in project.entered
            if item.framework and os.path.basename(item.module.path) == name and item.module.scope is not None
        ]
        if len({item.module.path for item in scripts}) != 1:
            continue
        module = scripts[0].module
        assert module.scope is not None
        told.add((path, command.line))
        yield OptionVerdict(
            "absent-program",
            Spot(module.scope, FILE_START, 0, (), (), ()),
            {
                "place": f"{path}:{command.line}",
                "program": command.program,
                "there": project.relative(module.path),
            },
            said=(path, command.line),
        )


def _is_plain(command: Command) -> bool:
    """Tell whether a command writes its program as a relative path of a `.py` file."""
    return re.fullmatch(r"(?:\./)?[\w.-]+(?:/[\w.-]+)*\.py", command.program) is not None


def _program_exists(project: ProjectRuns, command: Command) -> bool:
    """Tell whether a program lies below the command's folder or a folder above it."""
    folder = os.path.abspath(command.folder)
    while project.files.inside(folder) is not None:
        if os.path.lexists(os.path.join(folder, command.program)):
            return True
        folder = os.path.dirname(folder)
    return False


def _changes_files(path: str) -> bool:
    """Tell whether a script changes its folder, or downloads or copies files.

    True for one that cannot be read.
    """
    try:
        return _GOES_ELSEWHERE.search(read_regular(path, MAX_TEXT).decode("utf-8", "replace")) is not None
    except OSError:
        return True
