"""One text in an editor, checked: its findings with their edits, and what they rest on."""

from __future__ import annotations

import os

from cfgfix.config.dialects.view import View
from cfgfix.config.document.compose import Document, Kind, Node, deref
from cfgfix.core.edits import Edit, Fix, ProofError, Safety, splice
from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import Finding, KeyPath
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import SourceFile
from cfgfix.lint import runner as engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfgfix.core.fix_loop import Language

CHECKED = (".yaml", ".yml", ".py")
"""Endings of the files that are checked."""
MAX_DEPTH = 100
"""Deepest nesting in which a place is looked for."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """The findings of one version of a text, and the state of the check."""

    source: SourceFile
    report: engine.FileReport
    basis: engine.CheckBasis | None
    hardware: str
    error: CfgfixError | None = None
    """What is wrong beside the findings: an entry of the settings, or why the text could not be checked."""


@dataclass(frozen=True, slots=True)
class Action:
    """A change offered to the user: its title, its edits and its safety."""

    title: str
    edits: tuple[Edit, ...]
    finding: Finding | None
    safety: Safety


@dataclass(frozen=True, slots=True)
class Place:
    """A key of a document: its path, the offsets of its key, and its value."""

    path: KeyPath
    start: int
    end: int
    value: Node
    document: int


def analyse(text: str, path: str) -> Analysis:
    """Check a text under the settings of its folder, and return its analysis."""
    source = SourceFile.from_text(text, path)
    request = request_of(text, path)
    try:
        if is_excluded(path):
            return Analysis(source, engine.FileReport(path), None, "")
        report, basis = engine.check_with_basis(request)
    except CfgfixError as error:
        return Analysis(source, engine.FileReport(path), None, "", error)
    wrong = report.errors[0] if report.errors else None
    if not report.files:
        return Analysis(source, engine.FileReport(path), None, report.hardware, wrong)
    file = report.files[0]
    return Analysis(
        basis.document.source if basis is not None else source, file, basis, report.hardware, wrong
    )


def request_of(text: str, path: str) -> engine.Request:
    """Return the request that checks a text under its file's name."""
    return engine.Request(stdin=text.encode("utf-8", "surrogatepass"), stdin_name=path, edits=True)


def is_excluded(path: str) -> bool:
    """Tell whether the settings of a file's folder exclude the file.

    Raises:
        CfgfixError: The settings are wrong.
    """
    from cfgfix.settings.discovery import Matcher
    from cfgfix.settings.reader import discover

    return Matcher(discover(os.path.dirname(path) or ".")).outside(path)


def is_checked(path: str) -> bool:
    """Tell whether a file with this name is one that a check reads."""
    return path.endswith(CHECKED)


def place_at(document: Document, offset: int) -> Place | None:
    """Return the innermost key whose name or value lies at an offset, or None."""
    found: Place | None = None

    def enter(node: Node, path: KeyPath, index: int, depth: int) -> None:
        nonlocal found
        if depth > MAX_DEPTH:
            return
        if node.kind == Kind.MAPPING:
            for key, value in node.items:
                inside = value.kind != Kind.ALIAS and value.start <= offset <= value.end
                if not (key.start <= offset <= key.end or inside):
                    continue
                here = (*path, key.text)
                found = Place(here, key.start, key.end, value, index)
                if inside:
                    enter(value, here, index, depth + 1)
        elif node.kind == Kind.SEQUENCE:
            for position, value in enumerate(node.items):
                if value.kind != Kind.ALIAS and value.start <= offset <= value.end:
                    enter(value, (*path, position), index, depth + 1)

    for index, root in enumerate(document.roots):
        enter(root, (), index, 0)
    return found


def view_of(basis: engine.CheckBasis, index: int) -> View | None:
    """Return a view of one document of the text, for the rules.

    None where its root is no mapping.
    """
    root = basis.document.roots[index]
    if deref(root).kind != Kind.MAPPING:
        return None
    return basis.target.view(basis.document, index)


def actions(analysis: Analysis, start: int, end: int) -> list[Action]:
    """Return the proven fixes and the suppressions offered for a span of the text."""
    found: list[Action] = []
    silencing: list[Action] = []
    for number, finding in enumerate(analysis.report.findings):
        place = finding.location
        if place.end < start or place.start > end:
            continue
        edits = analysis.report.edits[number] if number < len(analysis.report.edits) else None
        if finding.fix is not None and edits and finding.fix.safety > Safety.DISPLAY:
            proven = _is_proven(analysis, finding.fix, edits)
            if proven:
                title = finding.fix.title
                if finding.fix.safety is Safety.UNSAFE:
                    title += " (unsafe: may change what the model learns or how much memory it takes)"
                found.append(Action(title, edits, finding, finding.fix.safety))
        comment = _suppression_action(analysis, finding)
        if comment is not None:
            silencing.append(comment)
    found.sort(key=lambda action: -action.safety)
    return found + silencing


def _is_proven(analysis: Analysis, fix: Fix, edits: tuple[Edit, ...]) -> bool:
    known = _language_and_text(analysis)
    if known is None:
        return False
    language, parsed = known
    try:
        language.prove(parsed, splice(language.text(parsed), edits), fix.changes, edits)
    except (ProofError, ValueError):
        return False
    return True


def _language_and_text(analysis: Analysis) -> tuple[Language, Any] | None:
    """Return the language of the file, and its text in parsed form.

    None where the text could not be read.
    """
    if analysis.report.language == "python":
        from cfgfix.code.language import Python

        return Python(), analysis.source.text
    if analysis.basis is None:
        return None
    from cfgfix.config.document.language import Yaml

    document = analysis.basis.document
    return Yaml(document, analysis.basis.target.loader), document


def _suppression_action(analysis: Analysis, finding: Finding) -> Action | None:
    """Return the action that suppresses a finding by a comment, or None.

    None where no comment can stand there.
    """
    from cfgfix.lint.suppressing import ignore_edits

    known = _language_and_text(analysis)
    if known is None or not known[0].is_judged(known[1]):
        return None
    try:
        _, edits = ignore_edits(*known, [finding], "")
    except ProofError:
        return None
    return Action(f"Silence {finding.rule} on this line", edits, finding, Safety.DISPLAY)


def fix_all(text: str, path: str) -> Action | None:
    """Return an action that makes all safe fixes, or None where there are none."""
    try:
        report = engine.fix(request_of(text, path))
    except CfgfixError:
        return None
    if not report.files or report.files[0].after is None or report.files[0].before is None:
        return None
    edits = [Edit(*span) for span in _changed_lines(report.files[0].before, report.files[0].after)]
    return Action("Make all safe fixes", tuple(edits), None, Safety.SAFE)


def _changed_lines(before: str, after: str) -> list[tuple[int, int, str]]:
    """Return the spans of lines in which two texts differ, with their new text.

    So an editor keeps its place in all other lines.
    """
    import difflib

    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [
        (starts[first], starts[last], "".join(new[low:high]))
        for tag, first, last, low, high in matcher.get_opcodes()
        if tag != "equal"
    ]
