"""What the runs of a project's programs show of its configs, one finding for each cause."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from cfgfix.code.inference.interpreter.objects import Scalar
from cfgfix.config.dialects.parameters import Branch, Reached
from cfgfix.core.edits import DeleteKey, RenameKey, SetValue
from cfgfix.core.errors import internal_fault
from cfgfix.core.findings import format_key_path
from cfgfix.core.records import dataclass, replace
from cfgfix.usage.absent_inputs import find_absent_inputs
from cfgfix.usage.arguments import Arguments
from cfgfix.usage.config_files import ConfigFile, DocumentStep, KeyPath, Place
from cfgfix.usage.config_runs import ConfigRuns, Verdict
from cfgfix.usage.held_out import find_trained_on
from cfgfix.usage.idle_keys import find_idle, find_overwritten, find_unread
from cfgfix.usage.job_limits import Job
from cfgfix.usage.jobs import job_for, jobs_of
from cfgfix.usage.lacking_keys import find_lacking, join_lacking
from cfgfix.usage.mentions import MentionIndex
from cfgfix.usage.overrides import find_unknown_overrides
from cfgfix.usage.program_runs import ProjectRuns
from cfgfix.usage.reached import Places, branches_of, reached_by
from cfgfix.usage.refused_arguments import find_refused_arguments
from cfgfix.usage.refused_keys import find_refused
from cfgfix.usage.run_results import RunResult
from cfgfix.usage.sinks import Sinks
from cfgfix.usage.spelling import value_in_words
from cfgfix.usage.value_texts import find_numbers_as_text, find_open_interpolations, find_wrong_values

MAX_REPAIRS = 3
"""How often a file is looked at again with the keys that were told as they are meant."""
MAX_PLACES = 1_000
"""Most keys of a file whose places in the code are kept."""


@dataclass(frozen=True, slots=True)
class ConfigVerdicts:
    """What the runs show of one config file.

    Attributes:
        file: The file.
        loader: Name of the loader that reads it.
        evidence: One line for each program that opens the config, with how that is known.
        ways: For each of these lines, the calls on the way to the loading call, and this call.
        framework: Whether a program of TensorFlow or Keras opens it.
        another: Whether only programs of other frameworks do.
        verdicts: The verdicts on the config.
        converted: Names of keys whose value the code converts to a number itself.
        programs: The programs that open it; where some use TensorFlow, only these.
        modules: The Python files that load it, read a key of it or ask for one.
        reads: Where each key is read first, as path and line.
        asked: The names that the code asks for and the file lacks, with where.
        reached: The parameters of TensorFlow that its values reach.
        job: The job that runs a program with the config under limits, or None.
        branches: The branches of the code that it decides.
        fallbacks: The default that the code takes for each absent key, by key path.
        release: The newest TensorFlow that the code may be run with, as `Api.newest`.
        known_words: Names of keys with a word for nothing that the code knows: it compares the value with it.
    """

    file: ConfigFile
    loader: str
    evidence: tuple[str, ...]
    ways: tuple[tuple[str, ...], ...]
    framework: bool
    another: bool
    verdicts: tuple[Verdict, ...]
    converted: frozenset[str]
    programs: tuple[str, ...]
    modules: frozenset[str]
    reads: dict[KeyPath, Place]
    asked: tuple[tuple[KeyPath, Place], ...]
    reached: tuple[Reached, ...]
    job: Job | None
    branches: tuple[Branch, ...]
    fallbacks: dict[KeyPath, str]
    release: int
    known_words: tuple[tuple[str, str], ...]


def verdicts_by_file(
    project: ProjectRuns, only: str | None = None, steps: Mapping[str, int] = MappingProxyType({})
) -> dict[str, ConfigVerdicts]:
    """Return what the runs show of each config that they opened.

    The keys are paths relative to the project.

    Args:
        project: The runs.
        only: The one config that is asked for; None for all.
        steps: How many steps had been made before the earlier verdicts on each config, by path.
    """
    by_file: dict[str, list[RunResult]] = {}
    for result in project.results:
        for path in result.opened:
            if only is None or path == only:
                by_file.setdefault(path, []).append(result)
    mentioned = MentionIndex(project)
    sinks, places, jobs = Sinks(project), Places(), jobs_of(project.files)
    arguments = Arguments(project, sinks)
    found: dict[str, ConfigVerdicts] = {}
    for path, every in by_file.items():
        # A run that stops for another file shows less of this one than those that go on.
        results = [result for result in every if result.broken <= {path}] or every
        project.steps = steps.get(path, project.steps)
        project.steps_at[path] = project.steps
        try:
            runs = ConfigRuns(project, path, results, mentioned)
            programs = {runs.relative(result.entrance.module.path) for result in results}
            reached = _reached_by(runs, sinks, places)
            job = job_for(jobs, programs, path)
            found[path] = _verdicts_of(runs, arguments, reached, job)
        except Exception as error:  # noqa: BLE001 - a fault here costs what the code says of one file
            project.failures.append(internal_fault(error, os.path.join(project.root, path)))
    return found


def _reached_by(runs: ConfigRuns, sinks: Sinks, places: Places) -> tuple[Reached, ...]:
    """Return the parameters of TensorFlow that the values of a config reach."""
    results = [result for result in runs.results if result.entrance.framework]
    if not results:
        return ()
    found = reached_by(runs.path, results, sinks, runs.entries, places)
    if runs.project.follows_models:
        from cfgfix.usage.training_memory import reached_trainings

        found += reached_trainings(runs.project, results, found, sinks, places)
    return found


def _verdicts_of(
    runs: ConfigRuns, arguments: Arguments, reached: tuple[Reached, ...], job: Job | None
) -> ConfigVerdicts:
    evidence: dict[str, tuple[str, ...]] = {}
    for result, opened in zip(runs.results, runs.mine, strict=True):
        spot = opened.loading.spot
        line = (
            f"opened by {runs.relative(result.entrance.module.path)} ({runs.place(spot)}): {opened.evidence}"
        )
        way = [f"{runs.relative(scope.module.path)}:{place.line}" for scope, place in spot.calls]
        evidence.setdefault(line, (*way, runs.place(spot)))
    problem = next((item.problem for item in runs.mine if item.problem is not None), None)
    if problem is not None and runs.first.file.form != "yaml":
        opened = runs.first
        stop = min(problem.offset + 1, len(opened.file.source.text))
        runs.add(
            Verdict(
                "not-loadable",
                (),
                (min(problem.offset, stop), stop),
                {
                    "message": problem.message,
                    "place": runs.place(opened.loading.spot),
                    "form": opened.file.form.upper(),
                },
                spot=opened.loading.spot,
                label="loads the file",
            )
        )
    several = any(isinstance(path[0], DocumentStep) for path in runs.entries if path)
    if runs.root is not None and (runs.root.kind == "map" or several):
        find_lacking(runs)
        find_refused(runs)
        for _ in range(MAX_REPAIRS):
            if not runs.go_on():
                break
            find_lacking(runs)
            find_refused(runs)
        join_lacking(runs)
        find_unknown_overrides(runs)
        find_open_interpolations(runs)
        find_refused_arguments(runs, arguments)
        find_wrong_values(runs)
        find_absent_inputs(runs)
        find_numbers_as_text(runs)
        find_trained_on(runs)
        find_unread(runs)
        find_overwritten(runs)
        find_idle(runs)
    converted = {
        key.name for opened in runs.mine for key in opened.keys.values() if key.conversions & {"float", "int"}
    }
    runs.verdicts.sort(key=lambda item: (item.span, item.check))
    return ConfigVerdicts(
        runs.first.file,
        runs.first.loader,
        tuple(evidence),
        tuple(evidence.values()),
        any(result.entrance.framework for result in runs.results),
        all(result.entrance.another and not result.entrance.framework for result in runs.results),
        tuple(map(_in_document, runs.verdicts) if several else runs.verdicts),
        frozenset(converted),
        _program_paths(runs),
        frozenset(map(runs.relative, _loading_modules(runs))),
        _first_reads(runs),
        _asked_keys(runs),
        tuple(_inside_documents(runs, reached)) if several else reached,
        job,
        branches_of(runs.path, runs.results) if not several else (),
        _agreed_defaults(runs) if not several else {},
        arguments.api.newest,
        _known_words(runs),
    )


_NOTHING = frozenset({"none", "nan", "inf"})
"""Words for nothing, in small letters, that YAML reads as texts."""


def _known_words(runs: ConfigRuns) -> tuple[tuple[str, str], ...]:
    """Return the names of keys with the word for nothing that the code compares each with."""
    return tuple(
        sorted(
            {
                (key.name, word)
                for opened in runs.mine
                for key in opened.keys.values()
                for word, is_same in key.compared
                if is_same and isinstance(word, str) and word.lstrip("+-").lower() in _NOTHING
            }
        )
    )


def _in_document(verdict: Verdict) -> Verdict:
    """Return a verdict with key paths relative to its document in the file."""
    first = verdict.path[0] if verdict.path else None
    if not isinstance(first, DocumentStep):
        return verdict
    front = f"{format_key_path((first,))}."
    values = {
        name: value.replace(front, "") if isinstance(value, str) else value
        for name, value in verdict.values.items()
    }
    changes = tuple(
        replace(change, document=first.number, path=change.path[1:])
        for change in verdict.changes
        if isinstance(change, (SetValue, RenameKey, DeleteKey))
    )
    label = verdict.label.replace(front, "")
    return replace(verdict, path=verdict.path[1:], values=values, changes=changes, label=label)


def _program_paths(runs: ConfigRuns) -> tuple[str, ...]:
    entrances = [result.entrance for result in runs.results]
    chosen = [entrance for entrance in entrances if entrance.framework] or entrances
    return tuple(dict.fromkeys(runs.relative(entrance.module.path) for entrance in chosen))


def _loading_modules(runs: ConfigRuns) -> Iterator[str]:
    """Yield the Python files that load a config, use its keys or ask for keys."""
    for result, opened in zip(runs.results, runs.mine, strict=True):
        yield opened.loading.spot.path
        for scope, _ in opened.loading.spot.calls:
            yield scope.module.path
        for key in opened.keys.values():
            for spots in (key.reads, key.uses, key.walks, key.writes, key.escapes, key.offers):
                yield from (spot.path for spot in spots)
        yield from (item.spot.path for item in result.run.asked)
        yield from (item.spot.path for item in result.run.refusals)


def _first_reads(runs: ConfigRuns) -> dict[KeyPath, Place]:
    """Return the place of the first read of each key.

    Misplaced keys are left out.
    """
    repaired = {_inside_document(item.path) for item in runs.repairs if item.word is None}
    return {path: place for path, place in _read_as_repaired(runs).items() if path not in repaired}


def _read_as_repaired(runs: ConfigRuns) -> dict[KeyPath, Place]:
    """Return the place of the first read of each key, misplaced keys included."""
    found: dict[KeyPath, Place] = {}
    for opened in runs.mine:
        for path, key in opened.keys.items():
            spot = next(iter((*key.reads, *key.uses, *key.walks, *key.escapes)), None)
            inside = _inside_document(path)
            if inside and spot is not None and len(found) < MAX_PLACES:
                found.setdefault(inside, (runs.relative(spot.path), spot.line))
    return found


def _inside_document(path: KeyPath) -> KeyPath:
    """Return a key path without the step for its document."""
    return path[1:] if path and isinstance(path[0], DocumentStep) else path


def _inside_documents(runs: ConfigRuns, reached: Iterable[Reached]) -> Iterator[Reached]:
    """Yield reached parameters with key paths relative to the document.

    Keys that several documents have are left out.
    """
    times = Counter(_inside_document(path) for path in runs.entries)
    for item in reached:
        inside = _inside_document(item.path) if item.path is not None else None
        if inside is None or times[inside] == 1:
            yield replace(item, path=inside)


def _agreed_defaults(runs: ConfigRuns) -> dict[KeyPath, str]:
    """Return the default that the code takes for each key, where all runs agree."""
    found: dict[KeyPath, set[str]] = {}
    for opened in runs.mine:
        for path, key in opened.keys.items():
            if isinstance(key.fallback, Scalar) and len(found) < MAX_PLACES:
                found.setdefault(path, set()).add(value_in_words(key.fallback))
    return {path: next(iter(texts)) for path, texts in found.items() if len(texts) == 1}


def _asked_keys(runs: ConfigRuns) -> tuple[tuple[KeyPath, Place], ...]:
    """Return the keys that the code asks for and the config lacks, with the place."""
    found: dict[KeyPath, Place] = {}
    for result in runs.results:
        for item in result.run.asked:
            for section in item.sections:
                if section.source == runs.path and len(found) < MAX_PLACES:
                    place = (runs.relative(item.spot.path), item.spot.line)
                    found.setdefault(_inside_document((*section.path, item.name)), place)
    reads = _read_as_repaired(runs) if runs.repairs else {}
    for repair in runs.repairs:
        if repair.word is not None:
            continue
        place_read = reads.get(_inside_document(repair.path))
        if place_read is not None:
            found.setdefault(_inside_document((*repair.section, repair.name)), place_read)
    return tuple(found.items())
