"""Python files in a run: which are scanned, under which configs, and their reports.

Imported only when there is Python to look at.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from cfgfix.code.model.comment_tokens import readable_comments
from cfgfix.code.model.given import GivenByConfigs
from cfgfix.code.model.python_files import MAX_NOTEBOOK, PythonFile, decode, package_root
from cfgfix.code.scan import ConfigFacts, ScanResult, scan
from cfgfix.core.errors import UnreadableError
from cfgfix.core.findings import Applied, Finding, Refused
from cfgfix.core.records import replace
from cfgfix.core.source_file import SourceFile, excerpt, read_regular, read_source
from cfgfix.core.suppressions import read_suppressions
from cfgfix.lint.project import Project
from cfgfix.lint.project_findings import findings_in_project, hits_in_program
from cfgfix.lint.request import FileReport
from cfgfix.lint.rule_set import content_stamp
from cfgfix.lint.suppressing import about_suppressions, apply_suppressions
from cfgfix.rules.rule import YieldsTo
from cfgfix.settings.code_files import python_files, relative_path
from cfgfix.settings.reader import Settings

MAX_CONFIGS = 32
"""Most configs whose guards are evaluated in one run; the first ones in order count."""


def program_around(path: str, place: str, settings: Settings) -> tuple[list[PythonFile], str]:
    """Return the Python files of the program around an edited text, and its path.

    Args:
        path: The name of the text; there need be no such file yet.
        place: The project's folder, searched where the settings name no source roots.
        settings: Those in force for the text.
    """
    files = python_files([] if settings.source_roots else [relative_path(place)], settings)
    whole = os.path.abspath(path)
    for file in files:
        if os.path.abspath(file.path) == whole:
            return files, file.path
    return [*files, PythonFile(path, package_root(path), (0, 0, 0, 0))], path


class SourceRun:
    """One run over Python files.

    Args:
        project: Whose rules they are judged by.
        files: What is scanned.
        configs: Returns what the guards are judged under, where some files have other texts.
        permitted: Leaves out what the settings ignore in a file.
        texts: Texts that stand for those on disk, by path.
        only: The files that are reported, where not all are.
        under: Returns what configs give to the calls of these files, where some files have other texts.
        progress: Called with the number of files read and of all files.
    """

    def __init__(
        self,
        project: Project,
        files: Sequence[PythonFile],
        *,
        configs: Callable[[Mapping[str, str]], Sequence[ConfigFacts]],
        permitted: Callable[[list[Finding], str], list[Finding]],
        texts: Mapping[str, str] | None = None,
        only: frozenset[str] | None = None,
        under: Callable[[Mapping[str, str]], Sequence[GivenByConfigs]] = lambda _texts: (),
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self._project = project
        self._rule_set = project.rule_set
        self.files = files
        self._configs = configs
        self._permitted = permitted
        self._texts = dict(texts or {})
        self._only = only
        self._under = under
        self._under_now = under({})
        self._progress = progress
        self._with_configs = findings_in_project(project)
        """Findings that rest on configs and the code together, by file."""
        self._key = content_stamp(self._rule_set.rules)
        self.looked_in: tuple[str, ...] = ()
        """Requirement files the last scan looked for."""
        judged = ("source.", "code.") if self._with_configs or project.usage is not None else ("source.",)
        self._judged = {
            rule.id for rule in self._rule_set.rules if rule.check and rule.check.startswith(judged)
        }

    def scan(
        self, texts: Mapping[str, str] | None = None, configs: Mapping[str, str] = MappingProxyType({})
    ) -> ScanResult:
        """Return the scan of the Python files, with other texts for some files if given.

        Args:
            texts: Those of Python files.
            configs: Those of configs.
        """
        # A text that is being typed is judged with what is known of the code on disk.
        again = bool(configs) or (bool(texts) and not self._texts and bool(self._under_now))
        under = self._under({**(texts or {}), **configs}) if again else self._under_now
        overlay = {
            path: text.encode("utf-8", "surrogatepass")
            for path, text in {**self._texts, **(texts or {})}.items()
        }
        result = scan(
            self.files,
            self._rule_set.rules,
            self._configs(configs)[:MAX_CONFIGS],
            severity=self._rule_set.severity,
            key=self._key,
            overlay=overlay,
            progress=self._progress,
            tensorflow=self._project.settings.tensorflow,
            hits=lambda program: hits_in_program(self._project, program),
            under=under,
            under_now=again,
        )
        self.looked_in = result.looked_in
        changed = {path for path, text in self._texts.items() if read_python(path).text != text}
        changed |= set(texts or {})
        extra = {path: items for path, items in self._with_configs.items() if path not in changed}
        if extra:
            here = {file.path for file in self.files}
            merged = {path: list(items) for path, items in result.findings.items()}
            for path, items in extra.items():
                if path in here:
                    told = merged.setdefault(path, [])
                    told += self._without_echoes(items, told)
            result = replace(result, findings=merged)
        return result

    def _without_echoes(self, found: Sequence[Finding], told: Sequence[Finding]) -> list[Finding]:
        """Return findings without those of yielding rules at places that are told already.

        Args:
            found: The findings to choose from.
            told: The findings that are told whatever stands in `found`.
        """
        places = {(item.location.start, item.location.end) for item in told}
        kept = []
        for item in found:
            rule = self._rule_set.catalogue.find(item.rule)
            yields = rule is not None and rule.policy.yields_to is YieldsTo.SAME_PLACE
            if not (yields and (item.location.start, item.location.end) in places):
                kept.append(item)
        return kept

    def check(self, *, excerpts: bool = False) -> list[FileReport]:
        """Return a report for each Python file with findings, shown or suppressed.

        With `excerpts` a report keeps only the lines of the text that are shown.
        """
        result = self.scan()
        reports = []
        for path in self._reported_files(result):
            source = self._read_source_of(path)
            shown, hidden = self._part_by_comments(source, result.findings.get(path, []))
            if shown or hidden:
                text = excerpt(source.text, path, (*shown, *hidden)) if excerpts else source.text
                reports.append(_python_report(path, text, findings=tuple(shown), hidden=tuple(hidden)))
        return reports

    def shown(self, texts: Mapping[str, str], configs: Mapping[str, str]) -> dict[str, list[Finding]]:
        """Return the findings to show for each Python file, some files having other texts.

        Args:
            texts: Those of Python files.
            configs: Those of configs.
        """
        result = self.scan(texts, configs)
        answer: dict[str, list[Finding]] = {}
        for path in self._reported_files(result):
            text = texts.get(path)
            source = SourceFile.from_text(text, path) if text is not None else self._read_source_of(path)
            answer[path] = self._part_by_comments(source, result.findings.get(path, []))[0]
        return answer

    def fix(self, *, unsafe: bool) -> list[FileReport]:
        """Return a report for each file, with the texts as fixed; nothing is written."""
        from cfgfix.code.language import Python
        from cfgfix.core.fix_loop import fix_files

        sources: dict[str, SourceFile] = {}

        def text_of(path: str) -> str:
            if path not in sources:
                sources[path] = self._read_source_of(path)
            return sources[path].text

        language = Python()
        outcome = fix_files(
            text_of, lambda texts: self.shown(texts, {}), lambda _path: language, unsafe=unsafe
        )
        reports = []
        for path in sorted({*outcome.findings, *outcome.texts, *outcome.refused}):
            before = text_of(path)
            after = outcome.texts.get(path)
            source = SourceFile.from_text(after, path) if after is not None else sources[path]
            reports.append(
                _python_report(
                    path,
                    source.text,
                    findings=tuple(outcome.findings.get(path, ())),
                    applied=tuple(outcome.applied.get(path, ())),
                    refused=tuple(outcome.refused.get(path, ())),
                    cycle=outcome.cycles.get(path, ()),
                    before=before if after is not None else None,
                    encoded=sources[path].encode(after) if after is not None else None,
                )
            )
        return reports

    def add_ignores(self, reason: str) -> list[FileReport]:
        """Return reports with a suppression comment written for every finding.

        The comments change nothing else.
        """
        from cfgfix.code.language import Python
        from cfgfix.lint.suppressing import add_ignores

        reports = []
        language = Python()
        for report in self.check():
            if report.path.endswith(".ipynb"):
                reports.append(report)
                continue
            source = self._read_source_of(report.path)
            text, done, refused = add_ignores(language, source.text, report.findings, reason)
            changed = text != source.text
            reports.append(
                _python_report(
                    report.path,
                    text,
                    findings=tuple(item.finding for item in refused),
                    hidden=report.hidden,
                    applied=tuple(done),
                    refused=tuple(refused),
                    before=source.text if changed else None,
                    encoded=source.encode(text) if changed else None,
                )
            )
        return reports

    def _reported_files(self, result: ScanResult) -> list[str]:
        """Return the files that a report is about."""
        found = {*result.findings, *result.marked}
        return sorted(found if self._only is None else found & self._only)

    def _read_source_of(self, path: str) -> SourceFile:
        text = self._texts.get(path)
        return SourceFile.from_text(text, path) if text is not None else read_python(path)

    def _part_by_comments(
        self, source: SourceFile, findings: list[Finding]
    ) -> tuple[list[Finding], list[Finding]]:
        """Return the findings of a file to show, and those that comments suppress."""
        suppressions = read_suppressions(source, lambda: readable_comments(source.text))
        hidden: list[Finding] = []
        if suppressions:
            result = apply_suppressions(findings, suppressions)
            about = about_suppressions(
                source, result, self._rule_set.catalogue, self._judged, self._rule_set.about_comments
            )
            findings, hidden = [*result.shown, *about], result.hidden
        findings = self._permitted(findings, source.path)
        findings.sort(key=lambda finding: (finding.location.start, finding.rule, finding.location.end))
        return findings, hidden


def _python_report(
    path: str,
    text: str,
    *,
    findings: tuple[Finding, ...],
    hidden: tuple[Finding, ...] = (),
    applied: tuple[Applied, ...] = (),
    refused: tuple[Refused, ...] = (),
    cycle: tuple[str, ...] = (),
    before: str | None = None,
    encoded: bytes | None = None,
) -> FileReport:
    """Return the report of a Python file from its text and findings.

    `before` is the text before fixes, given only where they changed the file.
    """
    return FileReport(
        path,
        text,
        findings=findings,
        hidden=hidden,
        applied=applied,
        refused=refused,
        cycle=cycle,
        before=before,
        after=text if before is not None else None,
        encoded=encoded,
        language="python",
    )


def read_python(path: str) -> SourceFile:
    """Return a Python file's text, a notebook's joined cells, or empty text.

    Empty where it cannot be read any more.
    """
    try:
        if path.endswith(".ipynb"):
            decoded = decode(read_regular(path, MAX_NOTEBOOK), path)
            return SourceFile.from_text(decoded[0] if isinstance(decoded, tuple) else "", path)
        return read_source(path)
    except (UnreadableError, OSError):
        pass
    try:
        decoded = decode(read_regular(path, MAX_NOTEBOOK), path)
    except OSError:
        return SourceFile.from_text("", path)
    return SourceFile.from_text(decoded[0] if isinstance(decoded, tuple) else "", path)
