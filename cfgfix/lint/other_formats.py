"""The reports of configs in JSON, TOML and INI, and of files that only the code tells of."""

from __future__ import annotations

import os
from collections.abc import Iterator

from cfgfix.config.document.compose import Document, compose
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.core.baseline import split as split_known
from cfgfix.core.errors import UnreadableError
from cfgfix.core.findings import Finding
from cfgfix.core.records import replace
from cfgfix.core.source_file import read_source
from cfgfix.lint.file_reports import merged_by_machine, report_file
from cfgfix.lint.filters import without_ignored
from cfgfix.lint.project import Project, Target
from cfgfix.lint.project_findings import findings_in_config
from cfgfix.lint.request import PYTHON, FileReport, Request
from cfgfix.lint.rule_set import Skip
from cfgfix.lint.session import Session
from cfgfix.lint.targets import target_of, with_job_limits, with_meanings
from cfgfix.settings.discovery import Matcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.usage.code_facts import CodeFacts


OPENED_BY_CODE = (".json", ".toml", ".ini", ".cfg", ".conf")
"""Endings of configs that are judged by the code that opens them."""


_INI = (".ini", ".cfg", ".conf")
"""Endings of INI files, which YAML files have as well."""


def only_read_by_code(session: Session, path: str) -> bool:
    """Tell whether a file is TOML by its name, or INI as a program opens it.

    Nothing but the code can tell what such a file means.
    """
    if not path.endswith(_INI):
        return path.endswith(".toml")
    code = session.repository_code(path)
    code_facts = code.all().get(os.path.relpath(os.path.abspath(path), os.path.abspath(code.root)))
    return code_facts is not None and code_facts.form == "ini"


def other_formats(session: Session, request: Request, known: set[str]) -> Iterator[FileReport]:
    """Yield the reports of JSON, TOML and INI configs that TensorFlow programs open."""
    for named in request.paths or (".",):
        if os.path.isdir(named):
            session.repository_code(os.path.join(named, "x"))
        elif named.endswith(OPENED_BY_CODE):
            session.repository_code(named)
    for code in session.codes():
        for path, code_facts in code.all().items():
            shown = os.path.relpath(os.path.join(code.root, path))
            if (
                code_facts.form == "yaml"
                or not code_facts.framework
                or shown in known
                or not _asked_for(shown, request)
            ):
                continue
            yield from _report_other_format(session, shown, code_facts, request)


def _report_other_format(
    session: Session, path: str, code_facts: CodeFacts, request: Request
) -> Iterator[FileReport]:
    """Yield the report of a JSON, TOML or INI config that a program opens.

    Nothing is yielded where the file cannot be read.
    """
    project = session.project_for(session.finder.settings_in(os.path.dirname(path) or "."))
    if not project.rule_set.code:
        return
    try:
        source = read_source(path)
    except UnreadableError:
        return
    session.inputs.append(path)
    document = compose(source)
    found = [
        findings_in_config(project, document, target, code_facts=code_facts, form=code_facts.form).findings
        for target in _targets_by_code(session, project, document, code_facts)
    ]
    merged = found[0] if len(found) == 1 else merged_by_machine(found, project.machines)
    findings = without_ignored(project, merged, path)
    known: list[Finding] = []
    if project.baseline is not None:
        findings, known = split_known(findings, project.baseline, project.left)
    yield FileReport(
        path,
        source.text,
        "generic",
        code_facts.form,
        tuple(findings),
        hidden=tuple(known),
        edits=tuple(None for _ in findings) if request.edits else (),
        opened_by=code_facts.programs,
        settings=project.settings,
        language=code_facts.form,
    )


def read_by_named_modules(
    session: Session, request: Request, skips: dict[str, Skip], known: set[str]
) -> Iterator[FileReport]:
    """Yield the reports of configs that the Python files of a request read.

    A report has only the findings whose cause lies in one of those files.

    They hold what the code there makes wrong in them.

    A hook is given the files that changed. A trainer that reads another key than before changes what each of its
    configs means, and none of them is named.
    """
    if request.add_ignores is not None:
        return
    looking = replace(request, fix=False)
    seen = {os.path.abspath(path) for path in known}
    for named in request.paths:
        if not named.endswith(PYTHON) or not os.path.isfile(named):
            continue
        code = session.repository_code(named)
        module = os.path.relpath(os.path.abspath(named), code.root).replace(os.sep, "/")
        for path, code_facts in code.all().items():
            whole = os.path.join(code.root, path)
            if not code_facts.framework or module not in code_facts.modules or whole in seen:
                continue
            shown = os.path.relpath(whole)
            project = session.project_or_none(session.finder.settings_in(os.path.dirname(shown) or "."))
            if project is None or not project.rule_set.code or Matcher(project.settings).outside(shown):
                continue
            seen.add(whole)
            for report in _report_opened_config(session, project, shown, code_facts, looking, skips):
                yield replace(
                    report,
                    findings=tuple(item for item in report.findings if _caused_in(item, project, named)),
                    edits=(),
                )


def _report_opened_config(
    session: Session,
    project: Project,
    path: str,
    code_facts: CodeFacts,
    request: Request,
    skips: dict[str, Skip],
) -> Iterator[FileReport]:
    """Yield the report of a config that a program opens.

    Nothing is yielded where the file cannot be read.
    """
    if code_facts.form != "yaml":
        yield from _report_other_format(session, path, code_facts, request)
        return
    try:
        source = read_source(path)
    except UnreadableError:
        return
    session.inputs.append(path)
    yield report_file(session, project, source, request, skips, alone=False, included=True)


def _caused_in(finding: Finding, project: Project, module: str) -> bool:
    """Tell whether a finding about code that reads a config has its cause in a module."""
    if all(rule.id != finding.rule for rule in project.rule_set.code.values()):
        return False
    in_code = [place.path for place in finding.related if place.path.endswith(PYTHON)]
    return not in_code or os.path.abspath(module) in map(os.path.abspath, in_code)


def _targets_by_code(
    session: Session, project: Project, document: Document, code_facts: CodeFacts
) -> list[Target]:
    """Return what a config is judged against of which only the code says what its keys are.

    One target for each machine where the code says that of a JSON config, else one that knows nothing.
    """
    generic = project.dialects["generic"]
    if code_facts.form != "json" or document.problem is not None or not code_facts.reached:
        return [Target(generic, LOADERS["ruamel"], None, None, None)]
    targets = []
    for machine in project.machines:
        target = with_meanings(
            replace(target_of(project, generic, machine), loader=LOADERS["ruamel"]), code_facts.reached
        )
        if code_facts.job is not None and project.settings.hardware is None:
            target, line = with_job_limits(target, code_facts.job)
            session.jobs += [line] if line not in session.jobs else []
        else:
            session.jobless = True
        targets.append(target)
    return targets


def _asked_for(path: str, request: Request) -> bool:
    whole = os.path.abspath(path)
    return any(
        whole == os.path.abspath(named) or whole.startswith(os.path.abspath(named).rstrip(os.sep) + os.sep)
        for named in request.paths or (".",)
    )
