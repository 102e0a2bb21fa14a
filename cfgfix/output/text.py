"""The report as a person reads it: place, rule, message, the lines themselves with carets, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from cfgfix.core.edits import Safety
from cfgfix.core.findings import Finding, Location, Severity, State, note_parts
from cfgfix.core.terminal import Paint
from cfgfix.core.visible import visible
from cfgfix.lint.runner import FileReport, Report
from cfgfix.output.formats import PLAIN, Style
from cfgfix.output.sentences import message, with_safe_texts
from cfgfix.output.text_report import text_report

TAB = 4
"""Columns a tab is shown as in a code frame."""
MAX_PROGRAMS = 3
"""Most programs that the closing lines name."""
MAX_SAME = 5
"""Most other files that a finding which holds for several names."""
MAX_LINE = 160
"""Longest part of a source line shown in a frame, in characters."""


def render(report: Report, style: Style = PLAIN) -> str:
    """Return the full report with code frames."""
    report = with_safe_texts(report)
    lines: list[str] = []
    for file in text_report(report).report.files:
        for finding in file.findings:
            lines += _finding_lines(finding, file, style.paint)
            lines.append("")
    if report.diff:
        lines += _diff_lines(report, style.paint)
    lines += summary(report, style)
    return "\n".join(lines) + "\n" if lines else ""


def concise(report: Report, style: Style = PLAIN) -> str:
    """Return a report with one line for each finding."""
    report = with_safe_texts(report)
    lines = [
        concise_line(finding, style.paint)
        for file in text_report(report).report.files
        for finding in file.findings
    ]
    if report.diff:
        lines += _diff_lines(report, style.paint)
    lines += summary(report, style)
    return "\n".join(lines) + "\n" if lines else ""


def concise_line(finding: Finding, paint: Paint) -> str:
    """Return a finding as one line, in the form that editors and scripts read."""
    place = f"{finding.location.path}:{finding.location.line}:{finding.location.column}:"
    mark = (
        {Safety.SAFE: " [*]", Safety.UNSAFE: " [unsafe fix]"}.get(finding.fix.safety, "")
        if finding.fix
        else ""
    )
    return f"{paint('path', place)} {paint(finding.severity.label, finding.severity.label)} {finding.rule} {finding.name}: {message(finding)}{mark}"


def _finding_lines(finding: Finding, file: FileReport, paint: Paint) -> list[str]:
    place = finding.location
    head = (
        f"{paint('path', f'{place.path}:{place.line}:{place.column}')}: {paint(finding.severity.label, finding.severity.label)} "
        f"{paint('bold', finding.rule)} {finding.name}"
    )
    if finding.state is not State.ACTIVE:
        head += f" ({finding.state.value})"
    lines = [head, f"  {message(finding)}"]
    if file.text is not None:
        lines += frame(file.text, place, finding.related, paint)
    for other in finding.related:
        if other.path != place.path:
            lines.append(
                f"  {paint('frame', '=')} {other.path}:{other.line}:{other.column}: {other.label or ''}".rstrip()
            )
    if finding.same:
        shown = [f"{other.path}:{other.line}" for other in finding.same[:MAX_SAME]]
        rest = len(finding.same) - len(shown)
        lines.append(
            f"  {paint('frame', '=')} the same in {', '.join(shown)}{f' and {rest} more' if rest else ''}"
        )
    for step in finding.flow:
        lines.append(
            f"  {paint('frame', '>')} {step.path}:{step.line}:{step.column}: {step.label or ''}".rstrip()
        )
    if finding.fix is not None:
        kind = {Safety.SAFE: "fix", Safety.UNSAFE: "unsafe fix", Safety.DISPLAY: "suggestion"}[
            finding.fix.safety
        ]
        lines.append(f"  {paint('frame', '=')} {paint('good', kind)}: {finding.fix.title}")
        if finding.fix.safety is not Safety.SAFE and finding.fix.why:
            lines.append(f"  {paint('frame', '=')} why not by itself: {finding.fix.why}")
    elif finding.no_fix_reason:
        lines.append(f"  {paint('frame', '=')} no fix: {finding.no_fix_reason}")
    lines += [f"  {paint('frame', '=')} {label}: {text}" for label, text in map(note_parts, finding.notes)]
    return lines


def frame(text: str, place: Location, related: Sequence[Location], paint: Paint) -> list[str]:
    """Return source lines with carets under the places of a finding, and their labels."""
    marks: dict[int, list[tuple[Location, bool]]] = {}
    marks.setdefault(place.line, []).append((place, True))
    for other in related:
        if other.path == place.path:
            marks.setdefault(other.line, []).append((other, False))
    rows = _printable_lines(text)
    gutter = len(str(max(marks)))
    shown: list[str] = [f"{' ' * gutter} {paint('frame', '|')}"]
    previous = None
    for number in sorted(marks):
        if number > len(rows):
            continue
        if previous is not None and number > previous + 1:
            shown.append(paint("frame", "..."))
        previous = number
        row = rows[number - 1]
        shown.append(
            f"{paint('frame', str(number).rjust(gutter))} {paint('frame', '|')} {_printable_row(row[:MAX_LINE])[:MAX_LINE]}".rstrip()
        )
        for location, primary in sorted(marks[number], key=lambda item: item[0].column):
            first = location.column - 1
            if first >= MAX_LINE:
                continue
            start = _width_of(row[:first])
            stop = location.end_column - 1 if location.end_line == location.line else len(row)
            width = max(1, _width_of(row[first : min(stop, first + MAX_LINE)]))
            if start >= MAX_LINE:
                continue
            mark = ("^" if primary else "-") * min(width, MAX_LINE - start)
            label = f" {location.label}" if location.label else ""
            shown.append(
                f"{' ' * gutter} {paint('frame', '|')} {' ' * start}{paint('error' if primary else 'frame', mark)}{label}"
            )
    return shown


@lru_cache(1)
def _printable_lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _printable_row(row: str) -> str:
    if row.isprintable():
        return row
    return "".join(
        " " * TAB if char == "\t" else char if char.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for char in row
    )


def _width_of(part: str) -> int:
    if part.isascii() and "\t" not in part:
        return len(part)
    import unicodedata

    total = 0
    for char in part:
        if char == "\t":
            total += TAB
        elif unicodedata.combining(char):
            continue
        else:
            total += 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
    return total


def diff(before: str, after: str, path: str) -> Iterable[str]:
    """Return the lines of a unified diff of two texts.

    A missing final newline and carriage returns are shown as `diff` shows them.
    """
    import difflib

    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for line in difflib.unified_diff(old, new, f"a/{path}", f"b/{path}"):
        yield _printable_line(line.rstrip("\n"))
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _printable_line(line: str) -> str:
    """Return a line of a diff with its unprintable characters escaped.

    Tabs and the carriage return at its end stay.
    """
    if line.isprintable():
        return line
    body = line.removesuffix("\r")
    return "\t".join(map(visible, body.split("\t"))) + line[len(body) :]


def _diff_lines(report: Report, paint: Paint) -> list[str]:
    lines: list[str] = []
    for file in report.files:
        if file.before is not None and file.after is not None:
            for line in diff(file.before, file.after, file.path):
                style = {"+": "added", "-": "removed", "@": "frame"}.get(line[:1])
                lines.append(paint(style, line) if style else line)
            lines.append("")
    return lines


def summary(report: Report, style: Style) -> list[str]:
    """Return the closing lines of a report.

    They tell fixes made and held back, refusals, errors, counts and the machine.
    """
    lines: list[str] = []
    for file in report.files:
        for applied in file.applied:
            verb = "would fix" if report.diff else "fixed"
            if not report.fixed:
                verb = "would silence" if report.diff else "silenced"
                lines.append(
                    f"{style.paint('good', verb)} {file.path}:{applied.finding.location.line}: {applied.finding.rule} {applied.finding.message}"
                )
                continue
            assert applied.finding.fix is not None
            lines.append(
                f"{style.paint('good', verb)} {file.path}:{applied.finding.location.line}: {applied.finding.rule} {applied.finding.fix.title}"
            )
        for refused in file.refused:
            lines.append(
                f"{style.paint('warning', 'refused')} {file.path}:{refused.finding.location.line}: {refused.finding.rule} {refused.reason}"
            )
        if file.cycle:
            lines.append(
                f"{style.paint('error', 'not fixed')} {file.path}: the fixes of {', '.join(file.cycle)} undo each other, so none of them is made"
            )
    for error in report.errors:
        lines.append(f"{style.paint('error', 'error')}: {error}")
    reduced = text_report(report)
    findings = reduced.report.findings()
    counts = {severity: sum(finding.severity is severity for finding in findings) for severity in Severity}
    checked = [
        file
        for file in report.files
        if file.passed_over is None and (file.language != "python" or file.imported_by)
    ]
    passed = [file for file in report.files if file.passed_over is not None]
    unopened = [file for file in passed if file.lacking is not None]
    others = [file for file in passed if file.lacking is None]
    if style.show_skipped:
        lines += _lines_on_skipped(report)
        lines += [f"only by its keys {file.path}: {file.lacking}" for file in checked if file.lacking]
        lines += map(_passed_over, passed)
    else:
        lines += [f"passed over {file.path}: {file.passed_over}" for file in passed if file.template]
    if style.quiet:
        return lines
    pending = report.pending()
    if pending:
        count = sum(len(file.applied) for file in pending)
        verb = "fixed" if report.fixed else "silenced"
        lines.append(
            f"{_count_with_noun(count, 'finding')} would be {verb} in {_count_with_noun(len(pending), 'file')}; nothing is written"
        )
    if not findings and (pending or (report.errors and not (checked or report.sources))):
        pass  # "no findings" would be said of what is not mended yet, or of what nobody looked at
    elif findings or checked or report.sources:
        total = ", ".join(
            _count_with_noun(counts[severity], severity.label)
            for severity in reversed(Severity)
            if counts[severity]
        )
        lines.append(
            f"{total or 'no findings'} in "
            + " and ".join(
                (
                    [f"{_count_with_noun(len(checked), 'config')}{_known_by(checked)}"]
                    if checked or not report.sources
                    else []
                )
                + (
                    [_count_with_noun(report.sources, "Python file") + _not_read(report)]
                    if report.sources
                    else []
                )
            )
            + (f", {_count_with_noun(len(others), 'other file')} passed over" if others else "")
        )
        lines += _lines_on_unopened(unopened, show_skipped=style.show_skipped)
    elif len(passed) == 1 and passed[0].alone:
        way = "--dialect NAME --force-dialect checks it all the same"
        lines.append(way if style.show_skipped else f"{_passed_over(passed[0])} ({way})")
    elif passed:
        lines.append(
            f"no training config among {_count_with_noun(len(passed), 'file')} (--show-skipped tells why)"
        )
    else:
        lines.append("no configs found")
    if reduced.left_out:
        lines.append(
            f"{_count_with_noun(reduced.left_out, 'note')} not shown (--min-severity info shows them)"
        )
    lines += _fix_hint(report.findings(), report, style.paint)
    lines += [f"stale in the baseline: {entry}" for entry in report.stale]
    hidden = sum(len(file.hidden) for file in report.files)
    if hidden:
        why = (
            f"held at {report.since} already, or silenced by comments"
            if report.since
            else "silenced by comments or the baseline"
        )
        lines.append(f"{_count_with_noun(hidden, 'finding')} {why}")
    is_file = any(file.language != "python" for file in checked)
    if report.hardware and is_file:
        lines.append(report.hardware)
    if report.loading and is_file:
        lines.append(report.loading)
    return lines


def _lines_on_skipped(report: Report) -> Iterator[str]:
    """Yield a line for each reason why rules were skipped, with these rules."""
    rules: dict[str, list[str]] = {}
    for skip in report.skipped:
        rules.setdefault(skip.reason, []).append(skip.rule)
    for reason, names in rules.items():
        yield f"skipped {', '.join(names)}: {reason}"


def _passed_over(file: FileReport) -> str:
    lacking = f"; {file.lacking}" if file.lacking else ""
    return f"passed over {file.path}: {file.passed_over}{lacking}"


def _not_read(report: Report) -> str:
    """Return text on how many Python files were not read; empty for none.

    "No findings" says nothing of these.
    """
    count = sum(
        any(
            rule is not None and rule.policy.named is not None
            for rule in map(report.rules.get, _rules_of(file))
        )
        for file in report.files
        if file.language == "python"
    )
    return f" ({count} not read)" if count else ""


def _rules_of(file: FileReport) -> set[str]:
    return {finding.rule for finding in file.findings}


def _known_by(checked: Sequence[FileReport]) -> str:
    """Return text on how the checked files are known to be configs, in brackets.

    Empty where no code opens any of them.
    """
    counts: dict[str, int] = {}
    for file in checked:
        ways = [f"opened by {program}" for program in file.opened_by]
        ways += [f"imported by {program}" for program in file.imported_by]
        for way in ways[:1]:
            counts[way] = counts.get(way, 0) + 1
    if not counts:
        return ""
    programs = sorted(counts, key=lambda program: -counts[program])
    if len(programs) > MAX_PROGRAMS:
        rest = sum(counts[program] for program in programs[MAX_PROGRAMS - 1 :])
        programs = programs[: MAX_PROGRAMS - 1]
        told = [f"{counts[program]} {program}" for program in programs]
        told.append(f"{rest} by other programs")
    else:
        told = [f"{counts[program]} {program}" for program in programs]
    by_keys = len(checked) - sum(counts.values())
    if by_keys:
        told.append(f"{by_keys} known by {'its' if by_keys == 1 else 'their'} keys")
    return f" ({', '.join(told)})"


def _lines_on_unopened(files: Sequence[FileReport], *, show_skipped: bool) -> list[str]:
    """Return a line on the YAML files that no code is known to open.

    Empty where there are no such files.
    """
    if not files:
        return []
    verb = "is" if len(files) == 1 else "are"
    hint = "" if show_skipped else ": --show-skipped tells what is lacking"
    return [
        f"{_count_with_noun(len(files), 'YAML file')} {verb} read by no code that could be followed{hint}"
    ]


def _fix_hint(findings: Sequence[Finding], report: Report, paint: Paint) -> list[str]:
    safe = sum(finding.fix is not None and finding.fix.safety is Safety.SAFE for finding in findings)
    unsafe = sum(finding.fix is not None and finding.fix.safety is Safety.UNSAFE for finding in findings)
    if report.fixed:
        if unsafe and not report.unsafe_fixes:
            return [
                f"{_count_with_noun(unsafe, 'unsafe fix', 'unsafe fixes')} held back: such a fix may change what the model learns or how much memory a run takes (--unsafe-fixes adds them)"
            ]
        return []
    parts = []
    if safe:
        parts.append(f"{paint('good', str(safe))} fixable with `cfgfix --fix`")
    if unsafe:
        parts.append(f"{unsafe} more with --unsafe-fixes")
    return [", ".join(parts)] if parts else []


def statistics(report: Report) -> str:
    """Return a table of rules with the number of their findings, most first."""
    report = with_safe_texts(report)
    counts: dict[str, list[Finding]] = {}
    for finding in report.findings():
        counts.setdefault(finding.rule, []).append(finding)
    rows = []
    for rule, findings in sorted(counts.items(), key=lambda item: (-len(item[1]), item[0])):
        fixes = sum(finding.fix is not None and finding.fix.safety is Safety.SAFE for finding in findings)
        files = len({finding.location.path for finding in findings})
        rows.append(
            f"{len(findings):6}  {rule} {findings[0].name}  in {_count_with_noun(files, 'file')}"
            + (f", {fixes} with a safe fix" if fixes else "")
        )
    return "\n".join(rows) + "\n" if rows else "no findings\n"


def _count_with_noun(count: int, word: str, plural: str | None = None) -> str:
    return f"{count} {word if count == 1 else plural or word + 's'}"
