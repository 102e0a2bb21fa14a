"""The jobs that scripts and guides start: of batch systems by their comments and options, and containers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from cfgfix.core.records import replace
from cfgfix.usage.job_limits import (
    Job,
    Limits,
    RunBy,
    count_of_set,
    of_batch_script,
    of_container,
    of_slurm,
)
from cfgfix.usage.job_manifests import Manifests, commands_of_words

SHELL = (".sh", ".bash", ".slurm", ".sbatch", ".job", ".pbs", ".lsf", ".sge")
"""Endings of scripts that a job may start."""
_BUILT = re.compile(r"docker\s+(?:buildx\s+)?build\b[^\n]*?\s(?:-t|--tag)[ =](\S+)")
_RUN = re.compile(r"\b(?:docker|podman|nerdctl)\s+(?:container\s+)?run\b(?P<rest>.*)")
_COMPOSE_RUN = re.compile(
    r"\bdocker[- ]compose\s(?P<before>[^\n]*?)\brun\s+(?P<options>(?:-\S+\s+)*?)(?P<service>\w[\w.-]*)\s+(?P<words>[^\n]*)"
)
_SRUN = re.compile(r"\bsrun\s+(?P<options>-[^\n]*?)\s(?=(?:\S*/)?python|singularity|apptainer|bash\s|sh\s)")
_SENT = re.compile(
    r"\bsbatch\s+(?P<options>-[^\n]*?)\s+(?P<script>[\w./-]+\.(?:sh|bash|slurm|sbatch|job))(?=[\s`'\"]|$)"
)
_WRAPPED = re.compile(
    r"\bsbatch\s+(?P<options>-[^\n]*?)\s*--wrap[= ](?P<quote>[\"'])(?P<words>.+?)(?P=quote)"
)
_PINNED = re.compile(r"\btaskset\s+-c\s+(?P<set>[\d,-]+)\s+(?P<words>[^\n]*)")
_STARTS = re.compile(r"\b(?:srun|sbatch|taskset|docker|podman|nerdctl)\b")


def jobs_of_script(path: str, whole: str, text: str, manifests: Manifests) -> Iterator[RunBy]:
    """Yield the jobs with limits that a script or guide starts.

    Args:
        path: The file, relative to the project.
        whole: The same as an absolute path.
        text: The text of the file.
        manifests: The manifests of the project.
    """
    from cfgfix.usage.commands import commands_in

    joined = re.sub(r"\\\n", "  ", text)
    starts = _STARTS.search(text) is not None
    steps = dict(_steps_of(joined)) if starts else {}
    asked = next(of_batch_script(path, text), None)
    if asked is not None or steps:
        for command in commands_in(whole):
            step = steps.get(command.line)
            limits = asked.limits if asked is not None else Limits()
            if step is not None:
                limits = limits.under(step)
            if limits.are_known:
                where = asked or Job("a Slurm job", path, command.line, limits)
                yield RunBy(replace(where, limits=limits), command)
    if starts:
        yield from _of_lines(path, whole, joined, manifests)


def _steps_of(joined: str) -> Iterator[tuple[int, Limits]]:
    """Yield the limits of the steps that `srun` starts, with the line of each."""
    for number, line in _numbered_lines(joined):
        found = _SRUN.search(line)
        if found is not None and (limits := of_slurm(found["options"])).are_known:
            yield number, limits


def _numbered_lines(joined: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with their 1-based numbers."""
    number = 1
    for line in joined.split("\n"):
        yield number, line
        number += 1


def _of_lines(path: str, whole: str, joined: str, manifests: Manifests) -> Iterator[RunBy]:
    built = _BUILT.findall(joined)
    folder = os.path.dirname(path)
    for number, line in _numbered_lines(joined):
        if (run := _RUN.search(line)) is not None:
            yield from _of_container(path, whole, number, run["rest"], built, manifests)
        elif (sent := _SENT.search(line)) is not None:
            yield from _of_sent(path, whole, number, sent)
        elif (wrapped := _WRAPPED.search(line)) is not None:
            limits = of_slurm(wrapped["options"])
            yield from _runs_under_limits("a Slurm job", path, whole, number, limits, wrapped["words"])
        elif (compose := _COMPOSE_RUN.search(line)) is not None:
            yield from manifests.run_by_service(folder, compose["service"], compose["words"])
        elif (pinned := _PINNED.search(line)) is not None:
            limits = Limits(count_of_set(pinned["set"]))
            yield from _runs_under_limits("taskset", path, whole, number, limits, pinned["words"])


def _runs_under_limits(
    kind: str, path: str, whole: str, number: int, limits: Limits, words: str
) -> Iterator[RunBy]:
    if limits.are_known:
        job = Job(kind, path, number, limits)
        yield from (RunBy(job, command) for command in commands_of_words(whole, number, words))


def _of_container(
    path: str, whole: str, number: int, options: str, built: list[str], manifests: Manifests
) -> Iterator[RunBy]:
    limits = of_container(options)
    if not limits.are_known:
        return
    commands = list(commands_of_words(whole, number, options))
    words = options.split()
    name = next((word for word in words if word in built), None)
    if not commands and name is not None:
        arguments = words[words.index(name) + 1 :]
        image = manifests.image
        commands = list(commands_of_words(whole, number, " ".join(image.words([], arguments))))
    job = Job("a container", path, number, limits)
    yield from (RunBy(replace(job, line=command.line), command) for command in commands)


def _of_sent(path: str, whole: str, number: int, sent: re.Match[str]) -> Iterator[RunBy]:
    """Yield the jobs of a script that `sbatch` starts with options.

    The options override the comments of the script.
    """
    from cfgfix.core.source_file import read_regular
    from cfgfix.usage.commands import commands_in

    script = os.path.normpath(os.path.join(os.path.dirname(whole), sent["script"]))
    root = whole.removesuffix(path)
    if not os.path.isfile(script):
        script = os.path.join(root, sent["script"].removeprefix("./"))
    try:
        text = read_regular(script, 400_000).decode("utf-8", "replace")
    except OSError:
        return
    own = next(of_batch_script(path, text), None)
    limits = of_slurm(sent["options"])
    if not limits.are_known:
        return
    if own is not None:
        limits = own.limits.under(limits)
    job = Job("a Slurm job", path, number, limits)
    yield from (RunBy(job, command) for command in commands_in(script))
