"""`profile compare`: what changed from one profile to another of the same kind, from their JSON forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cfgfix.core.errors import CfgfixError
from cfgfix.core.wording import times_as_fast

CHANGED = 0.05
"""Relative change from which a figure without an interval counts as another."""
SHARE_CHANGED = 0.03
"""Change of a share from which it counts as another."""
TAKEN = 0.25
"""Share of the CPUs at work for other processes from which a time can be theirs."""
FASTEST_CHANGED = 0.1
"""Relative change of the fastest step, which others disturb least, from which a time is another all the same."""


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures of two profiles side by side, and how the problems changed.

    The answer names the problems that came, went and stayed.

    Raises:
        CfgfixError: They are no profiles, or of different kinds.
    """
    kinds = before.get("kind"), after.get("kind")
    if kinds[0] != kinds[1] or kinds[0] not in _FIGURES:
        raise CfgfixError(
            f"a profile of kind {kinds[0]!r} cannot be held against one of kind {kinds[1]!r}",
            hint="give two files that `cfgfix profile run|data|step --json` wrote",
        )
    taken = _share_taken(before), _share_taken(after)
    disturbed = max(taken) >= TAKEN
    rows = []
    for name, (path, unit, faster) in _FIGURES[str(kinds[0])].items():
        old, new = _value_at(before, path), _value_at(after, path)
        if isinstance(old, (int, float)) and isinstance(new, (int, float)) and old > 0 and new > 0:
            change = new / old
            rows.append(
                {
                    "name": name,
                    "unit": unit,
                    "before": old,
                    "after": new,
                    "ratio": change,
                    "certain": _is_difference(before, after, path, change)
                    and (unit != "share" or abs(new - old) >= SHARE_CHANGED)
                    and not (disturbed and faster and not _fastest_agrees(before, after, change, faster)),
                    "speed": (1 / change if faster == "less" else change) if faster else None,
                }
            )
    first, second = _problems_by_name(before), _problems_by_name(after)
    return {
        "kind": "comparison",
        "of": kinds[0],
        "figures": rows,
        "taken": {"before": taken[0], "after": taken[1]} if disturbed else None,
        "gone": [first[key] for key in first if key not in second],
        "came": [second[key] for key in second if key not in first],
        "stayed": [second[key] for key in second if key in first],
    }


_FIGURES: Mapping[str, Mapping[str, tuple[tuple[str, ...], str, str]]] = {
    "run": {
        "step, median": (("step_seconds", "median"), "s", "less"),
        "step, mean": (("step_seconds", "mean"), "s", "less"),
        "samples per second": (("samples_per_second",), "1/s", "more"),
        "waiting for data": (("shares", "wait"), "share", ""),
        "compiled functions": (("shares", "call"), "share", ""),
        "tracing, compiling": (("shares", "trace"), "share", ""),
        "Python between": (("shares", "python"), "share", ""),
        "evaluation": (("shares", "evaluation"), "share", ""),
        "starts of epochs": (("shares", "epochs"), "share", ""),
    },
    "data": {
        "batch, mean": (("rates", "batch_seconds", "mean"), "s", "less"),
        "samples per second": (("rates", "samples_per_second"), "1/s", "more"),
        "CPU per batch": (("rates", "cpu_per_batch"), "s", "less"),
        "device idle": (("consumer", "idle_share", "value"), "share", ""),
    },
    "step": {
        "step, median": (("step_seconds", "median"), "s", "less"),
        "loop, mean": (("loop_seconds", "mean"), "s", "less"),
        "samples per second": (("samples_per_second",), "1/s", "more"),
        "waiting for data": (("data_share", "value"), "share", ""),
    },
}


def _value_at(form: Mapping[str, object], path: tuple[str, ...]) -> Any:
    value: Any = form
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _is_difference(
    before: Mapping[str, Any], after: Mapping[str, Any], path: tuple[str, ...], change: float
) -> bool:
    """Return whether two figures differ by more than their intervals allow.

    Figures without intervals differ where the change is large enough.
    """
    if path[-1] in ("mean", "median"):
        first, second = (_value_at(form, (*path[:-1], "mean_interval")) for form in (before, after))
        if isinstance(first, Mapping) and isinstance(second, Mapping) and path[-1] == "mean":
            return bool(first["high"] < second["low"] or second["high"] < first["low"])
    return abs(change - 1) >= CHANGED


def _share_taken(form: Mapping[str, object]) -> float:
    """Return the share of the CPUs that worked for other processes.

    0 where the share is not known.
    """
    elsewhere = _value_at(form, ("cpus", "elsewhere"))
    usable = _value_at(form, ("cpus", "usable"))
    if elsewhere is None:
        elsewhere = _value_at(form, ("rates", "cpus_elsewhere"))
        usable = _value_at(form, ("feeding", "cpus_usable")) or 1
    return min(1.0, elsewhere / usable) if elsewhere and usable else 0.0


def _fastest_agrees(
    before: Mapping[str, object], after: Mapping[str, object], change: float, faster: str
) -> bool:
    """Return whether the fastest steps of two profiles changed in the same direction."""
    old, new = (_value_at(form, ("step_seconds", "min")) for form in (before, after))
    if not old or not new or abs(new / old - 1) < FASTEST_CHANGED:
        return False
    return bool((new < old) == ((change < 1) == (faster == "less")))


def _problems_by_name(form: Mapping[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the problems of a profile by verdict name and subject.

    The subject has no figures, since these differ from run to run.
    """
    found = {}
    for entry in form.get("verdicts", ()):
        if entry["outcome"] == "problem":
            about = "".join(letter for letter in entry["summary"].split(" takes ")[0] if not letter.isdigit())
            found[entry["name"], about if entry["name"] in ("stall", "between steps") else ""] = {
                "name": entry["name"],
                "summary": entry["summary"],
            }
    return found


def render(found: Mapping[str, Any]) -> str:
    """Return a comparison as text."""
    lines = [f"{'':<24} {'before':>12} {'after':>12}"]
    for row in found["figures"]:
        old, new = (_amount_text(row[name], row["unit"]) for name in ("before", "after"))
        told = "" if row["certain"] else "  no change that shows"
        if row["certain"] and row["speed"]:
            told = f"  {times_as_fast(row['speed'])}"
        lines.append(f"{row['name']:<24} {old:>12} {new:>12}{told}")
    if found["taken"]:
        old, new = (f"{found['taken'][name]:.0%}" for name in ("before", "after"))
        lines.append(
            f"other processes kept {old} of the CPUs at work before and {new} after: what they can explain is told as no change; "
            "measure again while the machine is free"
        )
    for name, word in (("gone", "gone"), ("came", "new"), ("stayed", "still there")):
        lines += [f"{word}: {entry['name']}: {entry['summary']}" for entry in found[name]]
    return "\n".join(lines) + "\n"


def _amount_text(value: float, unit: str) -> str:
    if unit == "share":
        return f"{value:.1%}"
    return f"{value * 1e3:.3g} ms" if unit == "s" else f"{value:.4g}"
