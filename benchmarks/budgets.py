"""What cfgfix promises about speed and memory, and the table that holds a record of measurements against it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Budget:
    """One promise: the ratio of two commands of one workload stays on the right side of a bound."""

    work: str
    workload: str
    over: str
    """The command above the line."""
    under: str
    """The command below the line."""
    bound: float
    faster: bool = False
    """Whether `over` is the other tool, so that the ratio says how many times as fast cfgfix is."""
    kind: str = "cpu"
    """`cpu` (seconds, children included) or `peak` (memory)."""
    stretch: str = ""
    needs: str = ""
    """What must be at hand to measure it at all."""


REFERENCE = "a checkout of Python code to read, 20,000 to 50,000 lines: `CFGFIX_REFERENCE=DIR`"
BUDGETS = (
    Budget("one config of 100 lines", "one", "cfgfix check", "yamllint", 0.8, stretch="0.4"),
    Budget("one config of 100 lines", "one", "cfgfix check", "check-jsonschema", 0.25),
    Budget("the same, unchanged", "one", "cfgfix check, unchanged", "yamllint", 0.3),
    Budget("300 configs in one call", "many", "yamllint", "cfgfix check", 10, faster=True, stretch="20"),
    Budget("300 configs in one call", "many", "check-jsonschema", "cfgfix check", 10, faster=True, stretch="20"),
    Budget("YAML of 100,000 lines", "long", "check-jsonschema", "cfgfix check", 14, faster=True, stretch="20"),
    Budget("`fix` of one value", "fix", "cfgfix fix", "cfgfix check", 1.5),
    Budget(
        "Python project with its configs, cold", "usage", "cfgfix with configs, cold", "Python's parser alone", 6,
        stretch="4.5", needs=REFERENCE,
    ),
    Budget(
        "one changed config of it", "usage", "cfgfix, one config changed", "yamllint", 1.2, stretch="0.8", needs=REFERENCE
    ),
    Budget(
        "Python project, cold", "fixers", "Fixit with one rule", "cfgfix, cold", 60, faster=True, stretch="200",
        needs=REFERENCE,
    ),
    Budget("Python project, cold", "fixers", "TorchFix", "cfgfix, cold", 100, faster=True, stretch="200", needs=REFERENCE),
    Budget("TensorFlow's own tree, cold", "tensorflow", "cfgfix, cold", "ruff, uncached", 12, stretch="4"),
    Budget("Python project, unchanged", "scan", "cfgfix, unchanged", "listing the files", 3, needs=REFERENCE),
    Budget("TensorFlow's own tree, unchanged", "tensorflow", "cfgfix, unchanged", "listing the files", 3),
    Budget("memory for configs with more text", "memory", "cfgfix check, more text", "cfgfix check", 1.1, kind="peak"),
    Budget(
        "memory for Python with more text", "memory-code", "cfgfix, cold, more text", "cfgfix, cold", 1.1, kind="peak"
    ),
)  # fmt: skip


WHY = {
    ("usage", "cfgfix with configs, cold"): (
        "Every program of the project is run over the configs by an interpreter of about 300,000 steps a second, most of them in"
        " code that the programs share: of the project of 50,000 lines that is 1.25 million steps, half of them in functions that"
        " libraries may call."
    ),
    ("usage", "cfgfix, one config changed"): (
        "The value that is changed here decides nothing, so that no program is run again. Of the 71 values of that file ten do, and"
        " a change of one of them has the programs run that open the file, which takes eight times as long: what TensorFlow takes of"
        " a value is asked with the program at hand."
    ),
    ("fixers", "TorchFix"): (
        "TorchFix reads the files in which `torch` stands, so it gets a copy that says `torch` for `tensorflow`. Python's parser"
        " alone takes more than a quarter of what cfgfix takes (the table of the project below), of which half would have to go."
    ),
    ("fix", "cfgfix fix"): (
        "A fix is proven by a reader that shares no code with the first; loading that reader is most of what `fix` takes"
        " beyond `check`."
    ),
}
"""What is known of a promise that is hard to keep; told where it is not kept."""


@dataclass(frozen=True)
class Measured:
    """A ratio over the rounds of a workload."""

    least: float
    median: float
    most: float


def ratio(commands: Mapping[str, Mapping[str, list[float]]], over: str, under: str, kind: str) -> Measured:
    """Return the ratio of two commands, round by round."""
    pairs = [a / b for a, b in zip(commands[over][kind], commands[under][kind], strict=True)]
    return Measured(min(pairs), statistics.median(pairs), max(pairs))


def figure(value: float) -> str:
    """Write a ratio with three digits."""
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3}f}"


def met(budget: Budget, measured: Measured) -> bool:
    """Return whether the median keeps the budget."""
    return measured.median >= budget.bound if budget.faster else measured.median <= budget.bound


def row(budget: Budget, record: Mapping[str, Any]) -> str:
    """Return one row of the table; a promise that was not measured has a row that says so."""
    promise = f"at {'least' if budget.faster else 'most'} {budget.bound:g}"
    again = f"`{budget.workload}`"
    what = ", peak memory" if budget.kind == "peak" else ""
    head = f"| {budget.work} | {budget.over} / {budget.under}{what} | {promise} |"
    workload = record["workloads"].get(budget.workload)
    if workload is None:
        return f"{head} | | **not measured**: {budget.needs or 'left out of this run'} | {budget.stretch} | {again} |"
    measured = ratio(workload["commands"], budget.over, budget.under, budget.kind)
    spread = f"{figure(measured.median)} ({figure(measured.least)}-{figure(measured.most)})"
    clock = ""
    if budget.kind == "cpu":
        clock = figure(ratio(workload["commands"], budget.over, budget.under, "wall").median)
    verdict = "yes" if met(budget, measured) else "**no**"
    return f"{head} {spread} | {clock} | {verdict} | {budget.stretch} | {again} |"


def reasons(record: Mapping[str, Any]) -> list[str]:
    """Return what there is to say of promises that are not kept."""
    lines = []
    for budget in BUDGETS:
        why = WHY.get((budget.workload, budget.over))
        workload = record["workloads"].get(budget.workload)
        if why and workload:
            measured = ratio(workload["commands"], budget.over, budget.under, budget.kind)
            if not met(budget, measured):
                lines.append(f"- *{budget.work}, {budget.over} / {budget.under}*: {why}")
    return [*lines, ""] if lines else []


def details(name: str, workload: Mapping[str, Any]) -> list[str]:
    """Return the figures of one workload, as they were measured."""
    rounds = len(next(iter(workload["commands"].values()))["cpu"])
    note = f"{workload['note']}. " if workload["note"] else ""
    lines = [
        f"### {workload['title']}",
        "",
        f"{note[:1].upper()}{note[1:]}{rounds} rounds: `python benchmarks/bench.py --only {name}`",
        "",
        "| command | CPU ms | wall ms | peak MiB |",
        "|---|---|---|---|",
    ]
    for command, runs in workload["commands"].items():
        cpu, wall = (1000 * statistics.median(runs[kind]) for kind in ("cpu", "wall"))
        lines.append(f"| {command} | {cpu:,.0f} | {wall:,.0f} | {max(runs['peak']):,.0f} |")
    return [*lines, ""]


def render(record: Mapping[str, Any]) -> str:
    """Return the page for a record: what was promised, what was measured, on which machine, and how to repeat it."""
    machine, versions = record["machine"], record["versions"]
    place = f"{machine['cpus']} x {machine['cpu']}, {machine['memory_gib']:g} GiB, {machine['system']}"
    beside = ", ".join(f"{name} {version}" for name, version in versions.items() if name != "cfgfix")
    lines = [
        "# Budgets",
        "",
        "What cfgfix promises about speed and memory, as ratios to other tools doing their work on the same files, and what was",
        "measured. `make bench` measures all of it again and writes this page.",
        "",
        f"Measured on {record['date']}: {place}; Python {machine['python']}, cfgfix {versions['cfgfix']}.",
        "",
        f"Beside: {beside}.",
        "",
        "Whole processes, one after the other in turn, round by round; the ratio is taken in each round, and the table gives the",
        "median (least-greatest). CPU time, of children too, is what is held against the budget: a machine with other work on it",
        "stretches the clock, not the work. The clock's ratio stands beside it. Where cfgfix is to be so many times as fast, the",
        "other tool is above the line. `make bench BENCH='--only NAME'` repeats the row of a name and writes nothing.",
        "",
        "| work | ratio | budget | measured | by the clock | kept | we want | name |",
        "|---|---|---|---|---|---|---|---|",
        *(row(budget, record) for budget in BUDGETS),
        "",
        *reasons(record),
        "Memory is to grow with what is found and with what a file means, not with its text: the same work with much more text in it",
        "may take a tenth more. A peak below 20 MiB is not told apart from that of the process that started the command.",
        "",
        "## The measurements",
        "",
    ]
    for name, workload in record["workloads"].items():
        lines.extend(details(name, workload))
    return "\n".join(lines).rstrip() + "\n"
