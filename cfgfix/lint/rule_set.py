"""The selected rules with what the settings and their policies make of findings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from cfgfix.config.dialects.parameters import source_file
from cfgfix.core.edits import RenameKey
from cfgfix.core.findings import Confidence, Finding, KeyPath, Severity
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import SourceFile
from cfgfix.rules.catalogue import Catalogue
from cfgfix.rules.checks import by_check
from cfgfix.rules.hit import Hit
from cfgfix.rules.report import TextFile, make_finding, severity_of
from cfgfix.rules.rule import DEPENDS_ON, Policy, Rule, YieldsTo

_NO_POLICY = Policy()


@dataclass(frozen=True, slots=True)
class Skip:
    """A rule that could not be judged, and why."""

    rule: str
    reason: str


class RuleSet:
    """The selected rules, grouped by what they judge, with severities by the settings."""

    def __init__(
        self, catalogue: Catalogue, rules: Iterable[Rule], severities: Mapping[str, Severity]
    ) -> None:
        self.catalogue = catalogue
        self._severities = severities
        self.rules = tuple(sorted(rules, key=lambda rule: rule.id))
        self._depending = {
            fact: frozenset(rule.id for rule in self.rules if fact in rule.policy.depends_on)
            for fact in DEPENDS_ON
        }
        self._known_skips: dict[tuple[object, ...], list[Skip]] = {}
        self.about_comments = {
            f"engine.{name}": rule for name, rule in by_check(self.rules, "engine").items()
        }
        """Rules about suppression comments, by their check."""
        self._of_document = frozenset(
            rule.id for kind in ("yaml", "schema", "engine") for rule in by_check(self.rules, kind).values()
        )
        """Rules that judge a document by its YAML or by its schema."""
        self._declarative = frozenset(rule.id for rule in self.rules if rule.check is None)
        self.code = by_check(self.rules, "code")

    def skips(self, found: dict[str, str], *, coded: bool) -> list[Skip]:
        """Return the rules that could not be judged, from reasons by rule id.

        Most files of a session have the same few.
        """
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

    def rules_depending_on(self, *facts: str) -> frozenset[str]:
        """Return the ids of the rules whose findings depend on one of the facts.

        The facts are those of `DEPENDS_ON`.
        """
        return frozenset().union(*(self._depending[fact] for fact in facts))

    def without_echoes(self, findings: list[Finding]) -> list[Finding]:
        """Return the findings without those whose cause another finding tells better."""
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

    def leave_to_declarative(self, shown: list[Finding], findings: list[Finding]) -> list[Finding]:
        """Return the shown findings without those that a condition rule tells as well.

        That rule knows what to write. Its finding must be in `findings`, sure, at the same place and no less severe.
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
        """Return the severity that the settings give a rule, else the given one."""
        return self._severities.get(rule.id, severity)

    def severity_is_set(self, rule: str) -> bool:
        """Tell whether the settings give a rule its severity."""
        return rule in self._severities

    def finding(self, rule: Rule, hit: Hit, source: SourceFile) -> Finding:
        """Return the finding for a hit in a text, as severe as the settings want it."""
        severity = self.severity(rule, severity_of(rule, hit))
        return make_finding(rule, hit, TextFile(source), severity=severity)


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


def content_stamp(rules: Sequence[Rule]) -> object:
    """Return a value that changes with the source rules or the parameter table.

    Source rules are those whose check reads Python code.
    """
    from cfgfix.rules.compiled import manifest

    paths = [rule.path for rule in rules if rule.check and rule.check.startswith("source.")]
    return manifest([*paths, source_file()])
