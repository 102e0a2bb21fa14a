"""One cause, one finding: what code does to the same key of several configs is told once, with the other places."""

from __future__ import annotations

import os
from collections.abc import Collection, Hashable, Sequence

from cfgfix.core.findings import Finding, Location
from cfgfix.core.records import replace
from cfgfix.lint.request import FileReport


def join_by_cause(reports: Sequence[FileReport], rules: Collection[str]) -> list[FileReport]:
    """Return the reports with findings of the same cause in code joined into one.

    The joined finding stands in the first of the files. A finding with a fix is left alone: each file needs its own repair.

    Args:
        reports: The reports of a run.
        rules: The rules about what code does with a config.
    """
    groups: dict[Hashable, list[Finding]] = {}
    for report in reports:
        for finding in report.findings:
            cause = _cause_key(report, finding, rules)
            if cause is not None:
                groups.setdefault(cause, []).append(finding)
    if all(len(group) < 2 for group in groups.values()):
        return list(reports)
    result: list[FileReport] = []
    told: set[Hashable] = set()
    for report in reports:
        findings: list[Finding] = []
        edits = []
        for number, finding in enumerate(report.findings):
            cause = _cause_key(report, finding, rules)
            if cause in told:
                continue
            group = groups[cause] if cause is not None else []
            if len(group) > 1:
                told.add(cause)
            findings.append(_with_others(finding, group) if len(group) > 1 else finding)
            if report.edits:
                edits.append(report.edits[number])
        same = len(findings) == len(report.findings) and all(map(_is_same, findings, report.findings))
        result.append(report if same else replace(report, findings=tuple(findings), edits=tuple(edits)))
    return result


def without_echoes(reports: Sequence[FileReport], yielding: Collection[str]) -> list[FileReport]:
    """Return the reports without code findings that a config's finding tells as well.

    Left out is a finding of a yielding rule inside a call that a finding at an opened config names as related.

    Args:
        reports: The reports of a run.
        yielding: The rules whose findings give way.
    """
    if not any(finding.rule in yielding for report in reports for finding in report.findings):
        return list(reports)
    calls: dict[tuple[str, int, int], list[Location]] = {}
    for report in reports:
        for finding in report.findings if report.opened_by else ():
            calls.setdefault(_place_of(finding.location), []).extend(finding.related)

    def echo(finding: Finding) -> bool:
        return finding.rule in yielding and any(
            _contains_location(call, finding.location)
            for place in finding.related
            for call in calls.get(_place_of(place), ())
        )

    result: list[FileReport] = []
    for report in reports:
        kept = [number for number, finding in enumerate(report.findings) if not echo(finding)]
        if len(kept) == len(report.findings):
            result.append(report)
            continue
        edits = tuple(report.edits[number] for number in kept) if report.edits else ()
        result.append(
            replace(report, findings=tuple(report.findings[number] for number in kept), edits=edits)
        )
    return result


def _place_of(location: Location) -> tuple[str, int, int]:
    return os.path.abspath(location.path), location.start, location.end


def _contains_location(outer: Location, inner: Location) -> bool:
    """Tell whether the outer location contains the inner one."""
    path, start, end = _place_of(outer)
    inner_path, inner_start, inner_end = _place_of(inner)
    return path == inner_path and start <= inner_start and inner_end <= end


def _is_same(one: Finding, other: Finding) -> bool:
    return one is other


def _cause_key(report: FileReport, finding: Finding, rules: Collection[str]) -> Hashable | None:
    """Return a key that is equal for findings of the same cause in code.

    None for a finding that is never joined with others.
    """
    if not report.opened_by or finding.fix is not None or finding.rule not in rules:
        return None
    places = tuple(
        (place.path, place.line, place.column) for place in finding.related if place.path != report.path
    )
    threshold = report.settings.threshold() if report.settings is not None else None
    return (
        finding.rule,
        finding.severity,
        finding.message,
        finding.key_path,
        finding.state,
        finding.profile,
        places,
        report.opened_by,
        threshold,
    )


def _with_others(finding: Finding, group: Sequence[Finding]) -> Finding:
    same = tuple(replace(other.location, label="the same") for other in group if other is not finding)
    more = "1 more config" if len(same) == 1 else f"{len(same)} more configs"
    return replace(finding, message=f"{finding.message}, in this and {more}", same=same)
