"""The progress of a long run: one line on the terminal that is written over and taken away in the end."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

PATIENCE = 1.0
"""Seconds before anything is shown: a run that ends sooner needs no progress (response times: 1 s is when a user's
thought is interrupted, Nielsen, Usability Engineering, 1993, chapter 5)."""
STEP = 0.1
"""Seconds between two lines: what the eye takes for steady movement (the same source)."""


class Progress:
    """Shows how many files are done; called with the files done and all files.

    A plain class, since it keeps time.
    """

    __slots__ = ("_next", "_shown", "_stream")

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = time.monotonic() + PATIENCE
        self._shown = 0

    def __call__(self, done: int, total: int) -> None:
        """Show the progress at intervals; take the line away once all is done."""
        if done >= total:
            if self._shown:
                self._write_line("\r" + " " * self._shown + "\r")
                self._shown = 0
            return
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + STEP
        text = f"cfgfix: {done} of {total} files"
        self._write_line("\r" + text.ljust(self._shown))
        self._shown = max(self._shown, len(text))

    def _write_line(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
