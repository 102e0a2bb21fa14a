"""The jobs that run a project's programs under limits, and the one that runs a config."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from cfgfix.core.source_file import read_regular
from cfgfix.usage.job_limits import Job, RunBy
from cfgfix.usage.job_manifests import Manifests
from cfgfix.usage.job_scripts import SHELL, jobs_of_script
from cfgfix.usage.project_files import DATA, ProjectFiles

MAX_BYTES = 400_000
"""Largest file that is looked into."""
MAX_JOBS = 100
"""Most jobs of one project that are looked at."""


def starts_program(item: RunBy, program: str) -> bool:
    """Tell whether a job's command starts a program.

    Only the common end of the paths is compared: in a container the project may lie anywhere.
    """
    if item.command.is_module:
        written = [*item.command.program.split("."), ""]
        ends = program.removesuffix(".py").split("/")
        return _same_end(written[:-1], ends) or _same_end([*written[:-1], "__main__"], ends)
    return _same_end(_path_steps(item.command.program), _path_steps(program))


def names_config(item: RunBy, config: str) -> bool | None:
    """Tell whether a job's command names a config; None where it names no config file."""
    named = [word.rpartition("=")[2] for word in item.command.arguments if word.endswith(DATA)]
    return any(_same_end(_path_steps(word), _path_steps(config)) for word in named) if named else None


def _path_steps(path: str) -> list[str]:
    return [step for step in path.replace(os.sep, "/").split("/") if step not in ("", ".", "..")]


def _same_end(first: list[str], second: list[str]) -> bool:
    count = min(len(first), len(second))
    return count > 0 and first[-count:] == second[-count:]


def jobs_of(files: ProjectFiles) -> list[RunBy]:
    """Return the jobs of a project that have limits, each with a command."""
    found: list[RunBy] = []
    manifests = Manifests(files)
    scripts = [path for path in files.texts if path.endswith(SHELL)]
    for path, text in _texts_of_files(files.root, files.data):
        manifests.add(path, text)
    found += manifests.jobs()
    for path, text in _texts_of_files(files.root, files.texts):
        if len(found) >= MAX_JOBS:
            break
        if not path.endswith(DATA):
            found += jobs_of_script(path, os.path.join(files.root, path), text, manifests)
    sent = {item.command.path for item in found if not _is_own(item, files.root)}
    return [
        one
        for item in found[:MAX_JOBS]
        # A script that is sent with options of its own does not run by its comments alone.
        if not (_is_own(item, files.root) and item.command.path in sent)
        for one in _through_scripts(item, files.root, scripts)
    ]


def _is_own(item: RunBy, root: str) -> bool:
    """Tell whether the file with a command is the file with its limits."""
    return os.path.abspath(item.command.path) == os.path.join(root, item.job.path)


def _texts_of_files(root: str, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        try:
            yield path, read_regular(os.path.join(root, path), MAX_BYTES).decode("utf-8", "replace")
        except OSError:
            continue


def _through_scripts(item: RunBy, root: str, scripts: list[str]) -> Iterator[RunBy]:
    """Yield a job with its command, or with the commands of the script it starts."""
    name = item.command.program
    script = (
        next((path for path in scripts if _same_end(_path_steps(name), _path_steps(path))), None)
        if name.endswith(SHELL)
        else None
    )
    if script is None:
        yield item
    else:
        from cfgfix.usage.commands import commands_in

        yield from (RunBy(item.job, command) for command in commands_in(os.path.join(root, script)))


def job_for(jobs: Iterable[RunBy], programs: Iterable[str], config: str) -> Job | None:
    """Return the job that runs a program with a config.

    None where no job does, or jobs with different limits do.
    """
    programs = list(programs)
    named: list[Job] = []
    other: list[Job] = []
    for item in jobs:
        if any(starts_program(item, program) for program in programs):
            says = names_config(item, config)
            if says is None:
                other.append(item.job)
            elif says:
                named.append(item.job)
    found = named or other
    limits = {job.limits for job in found}
    return found[0] if len(limits) == 1 else None
