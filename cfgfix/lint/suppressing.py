"""Apply suppression comments to findings, find those that silence nothing, and write new ones."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache

from cfgfix.config.document.compose import Document
from cfgfix.core.edits import Fix, ReplaceText, Safety
from cfgfix.core.errors import nearest
from cfgfix.core.findings import Confidence, Finding, Location
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import SourceFile
from cfgfix.core.suppressions import NEEDLE, Silencer, Suppression, find
from cfgfix.rules.catalogue import Catalogue
from cfgfix.rules.report import make_finding
from cfgfix.rules.rule import Rule

UNUSED = "engine.unused_suppression"
UNKNOWN = "engine.unknown_rule_in_suppression"
MAX_GUESSES = 20
"""Most names without a rule for which the nearest known one is looked for in one file; each costs a millisecond."""


@dataclass(frozen=True, slots=True)
class Silenced:
    """Findings that are shown, findings that a comment silences, and the suppressions with whether each did."""

    shown: list[Finding]
    hidden: list[Finding]
    suppressions: list[Suppression]
    used: list[bool]


def in_document(document: Document) -> list[Suppression]:
    """Return the suppression comments of a YAML file."""
    source = document.source
    if NEEDLE not in source.text:
        return []
    if document.problem is not None:
        return find(source.text, source.position, lambda _offset: True)
    from cfgfix.config.document.comments import comments

    return find(source.text, source.position, inside(comments(document)))


def inside(comments: Iterable[tuple[int, str]]) -> Callable[[int], bool]:
    """Return what tells whether an offset lies in one of these comments, given in the order of the text."""
    spans = [(start, start + len(text)) for start, text in comments]
    starts = [start for start, _ in spans]

    def is_comment(offset: int) -> bool:
        index = bisect_right(starts, offset) - 1
        return index >= 0 and offset < spans[index][1]

    return is_comment


def apply(findings: Iterable[Finding], suppressions: list[Suppression]) -> Silenced:
    """Part the findings into those that are shown and those that a comment silences."""
    silencer = Silencer(suppressions)
    shown: list[Finding] = []
    hidden: list[Finding] = []
    for finding in findings:
        lines = {finding.location.line, finding.location.end_line}
        silent = silencer.silences(finding.rule, finding.name, lines)
        (hidden if silent else shown).append(finding)
    return Silenced(shown, hidden, suppressions, silencer.used)


def about_suppressions(
    source: SourceFile,
    result: Silenced,
    catalogue: Catalogue,
    judged: Collection[str],
    rules: dict[str, Rule],
) -> list[Finding]:
    """Return findings about the suppressions themselves: unused ones, and names that no rule has.

    Args:
        source: The file.
        result: What the suppressions did.
        catalogue: All rules.
        judged: Ids of the rules that could be judged in this run; a suppression of any other is left alone.
        rules: The rules about suppressions that are selected, by their `check`.
    """
    found: list[Finding] = []
    rules_of = lru_cache(None)(catalogue.matching)
    all_rules = frozenset(rule.id for rule in catalogue.rules if not rule.preview)
    judged = frozenset(judged)
    hints: dict[str, str] = {}
    for suppression, used in zip(result.suppressions, result.used, strict=True):
        unknown = next((name for name in suppression.rules if not rules_of(name)), None)
        if unknown is not None and UNKNOWN in rules:
            if unknown not in hints and len(hints) < MAX_GUESSES:
                near = nearest(unknown, catalogue.keys())
                hints[unknown] = f"; did you mean {near}?" if near else ""
            hint = hints.get(unknown, "")
            found.append(
                _finding(rules[UNKNOWN], source, suppression, f"no rule is called {unknown}{hint}", None)
            )
            continue
        if used or UNUSED not in rules:
            continue
        named = {rule.id for name in dict.fromkeys(suppression.rules) for rule in rules_of(name)}
        if not (named or all_rules) <= judged:
            continue
        listed = ", ".join(suppression.rules) or "any rule"
        found.append(
            _finding(
                rules[UNUSED],
                source,
                suppression,
                f"nothing here is found by {listed}",
                _removal(source, suppression),
            )
        )
    return found


def _finding(
    rule: Rule, source: SourceFile, suppression: Suppression, message: str, fix: ReplaceText | None
) -> Finding:
    return make_finding(
        rule,
        source.location(suppression.start, suppression.end),
        message=message,
        confidence=Confidence.HIGH,
        fix=Fix("Remove the comment", Safety.SAFE, (fix,), rule.fixes[0].why if rule.fixes else "")
        if fix
        else None,
        context=source.text[suppression.start : suppression.end],
    )


def _removal(source: SourceFile, suppression: Suppression) -> ReplaceText:
    """Return the change that takes a suppression out: its line where it stands alone, else the comment and the blanks before it."""
    text = source.text
    start, end = suppression.start, suppression.end
    line_start = source.line_start(suppression.line)
    while end < len(text) and text[end] in " \t":
        end += 1
    if suppression.own_line:
        if text.startswith("\r\n", end):
            return ReplaceText(line_start, end + 2, "")
        if end < len(text) and text[end] in "\r\n":
            return ReplaceText(line_start, end + 1, "")
        return ReplaceText(line_start, end, "")
    if end < len(text) and text[end] not in "\r\n":
        # A further comment follows on the same line: it stays.
        return ReplaceText(start, end, "")
    hash_before = _outer_comment(text, line_start, start)
    while start > line_start and text[start - 1] in " \t":
        start -= 1
    if hash_before is not None:
        return ReplaceText(hash_before, end, text[hash_before:start])
    return ReplaceText(start, end, "")


def _outer_comment(text: str, line_start: int, start: int) -> int | None:
    """Return where a comment begins that the suppression is the tail of, or None where it is a comment of its own."""
    position = text.find("#", line_start, start)
    while position >= 0:
        if position == line_start or text[position - 1] in " \t":
            return position
        position = text.find("#", position + 1, start)
    return None


def additions(document: Document, findings: Sequence[Finding], reason: str) -> list[ReplaceText]:
    """Return the changes that write a suppression for findings at the end of their lines, behind a comment that is there."""
    from cfgfix.config.document.comments import comments

    return written_beside(document.source, comments(document), findings, reason)


def written_beside(
    source: SourceFile, comments: Iterable[tuple[int, str]], findings: Sequence[Finding], reason: str
) -> list[ReplaceText]:
    """Return the changes that write a suppression for findings, given the comments that stand in the text."""
    text = source.text
    by_line: dict[int, set[str]] = {}
    places: dict[int, Location] = {}
    for finding in findings:
        by_line.setdefault(finding.location.line, set()).add(finding.rule)
        places[finding.location.line] = finding.location
    standing = {source.position(start)[0]: (start, comment) for start, comment in comments}
    changes: list[ReplaceText] = []
    for line, rules in sorted(by_line.items()):
        written = f"  # cfgfix: ignore[{', '.join(sorted(rules))}]" + (f" {reason}" if reason else "")
        if line in standing:
            start, comment = standing[line]
            changes.append(ReplaceText(start, start + len(comment), comment + written))
            continue
        end = places[line].start
        while end < len(text) and text[end] not in "\r\n":
            end += 1
        while end > 0 and text[end - 1] in " \t":
            end -= 1
        changes.append(ReplaceText(end, end, written))
    return changes
