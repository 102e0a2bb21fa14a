"""What all formats say of a finding in the same words."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from cfgfix.core.edits import Fix
from cfgfix.core.findings import Applied, Finding, Location, Refused
from cfgfix.core.records import replace
from cfgfix.core.visible import visible
from cfgfix.lint.request import FileReport, Report


def message(finding: Finding) -> str:
    """Return a finding's message, with its machine where several are checked."""
    return f"[{finding.profile}] {finding.message}" if finding.profile else finding.message


def with_safe_texts(report: Report, *, paths: bool = True) -> Report:
    """Return a report with control characters in names and messages escaped.

    Texts of files stay as they are.

    Args:
        report: The report of a run.
        paths: Whether to change paths too; a format that writes them in a spelling of its own needs them as they are.
    """
    path = visible if paths else str
    return replace(
        report,
        files=tuple(_file_in_words(file, path) for file in report.files),
        skipped=tuple(replace(skip, reason=visible(skip.reason)) for skip in report.skipped),
        hardware=visible(report.hardware),
        stale=tuple(map(visible, report.stale)),
        loading=visible(report.loading),
    )


def _file_in_words(file: FileReport, path: Callable[[str], str]) -> FileReport:
    shown = partial(_finding_in_words, path=path)
    return replace(
        file,
        path=path(file.path),
        dialect=visible(file.dialect) if file.dialect else file.dialect,
        passed_over=visible(file.passed_over) if file.passed_over else file.passed_over,
        lacking=visible(file.lacking) if file.lacking else file.lacking,
        opened_by=tuple(map(visible, file.opened_by)),
        imported_by=tuple(map(visible, file.imported_by)),
        findings=tuple(map(shown, file.findings)),
        applied=tuple(Applied(shown(item.finding), item.edits) for item in file.applied),
        refused=tuple(Refused(shown(item.finding), visible(item.reason)) for item in file.refused),
    )


def _finding_in_words(finding: Finding, path: Callable[[str], str]) -> Finding:
    place = partial(_place_in_words, path=path)
    return replace(
        finding,
        message=visible(finding.message),
        location=place(finding.location),
        related=tuple(map(place, finding.related)),
        fix=_fix_in_words(finding.fix) if finding.fix is not None else None,
        no_fix_reason=visible(finding.no_fix_reason) if finding.no_fix_reason else finding.no_fix_reason,
        notes=tuple(map(visible, finding.notes)),
        profile=visible(finding.profile) if finding.profile else finding.profile,
        flow=tuple(map(place, finding.flow)),
        same=tuple(map(place, finding.same)),
    )


def _fix_in_words(fix: Fix) -> Fix:
    return replace(fix, title=visible(fix.title), why=visible(fix.why) if fix.why else fix.why)


def _place_in_words(place: Location, path: Callable[[str], str]) -> Location:
    return replace(place, path=path(place.path), label=visible(place.label) if place.label else place.label)


def service_path(path: str) -> str:
    """Return a path as code-scanning services expect it.

    It has forward slashes, and starts from the working folder where it lies below it.
    """
    if os.path.isabs(path):
        try:
            inside = os.path.relpath(path)
        except OSError:
            # The working folder has been removed meanwhile.
            inside = os.pardir
        if not inside.startswith(os.pardir):
            path = inside
    return path.replace(os.sep, "/")
