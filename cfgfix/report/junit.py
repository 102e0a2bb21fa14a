"""The report as JUnit XML: a file is a test suite, a finding a failed test, a clean file a passed one.

Elements and attributes are those that Jenkins' schema for such reports (xunit plugin, junit-10.xsd) knows, since it refuses others.
"""

from __future__ import annotations

from cfgfix.engine import Report
from cfgfix.report.words import legible, message, shown_path
from cfgfix.visible import visible


def render(report: Report) -> str:
    """Return the report as JUnit XML text."""
    from xml.sax.saxutils import escape, quoteattr

    report = legible(report)
    suites: list[str] = []
    failures = tests = 0
    for file in report.files:
        if file.passed_over is not None:
            continue
        cases: list[str] = []
        for finding in file.findings:
            place = f"{shown_path(finding.location.path)}:{finding.location.line}:{finding.location.column}"
            name = quoteattr(_clean(f"{finding.rule} {finding.name} at {place}"))
            body = escape(_clean(f"{place}: {finding.severity.label} {message(finding)}"))
            cases.append(
                f'    <testcase classname={quoteattr(_clean(shown_path(file.path)))} name={name} time="0">\n'
                f"      <failure type={quoteattr(finding.severity.label)} message={quoteattr(_clean(message(finding)))}>{body}</failure>\n    </testcase>"
            )
        failures += len(cases)
        if not cases:
            cases.append(
                f'    <testcase classname={quoteattr(_clean(shown_path(file.path)))} name="cfgfix" time="0"/>'
            )
        tests += len(cases)
        suites.append(
            f'  <testsuite name={quoteattr(_clean(shown_path(file.path)))} tests="{len(cases)}" failures="{len(file.findings)}" errors="0" file={quoteattr(_clean(shown_path(file.path)))}>\n'
            + "\n".join(cases)
            + "\n  </testsuite>"
        )
    for error in report.errors:
        tests += 1
        suites.append(
            f'  <testsuite name={quoteattr(_clean(visible(error.path or "cfgfix")))} tests="1" failures="0" errors="1">\n'
            f'    <testcase classname="cfgfix" name={quoteattr(_clean(visible(error.path or "cfgfix")))}>\n'
            f"      <error message={quoteattr(_clean(str(error)))}/>\n    </testcase>\n  </testsuite>"
        )
    head = f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="cfgfix" tests="{tests}" failures="{failures}" errors="{len(report.errors)}">\n'
    return head + "\n".join(suites) + ("\n" if suites else "") + "</testsuites>\n"


def _clean(text: str) -> str:
    """Replace what XML 1.0 cannot hold."""
    return "".join(
        char
        if char in "\t\n\r" or " " <= char <= "\ud7ff" or "\ue000" <= char <= "\ufffd" or char >= "\U00010000"
        else "\ufffd"
        for char in text
    )
