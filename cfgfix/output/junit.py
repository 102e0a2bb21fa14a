"""The report as JUnit XML: a file is a test suite, a finding that makes the exit code 1 a failed test.

Findings of less severity than `fail-on` are passed tests that say what was found; a clean file is one passed test. Elements and
attributes are those that Jenkins' schema for such reports (xunit plugin, junit-10.xsd) knows, since it refuses others.
"""

from __future__ import annotations

from cfgfix.core.findings import Finding
from cfgfix.core.visible import visible
from cfgfix.lint.runner import FileReport, Report
from cfgfix.output.formats import PLAIN, Style
from cfgfix.output.sentences import message, service_path, with_safe_texts

FAILED, BROKEN, TOLD = "failure", "error", "system-out"
"""How a test case ends: it fails, it cannot be judged, or it passes and says something."""


def render(report: Report, _style: Style = PLAIN) -> str:
    """Return the report as JUnit XML text."""
    report = with_safe_texts(report)
    suites: list[str] = []
    tests = failures = errors = 0
    for file in report.files:
        if file.passed_over is not None:
            continue
        told = _test_outcomes(report, file)
        cases = [_test_case(file, finding, ending, text) for finding, ending, text in told]
        if not cases:
            cases.append(
                f'    <testcase classname={_quoted_text(service_path(file.path))} name="cfgfix" time="0"/>'
            )
        failed = sum(ending == FAILED for _, ending, _ in told)
        broken = sum(ending == BROKEN for _, ending, _ in told)
        tests, failures, errors = tests + len(cases), failures + failed, errors + broken
        path = _quoted_text(service_path(file.path))
        suites.append(
            f'  <testsuite name={path} tests="{len(cases)}" failures="{failed}" errors="{broken}" file={path}>\n'
            + "\n".join(cases)
            + "\n  </testsuite>"
        )
    for error in report.errors:
        tests, errors = tests + 1, errors + 1
        suites.append(
            f'  <testsuite name={_quoted_text(visible(error.path or "cfgfix"))} tests="1" failures="0" errors="1">\n'
            f'    <testcase classname="cfgfix" name={_quoted_text(visible(error.path or "cfgfix"))}>\n'
            f"      <error message={_quoted_text(str(error))}/>\n    </testcase>\n  </testsuite>"
        )
    head = f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="cfgfix" tests="{tests}" failures="{failures}" errors="{errors}">\n'
    return head + "\n".join(suites) + ("\n" if suites else "") + "</testsuites>\n"


def _test_outcomes(report: Report, file: FileReport) -> list[tuple[Finding, str, str]]:
    """Return the findings of a file with the outcome and the text of their tests.

    Refused fixes come as broken tests.
    """
    refused = [item.finding for item in file.refused]
    told = [
        (finding, FAILED if report.fails(file, finding) else TOLD, message(finding))
        for finding in file.findings
        if finding not in refused
    ]
    told += [
        (item.finding, BROKEN, f"{message(item.finding)}; the fix is refused: {item.reason}")
        for item in file.refused
    ]
    if report.diff and file.after is not None:
        ending = FAILED if report.threshold_of(file) is not None else TOLD
        told += [(item.finding, ending, message(item.finding)) for item in file.applied]
    return sorted(told, key=lambda item: item[0].location.start)


def _test_case(file: FileReport, finding: Finding, ending: str, text: str) -> str:
    from xml.sax.saxutils import escape

    place = f"{service_path(finding.location.path)}:{finding.location.line}:{finding.location.column}"
    severity = finding.severity.label
    body = escape(_clean_text(f"{place}: {severity} {text}"))
    about = "" if ending == TOLD else f" type={_quoted_text(severity)} message={_quoted_text(text)}"
    return (
        f"    <testcase classname={_quoted_text(service_path(file.path))} name={_quoted_text(f'{finding.rule} {finding.name} at {place}')} "
        f'time="0">\n      <{ending}{about}>{body}</{ending}>\n    </testcase>'
    )


def _quoted_text(text: str) -> str:
    from xml.sax.saxutils import quoteattr

    return quoteattr(_clean_text(text))


def _clean_text(text: str) -> str:
    """Return text with the characters replaced that XML 1.0 cannot hold."""
    return "".join(
        char
        if char in "\t\n\r" or " " <= char <= "\ud7ff" or "\ue000" <= char <= "\ufffd" or char >= "\U00010000"
        else "\ufffd"
        for char in text
    )
