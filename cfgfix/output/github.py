"""The report as GitHub workflow commands: annotations on the lines of a pull request.

GitHub shows at most ten annotations of each kind a step and drops the others without a word. So the worst come first, the
tenth place tells how many more there are, and every finding stands in the log.
"""

from __future__ import annotations

from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import Finding, Severity
from cfgfix.core.visible import visible
from cfgfix.lint.runner import Report
from cfgfix.output.formats import PLAIN, Style
from cfgfix.output.sentences import message, service_path, with_safe_texts

LIMIT = 10
"""Annotations of one kind that GitHub shows for one step (docs.github.com, limits of workflow commands)."""
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report, _style: Style = PLAIN) -> str:
    """Return a report as workflow commands, with the whole list folded into the log."""
    report = with_safe_texts(report)
    lines: list[str] = []
    findings = sorted(
        report.findings(),
        key=lambda finding: (-finding.severity, finding.location.path, finding.location.line),
    )
    for severity in reversed(Severity):
        group = [_annotation_line(finding) for finding in findings if finding.severity is severity]
        if severity is Severity.ERROR:
            group = [_error_annotation(error) for error in report.errors] + group
        shown = group if len(group) <= LIMIT else group[: LIMIT - 1]
        lines += shown
        if len(shown) < len(group):
            rest = f"{len(group) - len(shown)} more of severity {severity.label}: GitHub shows {LIMIT} of a kind a step, the log of this step has them all"
            lines.append(f"::{_COMMANDS[severity]} title=cfgfix::{_escaped_data(rest)}")
    if findings or report.errors:
        lines.append(f"::group::cfgfix: all {len(findings) + len(report.errors)} findings")
        lines += [_inert_line(str(error)) for error in report.errors]
        lines += [
            _inert_line(
                f"{service_path(finding.location.path)}:{finding.location.line}:{finding.location.column}: {finding.severity.label} {finding.rule} {message(finding)}"
            )
            for finding in findings
        ]
        lines.append("::endgroup::")
    return "\n".join(lines) + "\n" if lines else ""


def _error_annotation(error: CfgfixError) -> str:
    place = f"file={_escaped_property(visible(service_path(error.path)))}," if error.path else ""
    return f"::error {place}title=cfgfix::{_escaped_data(str(error))}"


def _annotation_line(finding: Finding) -> str:
    place = finding.location
    properties = {
        "file": service_path(place.path),
        "line": str(place.line),
        "col": str(place.column),
        "endLine": str(place.end_line),
        "endColumn": str(place.end_column),
        "title": f"{finding.rule} {finding.name}",
    }
    listed = ",".join(f"{name}={_escaped_property(value)}" for name, value in properties.items())
    fix = f"\nfix: {finding.fix.title} ({finding.fix.safety.label})" if finding.fix else ""
    return f"::{_COMMANDS[finding.severity]} {listed}::{_escaped_data(message(finding) + fix)}"


def _inert_line(text: str) -> str:
    """Return a line of the log changed so that the runner takes no command from it.

    The runner looks for `::` where a line begins and for `##[` anywhere in it (actions/runner, ActionCommand.cs).
    """
    text = _escaped_data(text).replace("##[", "## [")
    return f"./{text}" if text.lstrip().startswith("::") else text


def _escaped_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    return _escaped_data(text).replace(":", "%3A").replace(",", "%2C")
