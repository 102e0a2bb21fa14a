"""Regular expressions that are compiled when they are used first.

Compiling one takes as long as loading a module, and most of those that a module names are for few files.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, AnyStr


def late(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a regular expression that is compiled on first use; see `re.compile`."""
    found: Any = _LatePattern(pattern, flags)
    return found  # type: ignore[no-any-return]


class _LatePattern:
    """A regular expression that is not compiled yet.

    It takes the methods of the compiled one as they are asked for.
    """

    def __init__(self, pattern: Any, flags: int) -> None:
        self._made = pattern, flags

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled pattern, and keep it."""
        found = getattr(re.compile(*self._made), name)
        setattr(self, name, found)
        return found
