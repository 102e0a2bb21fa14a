"""What the runs of a project's programs show of its configs, one finding for each cause."""

from __future__ import annotations

import os

from cfgfix.core.errors import internal_fault
from cfgfix.core.records import dataclass
from cfgfix.usage.config_files import ConfigFile
from cfgfix.usage.idle_keys import find_overwritten, find_unread
from cfgfix.usage.judge import Judge, Verdict
from cfgfix.usage.lacking_keys import find_lacking
from cfgfix.usage.mentions import MentionIndex
from cfgfix.usage.program_runs import ProjectRuns, RunResult
from cfgfix.usage.refused_keys import find_refused
from cfgfix.usage.value_texts import find_numbers_as_text, find_open_interpolations, find_wrong_values


@dataclass(frozen=True, slots=True)
class Judged:
    """What the code says of one config file.

    Attributes:
        file: The file.
        loader: Name of the loader that reads it.
        evidence: What opens it and how that is known, one line for each program.
        framework: Whether a program of TensorFlow or Keras opens it.
        another: Whether only programs of other frameworks do.
        verdicts: What is wrong.
        converted: Names of keys whose value the code converts to a number itself.
    """

    file: ConfigFile
    loader: str
    evidence: tuple[str, ...]
    framework: bool
    another: bool
    verdicts: tuple[Verdict, ...]
    converted: frozenset[str]


def judged(project: ProjectRuns, only: str | None = None) -> dict[str, Judged]:
    """Return what the runs say of each config that they opened, by its path relative to the project.

    Args:
        project: The runs.
        only: The one config that is asked for; None for all.
    """
    by_file: dict[str, list[RunResult]] = {}
    for result in project.results:
        for path in result.opened:
            if only is None or path == only:
                by_file.setdefault(path, []).append(result)
    mentioned = MentionIndex(project)
    found: dict[str, Judged] = {}
    for path, results in by_file.items():
        try:
            found[path] = _verdicts_of(Judge(project, path, results, mentioned))
        except Exception as error:  # noqa: BLE001 - a fault here costs what the code says of one file
            project.failures.append(internal_fault(error, os.path.join(project.root, path)))
    return found


def _verdicts_of(judge: Judge) -> Judged:
    evidence = []
    for result, opened in zip(judge.results, judge.mine, strict=True):
        place = f"{judge.shown(opened.loading.spot.path)}:{opened.loading.spot.line}"
        line = f"opened by {judge.shown(result.entrance.module.path)} ({place}): {opened.evidence}"
        if line not in evidence:
            evidence.append(line)
    problem = next((item.problem for item in judge.mine if item.problem is not None), None)
    if problem is not None and judge.first.file.form != "yaml":
        opened = judge.first
        stop = min(problem.offset + 1, len(opened.file.source.text))
        judge.add(
            Verdict(
                "not-loadable",
                (),
                (min(problem.offset, stop), stop),
                {
                    "message": problem.message,
                    "place": judge.place(opened.loading.spot),
                    "form": opened.file.form.upper(),
                },
                spot=opened.loading.spot,
                label="loads the file",
            )
        )
    if judge.root is not None and judge.root.kind == "map":
        find_lacking(judge)
        find_refused(judge)
        find_wrong_values(judge)
        find_open_interpolations(judge)
        find_numbers_as_text(judge)
        find_unread(judge)
        find_overwritten(judge)
    converted = {
        key.name
        for opened in judge.mine
        for key in opened.keys.values()
        if key.conversions & {"float", "int"}
    }
    judge.verdicts.sort(key=lambda item: (item.span, item.check))
    return Judged(
        judge.first.file,
        judge.first.loader,
        tuple(evidence),
        any(result.entrance.framework for result in judge.results),
        all(result.entrance.another and not result.entrance.framework for result in judge.results),
        tuple(judge.verdicts),
        frozenset(converted),
    )
