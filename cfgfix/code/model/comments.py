"""The comments above and behind lines of code."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.model.summary import Scope


def comments_above(scope: Scope, line: int, signs: tuple[str, ...] = ("#",)) -> Iterator[str]:
    """Yield the comment lines right above a line, the nearest first.

    Only lines that begin with one of some signs count; their indentation is removed.
    """
    lines = scope.module.source_lines()
    number = line - 2
    while 0 <= number < len(lines) and lines[number].lstrip().startswith(signs):
        yield lines[number].lstrip()
        number -= 1


def comments_behind(scope: Scope, first: int, last: int) -> list[str]:
    """Return the comments behind the `#` of some lines, both ends included.

    Empty text for lines without a comment.
    """
    lines = scope.module.source_lines()
    return [line.partition("#")[2] for line in lines[first - 1 : last]]
