"""The one place that knows everything: a request becomes a report.

`check` looks, `fix` repairs. Both only return data; nothing is printed, and nothing but proven fixes is written.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping, Sequence

from cfgfix.config.document.compose import Document, compose
from cfgfix.core.errors import CfgfixError, UnreadableError
from cfgfix.core.findings import KeyPath, Refused, format_key_path
from cfgfix.core.records import dataclass, replace
from cfgfix.core.source_file import SourceFile, excerpt, read_source
from cfgfix.lint.checkers.project import Target
from cfgfix.lint.file_reports import NEITHER, neither_error, report_file
from cfgfix.lint.filters import applicable
from cfgfix.lint.other_formats import (
    OPENED_BY_CODE,
    only_read_by_code,
    other_formats,
    read_by_named_modules,
)
from cfgfix.lint.python_reports import report_python, report_python_text, scans_python
from cfgfix.lint.request import PYTHON, YAML, FileReport, Read, Report, Request
from cfgfix.lint.rule_set import Skip
from cfgfix.lint.session import Runs, dialect_of, select
from cfgfix.lint.targets import Standing, standing_of, targets_of
from cfgfix.lint.writing import write_reports
from cfgfix.rules.rule import Rule, YieldsTo
from cfgfix.settings.discovery import Matcher, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.usage.code_says import CodeSays

_UNSOUND = "the settings above it are wrong"


_NOT_INCLUDED = "no YAML or Python by its name, and no pattern of `include` fits it"


_NOT_OPENED = "no program here whose imports come to TensorFlow opens it"


COLLECT_EVERY = 512
"""Files after which garbage is looked for. A check leaves no circles behind; this is for what was not thought of."""


def check(request: Request) -> Report:
    """Look at the files of a request and report what is wrong.

    Raises:
        CfgfixError: The arguments or the settings are wrong.
    """
    return _run(replace(request, fix=False))


def check_with_basis(request: Request) -> tuple[Report, CheckBasis | None]:
    """Look at one text as `check` does, and say what that rests on.

    The code is asked once for both; of Python there is a report alone.

    Raises:
        CfgfixError: The settings are wrong, or the text cannot be read.
    """
    request = replace(request, fix=False)
    runs = Runs(request)
    report = _run(request, runs)
    return report, None if request.stdin_name.endswith(".py") else check_basis(request, runs)


def fix(request: Request) -> Report:
    """Repair what can be repaired.

    Each fix proven, all files written only after all are proven.

    Raises:
        CfgfixError: The arguments or the settings are wrong.
    """
    return _run(replace(request, fix=True))


@dataclass(frozen=True, slots=True)
class CheckBasis:
    """What a check of one text rests on, for those who answer questions about it."""

    document: Document
    target: Target
    rules: tuple[Rule, ...]
    hardware: str
    """One line: which machine is judged by."""
    says: CodeSays | None = None
    """What the code that opens it says of it."""


def check_basis(request: Request, runs: Runs | None = None, *, by_code: bool = True) -> CheckBasis | None:
    """Return what a check of the request's standard input rests on.

    None where the text is no training config.

    Args:
        request: The text and its name.
        runs: Those of a check of the same request, whose knowledge of the code is used again.
        by_code: Whether the code around is asked, too; of a large project that takes seconds once.

    Raises:
        CfgfixError: The settings are wrong, or the text cannot be read.
    """
    assert request.stdin is not None
    runs = Runs(request) if runs is None else runs
    run = runs.run_for(runs.finder.settings_in(os.path.dirname(request.stdin_name) or "."))
    document = compose(SourceFile.from_bytes(request.stdin, request.stdin_name))
    forced = request.force_dialect
    standing = (
        standing_of(runs, run, document, forced=forced)
        if by_code
        else Standing(dialect_of(document, run, forced=forced), None, foreign=False)
    )
    if standing.dialect is None or standing.foreign:
        return None
    target = targets_of(runs, run, standing.dialect, standing.says)[0]
    return CheckBasis(document, target, run.rule_set.rules, run.hardware, standing.says)


def _run(request: Request, runs: Runs | None = None) -> Report:
    if request.overrides and request.fix:
        raise CfgfixError(
            "--set checks a config as an override would make it; it cannot be combined with fixing"
        )
    runs = Runs(request) if runs is None else runs
    base = runs.finder.settings_in(".")
    errors: list[CfgfixError] = []
    reports: list[FileReport] = []
    skips: dict[str, Skip] = {}
    left_out: list[str] = []
    """Named files of other endings, which have a report only where code opens them."""
    sources = 0
    collecting = gc.isenabled()
    gc.disable()
    try:
        if request.stdin is not None:
            run = runs.run_for(runs.finder.settings_in(os.path.dirname(request.stdin_name) or "."))
            try:
                source = SourceFile.from_bytes(request.stdin, request.stdin_name)
            except UnreadableError as error:
                errors.append(error)
            else:
                if os.path.isfile(request.stdin_name) and not request.stdin_name.endswith(".py"):
                    run.files.append(request.stdin_name)
                if request.stdin_name.endswith(".py"):
                    sources = report_python_text(runs, run, source, request, reports)
                else:
                    alone = not run.settings.force_exclude
                    included = Matcher(run.settings).included(request.stdin_name)
                    reports.append(
                        report_file(runs, run, source, request, skips, alone=alone, included=included)
                    )
        else:
            runs.run_for(base)
            files = find(request.paths or (".",), runs.finder, runs.inputs)
            for found in files:
                if found.path.endswith(YAML) or (
                    found.included and not found.path.endswith((*PYTHON, ".toml"))
                ):
                    own = runs.sound(found.settings)
                    if own is not None:
                        own.files.append(found.path)
            if scans_python(runs, base, request):
                from cfgfix.lint.code_run import MAX_CONFIGS

                runs.configs.most = MAX_CONFIGS
            for number, found in enumerate(files):
                if request.progress is not None:
                    request.progress(number, len(files))
                if found.path.endswith(PYTHON):
                    continue
                runs.inputs.append(found.path)
                asked_for = found.included or found.path.endswith(YAML) or len(request.paths) == 1
                if not asked_for or only_read_by_code(runs, found.path):
                    left_out.append(found.path)
                    continue
                try:
                    source = read_source(found.path)
                except UnreadableError as error:
                    if found.named:
                        errors.append(error)
                    else:
                        reports.append(
                            FileReport(found.path, passed_over=f"not readable as YAML text: {error.message}")
                        )
                    continue
                # A hook names files too, one of them where one has changed; it says so with `force-exclude`.
                alone = found.named and len(request.paths) == 1 and not found.settings.force_exclude
                try:
                    own = runs.sound(found.settings)
                    if own is None:
                        reports.append(FileReport(found.path, passed_over=_UNSOUND, settings=base))
                        continue
                    report = report_file(
                        runs, own, source, request, skips, alone=alone, included=found.included
                    )
                except CfgfixError as error:
                    if found.settings is base:
                        raise
                    runs.note_unsound_settings(found.settings, error)
                    reports.append(FileReport(found.path, passed_over=_UNSOUND, settings=base))
                    continue
                if report.passed_over == NEITHER and report.alone:
                    errors.append(neither_error(source))
                    continue
                if request.excerpts and report.text is not None:
                    shown = (*report.findings, *report.hidden)
                    report = replace(report, text=excerpt(report.text, report.path, shown))
                reports.append(report)
                if len(reports) % COLLECT_EVERY == 0:
                    gc.collect(0)
            reports += other_formats(runs, request, {report.path for report in reports})
            reports += read_by_named_modules(runs, request, skips, {report.path for report in reports})
            opened = {os.path.normpath(report.path) for report in reports}
            reports += [
                FileReport(
                    path,
                    passed_over=_NOT_OPENED if path.endswith(OPENED_BY_CODE) else _NOT_INCLUDED,
                    settings=base,
                )
                for path in left_out
                if os.path.normpath(path) not in opened
            ]
            if request.progress is not None:
                request.progress(len(files), len(files))
            sources = report_python(runs, base, request, reports)
    finally:
        if collecting:
            gc.enable()
    for one in runs.all():
        if one.inferred is not None:
            runs.inputs += one.inferred.files
        runs.inputs += one.sources
        if one.surroundings is not None:
            runs.inputs += one.surroundings.looked
    for code in runs.codes():
        runs.inputs += code.inputs
    reads = _reads(runs) if request.tell_reads or request.past is not None else {}
    if request.past is not None:
        from cfgfix.lint.past import with_causes

        dead = frozenset(
            rule.id for run in runs.all() if (rule := run.rule_set.code.get("dead-key")) is not None
        )
        reports = list(with_causes(reports, request.past, reads, dead))
    written = False
    if (request.fix or request.add_ignores is not None) and not request.diff and request.stdin is None:
        written = write_reports(reports, errors)
    stale = tuple(_stale(runs, reports, skips))
    from cfgfix.lint.joining import without_echoes

    reports = without_echoes(
        reports,
        {
            rule.id
            for run in runs.all()
            for rule in run.rule_set.rules
            if rule.policy.yields_to is YieldsTo.CONFIG
        },
    )
    if not request.each:
        from cfgfix.lint.joining import joined

        reports = joined(reports, {rule.id for run in runs.all() for rule in run.rule_set.code.values()})
    used = {id(report.settings) for report in reports}
    lines = [run.hardware for run in runs.all() if id(run.settings) in used] or [
        run.hardware for run in runs.all()
    ]
    if runs.jobs:
        lines = [*runs.jobs, *(lines if runs.jobless else ())]
    return Report(
        files=tuple(
            replace(report, encoded=None) if report.encoded is not None and request.stdin is None else report
            for report in reports
        ),
        errors=(*runs.problems, *runs.failures(), *errors),
        skipped=tuple(skips.values()),
        hardware="; ".join(dict.fromkeys(lines)),
        settings=base,
        fixed=request.fix,
        unsafe_fixes=request.unsafe_fixes,
        written=written,
        diff=request.diff,
        rules={rule.id: rule for run in runs.all() for rule in run.rule_set.rules},
        inputs=(*runs.inputs, *runs.finder.looked),
        stale=stale,
        sources=sources,
        live=any(machine.live for run in runs.all() for machine in run.machines),
        loading=_loading_line(runs),
        reads=reads,
        since=request.past.revision if request.past is not None else None,
    )


def _reads(runs: Runs) -> dict[str, Read]:
    """Return what the code reads of each config and asks for in vain, by the config's path in its repository."""
    return {
        path: {format_key_path(key): place for key, place in (*says.reads, *says.asked)}
        for code in runs.codes()
        for path, says in code.all().items()
    }


def _loading_line(runs: Runs) -> str:
    """Return how the code loads the configs of all runs, or nothing where that is not known."""
    lines = []
    for run in runs.all():
        if run.usage is not None:
            from cfgfix.usage.checks import loading_summary

            lines.append(loading_summary(run.usage))
    return "; ".join(dict.fromkeys(line for line in lines if line))


def _stale(runs: Runs, reports: Sequence[FileReport], skips: Mapping[str, Skip]) -> Iterator[str]:
    """Yield the baseline entries that nothing matches any more, of rules and files that this run could judge.

    A hook checks one file of many, and a run without a machine judges no rule about one: their entries still stand.
    """
    if runs.baseline is None or runs.past is not None:
        return
    root = os.path.dirname(os.path.abspath(runs.baseline.path))
    judged = {rule.id for run in runs.all() for rule in run.rule_set.rules}
    known = {rule.id for run in runs.all() for rule in run.rule_set.catalogue.rules}
    checked = {
        os.path.relpath(path, root).replace(os.sep, "/")
        for path in (*(report.path for report in reports if report.text is not None), *runs.scanned)
    }
    for (path, rule, place), count in runs.left.items():
        if not count:
            continue
        if path in checked:
            told = rule not in known or (rule in judged and rule not in skips)
        else:
            told = not os.path.lexists(os.path.join(root, path))
        if told:
            yield f"{path}: {rule} {place}"


__all__ = [
    "CheckBasis",
    "FileReport",
    "KeyPath",
    "Refused",
    "Report",
    "Request",
    "applicable",
    "check",
    "check_basis",
    "fix",
    "select",
]
