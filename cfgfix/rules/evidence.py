"""Results of the measurements behind rules: small tables that travel with the package.

They are made by `benchmarks/evidence/run.py`, one script at a time, and stand in `rules/evidence.json` with the date, the
versions and the machine of each script.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from cfgfix.core.records import dataclass
from cfgfix.rules import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCRIPTS = "benchmarks/evidence/"


@dataclass(frozen=True, slots=True)
class Table:
    """One table of results."""

    script: str
    title: str
    timed: bool
    """Whether the values are speeds, as multiples of the first row; else they are facts."""
    disturbed: bool
    """Whether other work took CPUs while it was measured: order and large ratios can be trusted, small ones not."""
    rows: tuple[tuple[str, Any], ...]
    circumstances: str

    def lines(self) -> list[str]:
        """Return the table as lines of text: title, rows, and where it was measured."""
        unit = " (times as fast as the first)" if self.timed else ""
        doubt = "; other work disturbed it, so trust order and large ratios only" if self.disturbed else ""
        shown = [f"{name}: {value}" for name, value in self.rows]
        return [f"{self.title}{unit}{doubt}", *shown, self.circumstances]


_LOADED: dict[str, Any] | None = None


def results() -> dict[str, Any]:
    """Return the results of all measurements, by the name of the script."""
    global _LOADED  # noqa: PLW0603 - loaded once a process
    if _LOADED is None:
        path = os.path.join(compiled.data_folder("rules"), "evidence.json")
        with open(path, encoding="utf-8") as stream:
            _LOADED = json.load(stream)
    return _LOADED


def circumstances(result: dict[str, Any]) -> str:
    """Return date, machine and versions of a script's results as one line."""
    machine, versions = result["machine"], result["versions"]
    gpu = "no GPU" if machine["gpu"] == "none" else machine["gpu"]
    return (
        f"{result['date']}, {machine['cpus']} CPUs ({machine['cpu']}), {machine['ram_gib']} GiB, {gpu}, {machine['system']}; "
        f"TensorFlow {versions['tensorflow']}, Keras {versions['keras']}, Python {versions['python']}"
    )


def tables(script: str, wanted: str = "") -> list[Table]:
    """Return the tables of a script whose title holds `wanted`.

    Args:
        script: The script's name, with or without its folder and ending.
        wanted: A part of the title; empty text means all.
    """
    name = script.removeprefix(SCRIPTS).removesuffix(".py")
    result = results().get(name)
    if result is None:
        return []
    return [
        Table(
            SCRIPTS + name + ".py",
            title,
            title in result["timed"],
            title in result.get("disturbed", ()),
            tuple(rows.items()),
            circumstances(result),
        )
        for title, rows in result["tables"].items()
        if wanted in title
    ]


def of_rule(evidence: Iterable[dict[str, Any]]) -> list[Table]:
    """Return the tables named in the evidence of a rule file, each once."""
    found: list[Table] = []
    for item in evidence:
        if "measured" in item:
            for table in tables(str(item["measured"]), str(item.get("table", ""))):
                if table not in found:
                    found.append(table)
    return found
