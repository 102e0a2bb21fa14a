"""One ranked list of what is wrong, from the JSON forms of a diagnosis and of profiles: cause, evidence, worth, change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cfgfix.core.wording import counted

FIRST = ("hardware", "compilation", "loader", "configuration", "memory")
"""Checks whose failure stops or falsifies a run, so that they come before what only makes it slow; their warnings do not."""


MOST_FINDINGS = 8
"""Findings of one check that are listed by themselves."""
MOST_PLACES = 4
"""Places that are added to one cause."""


def rank(forms: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the causes in some reports, each once, the most important first.

    Those that stop a run come first, then those with the highest worth.

    Args:
        forms: JSON forms by what they are: `diagnosis`, `data`, `step`, `run`.
    """
    causes = list(_causes_in(forms))
    names = {cause["name"] for cause in causes}
    # What only points to causes is none beside them, whichever part of the whole named them.
    causes = [cause for cause in causes if not names & set(cause["explained_by"])]
    measured = [cause for cause in causes if cause["place"] is None]
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for cause in causes:
        explained = cause["place"] and next(
            (other for other in measured if set(cause["rules"]) & set(other["rules"])), None
        )
        known = explained or found.setdefault((cause["name"], cause["cause"]), cause)
        if known is not cause and cause["place"]:
            known["evidence"] = _with_place(known["evidence"], cause["place"])
        known["worth"] = max(known["worth"] or 0.0, cause["worth"] or 0.0) or None
    for cause in found.values():
        del cause["place"], cause["explained_by"]
    ranked = sorted(found.values(), key=_rank_of_cause)
    for cause in ranked:
        del cause["stops"]
    return ranked


def _with_place(evidence: str | None, place: str) -> str:
    """Return a cause's evidence with the place of a finding that it explains added.

    No place is added where it is named already, or there are many.
    """
    told = evidence.split("; ") if evidence else []
    return "; ".join(told if place in told or len(told) > MOST_PLACES else [*told, place])


def _rank_of_cause(cause: Mapping[str, Any]) -> tuple[int, int, float]:
    stops = FIRST.index(cause["name"]) if cause["stops"] else len(FIRST)
    return stops, 0 if cause["worth"] else 1, -(cause["worth"] or 0.0)


def _causes_in(forms: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
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
    serious = _one_for_each_place(check["data"].get("serious", ()))
    for one in serious[:MOST_FINDINGS]:
        yield {
            "name": check["name"],
            "cause": one["message"],
            "evidence": one["place"],
            "worth": None,
            "change": one["change"],
            "rules": one["rules"],
            "place": one["place"],
            "explained_by": (),
            "stops": check["name"] in FIRST and one["severity"] == "error",
        }
    more = len(serious) - MOST_FINDINGS
    if serious and more <= 0:
        return
    yield {
        "name": check["name"],
        "cause": f"{counted(more, 'finding')} more: see cfgfix check" if serious else check["summary"],
        "evidence": None if serious else next(iter(check["evidence"]), None),
        "worth": None,
        "change": None if serious else next(iter(check["fixes"]), None),
        "rules": [] if serious else list(check["rules"]),
        "place": None,
        "explained_by": (),
        "stops": check["name"] in FIRST and not serious,
    }


def _one_for_each_place(findings: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """Return one finding for each place: the most serious one, and of those one that knows a change."""
    places: dict[object, list[Mapping[str, object]]] = {}
    for one in findings:
        places.setdefault(one["place"], []).append(one)
    return [
        {
            **min(same, key=lambda one: (one["severity"] != "error", one["change"] is None)),
            "rules": list(dict.fromkeys(one["rule"] for one in same)),
        }
        for same in places.values()
    ]


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
            "change": next(filter(_can_be_made, entry["fixes"]), None) or change,
            "rules": [rule["id"] for rule in entry["rules"]],
            "place": None,
            "explained_by": explained_by,
            "stops": entry["name"] in FIRST,
        }


def _can_be_made(line: str) -> bool:
    """Tell whether a line names a fix that `cfgfix fix` can make."""
    return line.startswith("cfgfix fix --") or line.endswith((", safe)", ", unsafe)"))


def to_name(checks: Any) -> list[str]:
    """Return a line for each option that would make skipped checks run."""
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
