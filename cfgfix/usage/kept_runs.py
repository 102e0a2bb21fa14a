"""What is kept of a project's runs: enough to make only those again whose outcome a changed config decides.

A run depends on the code, on the commands, on which configs there are, and on the text of those that it touches. Where only
texts of configs have changed, the runs that touch none of them are taken as they were, and the others are made again. The
outcome of a run decides which further runs are made; where it is another one than before, nothing that was kept is used.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cfgfix.code.model.program import Program
from cfgfix.core.errors import UnreadableError
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import read_source
from cfgfix.usage.commands import Command
from cfgfix.usage.entrances import Entrances
from cfgfix.usage.job_manifests import may_limit
from cfgfix.usage.program_runs import MAX_STEPS, ProjectRuns
from cfgfix.usage.run_host import Site
from cfgfix.usage.run_results import RunResult, Trace, outcome_of, trace_of
from cfgfix.usage.taken_over import SETTINGS, files_with_limits

LIMITS = (MAX_STEPS // 2, MAX_STEPS, 2 * MAX_STEPS)
"""Sums of steps at which other runs are made, or none."""
MAX_SHARE = 0.7
"""Largest share of all steps that is made again; beyond it everything is."""
_Shape = tuple[str, frozenset[str], frozenset[str]]
_TOUCHED = 4
"""Where the outcome of a run has the files that it touches."""


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run as it is kept between checks.

    Attributes:
        entrance: The module's path and the function where it begins.
        command: The command that started it, or None.
        forced: The files given to load sites in place of the program's own.
        base: The index of the run of which this one is a repetition with both ways taken; -1 for none.
        counts: Whether verdicts rest on the run.
        before: The steps of all runs before it.
        steps: The steps of this run.
        outcome: The facts on which the choice of further runs depends.
        trace: The trace of the run, with scopes as numbers by module; None where no verdict rests on it.
    """

    entrance: tuple[str, str]
    command: Command | None
    forced: tuple[tuple[Site, str], ...]
    base: int
    counts: bool
    before: int
    steps: int
    outcome: tuple[Any, ...]
    trace: tuple[Any, ...] | None

    @property
    def touched(self) -> frozenset[str]:
        """The configs on whose text the run depends."""
        return frozenset(self.outcome[_TOUCHED])

    @property
    def opened(self) -> tuple[str, ...]:
        """The configs that the run opens."""
        opened: tuple[str, ...] = self.outcome[3]
        return opened


@dataclass(frozen=True, slots=True)
class KeptRuns:
    """The runs of a project as they are kept between checks.

    Attributes:
        runs: The runs, in the order in which they were made.
        sites: Load sites that may get files that are not known: the function, the keys it asks for, and the names in its program.
        fitting: For each file, the indices of the sites that ask for its keys.
        opened: The files that were opened before similar files beside them were tried.
        beside: For each other file the similar files among the opened ones.
        limits: The files that may give limits of jobs.
        steps: How many steps of the interpreter these runs took.
        steps_at: How many steps were made before the verdicts on each config, by path.
    """

    runs: tuple[KeptRun, ...]
    sites: tuple[_Shape, ...]
    fitting: Mapping[str, tuple[int, ...]]
    opened: frozenset[str]
    beside: Mapping[str, frozenset[str]]
    limits: frozenset[str]
    steps: int
    steps_at: Mapping[str, int]


def packed_runs(project: ProjectRuns) -> Any:
    """Return a project's runs as data that `marshal` can write."""
    results = {id(result): result for result in project.results}
    places: dict[int, int] = {}
    rows = []
    driven = project.made[: project.driven]
    steps = driven[-1].before + driven[-1].steps if driven else 0
    last = {made.result: number for number, made in enumerate(driven)}
    for number, made in enumerate(driven):
        base = places.get(made.base, -1)
        places[made.result] = number
        result = results.get(made.result) if last[made.result] == number else None
        command = made.command
        rows.append(
            (
                made.entrance,
                None
                if command is None
                else (
                    command.path,
                    command.line,
                    command.program,
                    command.is_module,
                    tuple(command.arguments),
                    tuple(command.variables),
                    command.folder,
                    tuple(command.chosen),
                ),
                made.forced,
                base,
                result is not None,
                made.before,
                made.steps,
                made.outcome,
                None if result is None else _packed_trace(result),
            )
        )
    shapes = [(site.loading.how, frozenset(site.names), site.said) for site in project.open_sites]
    sites = [(how, sorted(names), sorted(said)) for how, names, said in shapes]
    fitting = {path: found for path in project.files.data if (found := _fitting_sites(project, path, shapes))}
    beside = {path: tuple(near) for path, near in project.beside.items()}
    opened = tuple(project.opened_first)
    return rows, sites, fitting, opened, beside, sorted(files_with_limits(project)), steps, project.steps_at


def unpacked_runs(data: Any) -> KeptRuns:
    """Return the kept runs from the data that `packed_runs` made."""
    rows, sites, fitting, opened, beside, limits, steps, steps_at = data
    return KeptRuns(
        tuple(
            KeptRun(entrance, Command(*command) if command is not None else None, *rest)
            for entrance, command, *rest in rows
        ),
        tuple((how, frozenset(names), frozenset(said)) for how, names, said in sites),
        fitting,
        frozenset(opened),
        {path: frozenset(near) for path, near in beside.items()},
        frozenset(limits),
        steps,
        steps_at,
    )


def affected_by(kept: KeptRuns, changed: Iterable[str]) -> frozenset[str]:
    """Return the configs whose verdicts may change when some configs change.

    Verdicts of configs depend on each other where one run touches several.
    """
    found = set(changed)
    count = -1
    while count != len(found):
        count = len(found)
        for run in kept.runs:
            if not found.isdisjoint(run.touched):
                found.update(run.opened)
    return frozenset(found)


def run_again(
    program: Program, root: str, kept: KeptRuns, changed: frozenset[str], wanted: frozenset[str] = frozenset()
) -> ProjectRuns | None:
    """Return the runs of a project after changes of configs.

    Only runs that touch affected configs are made; of the others the traces are kept. None where
    everything must be run.

    Args:
        program: The linked program, whose code has not changed.
        root: The project's folder.
        kept: The runs as they were.
        changed: The configs whose text has changed, by path relative to the root.
        wanted: Further configs whose runs are asked for.
    """
    affected = affected_by(kept, changed | wanted)
    live = [run for run in kept.runs if not affected.isdisjoint(run.touched)]
    if sum(run.steps for run in live) > MAX_SHARE * kept.steps:
        return None
    project = ProjectRuns(program, root)
    if not all(_same_shape(project, kept, path) for path in changed):
        return None
    if not live:
        project.others = [_trace_of_run(program, run) for run in kept.runs if run.counts]
        project.steps = kept.steps
        return project
    project.entered = Entrances(program, project.files).found()
    entrances = {(item.module.path, item.function): item for item in project.entered}
    made: dict[int, RunResult] = {}
    drift = 0
    for number, run in enumerate(kept.runs):
        project.steps = run.before + drift
        if _other_side(project.steps, run.before):
            return None
        if affected.isdisjoint(run.touched):
            if run.counts:
                project.others.append(_trace_of_run(program, run))
            continue
        entrance = entrances.get(run.entrance)
        if entrance is None:
            return None
        base = made.get(run.base)
        result = project.one(entrance, run.command, dict(run.forced), base=base)
        if outcome_of(result) != run.outcome:
            return None
        made[number] = result
        if base is not None:
            project.every_way[id(base)] = result
        if run.counts:
            project.results.append(result)
        drift += result.run.steps - run.steps
    project.steps = kept.steps + drift
    return None if _other_side(project.steps, kept.steps) else project


def _other_side(one: int, other: int) -> bool:
    """Tell whether a limit lies between two sums of steps."""
    return any((one >= limit) != (other >= limit) for limit in LIMITS)


def _same_shape(project: ProjectRuns, kept: KeptRuns, path: str) -> bool:
    """Tell whether a changed file still fits the same load sites and sibling files.

    False for files that may give commands, limits or package settings.
    """
    if (
        path in project.files.texts
        or os.path.basename(path) in SETTINGS
        or path in kept.limits
        or _may_limit(project, path)
    ):
        return False
    alike = project.alike(path)
    if path in kept.beside and kept.opened.intersection(alike) != kept.beside[path]:
        return False
    if path in kept.opened and any(
        (other in alike) != (path in near)
        for other, near in kept.beside.items()
        if os.path.dirname(other) == os.path.dirname(path)
    ):
        return False
    return _fitting_sites(project, path, kept.sites) == tuple(kept.fitting.get(path, ()))


def _fitting_sites(project: ProjectRuns, path: str, sites: Sequence[_Shape]) -> tuple[int, ...]:
    return tuple(
        number for number, (how, names, said) in enumerate(sites) if project.fits(path, how, names, said)
    )


def _may_limit(project: ProjectRuns, path: str) -> bool:
    if not path.endswith((".yaml", ".yml")):
        return False
    try:
        return may_limit(read_source(os.path.join(project.root, path)).text)
    except UnreadableError:
        return True


def _packed_trace(result: RunResult) -> tuple[Any, ...]:
    trace = trace_of(result)
    scopes: dict[str, list[int]] = {}
    for number, scope in result.run.entered.items():
        if number in trace.scopes:
            scopes.setdefault(os.path.normpath(scope.module.path), []).append(scope.number)
    return (
        tuple(trace.opened),
        trace.exhausted,
        tuple(trace.loaded),
        scopes,
        trace.names,
        tuple(trace.asked),
    )


def _trace_of_run(program: Program, run: KeptRun) -> Trace:
    assert run.trace is not None
    opened, exhausted, loaded, scopes, names, asked = run.trace
    found: set[int] = set()
    for path, numbers in scopes.items():
        module = program.module_at(path)
        if module is not None:
            found.update(id(module.summary.scopes[number]) for number in numbers)
    return Trace(
        frozenset(opened), exhausted, frozenset(loaded), frozenset(found), tuple(names), frozenset(asked)
    )
