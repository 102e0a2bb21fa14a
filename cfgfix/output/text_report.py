"""What a person is shown of a report: places that are one matter as one, and nothing that nobody would act on."""

from __future__ import annotations

from cfgfix.core.edits import Safety
from cfgfix.core.findings import Finding, Location, Severity, State
from cfgfix.core.records import dataclass, replace
from cfgfix.lint.request import FileReport, Report

MOST_PLACES = 8
"""So many further places of one matter are named."""


@dataclass(frozen=True, slots=True)
class TextReport:
    """The part of a report that text formats show.

    Attributes:
        report: The report with the findings that are shown.
        left_out: How many are not, since nobody would act on them or they are below the least severity.
    """

    report: Report
    left_out: int


def text_report(report: Report) -> TextReport:
    """Return the findings that text formats show of a report, joined and filtered.

    Formats for machines have all of them.
    """
    left_out = 0
    groups: dict[tuple[str, ...], list[Finding]] = {}
    kept: list[tuple[FileReport, list[Finding]]] = []
    for file in report.files:
        here: list[Finding] = []
        for finding in file.findings:
            if not _is_printed(report, file, finding):
                left_out += 1
                continue
            key = _common_matter(report, file, finding)
            if key is None:
                here.append(finding)
                continue
            group = groups.setdefault(key, [])
            group.append(finding)
            if len(group) == 1:
                here.append(finding)
        kept.append((file, here))
    firsts = {id(group[0]): group for group in groups.values() if len(group) > 1}
    files = tuple(
        replace(
            file,
            findings=tuple(
                _join_places(firsts[id(finding)]) if id(finding) in firsts else finding for finding in here
            ),
        )
        for file, here in kept
    )
    return TextReport(replace(report, files=files), left_out)


def _is_printed(report: Report, file: FileReport, finding: Finding) -> bool:
    settings = file.settings or report.settings
    if settings.min_severity is not None:
        return finding.severity >= Severity[settings.min_severity.upper()]
    if settings.fail_on == "info" or finding.severity is not Severity.INFO or file.language != "python":
        return True
    # It takes no effect, changes nothing that is seen, or is for somebody who looks for it.
    return finding.fix is not None and finding.fix.safety is Safety.SAFE and finding.state is State.ACTIVE


def _common_matter(report: Report, file: FileReport, finding: Finding) -> tuple[str, ...] | None:
    """Return a key that is the same for findings that are shown as one line.

    None for a finding that is shown by itself.
    """
    rule = report.rules.get(finding.rule)
    if rule is None or not rule.together:
        return None
    if rule.together == "file":
        return (finding.rule, file.path)
    if rule.together == "unpinned" and not finding.unpinned:
        return None
    return (finding.rule, (file.settings or report.settings).root, finding.severity.label, file.language)


def _join_places(group: list[Finding]) -> Finding:
    """Return the first of several findings, with the places of the others added."""
    first = group[0]
    files = len({finding.location.path for finding in group})
    among = f"in {len(group)} places" + (f" of {files} files" if files > 1 else "")
    if first.unpinned and "nothing here pins" not in first.message:
        among += "; nothing here pins an older release"
    return replace(
        first,
        message=f"{first.message} ({among})",
        notes=(*first.notes, "also " + _places_text(group[1:])),
    )


def _places_text(others: list[Finding]) -> str:
    named = [_place_text(finding.location) for finding in others[:MOST_PLACES]]
    more = len(others) - len(named)
    return ", ".join(named) + (f" and {more} more (--output-format json has all)" if more else "")


def _place_text(location: Location) -> str:
    return f"{location.path}:{location.line}"
