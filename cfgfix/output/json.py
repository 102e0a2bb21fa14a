"""The report for programs: JSON, version 1.

Within version 1 fields are added, never renamed, removed or given another meaning.
"""

from __future__ import annotations

from typing import Any

from cfgfix import __version__
from cfgfix.core.edits import Fix
from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import Finding, Location, format_key_path
from cfgfix.core.visible import json_text, visible
from cfgfix.lint.runner import FileReport, Report
from cfgfix.output.formats import PLAIN, Style
from cfgfix.output.sentences import with_safe_texts

VERSION = 1


def render(report: Report, _style: Style = PLAIN) -> str:
    """Return the report as JSON text."""
    return json_text(document(report), indent=2) + "\n"


def document(report: Report) -> dict[str, Any]:
    """Return the report as plain data."""
    report = with_safe_texts(report, paths=False)
    return {
        "version": VERSION,
        "tool": {"name": "cfgfix", "version": __version__},
        "hardware": report.hardware,
        "exit_code": int(report.exit_code()),
        "files": [_file_as_json(file) for file in report.files],
        "skipped": [{"rule": skip.rule, "reason": skip.reason} for skip in report.skipped],
        "errors": [_error_as_json(error) for error in report.errors],
    }


def _file_as_json(file: FileReport) -> dict[str, Any]:
    return {
        "path": file.path,
        "dialect": file.dialect,
        "loader": file.loader,
        "opened_by": list(file.opened_by),
        "imported_by": list(file.imported_by),
        "passed_over": file.passed_over,
        "lacking": file.lacking,
        "findings": [finding_data(finding) for finding in file.findings],
        "fixed": [
            {
                **finding_data(applied.finding),
                "edits": [{"start": edit.start, "end": edit.end, "new": edit.new} for edit in applied.edits],
            }
            for applied in file.applied
        ],
        "refused": [{**finding_data(refused.finding), "reason": refused.reason} for refused in file.refused],
        "cycle": list(file.cycle),
    }


def finding_data(finding: Finding) -> dict[str, Any]:
    """Return one finding as plain data."""
    return {
        "rule": finding.rule,
        "name": finding.name,
        "severity": finding.severity.label,
        "confidence": finding.confidence.label,
        "state": finding.state.value,
        "message": finding.message,
        "key": format_key_path(finding.key_path) if finding.key_path is not None else None,
        "location": _location_as_json(finding.location),
        "related": [_location_as_json(location) for location in (*finding.related, *finding.same)],
        "flow": [_location_as_json(location) for location in finding.flow],
        "notes": list(finding.notes),
        "profile": finding.profile,
        "fix": _fix_as_json(finding.fix) if finding.fix is not None else None,
        "no_fix_reason": finding.no_fix_reason,
    }


def _location_as_json(location: Location) -> dict[str, Any]:
    return {
        "path": location.path,
        "start": location.start,
        "end": location.end,
        "line": location.line,
        "column": location.column,
        "end_line": location.end_line,
        "end_column": location.end_column,
        "label": location.label,
    }


def _fix_as_json(fix: Fix) -> dict[str, Any]:
    data: dict[str, Any] = {
        "title": fix.title,
        "safety": fix.safety.label,
        "why": fix.why,
        "changes": [_change_as_json(change) for change in fix.changes],
    }
    if fix.elsewhere:
        data["elsewhere"] = [
            {"path": other.path, "changes": [_change_as_json(change) for change in other.changes]}
            for other in fix.elsewhere
        ]
    return data


def _change_as_json(change: Any) -> dict[str, Any]:
    data: dict[str, Any] = {"action": type(change).__name__}
    for name in change.__slots__:
        value = getattr(change, name)
        data[name] = (
            format_key_path(value)
            if name == "path"
            else value
            if isinstance(value, (str, int, float, bool, list, dict)) or value is None
            else str(value)
        )
    return data


def _error_as_json(error: CfgfixError) -> dict[str, Any]:
    return {
        "message": visible(error.message),
        "path": error.path,
        "line": error.line,
        "column": error.column,
        "hint": visible(error.hint) if error.hint else error.hint,
        "code": int(error.code),
    }


def render_lines(report: Report, _style: Style = PLAIN) -> str:
    """Return a line of JSON for every finding, and for every error.

    For tools that read a stream.
    """
    report = with_safe_texts(report, paths=False)
    rows = [
        {"version": VERSION, "file": file.path, **finding_data(finding)}
        for file in report.files
        for finding in file.findings
    ]
    rows += [
        {"version": VERSION, "file": error.path, "error": _error_as_json(error)} for error in report.errors
    ]
    return "".join(json_text(row) + "\n" for row in rows)
