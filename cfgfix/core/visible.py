r"""Text from files, file names and user code, made safe to show: what a terminal or a log would act on is spelled out.

Control characters, marks that change the direction of what follows, and bytes of a file name that are no text become
escapes such as `\x1b`. Everything that is shown goes through this module, so a reader sees what is there and nothing else.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MARKS = frozenset("\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks of direction (Unicode Standard Annex 9, section 2), and the separators that some programs take for line breaks."""


def visible(text: str) -> str:
    """Return a text on one line, with control and direction characters as escapes.

    So are bytes of a file name that are no text.
    """
    if text.isprintable():
        return text
    return "".join(_escaped_char(char) if _acts_on_terminal(char) else char for char in text)


def visible_lines(text: str) -> str:
    """Return a text as `visible` does, but with its line feeds and tabs."""
    if text.isprintable():
        return text
    return "".join(
        _escaped_char(char) if _acts_on_terminal(char) and char not in "\n\t" else char for char in text
    )


def visible_data(value: Any) -> Any:
    """Return plain data with every text in it made safe by `visible`, keys too."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible_data(key): visible_data(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [visible_data(item) for item in value]
    return value


def json_text(data: Any, *, indent: int | None = None, exact: bool = False, default: Any = None) -> str:
    r"""Return data as JSON, with control and direction characters as JSON escapes.

    Args:
        data: What to write.
        indent: Blanks for each level; None for one line.
        exact: Write bytes of a file name that are no text as lone surrogates, which give the name back to Python. Many
            readers refuse those, so by default they become text such as `\xff`.
        default: Makes plain data of what is none, as for `json.dumps`.
    """
    import json

    text = json.dumps(data, indent=indent, ensure_ascii=False, default=default)
    if text.isprintable():
        return text
    return "".join(
        _json_escape(char, exact) if _acts_on_terminal(char) and char != "\n" else char for char in text
    )


def _acts_on_terminal(char: str) -> bool:
    return (
        char < " " or "\x7f" <= char <= "\x9f" or "\ud800" <= char <= "\udfff" or char in _MARKS
    )  # fmt: skip


def _escaped_char(char: str) -> str:
    code = ord(char)
    if char in _SHORT:
        return _SHORT[char]
    if 0xDC80 <= code <= 0xDCFF:
        # A byte that could not be decoded (PEP 383).
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _json_escape(char: str, exact: bool) -> str:
    if "\ud800" <= char <= "\udfff" and not exact:
        return "\\" + _escaped_char(char)
    return f"\\u{ord(char):04x}"


def no_commands(text: str, *, runner: bool) -> str:
    """Return log lines changed so that a CI log does not take them for commands.

    Args:
        text: Lines to print.
        runner: Whether such a program reads along: GitHub's looks for `::` where a line begins and for `##[` anywhere in
            it, Azure's for `##vso[`.
    """
    if "::" not in text and "##" not in text:
        return text
    lines = text.split("\n")
    for number, line in enumerate(lines):
        begin = line.lstrip() if runner else line
        lines[number] = f"./{line}" if begin.startswith("::") else line
    shown = "\n".join(lines)
    return shown.replace("##[", "## [").replace("##vso[", "## vso[") if runner else shown
