"""Make findings of what the checkers of a project yield: of one config, and of the project as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.config.document.compose import Document
from cfgfix.core.findings import Confidence, Finding
from cfgfix.core.records import dataclass, replace
from cfgfix.core.source_file import SourceFile
from cfgfix.core.suppressions import Suppression, read_suppressions
from cfgfix.lint.project import YAML_FORM, HitLimit, JudgedConfig, Project, Target
from cfgfix.lint.rule_set import Skip
from cfgfix.lint.suppressing import about_suppressions, apply_suppressions
from cfgfix.rules.hit import Hit
from cfgfix.rules.report import tell_cut
from cfgfix.rules.rule import About, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.code.model.program import Program
    from cfgfix.usage.code_facts import CodeFacts


MAX_FINDINGS = 1_000
"""Most findings of one rule in one file: a hostile file must not fill the memory."""


MAX_FIXED = 25_000
"""Most findings of one rule in a file that is repaired; all must be known to tell which ones a fix brings."""


@dataclass(frozen=True, slots=True)
class ConfigFindings:
    """The findings of all rules in one config, ordered by place."""

    findings: list[Finding]
    hidden: list[Finding]
    """Findings that a suppression comment silences."""
    skips: list[Skip]
    cut: frozenset[str] = frozenset()
    """Rules with more findings than are listed."""


def findings_in_config(
    project: Project,
    document: Document,
    target: Target,
    most: int = MAX_FINDINGS,
    *,
    code_facts: CodeFacts | None = None,
    form: str = YAML_FORM,
) -> ConfigFindings:
    """Return the findings in a config, those suppressed, and the rules not judged.

    Args:
        project: The project that it is of.
        document: The file.
        target: What it is judged against.
        most: Most findings of one rule that are listed.
        code_facts: What the code that opens it says of it.
        form: What the file is read as, one of `FORMS`.
    """
    rule_set = project.rule_set
    config = JudgedConfig(document, target, code_facts, HitLimit(most), form=form)
    findings: list[Finding] = []
    by_runs: list[Finding] = []
    sure: set[int] = set()
    for checker in project.checkers:
        for rule, hit in checker.hits_in_config(config) if form in checker.forms else ():
            if checker.follows_programs:
                by_runs.append(rule_set.finding(rule, hit, document.source))
            elif config.limit.allows(rule.id):
                finding = rule_set.finding(rule, hit, document.source)
                findings.append(finding)
                if hit.by_code:
                    sure.add(id(finding))
    findings = rule_set.without_echoes(findings)
    if by_runs:
        by_runs = rule_set.leave_to_declarative(by_runs, findings)
        places = {(item.location.start, item.location.end) for item in by_runs}
        findings = [item for item in findings if (item.location.start, item.location.end) not in places]
    if target.dialect.confidence == "low":
        # What YAML itself says of a file does not depend on which program reads it.
        findings = [
            finding
            if rule_set.policy(finding).about is About.TEXT or id(finding) in sure
            else replace(finding, confidence=Confidence.LOW)
            for finding in findings
        ]
    if form != YAML_FORM:
        reason = f"a {form.upper()} config is only read"
        findings = [
            replace(finding, fix=None, no_fix_reason=finding.no_fix_reason or reason) for finding in findings
        ]
    findings += by_runs
    skips = rule_set.skips(config.skips, coded=target.usage is not None or code_facts is not None)
    suppressions = _suppressions_in(document) if form == YAML_FORM else []
    hidden: list[Finding] = []
    if suppressions:
        judged = {rule.id for rule in rule_set.rules} - {skip.rule for skip in skips}
        result = apply_suppressions(findings, suppressions)
        about = about_suppressions(
            document.source, result, rule_set.catalogue, judged, rule_set.about_comments
        )
        findings, hidden = result.shown + about, result.hidden
    findings.sort(key=lambda finding: (finding.location.start, finding.rule, finding.location.end))
    tell_cut(findings, config.limit.cut, most)
    return ConfigFindings(findings, hidden, skips, frozenset(config.limit.cut))


def _suppressions_in(document: Document) -> list[Suppression]:
    """Return the suppression comments of a document."""

    def found() -> list[tuple[int, str]]:
        from cfgfix.config.document.comments import comments

        return comments(document)

    return read_suppressions(document.source, found if document.problem is None else None)


def hits_in_program(project: Project, program: Program) -> Iterator[tuple[Rule, Hit]]:
    """Yield the hits of a project's checkers in its linked code."""
    for checker in project.checkers:
        yield from checker.hits_in_program(program)


def findings_in_project(project: Project) -> dict[str, list[Finding]]:
    """Return the findings that rest on configs and code together, by file."""
    found: dict[str, list[Finding]] = {}
    nothing = SourceFile.from_text("")
    for checker in project.checkers:
        for rule, hit in checker.hits_in_project():
            # Such a hit says its location: no text is needed to tell it.
            finding = project.rule_set.finding(rule, hit, nothing)
            found.setdefault(finding.location.path, []).append(finding)
    return found
