"""What a user asks for, and what came of it: plain data, from the command line to every output format."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cfgfix.core.baseline import Baseline
from cfgfix.core.edits import Edit
from cfgfix.core.errors import CfgfixError, ExitCode
from cfgfix.core.findings import Applied, Finding, Refused, Severity
from cfgfix.core.records import dataclass, field
from cfgfix.lint.rule_set import Skip
from cfgfix.rules.rule import Rule
from cfgfix.settings.reader import Settings

PYTHON = (".py", ".ipynb")
"""Endings of Python files and notebooks."""
YAML = (".yaml", ".yml")
"""Endings of YAML files."""
UNKNOWN_CONFIG = "no training config that cfgfix knows"
"""Why a file is passed over in which nothing speaks of training."""


Read = dict[str, tuple[str, int]]
"""Keys that the code reads of a config or asks for in vain, with the first place of each: a file and a line."""


@dataclass(frozen=True, slots=True)
class Past:
    """The findings and reads of keys at an earlier revision.

    Attributes:
        revision: As the user names it.
        known: Its findings, as a baseline knows them.
        reads: What its code read of each config, by the config's path relative to the repository.
    """

    revision: str
    known: Baseline
    reads: Mapping[str, Read]


@dataclass(frozen=True, slots=True)
class Request:
    """The files to check or fix, and how, as a user asks for it."""

    paths: tuple[str, ...] = ()
    settings: Settings | None = None
    """None: for every file those of the nearest settings file at or above it."""
    adjust: Callable[[Settings], Settings] | None = None
    """What a command line changes in settings that are found."""
    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False
    """Prove and show the fixes, write nothing."""
    overrides: tuple[tuple[str, str], ...] = ()
    """Key paths and YAML values, as a command line of the program would override them."""
    stdin: bytes | None = None
    stdin_name: str = "-"
    edits: bool = False
    """Work out the edits of every fix, for formats and editors that carry them."""
    excerpts: bool = False
    """Keep of each text only the lines that its findings show, so that a check of many files needs no room for them."""
    baseline: str | None = None
    """A file of known findings that are not shown."""
    past: Past | None = None
    """What held at an earlier revision, which is not shown either."""
    each: bool = False
    """Tell what has one cause in several files in each of them, for a baseline."""
    tell_reads: bool = False
    """Tell in the report what the code reads of each config."""
    add_ignores: str | None = None
    """Write a suppression comment, with this reason, for every finding instead of repairing it."""
    force_dialect: bool = False
    """Take the one file that is named for a config of the named dialect, whatever stands in it."""
    progress: Callable[[int, int], None] | None = None
    """Called with the number of files done and of all files, as often as one is done."""


@dataclass(frozen=True, slots=True)
class FileReport:
    """The result of checking or fixing one file."""

    path: str
    text: str | None = None
    """The decoded text the findings' places refer to, or an excerpt; None where the file could not be read."""
    dialect: str | None = None
    loader: str | None = None
    findings: tuple[Finding, ...] = ()
    hidden: tuple[Finding, ...] = ()
    """Findings that a suppression comment or the baseline silences."""
    edits: tuple[tuple[Edit, ...] | None, ...] = ()
    """The edits of each finding's fix, where they were asked for."""
    applied: tuple[Applied, ...] = ()
    refused: tuple[Refused, ...] = ()
    cycle: tuple[str, ...] = ()
    passed_over: str | None = None
    """Why the file was not checked, where it is no training config."""
    template: bool = False
    """Whether that is because it is a template, which a user may take for a config."""
    lacking: str | None = None
    """Why no program of the code here is known to open it, where none is."""
    opened_by: tuple[str, ...] = ()
    """The programs that open it, where the code tells that it is a config."""
    imported_by: tuple[str, ...] = ()
    """The programs that import it, for a Python file that holds their settings."""
    alone: bool = False
    """Whether a person names this one file, who is then told that it is passed over."""
    before: str | None = None
    after: str | None = None
    """Texts before and after fixing, where they differ."""
    encoded: bytes | None = None
    """For standard input: the fixed bytes."""
    settings: Settings | None = None
    """The settings it was judged by."""
    language: str = "yaml"
    """`yaml`, or `python` for source code."""


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a request."""

    files: tuple[FileReport, ...]
    errors: tuple[CfgfixError, ...]
    skipped: tuple[Skip, ...]
    hardware: str
    """One line: which machine was judged by."""
    settings: Settings
    """Those of the working folder; every file carries its own."""
    fixed: bool
    unsafe_fixes: bool
    written: bool
    rules: dict[str, Rule] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    """Every file and folder the answer rests on, for caches."""
    stale: tuple[str, ...] = ()
    """Baseline entries that nothing matches any more."""
    sources: int = 0
    """How many Python files were scanned."""
    diff: bool = False
    """Whether changes are shown and nothing is written."""
    live: bool = False
    """Whether it rests on what the machine is like at this moment."""
    reads: Mapping[str, Read] = field(default_factory=dict)
    """What the code reads of each config, where that was asked for."""
    since: str | None = None
    """The revision whose findings are not shown."""
    loading: str = ""
    """One line: how the project's code loads its configs, where that is known."""

    def findings(self) -> list[Finding]:
        """Return all findings of all files."""
        return [finding for report in self.files for finding in report.findings]

    def exit_code(self) -> ExitCode:
        """Return the exit code of this report, the same for every output format."""
        codes = [error.code for error in self.errors]
        if any(report.refused or report.cycle for report in self.files):
            codes.append(ExitCode.UNREADABLE)
        if codes:
            return max(codes)
        if any(self.fails(report, finding) for report in self.files for finding in report.findings):
            return ExitCode.FINDINGS
        if any(self.threshold_of(report) is not None for report in self.pending()):
            return ExitCode.FINDINGS
        return ExitCode.CLEAN

    def threshold_of(self, report: FileReport) -> Severity | None:
        """Return the least severity that fails a run for a file, or None.

        None is for never.
        """
        return (report.settings or self.settings).threshold()

    def fails(self, report: FileReport, finding: Finding) -> bool:
        """Tell whether a finding of a file makes the exit code 1."""
        threshold = self.threshold_of(report)
        return threshold is not None and finding.severity >= threshold

    def pending(self) -> list[FileReport]:
        """Return the files that a run which writes nothing would change."""
        return [report for report in self.files if self.diff and report.after is not None]
