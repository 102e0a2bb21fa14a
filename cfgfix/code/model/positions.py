"""Offsets in the text of a Python file, from the parser's places."""

from __future__ import annotations

from itertools import accumulate

from cfgfix.code.model.nodes import Place


class CannotRewriteError(Exception):
    """A rewrite that cannot be made exactly; the message is the reason."""


class Offsets:
    """Places of the parser (lines from 1, columns in UTF-8 bytes) to offsets in the text."""

    __slots__ = ("_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        if "\r" not in text:
            lines = text.split("\n")
            lines.pop()
            self._starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
            return
        starts = [0]
        position = 0
        while True:
            feed, back = text.find("\n", position), text.find("\r", position)
            if feed < 0 and back < 0:
                break
            if back >= 0 and (feed < 0 or back < feed):
                position = back + 2 if text.startswith("\r\n", back) else back + 1
            else:
                position = feed + 1
            starts.append(position)
        self._starts = starts

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line and UTF-8 column; beyond the text, its end."""
        if line > len(self._starts):
            return len(self.text)
        start = self._starts[line - 1]
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        row = self.text[start:end]
        if row.isascii():
            return min(start + column, len(self.text))
        return start + len(row.encode()[:column].decode("utf-8", "ignore"))

    def span(self, place: Place) -> tuple[int, int]:
        """Return the offsets of a place."""
        return self.offset(place.line, place.column), self.offset(place.end_line, place.end_column)
