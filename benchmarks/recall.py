"""How many known faults of code does cfgfix tell as an error or a warning at their place?

`recall/places.tsv` names programs with a fault, the kind of fault and the places where a finding about it may stand. A
program is found where each of its faults has a finding, and partly found where some have. Prints a table by kind.
`recall/repairs.tsv` names commits of public repositories that repaired a fault. One is found where the state before has
a finding at the fault, and silent where the state after has none at the lines that stand there since.

    python benchmarks/recall.py [FOLDER] [--missed] [--all]
    python benchmarks/recall.py --repairs CHECKOUTS [--half build|unseen|later] [--missed] [--all]

FOLDER holds the programs, by the paths of the table (default: `shared` beside the checkout). CHECKOUTS holds the
repositories, as `owner+name` or `owner/name`, bare or not. `--missed` lists what is not found, `--all` every finding of
each program or at each place.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PLACES = Path(__file__).resolve().parent / "recall" / "places.tsv"
REPAIRS = Path(__file__).resolve().parent / "recall" / "repairs.tsv"
LATER_REPAIRS = Path(__file__).resolve().parent / "recall" / "later_repairs.tsv"
TOLD = ("error", "warning")
READ = (".py", ".yaml", ".yml", ".toml", ".cfg", ".ini", ".txt", ".json", ".lock")
"""The endings of the files of a repository that a check may read; the others are left where they are."""
MOST_BYTES = 1_000_000

Fault = list[tuple[str, int | None]]
"""Where one fault may be told: files with a line each, None for any line."""


class Repair(NamedTuple):
    """A commit that repaired a fault: the states around it, and where the fault stood before."""

    repository: str
    before: str
    after: str
    file: str
    lines: tuple[int, ...]
    kind: str
    why: str


def faults_of(text: str) -> list[Fault]:
    """Return the faults of a column of places: `a.py:3,5 b.yaml` are two, the first at either of two lines."""
    faults = []
    for part in text.split():
        fault: Fault = []
        path = ""
        for place in part.split(","):
            if place.isdigit():
                fault.append((path, int(place)))
                continue
            path, _, line = place.partition(":")
            fault.append((path, int(line) if line else None))
        faults.append(fault)
    return faults


def rows_of(table: Path) -> Iterator[list[str]]:
    """Yield the rows of a table, without its heading."""
    for line in table.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            yield line.split("\t")


def findings_of(folder: Path, environment: dict[str, str]) -> list[tuple[str, int, dict[str, Any]]]:
    """Check a program; return file, line and report of each finding that counts."""
    command = [sys.executable, "-m", "cfgfix", "check", ".", "--output-format", "json"]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    try:
        files = json.loads(done.stdout)["files"]
    except ValueError:
        sys.exit(f"{folder}: {done.stderr.strip()[-400:]}")
    return [
        (file["path"].removeprefix("./"), finding["location"]["line"], finding)
        for file in files
        for finding in file["findings"]
        if finding["severity"] in TOLD
    ]


def repairs_of(half: str | None) -> list[Repair]:
    """Return the repairs of a table; odd rows are the half to build with, even ones the unseen half.

    `later` are those of the second table, which were found when both halves had been looked at.
    """
    rows = [
        Repair(*row[:4], tuple(map(int, row[4].split(","))), *row[5:])  # type: ignore[call-arg]
        for row in rows_of(LATER_REPAIRS if half == "later" else REPAIRS)
    ]
    if half == "later":
        return rows
    return {None: rows, "build": rows[::2], "unseen": rows[1::2]}[half]


def git_folder(checkouts: Path, repository: str) -> Path:
    """Return the git directory of a repository in a folder of checkouts."""
    for name in (repository, repository.replace("/", "+")):
        for inner in ("repo/.git", "repo", ".git", "."):
            if (checkouts / name / inner / "HEAD").is_file():
                return checkouts / name / inner
    sys.exit(f"{checkouts} has no checkout of {repository}")


def export(git: Path, commit: str, folder: Path) -> None:
    """Write the files of a commit that a check may read, as far as the checkout holds them."""
    command = ["git", f"--git-dir={git}"]
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1"}
    listing = subprocess.run(
        [*command, "ls-tree", "-r", "-z", commit], capture_output=True, check=True, env=environment
    ).stdout.decode(errors="replace")
    files = []
    for entry in filter(None, listing.split("\0")):
        about, _, path = entry.partition("\t")
        mode, _, blob = about.split(" ")
        if mode in ("100644", "100755") and path.endswith(READ) and ".." not in path.split("/"):
            files.append((blob, path))
    batch = subprocess.run(
        [*command, "cat-file", "--batch"],
        input="".join(f"{blob}\n" for blob, _ in files).encode(),
        capture_output=True,
        check=True,
        env=environment,
    ).stdout
    offset = 0
    for _, path in files:
        heading, _, _ = batch[offset : offset + 200].partition(b"\n")
        offset += len(heading) + 1
        if heading.endswith(b" missing"):
            continue
        size = int(heading.rsplit(b" ", 1)[1])
        if size <= MOST_BYTES:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(batch[offset : offset + size])
        offset += size + 1


def statements_at(file: Path, lines: Iterable[int]) -> set[int]:
    """Return the lines of the statements that some lines belong to: of one with a body, those of its head."""
    wanted = set(lines)
    try:
        tree = ast.parse(file.read_text(encoding="utf-8", errors="replace"))
    except (SyntaxError, ValueError):
        return wanted
    found = set(wanted)
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno or node.lineno
            span = range(node.lineno, max(last, node.lineno) + 1)
            if not wanted.isdisjoint(span):
                found.update(span)
    return found


def lines_since(before: Path, after: Path, lines: Iterable[int]) -> set[int]:
    """Return the lines that stand in a file where some of another state of it stood."""
    if not after.is_file():
        return set()
    old, new = (path.read_text(encoding="utf-8", errors="replace").splitlines() for path in (before, after))
    since = set()
    for tag, first, last, there, until in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        for line in lines:
            if first < line <= last and tag == "equal":
                since.add(there + line - first)
            elif first < line <= last:
                since.update(range(there + 1, until + 1))
    return since


def told_at(
    findings: list[tuple[str, int, dict[str, Any]]], file: str, lines: Iterable[int]
) -> list[tuple[int, dict[str, Any]]]:
    """Return the findings at some lines of a file."""
    wanted = set(lines)
    return [(at, finding) for where, at, finding in findings if where == file and at in wanted]


def judge(repair: Repair, checkouts: Path, environment: dict[str, str]) -> tuple[list[Any], list[Any]]:
    """Check both states of a repair; return what is told at its place before and after."""
    git = git_folder(checkouts, repair.repository)
    with tempfile.TemporaryDirectory() as scratch:
        states = [Path(scratch, name) for name in ("before", "after")]
        found = []
        for folder, commit in zip(states, (repair.before, repair.after), strict=True):
            folder.mkdir()
            export(git, commit, folder)
            found.append(findings_of(folder, environment))
        lines = statements_at(states[0] / repair.file, repair.lines)
        since = lines_since(*(folder / repair.file for folder in states), lines)
    return told_at(found[0], repair.file, lines), told_at(found[1], repair.file, since)


def count_repairs(options: argparse.Namespace, environment: dict[str, str]) -> dict[str, Counter[str]]:
    """Count the repairs whose fault is told before, and those where nothing is told after."""
    counts: dict[str, Counter[str]] = {}
    for repair in repairs_of(options.half):
        before, after = judge(repair, options.repairs, environment)
        results = ["repairs"] + ["found"] * bool(before) + ["silent after"] * (not after)
        counts.setdefault(repair.kind, Counter()).update(results)
        if options.all or (options.missed and not (before and not after)):
            name = f"{repair.repository} {repair.after} {repair.file}:{','.join(map(str, repair.lines))}"
            print(f"{' '.join(results[1:]) or 'missed'}: {name} ({repair.kind}: {repair.why})", flush=True)
        if options.all:
            for state, told in (("before", before), ("after", after)):
                for at, finding in told:
                    print(f"    {state} {at} {finding['severity']} {finding['rule']} {finding['message']}")
    return counts


def count_programs(options: argparse.Namespace, environment: dict[str, str]) -> dict[str, Counter[str]]:
    """Count the programs of which each fault, some or none is told."""
    counts: dict[str, Counter[str]] = {}
    for name, kind, places in rows_of(PLACES):
        if not (options.folder / name).is_dir():
            sys.exit(f"{options.folder / name} is missing: name the folder that holds the programs")
        found = findings_of(options.folder / name, environment)
        faults = faults_of(places)
        told = sum(
            any(path == where and number in (None, at) for path, number in fault for where, at, _ in found)
            for fault in faults
        )
        result = "found" if told == len(faults) else "partly" if told else "missed"
        counts.setdefault(kind, Counter()).update((result, "programs"))
        if options.all or (options.missed and result != "found"):
            print(f"{result}: {name} ({kind}; {told} of {len(faults)} faults)")
        if options.all:
            for where, at, finding in found:
                print(f"    {where}:{at} {finding['severity']} {finding['rule']} {finding['message']}")
    return counts


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT.parent / "shared")
    parser.add_argument(
        "--repairs", type=Path, metavar="CHECKOUTS", help="count the repairs of public repositories"
    )
    parser.add_argument("--half", choices=("build", "unseen", "later"), help="of the repairs")
    parser.add_argument("--missed", action="store_true", help="list what is not found")
    parser.add_argument(
        "--all", action="store_true", help="list every finding of each program or at each place"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "CFGFIX_CACHE_DIR": cache}
        if options.repairs is not None:
            columns: tuple[str, ...] = ("repairs", "found", "silent after")
            counts = count_repairs(options, environment)
        else:
            columns = ("programs", "found", "partly", "missed")
            counts = count_programs(options, environment)
    total: Counter[str] = sum(counts.values(), Counter())
    width = max(map(len, counts))
    print(f"{'kind':{width}}  " + "  ".join(columns))
    for kind, count in (*sorted(counts.items()), ("all", total)):
        print(f"{kind:{width}}  " + "  ".join(f"{count[column]:>{len(column)}}" for column in columns))


if __name__ == "__main__":
    main()
