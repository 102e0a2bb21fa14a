"""How many known faults of code does cfgfix tell as an error or a warning at their place?

`recall/places.tsv` names programs with a fault, the kind of fault and the places where a finding about it may stand. A
program is found where each of its faults has a finding, and partly found where some have. Prints a table by kind.

    python benchmarks/recall.py [FOLDER] [--missed] [--all]

FOLDER holds the programs, by the paths of the table (default: `shared` beside the checkout). `--missed` lists the
programs that are not found, `--all` every finding of each program.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PLACES = Path(__file__).resolve().parent / "recall" / "places.tsv"
TOLD = ("error", "warning")
COLUMNS = ("programs", "found", "partly", "missed")

Fault = list[tuple[str, int | None]]
"""Where one fault may be told: files with a line each, None for any line."""


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


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--missed", action="store_true", help="list the programs that are not found")
    parser.add_argument("--all", action="store_true", help="list every finding of each program")
    options = parser.parse_args()
    counts: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "CFGFIX_CACHE_DIR": cache}
        for line in PLACES.read_text(encoding="utf-8").splitlines():
            if line.startswith("#"):
                continue
            name, kind, places = line.split("\t")
            if not (options.folder / name).is_dir():
                sys.exit(f"{options.folder / name} is missing: name the folder that holds the programs")
            found = findings_of(options.folder / name, environment)
            faults = faults_of(places)
            told = sum(
                any(
                    path == where and number in (None, at) for path, number in fault for where, at, _ in found
                )
                for fault in faults
            )
            result = "found" if told == len(faults) else "partly" if told else "missed"
            counts.setdefault(kind, Counter()).update((result, "programs"))
            if options.all or (options.missed and result != "found"):
                print(f"{result}: {name} ({kind}; {told} of {len(faults)} faults)")
            if options.all:
                for where, at, finding in found:
                    print(f"    {where}:{at} {finding['severity']} {finding['rule']} {finding['message']}")
    total: Counter[str] = sum(counts.values(), Counter())
    width = max(map(len, counts))
    print(f"{'kind':{width}}  " + "  ".join(COLUMNS))
    for kind, count in (*sorted(counts.items()), ("all", total)):
        print(f"{kind:{width}}  " + "  ".join(f"{count[column]:>{len(column)}}" for column in COLUMNS))


if __name__ == "__main__":
    main()
