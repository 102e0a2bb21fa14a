"""Apply the selected rules to one document: hits of all checkers in, findings by policy out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from cfgfix.config.document.compose import Document
from cfgfix.core.edits import RenameKey
from cfgfix.core.findings import Confidence, Finding, KeyPath, Severity
from cfgfix.core.records import dataclass, replace
from cfgfix.core.source_file import SourceFile
from cfgfix.core.suppressions import Suppression, read_suppressions
from cfgfix.lint.checkers.concepts import ConceptChecker
from cfgfix.lint.checkers.project import Project, Room, Target
from cfgfix.lint.checkers.schema import SchemaChecker
from cfgfix.lint.checkers.usage import RunsChecker, UsageChecker
from cfgfix.lint.checkers.values import ValueChecker
from cfgfix.lint.suppressing import about_suppressions, apply_suppressions
from cfgfix.rules.catalogue import Catalogue
from cfgfix.rules.checker import by_check
from cfgfix.rules.hit import Hit
from cfgfix.rules.report import TextFile, make_finding, severity_of, tell_cut
from cfgfix.rules.rule import DEPENDS_ON, About, Policy, Rule, YieldsTo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.rules.checker import Checker
    from cfgfix.usage.code_says import CodeSays


MAX_FINDINGS = 1_000
"""Most findings of one rule in one file: a hostile file must not fill the memory."""


MAX_FIXED = 25_000
"""Most findings of one rule in a file that is repaired; all must be known to tell which ones a fix brings."""


_NO_POLICY = Policy()


@dataclass(frozen=True, slots=True)
class Skip:
    """A rule that could not be judged, and why."""

    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """What the rules say of one document, ordered by place."""

    findings: list[Finding]
    hidden: list[Finding]
    """Findings that a suppression comment silences."""
    skips: list[Skip]
    cut: frozenset[str] = frozenset()
    """Rules with more findings than are listed."""


class RuleSet:
    """The selected rules, ready to be applied to documents."""

    def __init__(
        self, catalogue: Catalogue, rules: Iterable[Rule], severities: Mapping[str, Severity]
    ) -> None:
        self.catalogue = catalogue
        self._severities = severities
        self.rules = tuple(sorted(rules, key=lambda rule: rule.id))
        self._checkers: tuple[Checker[Project], ...] = (
            ValueChecker(self.rules),
            SchemaChecker(self.rules),
            UsageChecker(self.rules),
            ConceptChecker(self.rules),
        )
        self._runs: Checker[Project] = RunsChecker(self.rules)
        self._depending = {
            fact: frozenset(rule.id for rule in self.rules if fact in rule.policy.depends_on)
            for fact in DEPENDS_ON
        }
        self._known_skips: dict[tuple[object, ...], list[Skip]] = {}
        self._about = {f"engine.{name}": rule for name, rule in by_check(self.rules, "engine").items()}
        self._of_document = frozenset(
            rule.id for kind in ("yaml", "schema", "engine") for rule in by_check(self.rules, kind).values()
        )
        """Rules that judge a document by its YAML or by its schema."""
        self._declarative = frozenset(rule.id for rule in self.rules if rule.check is None)
        self.code = by_check(self.rules, "code")

    def document(
        self, document: Document, target: Target, most: int = MAX_FINDINGS, *, says: CodeSays | None = None
    ) -> DocumentResult:
        """Return what the rules find in a document, and what could not be judged.

        With it comes what comments suppress.

        Args:
            document: The file.
            target: What it is judged against.
            most: Most findings of one rule that are listed.
            says: What the code that opens it says of it.
        """
        project = Project(document, target, says, Room(most), {})
        findings: list[Finding] = []
        sure: set[int] = set()
        for checker in self._checkers:
            for rule, hit in checker.hits(project):
                if project.room.take(rule.id):
                    finding = self.finding(rule, hit, document.source)
                    findings.append(finding)
                    if hit.by_code:
                        sure.add(id(finding))
        shown = [self.finding(rule, hit, document.source) for rule, hit in self._runs.hits(project)]
        findings = self._without_echoes(findings)
        if shown:
            shown = self.unless_meant(shown, findings)
            told = {(item.location.start, item.location.end) for item in shown}
            findings = [item for item in findings if (item.location.start, item.location.end) not in told]
        if target.dialect.confidence == "low":
            # What YAML itself says of a file does not depend on which program reads it.
            findings = [
                finding
                if self.policy(finding).about is About.TEXT or id(finding) in sure
                else replace(finding, confidence=Confidence.LOW)
                for finding in findings
            ]
        findings += shown
        told_skips = self._skips(project.skips, coded=target.usage is not None or says is not None)
        suppressions = _suppressions(document)
        hidden: list[Finding] = []
        if suppressions:
            judged = {rule.id for rule in self.rules} - {skip.rule for skip in told_skips}
            result = apply_suppressions(findings, suppressions)
            about = about_suppressions(document.source, result, self.catalogue, judged, self._about)
            findings, hidden = result.shown + about, result.hidden
        findings.sort(key=lambda finding: (finding.location.start, finding.rule, finding.location.end))
        tell_cut(findings, project.room.cut, most)
        return DocumentResult(findings, hidden, told_skips, frozenset(project.room.cut))

    def _skips(self, found: dict[str, str], *, coded: bool) -> list[Skip]:
        """Return the rules that could not be judged, by id; a run has the same few with every file."""
        key = (coded, *found.items())
        known = self._known_skips.get(key)
        if known is None:
            reasons = dict(found)
            if not coded:
                for rule in self.code.values():
                    reasons.setdefault(rule.id, "no program here is known to open the config")
            known = self._known_skips[key] = [Skip(rule, reason) for rule, reason in sorted(reasons.items())]
        return known

    def policy(self, finding: Finding) -> Policy:
        """Return the policy of the rule of a finding."""
        rule = self.catalogue.find(finding.rule)
        return rule.policy if rule is not None else _NO_POLICY

    def depending_on(self, *facts: str) -> frozenset[str]:
        """Return the rules whose findings hold or not by one of some facts.

        The facts are those of `DEPENDS_ON`.
        """
        return frozenset().union(*(self._depending[fact] for fact in facts))

    def _without_echoes(self, findings: list[Finding]) -> list[Finding]:
        """Leave out what says again what another finding tells better: one cause, one finding."""
        if len(findings) < 2:
            return findings
        policies = [self.policy(finding) for finding in findings]
        told_places: set[tuple[int, int]] = set()
        told_keys: set[KeyPath | None] = set()
        refused: set[KeyPath | None] = set()
        renamed: set[KeyPath] = set()
        for finding, policy in zip(findings, policies, strict=True):
            if policy.yields_to is not YieldsTo.SAME_PLACE:
                told_places.add((finding.location.start, finding.location.end))
            if finding.rule in self._of_document:
                told_keys.add(finding.key_path)
            if policy.refuses_key and finding.severity is Severity.ERROR:
                refused.add(finding.key_path)
            for change in finding.fix.changes if policy.refuses_key and finding.fix is not None else ():
                if isinstance(change, RenameKey):
                    renamed.add((*change.path[:-1], change.new))

        def echo(finding: Finding, policy: Policy) -> bool:
            if policy.yields_to is YieldsTo.RENAME and finding.key_path in renamed:
                return True
            if policy.yields_to is YieldsTo.SAME_KEY and finding.key_path in told_keys:
                return True
            place = (finding.location.start, finding.location.end)
            if policy.yields_to is YieldsTo.SAME_PLACE and place in told_places:
                return True
            return bool(finding.key_path) and finding.key_path in refused and not policy.refuses_key

        return [
            finding for finding, policy in zip(findings, policies, strict=True) if not echo(finding, policy)
        ]

    def unless_meant(self, shown: list[Finding], findings: list[Finding]) -> list[Finding]:
        """Leave out refused values that a rule about the setting tells as well.

        That rule knows what to write.
        """
        meant: dict[tuple[int, int], Severity] = {}
        for item in findings:
            if item.rule in self._declarative and item.confidence is Confidence.HIGH:
                place = (item.location.start, item.location.end)
                meant[place] = max(item.severity, meant.get(place, item.severity))
        return [
            item
            for item in shown
            if self.policy(item).yields_to is not YieldsTo.SAME_PLACE
            or meant.get((item.location.start, item.location.end), Severity.INFO) < item.severity
        ]

    def severity(self, rule: Rule, severity: Severity) -> Severity:
        """Return a severity as the settings want it."""
        return self._severities.get(rule.id, severity)

    def severity_is_set(self, rule: str) -> bool:
        """Tell whether the settings give a rule its severity."""
        return rule in self._severities

    def by_runs(self, found: Iterable[tuple[str, Hit]], source: SourceFile) -> list[Finding]:
        """Return the findings of what the runs of the project's programs show."""
        return [
            self.finding(rule, hit, source)
            for name, hit in found
            if (rule := self.code.get(name)) is not None
        ]

    def in_code(self, found: Iterable[tuple[str, str, Hit]]) -> dict[str, list[Finding]]:
        """Return the findings of hits in Python files that are located already, by file."""
        findings: dict[str, list[Finding]] = {}
        nothing = SourceFile.from_text("")
        for path, name, hit in found:
            findings.setdefault(path, []).append(self.finding(self.code[name], hit, nothing))
        for items in findings.values():
            items.sort(key=lambda item: (item.location.start, item.rule))
        return findings

    def finding(self, rule: Rule, hit: Hit, source: SourceFile) -> Finding:
        """Return the finding that a hit in a text is, as severe as the settings want it."""
        severity = self.severity(rule, severity_of(rule, hit))
        return make_finding(rule, hit, TextFile(source), severity=severity)


def _suppressions(document: Document) -> list[Suppression]:
    """Return the suppression comments of a document."""

    def found() -> list[tuple[int, str]]:
        from cfgfix.config.document.comments import comments

        return comments(document)

    return read_suppressions(document.source, found if document.problem is None else None)


def ignored_by_path(
    rule: str, name: str, path: str, root: str, patterns: Mapping[str, tuple[str, ...]]
) -> bool:
    """Tell whether the settings' per-file ignores silence a rule in a file."""
    import fnmatch

    relative = os.path.relpath(path, root).replace(os.sep, "/")
    for pattern, selectors in patterns.items():
        if fnmatch.fnmatch(relative, pattern) or fnmatch.fnmatch(os.path.basename(path), pattern):
            for selector in selectors:
                if selector.upper() == "ALL" or selector in (rule, name) or rule.startswith(selector.upper()):
                    return True
    return False
