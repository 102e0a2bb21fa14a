"""Where the comments of a Python text are."""

from __future__ import annotations

import contextlib
import io
import tokenize
from collections.abc import Iterator


def comment_tokens(text: str) -> Iterator[tuple[int, str]]:
    """Yield every comment of a text as (offset, text), in the order of the text.

    Raises:
        tokenize.TokenError, SyntaxError: The text is no Python from here on.
    """
    starts = [0]
    for row in text.split("\n"):
        starts.append(starts[-1] + len(row) + 1)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield starts[token.start[0] - 1] + token.start[1], token.string


def readable_comments(text: str) -> list[tuple[int, str]]:
    """Return the comments of a text up to the first place that is no Python."""
    found: list[tuple[int, str]] = []
    with contextlib.suppress(tokenize.TokenError, SyntaxError):
        # What came before an error is kept.
        found.extend(comment_tokens(text))
    return found
