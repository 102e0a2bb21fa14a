"""The report as GitHub workflow commands: annotations on the lines of a pull request.

GitHub shows at most ten annotations of each kind a step and drops the others without a word. So the worst come first, the
tenth place tells how many more there are, and every finding stands in the log.
"""

from __future__ import annotations

from cfgfix.engine import Report
from cfgfix.findings import Finding, Severity
from cfgfix.report.words import message

LIMIT = 10
"""Annotations of one kind that GitHub shows for one step (docs.github.com, limits of workflow commands)."""
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report) -> str:
    """Return the workflow commands, and the whole list as a folded group of the log."""
    lines: list[str] = []
    findings = sorted(
        report.findings(),
        key=lambda finding: (-finding.severity, finding.location.path, finding.location.line),
    )
    for error in report.errors:
        lines.append(f"::error file={_property(error.path or '')},title=cfgfix::{_data(str(error))}")
    room = {
        severity: LIMIT - (len(report.errors) if severity is Severity.ERROR else 0) for severity in Severity
    }
    for severity in reversed(Severity):
        group = [finding for finding in findings if finding.severity is severity]
        shown = group if len(group) <= room[severity] else group[: max(0, room[severity] - 1)]
        lines += [_annotation(finding) for finding in shown]
        if len(shown) < len(group):
            rest = len(group) - len(shown)
            lines.append(
                f"::{_COMMANDS[severity]} title=cfgfix::{_data(f'{rest} more {severity.label} findings: GitHub shows {LIMIT} of a kind a step, the log of this step has them all')}"
            )
    if findings:
        lines.append(f"::group::cfgfix: all {len(findings)} findings")
        lines += [
            f"{finding.location.path}:{finding.location.line}:{finding.location.column}: {finding.severity.label} {finding.rule} {message(finding)}"
            for finding in findings
        ]
        lines.append("::endgroup::")
    return "\n".join(lines) + "\n" if lines else ""


def _annotation(finding: Finding) -> str:
    place = finding.location
    properties = {
        "file": place.path.replace("\\", "/"),
        "line": str(place.line),
        "col": str(place.column),
        "endLine": str(place.end_line),
        "endColumn": str(place.end_column),
        "title": f"{finding.rule} {finding.name}",
    }
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    fix = f"\nfix: {finding.fix.title} ({finding.fix.safety.label})" if finding.fix else ""
    return f"::{_COMMANDS[finding.severity]} {listed}::{_data(message(finding) + fix)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
