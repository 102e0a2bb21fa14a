"""The second half of tools/corpus.py: projects whose code is at hand, checked as a whole.

A folder holds checkouts named `owner+name`, as the corpus names its projects. Each is checked where it lies, with the
settings that `cfgfix init` proposes for it and all of its code: the config class where there is one, the rules about
config and code, and those about code. Nothing is written to a checkout; the settings are kept in memory and the cache in
a temporary folder.
"""

from __future__ import annotations

import collections
import contextlib
import csv
import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from cfgfix.settings.reader import Settings

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "benchmarks" / "corpus"
FOUND = DATA / "with_code.tsv"
CASES, KEY = DATA / "with_code.jsonl", DATA / "with_code_key.jsonl"
READINGS = {
    "first": (DATA / "with_code_first.jsonl", DATA / "with_code_first_key.jsonl"),
    "fresh": (DATA / "with_code_fresh.jsonl", DATA / "with_code_fresh_key.jsonl"),
    "last": (DATA / "with_code_last.jsonl", DATA / "with_code_last_key.jsonl"),
    "older": (DATA / "with_code_older.jsonl", DATA / "with_code_older_key.jsonl"),
    "later": (DATA / "with_code_later.jsonl", DATA / "with_code_later_key.jsonl"),
    "stranger": (DATA / "with_code_stranger.jsonl", DATA / "with_code_stranger_key.jsonl"),
}
"""Records of readings, each of other checkouts and made before anything was mended on it; `stranger` is of them all, by people who
built nothing."""
SHEET = DATA / "with_code_sheet.jsonl"
"""The cases with the code around them, for the reader; other projects' code is not kept, so git ignores it."""
CHECKED = DATA / "with_code.txt"
"""What was checked of each project, and by which settings."""
COLUMNS = ("project", "commit", "file", "rule", "line", "severity")
WARNINGS, SEED, AROUND = 1000, 1, 12
"""Most warnings that a reader is given, the seed of the draw, and the lines around a finding that are shown."""


class Project(NamedTuple):
    """A checkout and what was found in it."""

    path: Path
    commit: str
    settings: Settings
    findings: list[dict[str, Any]]
    """As in the JSON report; paths are those in the checkout."""
    configs: int
    """Files that are training configs."""
    sources: int
    """Python files."""


def sampling() -> ModuleType:
    """Return benchmarks/precision/sample.py, whose sheets are used."""
    name = "precision_sample"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / "precision" / "sample.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def checkouts(folder: Path) -> list[Path]:
    """Return the checkouts in a folder, by name."""
    return sorted(path.resolve() for path in folder.iterdir() if path.is_dir() and "+" in path.name)


def proposed(checkout: Path) -> Settings:
    """Return the settings that `cfgfix init` proposes for a checkout, with all of its code and no machine.

    The checkout must be the working folder.
    """
    from cfgfix.cli import project_setup
    from cfgfix.core.records import replace
    from cfgfix.settings.reader import Settings, read

    found: Settings | None = None
    plan = project_setup.plan(hook=False, editor=False)
    for planned in plan.files:
        if planned.path.endswith(".toml"):
            with tempfile.TemporaryDirectory() as folder:
                place = os.path.join(folder, os.path.basename(planned.path))
                Path(place).write_text(planned.after, encoding="utf-8")
                found = read(place)
    found = found or Settings()
    return replace(
        found,
        schema=found.schema or plan.config_class,
        root=str(checkout),
        origin=None,
        hardware="none",
        tensorflow="requirements",
        preview=True,
        source_roots=found.source_roots or (".",),
    )


@contextlib.contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def run(folder: Path) -> list[Project]:
    """Check every checkout of a folder, its configs and its code, with all rules."""
    from cfgfix.lint.runner import Request, check
    from cfgfix.output.json import finding_data

    projects = []
    before = os.environ.get("CFGFIX_CACHE_DIR")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["CFGFIX_CACHE_DIR"] = cache
        try:
            for checkout in checkouts(folder):
                with _working_in(checkout):
                    settings = proposed(checkout)
                    report = check(Request(paths=(".",), settings=settings))
                    findings = [finding_data(finding) for finding in report.findings()]
                for item in findings:
                    for place in (item["location"], *item["related"], *item["flow"]):
                        place["path"] = os.path.normpath(place["path"]).replace(os.sep, "/")
                projects.append(
                    Project(
                        checkout,
                        sampling().commit_of(checkout),
                        settings,
                        findings,
                        sum(file.dialect is not None for file in report.files),
                        report.sources,
                    )
                )
        finally:
            if before is None:
                del os.environ["CFGFIX_CACHE_DIR"]
            else:
                os.environ["CFGFIX_CACHE_DIR"] = before
    return projects


def rows(projects: Sequence[Project]) -> list[tuple[str, ...]]:
    """Return the snapshot: a row for every finding."""
    return sorted(
        (
            project.path.name,
            project.commit,
            item["location"]["path"],
            item["rule"],
            str(item["location"]["line"]),
            item["severity"],
        )
        for project in projects
        for item in project.findings
    )


def stored() -> list[tuple[str, ...]]:
    """Return the snapshot that is kept."""
    if not FOUND.is_file():
        return []
    with open(FOUND, encoding="utf-8", newline="") as stream:
        return [tuple(row) for row in csv.reader(stream, delimiter="\t")][1:]


def differences(projects: Sequence[Project]) -> list[str]:
    """Return what changed for the checkouts at hand; one at another commit than the kept one is told, not compared."""
    kept = stored()
    commits = {row[0]: row[1] for row in kept}
    lines = [
        f"{project.path.name} is at {project.commit}, the snapshot at {commits[project.path.name]}"
        for project in projects
        if commits.get(project.path.name, project.commit) != project.commit
    ]
    here = {(project.path.name, project.commit) for project in projects}
    before = collections.Counter(row for row in kept if row[:2] in here)
    after = collections.Counter(row for row in rows(projects) if commits.get(row[0], row[1]) == row[1])
    lines += ["- " + "\t".join(row) for row in sorted((before - after).elements())]
    lines += ["+ " + "\t".join(row) for row in sorted((after - before).elements())]
    return lines


def update(projects: Sequence[Project]) -> str:
    """Write the snapshot, its table, the sheet for the reader, its record and its key; return in words what was found."""
    sample = sampling()
    with open(FOUND, "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, delimiter="\t", lineterminator="\n").writerows([COLUMNS, *rows(projects)])
    CHECKED.write_text("\n".join(table(projects)) + "\n", encoding="utf-8")
    pairs = [
        (sample.case_of(project.path, project.commit, item, AROUND), item)
        for project in projects
        for item in project.findings
        if item["severity"] != "info"
    ]
    known = sample.verdicts(CASES, *(cases for cases, _ in READINGS.values()))
    return str(sample.written(pairs, known, WARNINGS, SEED, SHEET, CASES, KEY))


def table(projects: Sequence[Project]) -> list[str]:
    """Return what was checked of each project and found in it."""
    lines = [
        f"{'project':38}{'commit':>9}{'configs':>9}{'python':>8}{'errors':>8}{'warnings':>10}{'infos':>7}  settings"
    ]
    for project in projects:
        counts = collections.Counter(item["severity"] for item in project.findings)
        told = [f"schema {project.settings.schema}"] if project.settings.schema else []
        told.append(f"source-roots {' '.join(project.settings.source_roots)}")
        lines.append(
            f"{project.path.name:38}{project.commit[:7]:>9}{project.configs:>9}{project.sources:>8}"
            f"{counts['error']:>8}{counts['warning']:>10}{counts['info']:>7}  {'; '.join(told)}"
        )
    return lines


def precision(reading: str | None = None) -> None:
    """Print how many findings of each rule and severity the reader accepts: of the newest sheet, or of a named reading."""
    sampling().report(*(READINGS[reading] if reading is not None else (CASES, KEY)))
