"""The text of a document, and the questions about it that an edit asks."""

from __future__ import annotations

from bisect import bisect_left

from cfgfix.config.document.compose import (
    BREAKS,
    Document,
)


class Layout:
    """Where lines, blank space and comments of a document are."""

    def __init__(self, document: Document) -> None:
        self.text = document.source.text
        self.newline = document.source.newline
        self.document = document

    def line_start(self, offset: int) -> int:
        """Return where the line of `offset` begins."""
        breaks = self.document.breaks
        index = bisect_left(breaks, offset)
        return breaks[index - 1] + 1 if index else 0

    def line_end(self, offset: int) -> int:
        """Return where the line of `offset` ends, before its line break."""
        breaks = self.document.breaks
        index = bisect_left(breaks, offset)
        return breaks[index] if index < len(breaks) else len(self.text)

    def after_break(self, offset: int) -> int:
        """Return the offset behind the line break at `offset`.

        The offset itself at the end of the text.
        """
        if self.text.startswith("\r\n", offset):
            return offset + 2
        return min(offset + 1, len(self.text))

    def before_break(self, offset: int) -> int:
        """Return the offset where the line break that ends at `offset` begins."""
        if self.text.endswith("\r\n", 0, offset):
            return offset - 2
        return offset - 1

    def prefix(self, offset: int) -> str:
        """Return the text before `offset` on its line."""
        return self.text[self.line_start(offset) : offset]

    def skip_blank(self, offset: int) -> int:
        """Return the next offset behind white space, line breaks and comments."""
        text = self.text
        size = len(text)
        while offset < size:
            char = text[offset]
            if char == "#":
                offset = self.line_end(offset)
            elif char in " \t" or char in BREAKS:
                offset += 1
            else:
                break
        return offset

    def rest_is_comment(self, offset: int) -> bool:
        """Tell whether nothing but blanks and a comment follows on the line."""
        rest = self.text[offset : self.line_end(offset)].lstrip(" \t")
        return not rest or rest.startswith("#")

    def has_comment(self, start: int, end: int) -> bool:
        """Tell whether the text between two tokens holds a comment."""
        return "#" in self.text[start:end]

    def column(self, offset: int) -> int:
        """Return the 0-based column of `offset`."""
        return offset - self.line_start(offset)

    def break_at(self, offset: int) -> str:
        """Return the line break at the end of the line of `offset`.

        At the end of the text that is the usual one of the file.
        """
        end = self.line_end(offset)
        return self.text[end : self.after_break(end)] or self.newline
