"""The report of one YAML file: what is found under each machine, and what fixing it comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection

from cfgfix.config.compose.overrides import override, shifted
from cfgfix.config.dialects.dialect import Dialect
from cfgfix.config.dialects.foreign import tool_of
from cfgfix.config.document.compose import Document, compose
from cfgfix.config.loaders.scalars import Loader
from cfgfix.core.baseline import split as split_known
from cfgfix.core.edits import Edit
from cfgfix.core.errors import UnreadableError
from cfgfix.core.findings import Finding, Refused, Severity, fixable
from cfgfix.core.records import replace
from cfgfix.core.source_file import SourceFile
from cfgfix.lint.filters import with_severity_of_tests, without_ignored
from cfgfix.lint.project import Machine, Project
from cfgfix.lint.project_findings import MAX_FINDINGS, MAX_FIXED, findings_in_config
from cfgfix.lint.recognition import recognise, targets_of
from cfgfix.lint.request import UNKNOWN_CONFIG, YAML, FileReport, Request
from cfgfix.lint.rule_set import Skip
from cfgfix.lint.session import Session
from cfgfix.lint.targets import with_class_by_code, with_nearby_code, with_nearby_ruamel
from cfgfix.rules.report import tell_cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.core.fix_loop import Fixed


NEITHER = "neither YAML nor Python"


def neither_error(source: SourceFile) -> UnreadableError:
    """Return the error for a named file that is neither a config nor Python."""
    problem = compose(source).problem
    return UnreadableError(
        f"is {NEITHER}" + (f": as YAML, {problem.message}" if problem is not None else ""),
        path=source.path,
        line=problem.line if problem is not None else None,
        hint="name a YAML config, a .py or .ipynb file or a folder; --dialect NAME --force-dialect takes it for a config",
    )


def report_file(
    session: Session,
    project: Project,
    source: SourceFile,
    request: Request,
    skips: dict[str, Skip],
    *,
    alone: bool,
    included: bool,
) -> FileReport:
    """Check or fix one file, and return its report.

    `alone` where a person names this one, `included` where an include pattern fits it.
    """
    readable = source.path.endswith((*YAML, ".json")) or (included and not source.path.endswith(".toml"))
    report = _report_config(session, project, source, request, skips, alone=alone, readable=readable)
    if report.passed_over is not None and request.stdin is not None:
        # What comes from an editor goes back to it as it came.
        report = replace(report, encoded=request.stdin)
    return report if report.settings is not None else replace(report, settings=project.settings)


def _reason_unopened(session: Session, project: Project, document: Document) -> str | None:
    """Return the reason why no program is known to open a config.

    None where no code was followed, or where no reason is known.
    """
    path = document.source.path
    if not project.rule_set.code or path == "-":
        return None
    from cfgfix.usage.unopened import top_names

    followed = session.repository_code(path).followed()
    return followed.why_not(path, top_names(document)) if followed.modules else None


def _report_config(
    session: Session,
    project: Project,
    source: SourceFile,
    request: Request,
    skips: dict[str, Skip],
    *,
    alone: bool,
    readable: bool,
) -> FileReport:
    document = compose(source)
    forced = alone and request.force_dialect
    recognition = recognise(session, project, document, forced=forced)
    dialect, code_facts = recognition.dialect, recognition.code_facts
    if recognition.foreign:
        return FileReport(
            source.path,
            passed_over="only programs of another framework open it",
            settings=project.settings,
        )
    if document.problem is not None and document.problem.kind == "template":
        place = f"line {document.problem.line}"
        reason = f"a template, YAML only once it is filled in ({place})"
        return FileReport(source.path, passed_over=reason, template=True)
    unread = document.problem is not None and document.problem.kind != "limit"
    if unread and not (readable or forced or (code_facts is not None and code_facts.form == "yaml")):
        return FileReport(source.path, passed_over=NEITHER, alone=alone, settings=project.settings)
    if dialect is None:
        tool = tool_of(document)
        if tool is not None:
            reason = f"{tool}, no training config"
            return FileReport(source.path, passed_over=reason, alone=alone, settings=project.settings)
        return FileReport(
            source.path,
            passed_over=UNKNOWN_CONFIG,
            lacking=_reason_unopened(session, project, document),
            alone=alone,
            settings=project.settings,
        )
    shift: tuple[Edit, ...] = ()
    if request.overrides:
        document, shift = override(document, request.overrides)
    hidden: list[Finding] = []
    targets = targets_of(session, project, dialect, code_facts)
    if code_facts is None and not forced and project.rule_set.code and source.path != "-":
        code = session.repository_code(source.path)
        targets = [with_class_by_code(project, code, document, target) for target in targets]
    cut: set[str] = set()
    judged_text = ""
    most = MAX_FIXED if request.fix else MAX_FINDINGS

    def check_document(candidate: Document) -> list[Finding]:
        found: list[list[Finding]] = []
        nonlocal judged_text
        judged_text = candidate.source.text
        hidden.clear()
        again = (
            session.code_facts(source.path, candidate.source)
            if code_facts is not None and not shift
            else None
        )
        cut.clear()
        for target in targets:
            judged = findings_in_config(project, candidate, target, most, code_facts=again)
            cut.update(judged.cut)
            for skip in judged.skips:
                skips.setdefault(skip.rule, skip)
            hidden.extend(judged.hidden)
            found.append(judged.findings)
        findings = found[0] if len(found) == 1 else merged_by_machine(found, project.machines)
        return without_ignored(project, with_severity_of_tests(project, findings, source.path), source.path)

    findings: list[Finding] | None = None
    # Only a dialect of a known program tells which loader reads the file.
    unknown = ("loader", "framework", "other-readers")[0 if dialect.name == "generic" else 1 :]
    doubtful = project.rule_set.rules_depending_on(*unknown)
    if not request.fix or dialect.name == "generic":
        findings = check_document(document)
        found_now = {finding.rule for finding in findings}
        told = targets
        if not doubtful.isdisjoint(found_now):
            told = [with_nearby_code(project, dialect, source, target) for target in targets]
            if code_facts is not None:
                # Which loader reads the file is known.
                told = [
                    replace(new, loader=old.loader) if new is not old else old
                    for new, old in zip(told, targets, strict=True)
                ]
        elif not project.rule_set.rules_depending_on("other-readers").isdisjoint(found_now):
            told = [with_nearby_ruamel(project, source, target) for target in targets]
        if any(new is not old for new, old in zip(told, targets, strict=True)):
            targets, findings = told, None
    loader = targets[0].loader
    opened_by = code_facts.programs if code_facts is not None else ()
    lacking = _reason_unopened(session, project, document) if code_facts is None and not forced else None
    if not project.configs.full():
        project.configs.items.append((document, loader))
    if request.add_ignores is not None:
        return _with_ignores(source, document, dialect, loader, check_document, request.add_ignores)
    if not request.fix:
        findings = check_document(document) if findings is None else findings
        if project.baseline is not None:
            findings, known = split_known(findings, project.baseline, project.left)
            hidden += known
        edits: tuple[tuple[Edit, ...] | None, ...] = ()
        if request.edits and not shift:
            from cfgfix.config.document.language import Yaml
            from cfgfix.core.fix_loop import planned_edits

            language = Yaml(document, loader)
            edits = tuple(planned_edits(language, document, finding) for finding in findings)
        if shift:
            findings = [shifted(finding, shift, source) for finding in findings]
        return FileReport(
            source.path,
            source.text,
            dialect.name,
            loader.name,
            tuple(findings),
            hidden=tuple(hidden),
            edits=edits,
            lacking=lacking,
            opened_by=opened_by,
            settings=project.settings,
        )
    from cfgfix.config.document.language import Yaml
    from cfgfix.core.fix_loop import fix_file

    if findings is None:
        findings = check_document(document)
    language = Yaml(document, loader)
    fixed = _too_many(source.path, findings, cut, request)
    failures = len(session.failures())
    if fixed is None:
        fixed = fix_file(
            source.path, source.text, check_document, language, unsafe=request.unsafe_fixes, findings=findings
        )
        if len(session.failures()) > failures:
            fixed = _report_of_fault(source.path, findings, request)
    report = _fixed_report(source, dialect, loader, fixed)
    if judged_text != report.text:
        # The last text that was judged is one that was not kept.
        check_document(language.parse(report.text or ""))
    report = replace(report, hidden=tuple(hidden), lacking=lacking, opened_by=opened_by)
    if project.baseline is not None:
        new, known = split_known(report.findings, project.baseline, project.left)
        report = replace(report, findings=tuple(new), hidden=(*report.hidden, *known))
    return report


def _too_many(path: str, findings: list[Finding], cut: Collection[str], request: Request) -> Fixed | None:
    """Return a result that refuses the fixes of a file with too many findings.

    None where the findings are not too many, or no fix was to be made.

    Args:
        path: The file.
        findings: The findings in it.
        cut: The ids of rules with more findings than are listed.
        request: What is asked for.

    Args:
        path: The file.
        findings: What is wrong with it.
        cut: Rules of which that is only a part.
        request: What is asked for.
    """
    # What a fix brings cannot be told from what was there.
    refused: dict[str, Refused] = {}
    repairs = False
    for finding in findings if cut else ():
        repaired = fixable(finding, unsafe=request.unsafe_fixes)
        repairs = repairs or repaired
        if finding.rule in cut and (repaired or finding.severity is Severity.ERROR):
            reason = f"the file has more than {MAX_FIXED:,} findings of this rule, too many to repair it; split the file"
            refused.setdefault(finding.rule, Refused(finding, reason))
    if not refused or not repairs:
        return None
    from cfgfix.core.fix_loop import Fixed

    return Fixed({}, {path: findings}, {}, {path: list(refused.values())}, {})


def _report_of_fault(path: str, findings: list[Finding], request: Request) -> Fixed:
    """Return a result that refuses all fixes of a file because judging them failed.

    The failure is an internal error of cfgfix.
    """
    from cfgfix.core.fix_loop import Fixed

    reason = "an internal error kept its effect from being judged"
    refused = [
        Refused(finding, reason) for finding in findings if fixable(finding, unsafe=request.unsafe_fixes)
    ]
    return Fixed({}, {path: findings}, {}, {path: refused}, {})


def merged_by_machine(found: list[list[Finding]], machines: list[Machine]) -> list[Finding]:
    """Return the findings under several machines as one list.

    A finding that holds for all machines comes once, any other with the name of its machine.
    """

    def key(finding: Finding) -> tuple[str, int, int, str]:
        return finding.rule, finding.location.start, finding.location.end, finding.message

    everywhere = set.intersection(*({key(finding) for finding in findings} for findings in found))
    merged = [finding for finding in found[0] if key(finding) in everywhere]
    for machine, findings in zip(machines, found, strict=True):
        merged += [
            replace(finding, profile=machine.profile)
            for finding in findings
            if key(finding) not in everywhere
        ]
    merged.sort(key=lambda finding: (finding.location.start, finding.rule, finding.profile or ""))
    return merged


def _with_ignores(
    source: SourceFile,
    document: Document,
    dialect: Dialect,
    loader: Loader,
    check_document: Callable[[Document], list[Finding]],
    reason: str,
) -> FileReport:
    """Return the report of a config after writing suppression comments for findings.

    Every finding gets one, and the comments change nothing else.
    """
    from cfgfix.config.document.language import Yaml
    from cfgfix.lint.suppressing import add_ignores

    after, done, refused = add_ignores(Yaml(document, loader), document, check_document(document), reason)
    left = check_document(after)
    changed = after.source.text != source.text
    return FileReport(
        source.path,
        after.source.text,
        dialect.name,
        loader.name,
        tuple(left),
        applied=tuple(done) if changed else (),
        refused=tuple(refused),
        before=source.text if changed else None,
        after=after.source.text if changed else None,
        encoded=source.encode(after.source.text),
    )


def _fixed_report(source: SourceFile, dialect: Dialect, loader: Loader, fixed: Fixed) -> FileReport:
    path = source.path
    after = fixed.texts.get(path, source.text)
    changed = after != source.text
    return FileReport(
        path,
        after,
        dialect.name,
        loader.name,
        tuple(_as_many_as_listed(fixed.findings[path])),
        applied=tuple(fixed.applied.get(path, ())) if changed else (),
        refused=tuple(fixed.refused.get(path, ())),
        cycle=fixed.cycles.get(path, ()),
        before=source.text if changed else None,
        after=after if changed else None,
        encoded=source.encode(after),
    )


def _as_many_as_listed(findings: list[Finding]) -> list[Finding]:
    """Return the findings cut to the number that a check lists for each rule."""
    counts = Counter[str]()
    listed: list[Finding] = []
    for finding in findings:
        counts[finding.rule] += 1
        if counts[finding.rule] <= MAX_FINDINGS:
            listed.append(finding)
    tell_cut(listed, {rule for rule, count in counts.items() if count > MAX_FINDINGS}, MAX_FINDINGS)
    return listed
