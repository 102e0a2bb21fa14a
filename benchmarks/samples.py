"""Count what is told of small projects and programs that were written for no rule: `python benchmarks/samples.py [NAME...]`.

`samples/first` to `samples/ninth` are projects of a config and its code, with the truth in `expected.tsv`, each row tried with TensorFlow or
shown by reading; `samples/code`, `samples/reports`, `samples/programs`,
`samples/kinds`, `samples/plain`, `samples/street` and `samples/clauses` are pairs of a program with one fault and the same without it. Their
writers knew no rule (that of `clauses` their names) and did not run cfgfix. The first run of each is in SAMPLES.md; what was mended since was
mended by what it showed, so the counts of today prove no more than that nothing is lost. No settings.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cfgfix.cli.start import run
from cfgfix.code.scan import check_function, source_rules
from cfgfix.rules.catalogue import builtin

HERE = Path(__file__).resolve().parent / "samples"
PROJECTS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
PAIRS = ("reports", "programs", "kinds", "plain", "street", "clauses", "lane")
"""Samples of programs that stand beside the same program without its fault."""
NEAR = 2
"""Lines by which a place in the code may be off: a call of several lines."""


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table without quotes."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


def _told_in(folder: Path) -> str:
    """Return what a check of a folder prints as JSON: in a child that has read the rules and the checks already."""
    output = folder.with_name("told.json")
    child = os.fork()
    if child == 0:
        try:
            os.chdir(folder)
            os.environ["CFGFIX_CACHE_DIR"] = str(folder.with_name("cache"))
            with output.open("w", encoding="utf-8") as sys.stdout:
                run(["check", ".", "--output-format", "json"])
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return output.read_text(encoding="utf-8")


def findings_in(source: Path) -> list[tuple[str, dict[str, Any]]]:
    """Return the findings of a copy of a project or program, each with the path of its file."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        if source.is_dir():
            shutil.copytree(source, copy)
        else:
            copy.mkdir()
            shutil.copy(source, copy)
        told = _told_in(copy)
    files = json.loads(told)["files"]
    return [(file["path"].removeprefix("./"), finding) for file in files for finding in file["findings"]]


def places_of(path: str, finding: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the files and lines that a finding names, its own first."""
    yield path, finding["location"]["line"]
    for item in finding["related"]:
        yield item["path"].removeprefix("./"), item["line"]


def tells_of(path: str, finding: dict[str, Any], row: dict[str, str]) -> bool:
    """Tell whether a finding is about a row: by key, by line, or by the line of the code that the row names."""
    key = finding.get("key") or ""
    if path == row["config"] and key and (key == row["key"] or row["key"].startswith(f"{key}.")):
        return True
    file, _, line = row["code"].rpartition(":")
    for number, (other, at) in enumerate(places_of(path, finding)):
        if other == row["config"] and str(at) == row["line"]:
            return True
        mere_info = number == 0 and finding["severity"] == "info"
        if file and other == file and abs(at - int(line)) <= NEAR and not mere_info:
            return True
    return False


def count_projects(name: str) -> Counter[str]:
    """Return how many rows of a sample are found, and how many findings are about none."""
    count: Counter[str] = Counter()
    rows = rows_of(HERE / name / "expected.tsv")
    for project in sorted(path for path in (HERE / name).iterdir() if path.is_dir()):
        here = [row for row in rows if row["project"] == project.name and row["config"] != "-"]
        found = findings_in(project)
        for row in here:
            told = any(tells_of(path, item, row) for path, item in found)
            count["rows"] += 1
            count["rows found"] += told
            if not told:
                print(f"missed  {project.name}/{row['config']}:{row['line']} {row['key']} ({row['kind']})")
        for path, item in found:
            if item["severity"] != "info" and not any(tells_of(path, item, row) for row in here):
                count["findings about no row"] += 1
                print(
                    f"wrong   {project.name}/{path}:{item['location']['line']} {item['rule']} {item['message']}"
                )
    return count


def count_programs() -> Counter[str]:
    """Return how many faults of programs are found, and how many right programs are not silent."""
    count: Counter[str] = Counter()
    for row in rows_of(HERE / "code" / "expected.tsv"):
        program = HERE / "code" / f"{row['program']}.py"
        told = any(
            item["severity"] != "info"
            and any(abs(at - int(row["line"])) <= NEAR + 1 for _, at in places_of(path, item))
            for path, item in findings_in(program)
        )
        count["rows"] += 1
        count["rows found"] += told
        if not told:
            print(f"missed  {row['program']}:{row['line']} {row['says']}")
        for path, item in findings_in(program.with_name(f"{row['program']}_ok.py")):
            if item["severity"] != "info":
                count["findings about no row"] += 1
                print(f"wrong   {path}:{item['location']['line']} {item['rule']} {item['message']}")
    return count


def count_reports(name: str) -> Counter[str]:
    """Return how many faults of programs are found, and what is told of the repaired ones beside them."""
    count: Counter[str] = Counter()
    for row in rows_of(HERE / name / "truth.tsv"):
        faults = {
            (part.partition(":")[0], int(line))
            for part in row["places"].split()
            for line in part.partition(":")[2].split(",")
        }
        told = any(
            item["severity"] != "info"
            and any(
                (other, at + step) in faults for other, at in places_of(path, item) for step in (-1, 0, 1)
            )
            for path, item in findings_in(HERE / name / "bad" / row["id"])
        )
        count["rows"] += 1
        count["rows found"] += told
        if not told:
            print(f"missed  {row['id']} {row['places']} {row['says']}")
        for path, item in findings_in(HERE / name / "good" / row["id"]):
            if item["severity"] != "info":
                count["findings about no row"] += 1
                print(
                    f"told    {row['id']}/{path}:{item['location']['line']} {item['rule']} {item['message']}"
                )
    return count


def main() -> None:
    """Print what is missed and wrong, and the sums of each sample."""
    for rule in source_rules(builtin().rules):
        check_function(rule)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        shutil.copytree(next((HERE / PROJECTS[-1]).glob("01-*")), folder, dirs_exist_ok=True)
        run(["check", folder])
    for name in sys.argv[1:] or [*PROJECTS, "code", *PAIRS]:
        count = (
            count_programs()
            if name == "code"
            else count_reports(name)
            if name in PAIRS
            else count_projects(name)
        )
        print(
            f"{name}: {count['rows found']} of {count['rows']} found, {count['findings about no row']} wrong"
        )


if __name__ == "__main__":
    main()
