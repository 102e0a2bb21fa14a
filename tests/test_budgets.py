"""The table of budgets says what a record of measurements holds: all of it, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scripts import load_script

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def budgets():
    return load_script("benchmarks/budgets.py")


def runs(cpu, peak=30.0):
    return {"cpu": cpu, "wall": [2 * value for value in cpu], "peak": [peak] * len(cpu)}


@pytest.fixture
def record():
    return {
        "date": "2026-01-02",
        "machine": {"cpu": "A CPU", "cpus": 4, "memory_gib": 8, "system": "Linux 6.1", "python": "3.12.1"},
        "versions": {"cfgfix": "9.9.9", "yamllint": "1.2.3", "ruff": "4.5.6"},
        "workloads": {
            "one": {
                "title": "One file",
                "note": "an example",
                "commands": {
                    "cfgfix check": runs([0.06, 0.07, 0.08]),
                    "cfgfix check, unchanged": runs([0.02, 0.02, 0.02]),
                    "yamllint": runs([0.1, 0.1, 0.1]),
                    "check-jsonschema": runs([0.2, 0.2, 0.2]),
                },
            },
            "many": {
                "title": "Many files",
                "note": "no corpus at hand: 300 copies of the example config",
                "commands": {
                    "cfgfix check": runs([1.0, 1.0]),
                    "yamllint": runs([12.0, 14.0]),
                    "check-jsonschema": runs([9.0, 9.0]),
                },
            },
            "memory": {
                "title": "Memory",
                "note": "",
                "commands": {
                    "cfgfix check": runs([1.0], 50.0),
                    "cfgfix check, more text": runs([3.0], 54.0),
                },
            },
        },
    }


def rows(page):
    """The budgets table, as lists of cells."""
    table = page.partition("| work | ")[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def of(page, work, ratio):
    (found,) = [row for row in rows(page) if row[0] == work and row[1].startswith(ratio)]
    return found


def test_a_ratio_is_taken_round_by_round(budgets):
    commands = {"a": runs([1.0, 4.0, 9.0]), "b": runs([1.0, 2.0, 3.0])}
    assert budgets.ratio(commands, "a", "b", "cpu") == budgets.Measured(1.0, 2.0, 3.0)


def test_every_budget_has_its_row(budgets, record):
    page = budgets.render(record)
    assert len(rows(page)) == len(budgets.BUDGETS)
    empty = budgets.render({**record, "workloads": {}})
    assert len(rows(empty)) == len(budgets.BUDGETS)
    assert all("not measured" in row[5] for row in rows(empty))


def test_at_most(budgets, record):
    row = of(budgets.render(record), "one config of 100 lines", "cfgfix check / yamllint")
    assert row[2:6] == ["at most 0.8", "0.700 (0.600-0.800)", "0.700", "yes"]
    row = of(budgets.render(record), "one config of 100 lines", "cfgfix check / check-jsonschema")
    assert row[3:6] == ["0.350 (0.300-0.400)", "0.350", "**no**"]


def test_at_least(budgets, record):
    row = of(budgets.render(record), "300 configs in one call", "yamllint / cfgfix check")
    assert row[2:6] == ["at least 10", "13.0 (12.0-14.0)", "13.0", "yes"]
    row = of(budgets.render(record), "300 configs in one call", "check-jsonschema / cfgfix check")
    assert row[3:6] == ["9.00 (9.00-9.00)", "9.00", "**no**"]


def test_memory_is_no_matter_of_the_clock(budgets, record):
    row = of(budgets.render(record), "memory for configs with more text", "cfgfix check, more text")
    assert row[2:6] == ["at most 1.1", "1.08 (1.08-1.08)", "", "yes"]


def test_what_is_missing_says_what_it_needs(budgets, record):
    row = of(budgets.render(record), "Python project, cold", "Fixit")
    assert "CFGFIX_REFERENCE" in row[5]
    assert row[3] == ""
    assert row[7] == "`fixers`"


def test_the_page_tells_the_machine_the_versions_and_the_notes(budgets, record):
    page = budgets.render(record)
    for text in ("4 x A CPU, 8 GiB, Linux 6.1", "Python 3.12.1", "cfgfix 9.9.9", "yamllint 1.2.3", "2026-01-02"):  # fmt: skip
        assert text in page
    assert "No corpus at hand: 300 copies" in page
    assert "| yamllint | 100 | 200 | 30 |" in page


def test_a_promise_that_is_not_kept_has_its_reason(budgets, record):
    for seconds, told in ((1.0, False), (9.0, True)):
        commands = {"cfgfix fix": runs([seconds]), "cfgfix check": runs([1.0])}
        work = {"title": "A fix", "note": "", "commands": commands}
        page = budgets.render({**record, "workloads": {"fix": work}})
        assert (budgets.WHY["fix", "cfgfix fix"] in page) is told


def test_every_workload_of_a_budget_is_one_that_is_made(budgets):
    made = {
        name
        for file in ("check.py", "scan.py")
        for line in (ROOT / "benchmarks" / file).read_text(encoding="utf-8").splitlines()
        if line.startswith("NAMES = ")
        for name in json.loads(f"[{line.partition('(')[2].rstrip(')')}]")
    }
    assert {budget.workload for budget in budgets.BUDGETS} <= made


def test_the_page_is_that_of_the_record(budgets):
    record = json.loads((ROOT / "benchmarks" / "results" / "budgets.json").read_text(encoding="utf-8"))
    assert (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8") == budgets.render(record)
