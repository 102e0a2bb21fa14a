"""Repairs of findings in code whose cause stands in configs: each proven on the configs and the code together."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from cfgfix.config.document.compose import compose
from cfgfix.config.document.language import Yaml
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.core.edits import Edit, FileChanges, ProofError, splice
from cfgfix.core.errors import UnreadableError
from cfgfix.core.findings import Applied, Finding, Refused, Severity, fixable
from cfgfix.core.records import replace
from cfgfix.core.source_file import SourceFile, read_source
from cfgfix.lint.request import FileReport

MAX_REPAIRS = 20
"""Most repairs of this kind in one run: each asks for the whole program again."""

Found = Mapping[str, Sequence[Finding]]


class ConfigRepairs:
    """Repairs configs that cause findings in Python files, for one run.

    Args:
        configs: The reports of the configs so far.
        code: The reports of the Python files so far.
        found: Returns what is found in the Python files where configs have other texts.
        judged: Returns the report of a config with another text.
        unsafe: Whether fixes that may change what the run does are applied, too.
    """

    def __init__(
        self,
        configs: Sequence[FileReport],
        code: Sequence[FileReport],
        found: Callable[[Mapping[str, str]], Found],
        judged: Callable[[SourceFile], FileReport],
        *,
        unsafe: bool,
    ) -> None:
        self._paths = {os.path.abspath(report.path): report.path for report in configs}
        self._configs = {report.path: report for report in configs}
        self.changed: dict[str, FileReport] = {}
        """The configs that were changed, by path."""
        self._code = {report.path: report for report in code}
        self._found = found
        self._judged = judged
        self._unsafe = unsafe
        self._texts: dict[str, str] = {}

    def code(self) -> list[FileReport]:
        """Return the reports of the Python files."""
        return list(self._code.values())

    def make(self) -> None:
        """Make the repairs that can be proven, and refuse the others."""
        refused: set[tuple[str, str, int]] = set()
        for _ in range(MAX_REPAIRS):
            chosen = next(
                (
                    (path, finding)
                    for path, report in self._code.items()
                    for finding in report.findings
                    if finding.fix is not None
                    and finding.fix.elsewhere
                    and fixable(finding, unsafe=self._unsafe)
                    and _finding_identity(path, finding) not in refused
                ),
                None,
            )
            if chosen is None:
                return
            path, finding = chosen
            problem = self._repair_one(path, finding)
            if problem is not None:
                refused.add(_finding_identity(path, finding))
                report = self._code[path]
                self._code[path] = replace(report, refused=(*report.refused, Refused(finding, problem)))

    def _repair_one(self, path: str, finding: Finding) -> str | None:
        """Make the repair of one finding, or return the reason why the repair is not made."""
        assert finding.fix is not None
        texts = dict(self._texts)
        judged: dict[str, FileReport] = {}
        for item in finding.fix.elsewhere:
            name = self._paths.get(os.path.abspath(item.path))
            if name is None:
                return f"{item.path} is not among the files that are fixed"
            report = self._configs[name]
            source = self._source_as_fixed(name)
            if isinstance(source, str):
                return source
            after = _apply_changes(source, report, item)
            if isinstance(after, ProofError):
                return f"{item.path}: {after}"
            texts[name] = after
            judged[name] = self._judged(SourceFile.from_text(after, name))
            known = {_error_identity(one) for one in report.findings}
            new = next((one for one in judged[name].findings if _new_error(one, known)), None)
            if new is not None:
                return f"the fix would bring a new error: {new.rule} {new.message}"
        found = self._found(texts)
        if any(
            one.rule == finding.rule and one.location.start == finding.location.start
            for one in found.get(path, ())
        ):
            return f"{finding.rule} is still found after its fix"
        for other, items in found.items():
            before = self._code.get(other)
            known = {_error_identity(one) for one in before.findings} if before is not None else set()
            new = next((one for one in items if _new_error(one, known)), None)
            if new is not None:
                return f"the fix would bring a new error: {new.rule} {new.message}"
        self._keep_repair(path, finding, texts, judged, found)
        return None

    def _source_as_fixed(self, path: str) -> SourceFile | str:
        """Return a config as fixed so far, or the reason why the file cannot be read."""
        text = self._texts.get(path)
        report = self._configs[path]
        if text is None and report.after is not None:
            text = report.after
        try:
            return read_source(path) if text is None else SourceFile.from_text(text, path)
        except UnreadableError as error:
            return str(error)

    def _keep_repair(
        self,
        path: str,
        finding: Finding,
        texts: dict[str, str],
        judged: Mapping[str, FileReport],
        found: Found,
    ) -> None:
        assert finding.fix is not None
        for name, new in judged.items():
            old = self._configs[name]
            on_disk = read_source(name)
            self.changed[name] = self._configs[name] = replace(
                old,
                text=texts[name],
                findings=new.findings,
                hidden=new.hidden,
                before=on_disk.text,
                after=texts[name],
                encoded=on_disk.encode(texts[name]),
            )
        self._texts = texts
        for other, report in list(self._code.items()):
            applied = (*report.applied, Applied(finding, ())) if other == path else report.applied
            self._code[other] = replace(report, findings=tuple(found.get(other, ())), applied=applied)


def _apply_changes(source: SourceFile, report: FileReport, item: FileChanges) -> str | ProofError:
    """Return the text of a config with proven changes made, or the error of the proof."""
    document = compose(source)
    language = Yaml(document, LOADERS[report.loader or "pyyaml"])
    try:
        edits: list[Edit] = list(language.plan(document, item.changes))
        if not edits:
            return ProofError("plan", "the fix changes nothing")
        after = splice(source.text, edits)
        language.prove(document, after, item.changes, edits)
    except ProofError as error:
        return error
    except ValueError as error:
        return ProofError("plan", str(error))
    return after


def _finding_identity(path: str, finding: Finding) -> tuple[str, str, int]:
    return path, finding.rule, finding.location.start


def _error_identity(finding: Finding) -> tuple[object, ...]:
    return finding.rule, finding.key_path, finding.context, finding.message


def _new_error(finding: Finding, known: set[tuple[object, ...]]) -> bool:
    return finding.severity is Severity.ERROR and _error_identity(finding) not in known
