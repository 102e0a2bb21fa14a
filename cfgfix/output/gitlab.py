"""The report as GitLab code quality JSON."""

from __future__ import annotations

from typing import Any

from cfgfix.core.findings import Severity
from cfgfix.core.visible import json_text
from cfgfix.lint.runner import Report
from cfgfix.output.fingerprint import fingerprints
from cfgfix.output.formats import PLAIN, Style
from cfgfix.output.sentences import message, service_path, with_safe_texts

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}


def render(report: Report, _style: Style = PLAIN) -> str:
    """Return the report as code quality JSON text."""
    return json_text(document(report), indent=2) + "\n"


def document(report: Report) -> list[dict[str, Any]]:
    """Return the report as plain code quality data."""
    report = with_safe_texts(report, paths=False)
    rows: list[dict[str, Any]] = []
    for file in report.files:
        for finding, fingerprint in fingerprints(file.findings):
            rows.append(
                {
                    "description": f"{finding.rule} {message(finding)}",
                    "check_name": finding.name,
                    "fingerprint": fingerprint,
                    "severity": _SEVERITIES[finding.severity],
                    "location": {
                        "path": service_path(finding.location.path),
                        "lines": {"begin": finding.location.line, "end": finding.location.end_line},
                    },
                }
            )
    for number, error in enumerate(report.errors):
        rows.append(
            {
                "description": str(error),
                "check_name": "cfgfix",
                "fingerprint": f"error-{number}-{error.path}",
                "severity": "blocker",
                "location": {"path": service_path(error.path or "."), "lines": {"begin": error.line or 1}},
            }
        )
    return rows
