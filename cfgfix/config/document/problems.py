"""Why a file cannot be read as YAML, in plain words and at the place a reader would look."""

from __future__ import annotations

import re

from cfgfix.core.records import dataclass
from cfgfix.core.source_file import SourceFile

TYPE_CHECKING = False
if TYPE_CHECKING:  # see `nodes`
    from typing import Any


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a file cannot be read as YAML.

    Attributes:
        message: What is wrong, in one sentence.
        offset: Where, in code points of the text.
        line: 1-based line.
        column: 1-based column in code points.
        hint: The next step, or None.
        kind: `tab-indentation`, `special-start`, `undefined-alias`, `template`, `syntax` or `limit`.
    """

    message: str
    offset: int
    line: int
    column: int
    hint: str | None
    kind: str


def problem(source: SourceFile, offset: int, message: str, kind: str, hint: str | None) -> Problem:
    """Return a problem at an offset, with its line and column."""
    line, column = source.position(offset)
    return Problem(message, offset, line, column, hint, kind)


def limit(source: SourceFile, offset: int, message: str) -> Problem:
    """Return the problem of a file that exceeds a limit."""
    return problem(source, max(offset, 0), message, "limit", "exclude the file, or split it")


def undefined_alias(source: SourceFile, offset: int, name: str | None) -> Problem:
    """Return the problem of an alias without an anchor before it."""
    return problem(
        source,
        offset,
        f"*{name} refers to an anchor that is not defined before it",
        "undefined-alias",
        "define the anchor with & above, or put the text in quotes if it is meant literally",
    )


def template(source: SourceFile, offset: int) -> Problem:
    """Return the problem of a file that is a template, not YAML."""
    return problem(
        source,
        offset,
        "this is a template, not YAML yet",
        "template",
        "check the rendered file, or put the placeholder in quotes",
    )


_TEMPLATE_MARKS = ("{{", "{%", "{#", "${", "<%")
_HINTS: tuple[tuple[str, str, str], ...] = (
    (
        "mapping values are not allowed",
        "a second `: ` in one value, or an entry that is indented deeper than its siblings",
        "put the value in quotes, or align the keys",
    ),
    (
        "could not find expected ':'",
        "a key without `: ` behind it, or a line that is indented too little to go on with the value above",
        "write `key: value`, or indent the line",
    ),
    (
        "did not find expected key",
        "this line does not line up with the entries above",
        "align it with its siblings",
    ),
    (
        "did not find expected '-' indicator",
        "this line does not line up with the list above",
        "align it with the other `-`",
    ),
    (
        "did not find expected ',' or ']'",
        "a list in brackets is not closed or lacks a comma",
        "close it with `]`",
    ),
    (
        "did not find expected ',' or '}'",
        "a mapping in braces is not closed or lacks a comma",
        "close it with `}`",
    ),
    (
        "found unexpected ':'",
        "a colon stands right before a comma or a bracket",
        "put a space behind the colon, or the text in quotes",
    ),
    (
        "found unexpected end of stream",
        "a quoted value is not closed before the file ends",
        "add the closing quote",
    ),
    (
        "found unknown escape character",
        "a backslash in double quotes starts an escape that YAML does not have",
        "use single quotes, or write the backslash twice",
    ),
    ("found undefined tag handle", "the tag's handle is not declared", "declare it with %TAG, or use `!`"),
    ("found duplicate", "the directive is given twice", "remove one"),
    (
        "incompatible YAML document",
        "the %YAML directive names a version nothing here reads",
        "remove the directive",
    ),
)


def syntax(source: SourceFile, error: Any) -> Problem:
    """Return the problem behind a parser's error, in plain words, at a helpful place."""
    text = source.text
    mark = getattr(error, "problem_mark", None)
    context_mark = getattr(error, "context_mark", None)
    said = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)
    context = str(getattr(error, "context", None) or "")
    if mark is None:
        return _unreadable_character(source, said)
    offset = min(mark.index, len(text))
    line = source.position(offset)[0]
    near = {line}
    if context_mark is not None:
        near.add(source.position(min(context_mark.index, len(text)))[0])
    tab = _tab_in_indentation(source, {*near, line - 1})
    if tab is not None:
        return problem(
            source,
            tab,
            "this line is indented with a tab; YAML allows only spaces",
            "tab-indentation",
            "replace the tab with spaces",
        )
    lines = (_without_comment(source.line_text(number)) for number in near)
    if any(mark in line for line in lines for mark in _TEMPLATE_MARKS):
        return template(source, offset)
    if context.endswith(("an alias", "an anchor")) and context_mark is not None:
        offset = context_mark.index
        return _special_start(source, offset)
    char = text[offset : offset + 1]
    if "cannot start any token" in said and char in "@`%":
        return _special_start(source, offset)
    for needle, message, hint in _HINTS:
        if needle in said:
            return problem(source, offset, message, "syntax", hint)
    return problem(source, offset, f"{context}: {said}" if context else said, "syntax", None)


def _special_start(source: SourceFile, offset: int) -> Problem:
    return problem(
        source,
        offset,
        f"a plain value cannot start with {source.text[offset : offset + 1]!r}",
        "special-start",
        "put the value in quotes",
    )


def _without_comment(line: str) -> str:
    cut = line.find(" #")
    return line if cut < 0 else line[:cut]


def _tab_in_indentation(source: SourceFile, lines: set[int]) -> int | None:
    for number in sorted(lines):
        line = source.line_text(number)
        indentation = line[: len(line) - len(line.lstrip(" \t"))]
        if "\t" in indentation and len(indentation) < len(line):
            return source.line_start(number) + indentation.index("\t")
    return None


# What YAML 1.1 lets a file contain (section 4.1), as libyaml and PyYAML check it. Compiled when it is needed: that takes 5 ms.
_UNREADABLE = "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"


def _unreadable_character(source: SourceFile, said: str) -> Problem:
    found = re.search(_UNREADABLE, source.text)
    if found is None:
        return problem(source, 0, said, "syntax", None)
    message = f"the character U+{ord(found.group()):04X} is not allowed in YAML"
    return problem(
        source, found.start(), message, "syntax", "remove it, or write it as an escape in double quotes"
    )
