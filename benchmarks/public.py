"""Hold what is told of public projects against what readers wrote of them: `python benchmarks/public.py CHECKOUTS [TRUTH]`.

CHECKOUTS holds a folder for each project of `TRUTH/projects.tsv`, by its name, at the commit that stands there; TRUTH is `public`,
or `unseen` for the projects that nothing was mended for before their first run. Recall and precision stand side by side; a finding
counts for a defect of the same file with the same key or on the same line, for those inside a section that it is told of, and for the same
in each other config that it names.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CODE = (".py", ".ipynb")
TOLD = ("error", "warning")


def rows_of(path: Path) -> list[list[str]]:
    """Return the rows of a table without quotes."""
    with path.open(encoding="utf-8", newline="") as stream:
        return [row for row in csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE) if row]


def last(key: str) -> str:
    """Return the last step of a key path."""
    return key.rpartition(".")[2]


def places_of(path: str, finding: dict[str, Any]) -> set[tuple[str, str]]:
    """Return the files and lines of a finding: its own, and those of the configs that have the same."""
    same = [item for item in finding["related"] if item["label"] == "the same"]
    return {
        (path, str(finding["location"]["line"])),
        *((item["path"].removeprefix("./"), str(item["line"])) for item in same),
    }


def tells_of(path: str, finding: dict[str, Any], row: list[str]) -> bool:
    """Tell whether a finding tells of a defect: by key or line, or as one inside the section that it is told of."""
    key = finding.get("key") or ""
    places = places_of(path, finding)
    if row[0] not in {file for file, _ in places}:
        return False
    inside = bool(key) and row[2].startswith(f"{key}.")
    return last(key) == last(row[2]) or inside or (row[0], row[1]) in places


def checked(folder: Path) -> list[dict[str, Any]]:
    """Return the reports of a project's files."""
    command = [sys.executable, "-m", "cfgfix", "check", ".", "--output-format", "json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    files: list[dict[str, Any]] = json.loads(done.stdout)["files"]
    return files


def main() -> None:
    """Print a line for each project and the sums."""
    folder = Path(sys.argv[1])
    truth = HERE / (sys.argv[2] if len(sys.argv) > 2 else "public")
    count: Counter[str] = Counter()
    for listed in sorted(truth.glob("*.files")):
        name = listed.name.removesuffix(".files")
        if not (folder / name).is_dir():
            print(f"{name}: no checkout")
            continue
        reports = [item for item in checked(folder / name) if not item["path"].endswith(CODE)]
        known = {item["path"].removeprefix("./") for item in reports if not item.get("passed_over")}
        for path, kind, *_ in rows_of(listed):
            count[f"{kind} files"] += 1
            count[f"{kind} files taken for configs"] += path in known
        defects = [row for row in rows_of(truth / f"{name}.tsv") if len(row) > 4 and row[4] in TOLD]
        any_defects = [row for row in rows_of(truth / f"{name}.tsv") if len(row) > 4]
        found = [
            (item["path"].removeprefix("./"), finding)
            for item in reports
            for finding in item["findings"]
            if finding["severity"] in TOLD
        ]
        hit = [row for row in defects if any(tells_of(path, item, row) for path, item in found)]
        count["defects"] += len(defects)
        count["defects found"] += len(hit)
        for path, item in found:
            count[f"{item['severity']}s shown"] += 1
            if not any(tells_of(path, item, row) for row in any_defects):
                count[f"{item['severity']}s not in the truth"] += 1
                print(f"  {name}: {path}:{item['location']['line']} {item['rule']} {item['message']}")
        print(f"{name}: {len(hit)} of {len(defects)} defects, {len(found)} findings")
    for what, number in sorted(count.items()):
        print(f"{what}: {number}")


if __name__ == "__main__":
    main()
