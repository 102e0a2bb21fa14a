"""One ranked list of what is wrong, from the JSON forms of a diagnosis and of profiles: cause, evidence, worth, change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

FIRST = ("hardware", "compilation", "loader", "configuration", "memory")
"""Checks whose failure stops or falsifies a run, so that they come before what only makes it slow."""


def rank(forms: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return each cause once: what stops a run first, then what is worth most.

    Args:
        forms: JSON forms by what they are: `diagnosis`, `data`, `step`, `run`.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for cause in _causes(forms):
        key = (cause["name"], cause["cause"])
        known = found.setdefault(key, cause)
        if (cause["worth"] or 0) > (known["worth"] or 0):
            known["worth"] = cause["worth"]
    return sorted(found.values(), key=_place)


def _place(cause: Mapping[str, Any]) -> tuple[int, int, float]:
    stops = FIRST.index(cause["name"]) if cause["name"] in FIRST else len(FIRST)
    return stops, 0 if cause["worth"] else 1, -(cause["worth"] or 0.0)


def _causes(forms: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for name, form in forms.items():
        if name == "diagnosis":
            for check in form["checks"]:
                if check["state"] == "fail":
                    yield from _of_check(check)
        elif "verdicts" in form:
            yield from _of_verdicts(form["verdicts"])


def _of_check(check: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    verdicts = list(_of_verdicts(check["data"].get("verdicts", ())))
    if verdicts:
        yield from verdicts
        return
    yield {
        "name": check["name"],
        "cause": check["summary"],
        "evidence": next(iter(check["evidence"]), None),
        "worth": None,
        "change": next(iter(check["fixes"]), None),
        "rules": list(check["rules"]),
    }


def _of_verdicts(verdicts: Any) -> Iterator[dict[str, Any]]:
    problems = [entry for entry in verdicts if entry["outcome"] == "problem"]
    for entry in problems:
        change = entry["change"]
        explained_by = entry.get("explained_by", ())
        if any(other["name"] in explained_by for other in problems):
            # It only points to the causes that are listed beside it.
            continue
        yield {
            "name": entry["name"],
            "cause": entry["summary"],
            "evidence": next(iter(entry["evidence"]), None),
            "worth": entry.get("worth"),
            "change": next((line for line in entry["fixes"] if "cfgfix fix" in line), None) or change,
            "rules": [rule["id"] for rule in entry["rules"]],
        }


def to_name(checks: Any) -> list[str]:
    """Return what the user can name so that checks that were skipped run, a line each."""
    skipped = {check["name"] for check in checks if check["state"] == "skipped"}
    found = []
    if skipped & {"loader", "pipeline"}:
        found.append("--dataset package.module:function runs loader and pipeline")
    if "compilation" in skipped:
        found.append("--step package.module:function runs compilation and memory, and times the step")
    if "configuration" in skipped:
        found.append("a config file is judged by the rules: cfgfix diagnose CONFIG")
    if "code" in skipped:
        found.append("--source-root FOLDER judges the code")
    return found


__all__ = ["rank", "to_name"]
