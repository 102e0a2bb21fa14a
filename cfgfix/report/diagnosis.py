"""The text of a diagnosis, from its JSON form."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from cfgfix.report.style import Paint
from cfgfix.visible import visible_data

_STYLES = {"pass": "good", "fail": "error", "skipped": "dim"}
_WORDS = {"pass": "pass", "fail": "FAIL", "skipped": "skipped"}
WIDTH = 110
MOST_LINES = 12
"""Lines of evidence shown of one check; the JSON form has all of them."""


def render(data: Mapping[str, Any], paint: Paint) -> str:
    """Return a diagnosis as text: each check with its evidence, then what to do first."""
    data = visible_data(data)
    lines = [paint("bold", f"cfgfix diagnose: {data['subject']}"), ""]
    for check in data["checks"]:
        lines += _check(check, paint)
    counts = {state: sum(check["state"] == state for check in data["checks"]) for state in _WORDS}
    told = f"{counts['pass']} passed, {counts['fail']} failed, {counts['skipped']} skipped"
    lines.append(paint("error" if counts["fail"] else "good", told))
    return "\n".join(lines) + "\n"


def _check(check: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    word = paint(_STYLES[check["state"]], f"{_WORDS[check['state']]:>7}")
    yield f"{word}  {paint('bold', check['title'])}"
    yield from _wrapped(check["summary"], "         ")
    shown = check["evidence"][:MOST_LINES]
    for line in shown:
        yield from (paint("dim", part) for part in _wrapped(line, "         - ", "           "))
    if len(check["evidence"]) > len(shown):
        yield paint("dim", f"         - and {len(check['evidence']) - len(shown)} more lines: see --json")
    if check["rules"]:
        yield f"         rules: {', '.join(check['rules'])} (cfgfix explain {check['rules'][0]})"
    for fix in check["fixes"][:MOST_LINES]:
        yield from _wrapped(fix, "         fix: ", "              ")
    yield ""


def _wrapped(text: str, first: str, later: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=later or first,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first.rstrip()]
