"""Hold what is told of public projects against what readers wrote of them: `python benchmarks/public.py CHECKOUTS [TRUTH]`.

CHECKOUTS holds a folder for each project of `TRUTH/projects.tsv`, by its name, at the commit that stands there; TRUTH is `public`,
or `unseen` for the projects that nothing was mended for before their first run. Recall and precision stand side by side; a finding
counts for a defect of the same file with the same key or on the same line, for those inside a section that it is told of, and for the same
in each other config that it names. Defects of configs and defects of code are counted apart: a finding in a Python file or notebook counts
for a defect of the same file with the same key, or at most a few lines away.
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
NEAR = 3
"""Most lines between a finding in code and the defect that it counts for: one statement may stand on several."""


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


def tells_of_code(path: str, finding: dict[str, Any], row: list[str]) -> bool:
    """Tell whether a finding in code tells of a defect of code: by key, or by a line that is near."""
    if path != row[0]:
        return False
    key = finding.get("key") or ""
    named = row[2] not in ("", "-") and last(key) == last(row[2])
    return named or (row[1].isdigit() and abs(finding["location"]["line"] - int(row[1])) <= NEAR)


def told_in(reports: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Return the errors and warnings of some files, each with its file."""
    return [
        (item["path"].removeprefix("./"), finding)
        for item in reports
        for finding in item["findings"]
        if finding["severity"] in TOLD
    ]


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
        reports = checked(folder / name)
        code = [item for item in reports if item["path"].endswith(CODE)]
        configs = [item for item in reports if not item["path"].endswith(CODE)]
        known = {item["path"].removeprefix("./") for item in configs if not item.get("passed_over")}
        # A Python module of settings is a config of the programs that import it.
        known |= {item["path"].removeprefix("./") for item in code if item.get("imported_by")}
        for path, kind, *_ in rows_of(listed):
            count[f"{kind} files"] += 1
            count[f"{kind} files taken for configs"] += path in known
        any_defects = [row for row in rows_of(truth / f"{name}.tsv") if len(row) > 4]
        defects = [row for row in any_defects if row[4] in TOLD]
        of_code = [row for row in defects if row[0].endswith(CODE)]
        of_configs = [row for row in defects if not row[0].endswith(CODE)]
        found, found_in_code = told_in(configs), told_in(code)
        hit = [row for row in of_configs if any(tells_of(path, item, row) for path, item in found)]
        hit_in_code = [
            row for row in of_code if any(tells_of_code(path, item, row) for path, item in found_in_code)
        ]
        count["config defects"] += len(of_configs)
        count["config defects found"] += len(hit)
        count["code defects"] += len(of_code)
        count["code defects found"] += len(hit_in_code)
        for path, item in found:
            count[f"config {item['severity']}s shown"] += 1
            if not any(tells_of(path, item, row) for row in any_defects):
                count[f"config {item['severity']}s not in the truth"] += 1
                print(f"  {name}: {path}:{item['location']['line']} {item['rule']} {item['message']}")
        for path, item in found_in_code:
            count[f"code {item['severity']}s shown"] += 1
            count[f"code {item['severity']}s not in the truth"] += not any(
                tells_of_code(path, item, row) for row in any_defects
            )
        print(
            f"{name}: {len(hit)} of {len(of_configs)} defects of configs, {len(found)} findings; "
            f"{len(hit_in_code)} of {len(of_code)} defects of code, {len(found_in_code)} findings"
        )
    for what, number in sorted(count.items()):
        print(f"{what}: {number}")


if __name__ == "__main__":
    main()
