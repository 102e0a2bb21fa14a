"""Which findings are shown: what the settings ignore in a file, and how severe tests take them."""

from __future__ import annotations

import os

from cfgfix.core.findings import Finding, fixable
from cfgfix.core.records import replace
from cfgfix.lint.project import Project
from cfgfix.lint.rule_set import ignored_by_path

_TEST_FOLDERS = frozenset({"tests", "testdata", "test_data", "fixtures"})


def with_severity_of_tests(project: Project, findings: list[Finding], path: str) -> list[Finding]:
    """Return the findings of a file with the severity that they have in tests.

    In a folder of tests a finding is lowered or left out, as the policy of its rule says. A test sets a batch size of 0 or
    eager mode because nothing trains with it. What cannot be loaded stays what it is.
    """
    folders = os.path.dirname(os.path.relpath(path, project.settings.root)).split(os.sep)
    if _TEST_FOLDERS.isdisjoint(folders):
        return findings

    def lowered(finding: Finding) -> Finding | None:
        policy = project.rule_set.policy(finding).in_tests
        if policy is None or project.rule_set.severity_is_set(finding.rule):
            return finding
        highest = policy.highest
        if highest is None:
            return None
        return replace(finding, severity=min(finding.severity, highest))

    return [shown for finding in findings if (shown := lowered(finding)) is not None]


def without_ignored(project: Project, findings: list[Finding], path: str) -> list[Finding]:
    """Return the findings of a file that no per-file ignore of the settings hides."""
    patterns = project.settings.per_file_ignores
    if not patterns:
        return findings
    return [
        finding
        for finding in findings
        if not ignored_by_path(finding.rule, finding.name, path, project.settings.root, patterns)
    ]


def applicable(finding: Finding, *, unsafe: bool) -> bool:
    """Tell whether `--fix` would repair a finding."""
    return fixable(finding, unsafe=unsafe)
