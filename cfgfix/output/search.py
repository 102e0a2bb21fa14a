"""The text of a search, from its JSON form."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from cfgfix.core.terminal import Paint, figure
from cfgfix.core.visible import visible_data

MOST_ROWS = 15
"""Settings shown, best first; the JSON form has all of them."""
WIDTH = 110
_BAR = 24


def render(data: Mapping[str, Any], paint: Paint) -> str:
    """Return a search as text: the settings by rate, those left out, and the result."""
    data = visible_data(data)
    names = list(data["space"])
    ran = sorted(
        (entry for entry in data["tried"] if entry["samples_per_second"] is not None),
        key=lambda entry: (-entry["trial_seconds"], -entry["samples_per_second"]),
    )
    most = max((entry["samples_per_second"] for entry in ran), default=0.0) or 1.0
    rows = [(_setting_text(entry["values"], names), entry) for entry in ran[:MOST_ROWS]]
    width = max((len(text) for text, _ in rows), default=0)
    lines = [paint("bold", f"search: {data['source']}"), paint("dim", f"cache {data['cache']}"), ""]
    lines.append("samples/s, those measured longest first:")
    for text, entry in rows:
        rate = entry["samples_per_second"]
        mark = "  (present)" if entry["values"] == data["present"]["values"] else ""
        lines.append(
            f"  {text:<{width}}  {figure(rate):>9}  {'#' * round(rate / most * _BAR):<{_BAR}}  {entry['trial_seconds']:g} s{mark}"
        )
    if len(ran) > len(rows):
        lines.append(paint("dim", f"  and {len(ran) - len(rows)} more: see --json"))
    failed = [entry for entry in data["tried"] if entry["samples_per_second"] is None]
    lines += [
        paint("warning", f"  failed: {_setting_text(entry['values'], names)}: {entry['error']}")
        for entry in failed[:MOST_ROWS]
    ]
    lines += [
        paint("dim", f"  left out: {_setting_text(entry['values'], names)}: {entry['reason']}")
        for entry in data["excluded"][:MOST_ROWS]
    ]
    lines.append("")
    lines += _wrapped_lines(data["summary"])
    for change in data["changes"] if data["gain"] else ():
        lines.append(f"  {change['key']}: {_value_text(change['from'])} -> {_value_text(change['to'])}")
    for text in data["code_changes"] if data["gain"] else ():
        lines += _wrapped_lines(f"in the code: {text}")
    lines += [paint("dim", line) for note in data["notes"] for line in _wrapped_lines(f"note: {note}")]
    if data["applied"]:
        lines.append(paint("good", f"written to {data['config']}"))
    elif data["gain"]:
        lines.append(
            paint(
                "info",
                "nothing was written: --apply writes it"
                if data["config"] and not data["code_changes"]
                else "nothing was written",
            )
        )
    else:
        lines.append("nothing was written")
    return "\n".join(lines) + "\n"


def _setting_text(values: Mapping[str, Any], names: list[str]) -> str:
    return ", ".join(f"{name} {_value_text(values[name])}" for name in names)


def _value_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _wrapped_lines(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
