"""The report as SARIF 2.1.0, for code scanning services and editors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cfgfix import __version__
from cfgfix.core.edits import Edit
from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import Confidence, Finding, Location, Severity, State
from cfgfix.core.source_file import SourceFile
from cfgfix.core.visible import json_text
from cfgfix.lint.runner import FileReport, Report
from cfgfix.output.fingerprint import fingerprints
from cfgfix.output.formats import PLAIN, Style
from cfgfix.output.sentences import message, service_path, with_safe_texts
from cfgfix.rules.rule import Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PRECISION = {Confidence.HIGH: "very-high", Confidence.MEDIUM: "high", Confidence.LOW: "medium"}
_SCORES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "recommendation"}


def render(report: Report, _style: Style = PLAIN) -> str:
    """Return the report as SARIF text."""
    return json_text(document(report), indent=2) + "\n"


def document(report: Report) -> dict[str, Any]:
    """Return the report as plain SARIF data."""
    report = with_safe_texts(report, paths=False)
    rules = [
        report.rules[identifier] for identifier in sorted({finding.rule for finding in report.findings()})
    ]
    positions = {rule.id: index for index, rule in enumerate(rules)}
    results: list[dict[str, Any]] = []
    for file in report.files:
        for index, (finding, fingerprint) in enumerate(fingerprints(file.findings)):
            edits = file.edits[index] if index < len(file.edits) else None
            results.append(_result_as_sarif(finding, fingerprint, positions, file, edits))
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "cfgfix",
                        "version": __version__,
                        "semanticVersion": __version__,
                        "rules": [_rule_as_sarif(rule) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"SRCROOT": {"description": {"text": "The folder cfgfix ran in."}}},
                "invocations": [
                    {
                        "executionSuccessful": not report.errors,
                        "exitCode": int(report.exit_code()),
                        "toolExecutionNotifications": [
                            _notification_as_sarif(error) for error in report.errors
                        ],
                    }
                ],
                "results": results,
            }
        ],
    }


def _rule_as_sarif(rule: Rule) -> dict[str, Any]:
    from cfgfix.rules.reader import load_yaml, refuted

    data = load_yaml(rule.path)
    why = " ".join(str(data.get("why", "")).split())
    fixes = (
        "; ".join(f"{' or '.join(fix.safeties)}: {fix.why}" for fix in rule.fixes) or f"No fix: {rule.no_fix}"
    )
    myths = [
        f"Myth: {item['claim']} - measured: {item['measured']} - instead: {item['instead']}"
        for item in refuted(data)
    ]
    fixes = "\n\n".join((fixes, *myths))
    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": why or rule.summary},
        "help": {
            "text": f"{why}\n\nFix: {fixes}\n\ncfgfix explain {rule.id} tells the evidence.",
            "markdown": f"{why}\n\n**Fix.** {fixes}\n\n`cfgfix explain {rule.id}` tells the evidence.",
        },
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {
            "precision": _PRECISION[rule.confidence],
            "problem.severity": _SCORES[rule.severity],
            "tags": ["tensorflow", rule.family.lower()],
        },
    }


def _result_as_sarif(
    finding: Finding,
    fingerprint: str,
    positions: dict[str, int],
    file: FileReport,
    edits: Sequence[Edit] | None,
) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": positions[finding.rule],
        "level": _LEVELS[finding.severity],
        "message": {"text": message(finding)},
        "locations": [_location_as_sarif(finding.location)],
        "partialFingerprints": {"cfgfix/v1": fingerprint},
        "properties": {"confidence": finding.confidence.label, "state": finding.state.value},
    }
    if finding.profile is not None:
        result["properties"]["profile"] = finding.profile
    if finding.related or finding.same:
        result["relatedLocations"] = [
            _location_as_sarif(place, number)
            for number, place in enumerate((*finding.related, *finding.same), 1)
        ]
    if finding.flow:
        result["codeFlows"] = [
            {
                "threadFlows": [
                    {
                        "locations": [
                            {"location": _location_as_sarif(step)}
                            for step in (*finding.flow, finding.location)
                        ]
                    }
                ]
            }
        ]
    if finding.state is not State.ACTIVE:
        result["kind"] = "review" if finding.state is State.FALLBACK else "informational"
        result["level"] = "none"
    if finding.fix is not None and edits and file.text is not None:
        result["fixes"] = [
            {
                "description": {"text": f"{finding.fix.title} ({finding.fix.safety.label})"},
                "artifactChanges": [
                    {
                        "artifactLocation": _artifact_as_sarif(file.path),
                        "replacements": _replacements_as_sarif(edits, file),
                    }
                ],
            }
        ]
    return result


def _replacements_as_sarif(edits: Sequence[Edit], file: FileReport) -> list[dict[str, Any]]:
    assert file.text is not None
    source = SourceFile.from_bytes(file.text.encode("utf-8", "surrogatepass"), file.path)
    rows: list[dict[str, Any]] = []
    for edit in edits:
        start, end = source.position(edit.start), source.position(edit.end)
        rows.append(
            {
                "deletedRegion": {
                    "startLine": start[0],
                    "startColumn": start[1],
                    "endLine": end[0],
                    "endColumn": end[1],
                },
                "insertedContent": {"text": edit.new},
            }
        )
    return rows


def _location_as_sarif(place: Location, number: int | None = None) -> dict[str, Any]:
    data: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": _artifact_as_sarif(place.path),
            "region": {
                "startLine": place.line,
                "startColumn": place.column,
                "endLine": place.end_line,
                "endColumn": place.end_column,
            },
        }
    }
    if number is not None:
        data["id"] = number
    if place.label:
        data["message"] = {"text": place.label}
    return data


def _artifact_as_sarif(path: str) -> dict[str, str]:
    import os
    from urllib.parse import quote

    shown = service_path(path)
    # A name is bytes; those that are no text are written as they are, like all others.
    uri = quote(shown.encode("utf-8", "surrogateescape" if os.name == "posix" else "surrogatepass"))
    if os.path.isabs(shown):
        return {"uri": f"file://{uri}"}
    return {"uri": uri, "uriBaseId": "SRCROOT"}


def _notification_as_sarif(error: CfgfixError) -> dict[str, Any]:
    data: dict[str, Any] = {"level": "error", "message": {"text": str(error)}}
    if error.path is not None:
        data["locations"] = [{"physicalLocation": {"artifactLocation": _artifact_as_sarif(error.path)}}]
    return data
