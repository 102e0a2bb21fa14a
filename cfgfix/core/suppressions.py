"""Suppression comments: `# cfgfix: ignore[RULE] reason` on the line or the line above, `# cfgfix: ignore-file[...]`.

The same words serve every language; where comments stand is told by the one who reads the file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence

from cfgfix.core.edits import ReplaceText
from cfgfix.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.core.findings import Finding, Location
    from cfgfix.core.source_file import SourceFile

NEEDLE = "cfgfix:"
_HEAD = re.compile(r"#[ \t]*cfgfix:[ \t]*(?P<kind>ignore-file|ignore)(?![-\w])[ \t]*")
_LIST_END = re.compile(r"[\]\r\n]|\Z")
_REASON = re.compile(r"[^\r\n#]*")


@dataclass(frozen=True, slots=True)
class Suppression:
    """One suppression comment.

    `start` and `end` span the comment from its `#`; `own_line` tells that nothing but it stands on its line, so that
    it speaks for the line below. No rules means all rules.
    """

    whole_file: bool
    rules: tuple[str, ...]
    reason: str
    start: int
    end: int
    line: int
    own_line: bool

    def names(self, rule: str, name: str) -> bool:
        """Tell whether the comment covers a rule, given by id and name."""
        return not self.rules or any(
            entry in (rule, name)
            or (entry.isalpha() and rule.startswith(entry.upper()))
            or entry.upper() == rule
            for entry in self.rules
        )


def read_suppressions(
    source: SourceFile, comments: Callable[[], Iterable[tuple[int, str]]] | None
) -> list[Suppression]:
    """Return the suppression comments of a file.

    Args:
        source: The file.
        comments: Gives the comments of its text as (offset, text), in order; None where any `#` may begin one.
    """
    if NEEDLE not in source.text:
        return []
    if comments is None:
        return find(source.text, source.position, lambda _offset: True)
    return find(source.text, source.position, _is_inside_comments(comments()))


def write_suppressions(
    source: SourceFile, comments: Iterable[tuple[int, str]], findings: Sequence[Finding], reason: str
) -> list[ReplaceText]:
    """Return changes that add suppression comments for findings to the ends of lines.

    Where a line has a comment already, the new one stands behind it.

    Args:
        source: The file.
        comments: The comments of its text as (offset, text).
        findings: What is suppressed.
        reason: What the comments say behind the rules.
    """
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


def _is_inside_comments(comments: Iterable[tuple[int, str]]) -> Callable[[int], bool]:
    """Return a function that tells whether an offset lies in one of the comments.

    The comments are given in the order of the text.
    """
    spans = [(start, start + len(text)) for start, text in comments]
    starts = [start for start, _ in spans]

    def is_comment(offset: int) -> bool:
        index = bisect_right(starts, offset) - 1
        return index >= 0 and offset < spans[index][1]

    return is_comment


def find(
    text: str, position: Callable[[int], tuple[int, int]], is_comment: Callable[[int], bool]
) -> list[Suppression]:
    """Return the suppression comments of a text.

    Args:
        text: The decoded text.
        position: Line and column of an offset.
        is_comment: Whether a `#` at an offset starts or continues a comment, rather than standing inside a value.
    """
    if NEEDLE not in text:
        return []
    found: list[Suppression] = []
    position_now = line_start = 0
    hash_line = list_end = -1
    while (head := _HEAD.search(text, position_now)) is not None:
        start = head.start()
        line_start = 1 + max(
            line_start - 1, text.rfind("\n", position_now, start), text.rfind("\r", position_now, start)
        )
        own_line = line_start != hash_line and not text[line_start:start].strip()
        hash_line = line_start
        tail = head.end()
        listed = ""
        if text.startswith("[", tail):
            # An open bracket may have been looked past already: no part of a line is searched twice.
            if list_end <= tail:
                list_end = _LIST_END.search(text, tail + 1).start()  # type: ignore[union-attr] # the end matches
            if text.startswith("]", list_end):
                listed = text[tail + 1 : list_end]
                tail = list_end + 1
        stop = _REASON.match(text, tail).end()  # type: ignore[union-attr] # it may be empty
        position_now = stop
        if not is_comment(start):
            continue
        found.append(
            Suppression(
                whole_file=head["kind"] == "ignore-file",
                rules=tuple(part.strip() for part in listed.split(",") if part.strip()),
                reason=text[tail:stop].strip(),
                start=start,
                end=start + len(text[start:stop].rstrip()),
                line=position(start)[0],
                own_line=own_line,
            )
        )
    return found


class SuppressionIndex:
    """Suppressions by the lines that they cover, with each answer kept.

    Attributes:
        used: For each suppression, whether it has suppressed a finding.
    """

    __slots__ = ("_answers", "_by_line", "_suppressions", "used")

    def __init__(self, suppressions: Sequence[Suppression]) -> None:
        self._suppressions = suppressions
        self.used = [False] * len(suppressions)
        self._answers: dict[tuple[str, str, int | None], bool] = {}
        below: dict[int, int] = {}
        for line in sorted({item.line for item in suppressions if item.own_line}, reverse=True):
            below[line] = below.get(line + 1, line + 1)
        self._by_line: dict[int | None, list[int]] = {}
        for index, item in enumerate(suppressions):
            lines: list[int | None] = (
                [None] if item.whole_file else [item.line, *([below[item.line]] if item.own_line else [])]
            )
            for reached in lines:
                self._by_line.setdefault(reached, []).append(index)

    def suppresses(self, rule: str, name: str, lines: Iterable[int]) -> bool:
        """Tell whether a comment suppresses the findings of a rule on one of the lines."""
        # No short cut: every comment that speaks for the finding is used.
        answers = [self._hides_finding(rule, name, line) for line in (None, *lines)]
        return any(answers)

    def _hides_finding(self, rule: str, name: str, line: int | None) -> bool:
        key = (rule, name, line)
        answer = self._answers.get(key)
        if answer is None:
            speaking = [
                index for index in self._by_line.get(line, ()) if self._suppressions[index].names(rule, name)
            ]
            for index in speaking:
                self.used[index] = True
            answer = self._answers[key] = bool(speaking)
        return answer
