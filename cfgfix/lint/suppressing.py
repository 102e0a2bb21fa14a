"""Apply suppression comments to findings, find those that suppress nothing, and write new ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

from cfgfix.core.edits import Edit, Fix, ProofError, ReplaceText, Safety, splice
from cfgfix.core.errors import nearest
from cfgfix.core.findings import Applied, Finding, Refused
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import SourceFile
from cfgfix.core.suppressions import Suppression, SuppressionIndex, write_suppressions
from cfgfix.rules.catalogue import Catalogue
from cfgfix.rules.hit import Hit, Span
from cfgfix.rules.report import TextFile, make_finding
from cfgfix.rules.rule import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfgfix.core.fix_loop import Language

UNUSED = "engine.unused_suppression"
UNKNOWN = "engine.unknown_rule_in_suppression"
LEAST_PROOFS = 8
"""Proofs that a file may have for its comments, however large it is; more with the logarithm of the number of lines."""
MAX_PROVEN = 1_000_000
"""Code points of one file that may be proven again to find at which lines no comment can stand."""
MAX_GUESSES = 20
"""Most names without a rule for which the nearest known one is looked for in one file; each costs a millisecond."""


@dataclass(frozen=True, slots=True)
class Suppressed:
    """Findings split into shown and hidden, and which suppressions were used."""

    shown: list[Finding]
    hidden: list[Finding]
    suppressions: list[Suppression]
    used: list[bool]


def apply_suppressions(findings: Iterable[Finding], suppressions: list[Suppression]) -> Suppressed:
    """Split findings into those to show and those that a comment suppresses."""
    index = SuppressionIndex(suppressions)
    shown: list[Finding] = []
    hidden: list[Finding] = []
    for finding in findings:
        lines = {finding.location.line, finding.location.end_line}
        silent = index.suppresses(finding.rule, finding.name, lines)
        (hidden if silent else shown).append(finding)
    return Suppressed(shown, hidden, suppressions, index.used)


def about_suppressions(
    source: SourceFile,
    result: Suppressed,
    catalogue: Catalogue,
    judged: Collection[str],
    rules: dict[str, Rule],
) -> list[Finding]:
    """Return findings about suppression comments that are unused or name no rule.

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
                _comment_finding(
                    rules[UNKNOWN], source, suppression, f"no rule is called {unknown}{hint}", None
                )
            )
            continue
        if used or UNUSED not in rules:
            continue
        named = {rule.id for name in dict.fromkeys(suppression.rules) for rule in rules_of(name)}
        if not (named or all_rules) <= judged:
            continue
        listed = ", ".join(suppression.rules) or "any rule"
        found.append(
            _comment_finding(
                rules[UNUSED],
                source,
                suppression,
                f"nothing here is found by {listed}",
                _removal_of_comment(source, suppression),
            )
        )
    return found


def _comment_finding(
    rule: Rule, source: SourceFile, suppression: Suppression, message: str, fix: ReplaceText | None
) -> Finding:
    hit = Hit(
        Span(suppression.start, suppression.end),
        message=message,
        confidence="high",
        fix=Fix("Remove the comment", Safety.SAFE, (fix,), rule.fixes[0].why if rule.fixes else "")
        if fix
        else None,
        context=source.text[suppression.start : suppression.end],
    )
    return make_finding(rule, hit, TextFile(source))


def _removal_of_comment(source: SourceFile, suppression: Suppression) -> ReplaceText:
    """Return the change that deletes a suppression comment.

    Its line goes too where nothing else stands there, else the blanks before the comment.
    """
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
    """Return where the comment begins that a suppression stands at the end of.

    None where the suppression is a comment of its own.
    """
    position = text.find("#", line_start, start)
    while position >= 0:
        if position == line_start or text[position - 1] in " \t":
            return position
        position = text.find("#", position + 1, start)
    return None


def ignore_edits(
    language: Language, parsed: Any, findings: Sequence[Finding], reason: str
) -> tuple[Any, tuple[Edit, ...]]:
    """Return the parsed text with suppression comments added, proven, and the edits.

    Args:
        language: The mechanics of the file.
        parsed: The file as it is.
        findings: What is suppressed.
        reason: What the comments say behind the rules.

    Raises:
        ProofError: The comments would change more than comments.
    """
    text = language.text(parsed)
    changes = write_suppressions(SourceFile.from_text(text), language.comments(parsed), findings, reason)
    edits = language.plan(parsed, changes)
    return language.prove_comments(parsed, splice(text, edits), changes, edits), tuple(edits)


def add_ignores(
    language: Language, parsed: Any, findings: Iterable[Finding], reason: str
) -> tuple[Any, list[Applied], list[Refused]]:
    """Add ignore comments; return the parsed text, findings done, findings refused.

    All lines are proven together; where that fails, halves of them, from the last line up, so that offsets above stay valid.

    Args:
        language: The mechanics of the file.
        parsed: The file as it is.
        findings: What is suppressed.
        reason: What the comments say behind the rules.
    """
    by_line: dict[int, list[Finding]] = {}
    for finding in findings:
        by_line.setdefault(finding.location.line, []).append(finding)
    groups = [by_line[line] for line in sorted(by_line)]
    if groups and not language.is_judged(parsed):
        why = "the file does not parse; repair that first"
        return parsed, [], [Refused(finding, why) for group in groups for finding in group]
    left = max(LEAST_PROOFS + 6 * len(groups).bit_length(), MAX_PROVEN // (len(language.text(parsed)) + 1))
    done: list[Applied] = []
    refused: list[Refused] = []
    pending = [groups] if groups else []
    while pending:
        part = pending.pop()
        together = [finding for group in part for finding in group]
        if left <= 0:
            why = "comments at too many other lines of the file fail, so this one is not tried"
            refused += [Refused(finding, why) for finding in together]
            continue
        left -= 1
        try:
            parsed, edits = ignore_edits(language, parsed, together, reason)
        except ProofError as error:
            if len(part) > 1:
                middle = len(part) // 2
                pending += [part[:middle], part[middle:]]
                continue
            why = f"a comment cannot stand at the end of its line: {error}"
            refused += [Refused(finding, why) for finding in together]
        else:
            shares = [(edit,) for edit in edits] if len(edits) == len(part) else [edits] * len(part)
            for group, share in reversed(list(zip(part, shares, strict=True))):
                done += [Applied(finding, share) for finding in reversed(group)]
    done.reverse()
    return parsed, done, refused
