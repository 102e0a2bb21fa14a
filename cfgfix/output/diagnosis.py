"""The text of a diagnosis, from its JSON form."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cfgfix.core.terminal import Paint
from cfgfix.core.visible import visible_data

_STYLES = {"pass": "good", "fail": "error", "skipped": "dim"}
_WORDS = {"pass": "pass", "fail": "FAIL", "skipped": "skipped"}
WIDTH = 110
WORTH = 1.02
"""A gain below this is not told."""
MOST_LINES = 12
"""Lines of evidence shown of one check; the JSON form has all of them."""


def render(data: Mapping[str, Any], paint: Paint) -> str:
    """Return a diagnosis as text: the changes to make first, then each check."""
    data = visible_data(data)
    lines = [paint("bold", f"cfgfix diagnose: {data['subject']}"), "", *causes(data.get("causes", ()), paint)]
    for check in data["checks"]:
        lines += _check_lines(check, paint)
    counts = {state: sum(check["state"] == state for check in data["checks"]) for state in _WORDS}
    told = f"{counts['pass']} passed, {counts['fail']} failed, {counts['skipped']} skipped"
    clean = not counts["fail"] and not data.get("to_name")
    lines.append(paint("error" if counts["fail"] else "good" if clean else "dim", told))
    lines += [f"  not run yet: {line}" for line in data.get("to_name", ())]
    return "\n".join(lines) + "\n"


def causes(ranked: Sequence[Mapping[str, Any]], paint: Paint) -> Iterator[str]:
    """Yield the lines of the ranked list of causes; no lines where there are none."""
    if not ranked:
        return
    yield paint("bold", "what to change, in this order")
    for number, cause in enumerate(ranked, 1):
        worth = f" (x {cause['worth']:.2g})" if cause["worth"] and cause["worth"] >= WORTH else ""
        yield from _wrapped_lines(f"{number}. {cause['name']}: {cause['cause']}{worth}", "  ", "     ")
        if cause["evidence"]:
            yield from (
                paint("dim", part) for part in _wrapped_lines(cause["evidence"], "     - ", "       ")
            )
        if cause["change"]:
            yield from _wrapped_lines(cause["change"], "     change: ", "             ")
    yield ""


def _check_lines(check: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    word = paint(_STYLES[check["state"]], f"{_WORDS[check['state']]:>7}")
    yield f"{word}  {paint('bold', check['title'])}"
    yield from _wrapped_lines(check["summary"], "         ")
    shown = check["evidence"][:MOST_LINES]
    for line in shown:
        yield from (paint("dim", part) for part in _wrapped_lines(line, "         - ", "           "))
    if len(check["evidence"]) > len(shown):
        yield paint("dim", f"         - and {len(check['evidence']) - len(shown)} more lines: see --json")
    if check["rules"]:
        yield f"         rules: {', '.join(check['rules'])} (cfgfix explain {check['rules'][0]})"
    for fix in check["fixes"][:MOST_LINES]:
        yield from _wrapped_lines(fix, "         fix: ", "              ")
    yield ""


def _wrapped_lines(text: str, first: str, later: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=later or first,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first.rstrip()]
