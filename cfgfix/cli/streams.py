"""Standard input, output and error as this process finds them: closed, full, or of an encoding that lacks letters.

Imported before anything else, also where an answer is only repeated: imports next to nothing.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

RUNNERS = ("GITHUB_ACTIONS", "TF_BUILD")
"""Variables that a program sets which reads the log of its steps for commands."""


def make_streams_safe() -> None:
    """Make standard input, output and error safe to use.

    A closed error or input gets a stand-in: its number would go to the next file that is opened, and what is printed
    would land in that file. A letter that the encoding lacks is escaped.

    Raises:
        UnreadableError: Standard output is closed.
    """
    missing = [number for number, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)) if stream is None]
    for number in missing:
        _occupy_descriptor(number)
    if 0 in missing:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - open to the end
    if 2 in missing:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open to the end
    if sys.stdout is None:
        from cfgfix.core.errors import UnreadableError

        raise UnreadableError(
            "standard output is closed", hint="redirect it to /dev/null where nobody reads it"
        )
    for stream in (sys.stdout, sys.stderr):
        # A name that the encoding lacks a letter of is no reason to stop.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _occupy_descriptor(number: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        handle = os.open(os.devnull, os.O_RDWR)
        if handle != number:
            os.dup2(handle, number)
            os.close(handle)


def input_is_closed() -> bool:
    """Tell whether standard input was closed when the process started.

    An empty stand-in takes its place.
    """
    return sys.stdin is None or getattr(sys.stdin, "name", None) == os.devnull


def runner_reads() -> bool:
    """Tell whether a CI runner reads commands from the output of this process."""
    return any(os.environ.get(name) for name in RUNNERS)


def write_error_line(text: str) -> None:
    """Write a line to standard error.

    Where that is impossible, there is nobody to tell.
    """
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        discard_output(sys.stderr)


def discard_output(stream: TextIO | None) -> None:
    """Discard the unwritten output of a stream.

    Python would complain once more while it flushes at its end.
    """
    try:
        if stream is not None:
            handle = os.open(os.devnull, os.O_WRONLY)
            os.dup2(handle, stream.fileno())
            os.close(handle)
    except (OSError, ValueError):
        return
