"""Colour for terminals."""

from __future__ import annotations

from collections.abc import Mapping

_CODES = {
    "error": "1;31",
    "warning": "1;33",
    "info": "1;36",
    "bold": "1",
    "dim": "2",
    "path": "1",
    "frame": "34",
    "good": "32",
    "added": "32",
    "removed": "31",
}


class Paint:
    """Wraps text in terminal colours, or leaves it as it is."""

    __slots__ = ("_on",)

    def __init__(self, *, on: bool) -> None:
        self._on = on

    def __call__(self, style: str, text: str) -> str:
        """Return `text` in a style."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self._on and text else text


def wants_colour(choice: str, environment: Mapping[str, str], *, terminal: bool) -> bool:
    """Tell whether output is coloured.

    The option decides first, then NO_COLOR, FORCE_COLOR and TERM, then whether output goes to a terminal.
    """
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR") or environment.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return terminal and environment.get("TERM") != "dumb"


def figure(value: float, digits: int = 4) -> str:
    """Return a number as text with `digits` significant digits.

    A large number is written in full, for nobody reads 1.3e+04 with ease.
    """
    return f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"
