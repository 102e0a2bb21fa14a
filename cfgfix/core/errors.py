"""The one fatal-error type, the exit codes, and the hint for a name that does not exist.

Every failure a user can cause ends in a `CfgfixError`; the command line has one handler that prints it
and exits with its code. Anything else that reaches the handler is a fault of cfgfix itself.
"""

from __future__ import annotations

import enum

from cfgfix.core.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:  # a run whose answer is known imports next to nothing
    from collections.abc import Iterable


class ExitCode(enum.IntEnum):
    """Exit codes of the command line, the same for every output format."""

    CLEAN = 0
    """Nothing found at or above the fail-on severity, or all of it was fixed."""
    FINDINGS = 1
    """Findings at or above the fail-on severity remain."""
    USAGE = 2
    """Wrong arguments or settings."""
    UNREADABLE = 3
    """A file could not be read or written, or a fix was refused."""
    INTERNAL = 4
    """A fault in cfgfix."""


class CfgfixError(Exception):
    """A failure with one clear message.

    Args:
        message: What is wrong, in one sentence.
        code: The exit code it leads to.
        path: The file concerned, as the user named it.
        line: 1-based line in that file.
        column: 1-based column in code points.
        hint: The next step for the user.
    """

    code: ExitCode

    def __init__(
        self,
        message: str,
        *,
        code: ExitCode = ExitCode.USAGE,
        path: str | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.path = path
        self.line = line
        self.column = column
        self.hint = hint

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line, self.column) if part is not None)
        text = f"{place}: {self.message}" if place else self.message
        return visible(f"{text} ({self.hint})" if self.hint else text)


class UnreadableError(CfgfixError):
    """A file could not be read or written; exit code 3."""

    def __init__(
        self, message: str, *, path: str | None = None, line: int | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, code=ExitCode.UNREADABLE, path=path, line=line, hint=hint)


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the known name most like a misspelt one, or None where none is near.

    Args:
        name: A name that does not exist.
        known: Those that do.
        cutoff: How alike they must be, from 0 to 1; 0.6 is what `difflib` takes.
    """
    # Only a failing run pays for it.
    import difflib

    return next(iter(difflib.get_close_matches(name, list(known), 1, cutoff)), None)


def did_you_mean(name: str, known: Iterable[str], otherwise: str | None = None) -> str | None:
    """Return a "did you mean" hint for an unknown name.

    Where no known name is near, the hint is `otherwise`.
    """
    near = nearest(name, known)
    return f"did you mean {near!r}?" if near else otherwise


def internal_fault(error: Exception, path: str) -> CfgfixError:
    """Return the error to show for an exception inside cfgfix that cuts a check short.

    Args:
        error: The exception.
        path: The file that was being checked.

    Args:
        error: The fault.
        path: The file that it was found at.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = ""
    if trace is not None:
        parts = trace.tb_frame.f_code.co_filename.replace("\\", "/").split("/")
        place = f" in {'/'.join(parts[-3:])}:{trace.tb_lineno}"
    return CfgfixError(
        f"internal error: {type(error).__name__}: {str(error)[:200]}{place}",
        code=ExitCode.INTERNAL,
        path=path,
        hint="this is a fault in cfgfix, please report it; the check went on without this",
    )
