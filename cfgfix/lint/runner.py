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
from cfgfix.lint.file_reports import NEITHER, neither_error, report_file
from cfgfix.lint.filters import applicable
from cfgfix.lint.other_formats import (
    OPENED_BY_CODE,
    only_read_by_code,
    other_formats,
    read_by_named_modules,
)
from cfgfix.lint.project import Target
from cfgfix.lint.python_reports import report_python, report_python_text, scans_python
from cfgfix.lint.recognition import Recognition, recognise, targets_of
from cfgfix.lint.request import PYTHON, YAML, FileReport, Read, Report, Request
from cfgfix.lint.rule_set import Skip
from cfgfix.lint.session import Session, select
from cfgfix.lint.targets import dialect_of
from cfgfix.lint.writing import write_reports
from cfgfix.rules.rule import Rule, YieldsTo
from cfgfix.settings.discovery import Matcher, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.usage.code_facts import CodeFacts

_UNSOUND = "the settings above it are wrong"


_NOT_INCLUDED = "no YAML or Python by its name, and no pattern of `include` fits it"


_NOT_OPENED = "no program here whose imports come to TensorFlow opens it"


COLLECT_EVERY = 512
"""Files after which garbage is looked for. A check leaves no circles behind; this is for what was not thought of."""


def check(request: Request) -> Report:
    """Check the files of a request, and report the findings.

    Raises:
        CfgfixError: The arguments or the settings are wrong.
    """
    return _whole_run(replace(request, fix=False))


def check_with_basis(request: Request) -> tuple[Report, CheckBasis | None]:
    """Check one text, and return the report with the basis of the check.

    The code is followed once for both. The basis is None for Python and for a text that is no training config.

    Raises:
        CfgfixError: The settings are wrong, or the text cannot be read.
    """
    request = replace(request, fix=False)
    session = Session(request)
    report = _run_request(request, session)
    return report, None if request.stdin_name.endswith(".py") else check_basis(request, session)


def fix(request: Request) -> Report:
    """Apply the fixes of a request and report what was fixed.

    Each fix is proven, and files are written only after all fixes are proven.

    Raises:
        CfgfixError: The arguments or the settings are wrong.
    """
    return _whole_run(replace(request, fix=True))


def _whole_run(request: Request) -> Report:
    """Return the report of a request whose session nothing needs afterwards."""
    session = Session(request)
    try:
        return _run_request(request, session)
    finally:
        session.drop_checkers()


@dataclass(frozen=True, slots=True)
class CheckBasis:
    """Document, target and rules behind the check of one text, for further questions."""

    document: Document
    target: Target
    rules: tuple[Rule, ...]
    hardware: str
    """One line: which machine is judged by."""
    code_facts: CodeFacts | None = None
    """What the code that opens it says of it."""


def check_basis(
    request: Request, session: Session | None = None, *, by_code: bool = True
) -> CheckBasis | None:
    """Return the document, target and rules that a check of standard input rests on.

    None where the text is no training config.

    Args:
        request: The text and its name.
        session: That of a check of the same request, whose knowledge of the code is used again.
        by_code: Whether the code around is asked, too; of a large project that takes seconds once.

    Raises:
        CfgfixError: The settings are wrong, or the text cannot be read.
    """
    assert request.stdin is not None
    session = Session(request) if session is None else session
    project = session.project_for(session.finder.settings_in(os.path.dirname(request.stdin_name) or "."))
    document = compose(SourceFile.from_bytes(request.stdin, request.stdin_name))
    forced = request.force_dialect
    recognition = (
        recognise(session, project, document, forced=forced)
        if by_code
        else Recognition(dialect_of(document, project, forced=forced), None, foreign=False)
    )
    if recognition.dialect is None or recognition.foreign:
        return None
    target = targets_of(session, project, recognition.dialect, recognition.code_facts)[0]
    return CheckBasis(document, target, project.rule_set.rules, project.hardware, recognition.code_facts)


def _run_request(request: Request, session: Session | None = None) -> Report:
    if request.overrides and request.fix:
        raise CfgfixError(
            "--set checks a config as an override would make it; it cannot be combined with fixing"
        )
    session = Session(request) if session is None else session
    base = session.finder.settings_in(".")
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
            project = session.project_for(
                session.finder.settings_in(os.path.dirname(request.stdin_name) or ".")
            )
            try:
                source = SourceFile.from_bytes(request.stdin, request.stdin_name)
            except UnreadableError as error:
                errors.append(error)
            else:
                if os.path.isfile(request.stdin_name) and not request.stdin_name.endswith(".py"):
                    project.files.append(request.stdin_name)
                if request.stdin_name.endswith(".py"):
                    sources = report_python_text(session, project, source, request, reports)
                else:
                    alone = not project.settings.force_exclude
                    included = Matcher(project.settings).included(request.stdin_name)
                    reports.append(
                        report_file(session, project, source, request, skips, alone=alone, included=included)
                    )
        else:
            session.project_for(base)
            files = find(request.paths or (".",), session.finder, session.inputs)
            for found in files:
                if found.path.endswith(YAML) or (
                    found.included and not found.path.endswith((*PYTHON, ".toml"))
                ):
                    own = session.project_or_none(found.settings)
                    if own is not None:
                        own.files.append(found.path)
            if scans_python(session, base, request):
                from cfgfix.lint.code_run import MAX_CONFIGS

                session.configs.most = MAX_CONFIGS
            for number, found in enumerate(files):
                if request.progress is not None:
                    request.progress(number, len(files))
                if found.path.endswith(PYTHON):
                    continue
                session.inputs.append(found.path)
                asked_for = found.included or found.path.endswith(YAML) or len(request.paths) == 1
                if not asked_for or only_read_by_code(session, found.path):
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
                    own = session.project_or_none(found.settings)
                    if own is None:
                        reports.append(FileReport(found.path, passed_over=_UNSOUND, settings=base))
                        continue
                    report = report_file(
                        session, own, source, request, skips, alone=alone, included=found.included
                    )
                except CfgfixError as error:
                    if found.settings is base:
                        raise
                    session.note_wrong_settings(found.settings, error)
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
            reports += other_formats(session, request, {report.path for report in reports})
            reports += read_by_named_modules(session, request, skips, {report.path for report in reports})
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
            sources = report_python(session, base, request, reports)
    finally:
        if collecting:
            gc.enable()
    for one in session.projects():
        if one.inferred is not None:
            session.inputs += one.inferred.files
        session.inputs += one.sources
        if one.nearby_code is not None:
            session.inputs += one.nearby_code.looked
    for code in session.codes():
        session.inputs += code.inputs
    reads = _reads_by_config(session) if request.tell_reads or request.past is not None else {}
    if request.past is not None:
        from cfgfix.lint.past import with_causes

        dead = frozenset(
            rule.id
            for project in session.projects()
            if (rule := project.rule_set.code.get("dead-key")) is not None
        )
        reports = list(with_causes(reports, request.past, reads, dead))
    written = False
    if (request.fix or request.add_ignores is not None) and not request.diff and request.stdin is None:
        written = write_reports(reports, errors)
    stale = tuple(_stale_entries(session, reports, skips))
    from cfgfix.lint.joining import without_echoes

    reports = without_echoes(
        reports,
        {
            rule.id
            for project in session.projects()
            for rule in project.rule_set.rules
            if rule.policy.yields_to is YieldsTo.CONFIG
        },
    )
    if not request.each:
        from cfgfix.lint.joining import join_by_cause

        reports = join_by_cause(
            reports, {rule.id for project in session.projects() for rule in project.rule_set.code.values()}
        )
    used = {id(report.settings) for report in reports}
    lines = [project.hardware for project in session.projects() if id(project.settings) in used] or [
        project.hardware for project in session.projects()
    ]
    if session.jobs:
        lines = [*session.jobs, *(lines if session.jobless else ())]
    return Report(
        files=tuple(
            replace(report, encoded=None) if report.encoded is not None and request.stdin is None else report
            for report in reports
        ),
        errors=(*session.problems, *session.failures(), *errors),
        skipped=tuple(skips.values()),
        hardware="; ".join(dict.fromkeys(lines)),
        settings=base,
        fixed=request.fix,
        unsafe_fixes=request.unsafe_fixes,
        written=written,
        diff=request.diff,
        rules={rule.id: rule for project in session.projects() for rule in project.rule_set.rules},
        inputs=(*session.inputs, *session.finder.looked),
        stale=stale,
        sources=sources,
        live=any(machine.live for project in session.projects() for machine in project.machines),
        loading=_loading_line(session),
        reads=reads,
        since=request.past.revision if request.past is not None else None,
    )


def _reads_by_config(session: Session) -> dict[str, Read]:
    """Return the places where code reads or asks for keys, by config path and key.

    A config path is relative to its repository.
    """
    return {
        path: {format_key_path(key): place for key, place in (*code_facts.reads, *code_facts.asked)}
        for code in session.codes()
        for path, code_facts in code.all().items()
    }


def _loading_line(session: Session) -> str:
    """Return one line about how the code loads the configs.

    Empty where that is not known.
    """
    lines = []
    for project in session.projects():
        if project.usage is not None:
            from cfgfix.usage.checks import loading_summary

            lines.append(loading_summary(project.usage))
    return "; ".join(dict.fromkeys(line for line in lines if line))


def _stale_entries(
    session: Session, reports: Sequence[FileReport], skips: Mapping[str, Skip]
) -> Iterator[str]:
    """Yield the baseline entries that no finding matches any more.

    A hook checks one file of many, and a run without a machine judges no rule about one: their entries still stand.
    """
    if session.baseline is None or session.past is not None:
        return
    root = os.path.dirname(os.path.abspath(session.baseline.path))
    judged = {rule.id for project in session.projects() for rule in project.rule_set.rules}
    known = {rule.id for project in session.projects() for rule in project.rule_set.catalogue.rules}
    checked = {
        os.path.relpath(path, root).replace(os.sep, "/")
        for path in (*(report.path for report in reports if report.text is not None), *session.scanned)
    }
    for (path, rule, place), count in session.left.items():
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
