"""The reports of Python files: which are scanned, under which configs, and what comes of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from cfgfix.config.document.compose import compose
from cfgfix.core.baseline import split as split_known
from cfgfix.core.edits import Edit
from cfgfix.core.errors import UnreadableError
from cfgfix.core.findings import Finding
from cfgfix.core.records import replace
from cfgfix.core.source_file import SourceFile, read_source
from cfgfix.lint.filters import without_ignored
from cfgfix.lint.project import Project
from cfgfix.lint.request import PYTHON, FileReport, Request
from cfgfix.lint.session import Session
from cfgfix.lint.targets import dialect_of, target_of
from cfgfix.settings.discovery import find
from cfgfix.settings.reader import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.code.model.given import GivenByConfigs
    from cfgfix.code.model.python_files import PythonFile
    from cfgfix.code.scan import ConfigFacts
    from cfgfix.lint.code_run import SourceRun


def report_python(session: Session, base: Settings, request: Request, reports: list[FileReport]) -> int:
    """Scan a run's Python files, add their reports, and return their number.

    The files are one program, so the settings of the folder that the run starts in hold for what is scanned; what is
    ignored in a file is said by the settings nearest to it.
    """
    if not scans_python(session, base, request):
        return 0
    project = session.project_for(base)
    from cfgfix.settings.code_files import python_files

    files = python_files(request.paths, base)
    if files:
        session.inputs += [file.path for file in files]
        session.scanned += [file.path for file in files]
        _ask_for_code(session, project, request)
        scan = _source_run(session, project, request, files)
        found = _reports_of_scan(scan, request)
        if request.fix:
            found = _with_config_repairs(session, project, request, scan, found, reports)
        made = list(_as_reports(session, project, request, scan, found))
        reports += _with_modules_of_settings(session, project, files, made)
    return len(files)


def _with_modules_of_settings(
    session: Session, project: Project, files: Sequence[PythonFile], reports: list[FileReport]
) -> list[FileReport]:
    """Return the reports, with modules of settings marked by their importing programs.

    A module of settings is a Python file that programs use as a config. One without a report gets an empty one.
    """
    if not project.rule_set.code:
        return reports
    by_path = {os.path.abspath(file.path): file.path for file in files}
    held = {
        path: programs
        for code in session.codes()
        for inside, programs in code.modules()
        if (path := by_path.get(os.path.join(code.root, inside))) is not None
    }
    known = {report.path for report in reports}
    return [
        *(replace(report, imported_by=held.get(report.path, ())) for report in reports),
        *(
            FileReport(path, language="python", settings=project.settings, imported_by=programs)
            for path, programs in sorted(held.items())
            if path not in known
        ),
    ]


def scans_python(session: Session, base: Settings, request: Request) -> bool:
    """Tell whether a run scans Python files."""
    paths = request.paths
    if (
        paths
        and not base.source_roots
        and not any(path.endswith(PYTHON) or os.path.isdir(path) for path in paths)
    ):
        return False
    return _has_rules_about_code(session.project_for(base))


def _has_rules_about_code(project: Project) -> bool:
    return any(rule.check and rule.check.startswith(("source.", "code.")) for rule in project.rule_set.rules)


MAX_LOOKED_AT = 500
"""Most YAML files that are looked through for the configs of a program of which one text is checked."""


def report_python_text(
    session: Session, project: Project, source: SourceFile, request: Request, reports: list[FileReport]
) -> int:
    """Scan one Python text with the program around it, and add its report.

    The project's configs are those it is judged under.
    """
    from cfgfix.lint.code_run import MAX_CONFIGS, program_around

    session.configs.most = MAX_CONFIGS
    settings = project.settings
    place = settings.root if settings.origin else os.path.dirname(os.path.abspath(request.stdin_name))
    # Standard input is given back as it came where there is nothing to repair.
    same = source.encode(source.text)
    empty = FileReport(source.path, source.text, encoded=same, language="python", settings=settings)
    if not _has_rules_about_code(project):
        reports.append(empty)
        return 1
    for found in find((place,), session.finder, session.inputs)[:MAX_LOOKED_AT]:
        if session.configs.full():
            break
        try:
            document = compose(read_source(found.path))
        except UnreadableError:
            continue
        own = session.project_or_none(found.settings)
        dialect = dialect_of(document, own) if own is not None else None
        if own is not None and dialect is not None and document.problem is None:
            own.files.append(found.path)
            session.configs.items.append((document, target_of(own, dialect, own.machines[0]).loader))
    files, path = program_around(request.stdin_name, place, settings)
    if request.paths and not settings.force_exclude:
        # On a command line a person names it; in an editor it is being written.
        files = [replace(file, named=file.path == path) for file in files]
    scan = _source_run(session, project, request, files, {path: source.text})
    made = list(_as_reports(session, project, request, scan, _reports_of_scan(scan, request)))
    reports += [replace(report, encoded=report.encoded or same) for report in made] or [empty]
    return 1


def _source_run(
    session: Session,
    project: Project,
    request: Request,
    files: Sequence[PythonFile],
    texts: Mapping[str, str] | None = None,
) -> SourceRun:
    """Return a run over Python files, set up as the request and the settings say.

    With `texts` only those files are reported.
    """
    from cfgfix.lint.code_run import SourceRun

    return SourceRun(
        project,
        files,
        configs=lambda edited: _config_facts(session, edited),
        permitted=lambda findings, path: without_ignored(
            session.project_or_none(session.finder.settings_in(os.path.dirname(path) or ".")) or project,
            findings,
            path,
        ),
        texts=texts,
        only=_reported_paths(request, project.settings, files, texts),
        under=lambda edited: _under_configs(session, edited),
        progress=request.progress,
    )


def _config_facts(session: Session, edited: Mapping[str, str]) -> list[ConfigFacts]:
    """Return facts about the kept configs for the guards in code.

    `edited` are texts, by path, that stand for those on disk.
    """
    from cfgfix.usage.config_facts import facts_of

    found = []
    texts = {os.path.abspath(path): text for path, text in edited.items()}
    for document, loader in session.configs.items:
        text = texts.get(os.path.abspath(document.source.path))
        now = document if text is None else compose(SourceFile.from_text(text, document.source.path))
        found.append(facts_of(now, loader))
    return found


def _reports_of_scan(scan: SourceRun, request: Request) -> list[FileReport]:
    if request.add_ignores is not None:
        return scan.add_ignores(request.add_ignores)
    if request.fix:
        return scan.fix(unsafe=request.unsafe_fixes)
    return scan.check(excerpts=request.excerpts)


def _with_config_repairs(
    session: Session,
    project: Project,
    request: Request,
    scan: SourceRun,
    found: list[FileReport],
    reports: list[FileReport],
) -> list[FileReport]:
    """Repair configs that cause findings in code, and return the Python reports.

    The reports of the configs are changed in place.
    """
    if not any(item.fix is not None and item.fix.elsewhere for report in found for item in report.findings):
        return found
    from cfgfix.lint.config_repairs import ConfigRepairs
    from cfgfix.lint.file_reports import report_file

    texts = {report.path: report.after for report in found if report.after is not None}

    def judged(source: SourceFile) -> FileReport:
        own = (
            session.project_or_none(session.finder.settings_in(os.path.dirname(source.path) or "."))
            or project
        )
        kept = list(session.configs.items)
        report = report_file(
            session, own, source, replace(request, fix=False), {}, alone=False, included=True
        )
        session.configs.items[:] = kept
        return report

    repairs = ConfigRepairs(
        [report for report in reports if report.dialect is not None],
        found,
        lambda configs: scan.shown(texts, configs),
        judged,
        unsafe=request.unsafe_fixes,
    )
    repairs.make()
    reports[:] = [repairs.changed.get(report.path, report) for report in reports]
    return repairs.code()


def _as_reports(
    session: Session, project: Project, request: Request, scan: SourceRun, found: Sequence[FileReport]
) -> Iterator[FileReport]:
    """Yield the reports of Python files without findings that the baseline knows."""
    session.inputs += scan.looked_in
    for item in found:
        findings = list(item.findings)
        known: list[Finding] = []
        if session.baseline is not None:
            findings, known = split_known(findings, session.baseline, session.left)
        yield replace(
            item,
            findings=tuple(findings),
            hidden=(*item.hidden, *known),
            edits=_python_edits(item, findings) if request.edits else (),
            settings=project.settings,
        )


def _python_edits(report: FileReport, findings: Sequence[Finding]) -> tuple[tuple[Edit, ...] | None, ...]:
    from cfgfix.code.language import Python
    from cfgfix.core.fix_loop import planned_edits

    language = Python()
    return tuple(planned_edits(language, report.text or "", finding) for finding in findings)


def _under_configs(session: Session, edited: Mapping[str, str]) -> list[GivenByConfigs]:
    """Return the values that configs give to calls of the followed code."""
    from cfgfix.usage.given import values_given_by_configs

    others = frozenset(path for path in edited if not path.endswith(PYTHON))
    return [item for code in session.codes() for item in values_given_by_configs(code, edited, others=others)]


def _reported_paths(
    request: Request, settings: Settings, files: Sequence[PythonFile], texts: Mapping[str, str] | None
) -> frozenset[str] | None:
    """Return the paths of the Python files to report, or None for all files.

    A run that writes reports only the files named in the request. A check reports the source roots too.
    """
    if texts:
        return frozenset(texts)
    if not request.paths or not (request.fix or request.add_ignores is not None):
        return None
    from cfgfix.settings.code_files import python_files

    named = [path for path in request.paths if path.endswith(PYTHON) or os.path.isdir(path)]
    wanted = {os.path.abspath(file.path) for file in python_files(named, replace(settings, source_roots=()))}
    return frozenset(file.path for file in files if named and os.path.abspath(file.path) in wanted)


def _ask_for_code(session: Session, project: Project, request: Request) -> None:
    """Have the session follow the code of the repositories that a request names.

    Nothing is done where no selected rule needs that.
    """
    if not project.rule_set.code:
        return
    for named in request.paths or (".",):
        if os.path.isdir(named):
            session.repository_code(os.path.join(named, "x"))
        elif named.endswith(PYTHON):
            session.repository_code(named)
