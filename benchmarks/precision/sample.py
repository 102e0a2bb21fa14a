"""Draw findings about code for a second reader, who gives verdicts without knowing the rules.

    python benchmarks/precision/sample.py PROJECT [PROJECT ...] [--warnings 200] [--seed 1] [--around 12]

Every active error and a seeded sample of the active warnings go to `cases.jsonl` beside this file, one JSON object a line:

    id        a number that says nothing
    project   the project's name
    commit    the commit it was read at
    file      the path in the project
    line      the 1-based line of the finding
    message   what the user is told
    severity  error or warning
    related   other places with their words, as `path:line: label`
    code      the lines around it, with their numbers
    verdict   empty: `agree`, `disagree` or `unsure`, by the reader
    reason    empty: one sentence

No rule id, name, reason or documentation is in it: they stand in `key.jsonl` (id, rule, confidence, fingerprint), which
the reader does not open. A verdict that is there already is kept where project, file, line and message are the same.
`python benchmarks/precision/sample.py --report` joins both files and prints the precision of each rule.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CASES, KEY = HERE / "cases.jsonl", HERE / "key.jsonl"
ROOT = HERE.parents[1]


def findings(project: Path) -> list[dict[str, Any]]:
    """Return the active errors and warnings about code in a project."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [
        sys.executable,
        "-m",
        "cfgfix",
        "check",
        "--isolated",
        "--exit-zero",
        "--output-format",
        "json",
        ".",
    ]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    every = found.get("findings") or [item for file in found["files"] for item in file["findings"]]
    return [
        item
        for item in every
        if item["rule"][:3] in ("TFD", "TFF", "DEP", "GPU", "CLU")
        and item["state"] == "active"
        and item["severity"] in ("error", "warning")
        and item["location"]["path"].endswith((".py", ".ipynb"))
    ]


def commit_of(project: Path) -> str:
    done = subprocess.run(
        ["git", "-C", str(project), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def text_of(path: Path) -> list[str]:
    """Return the lines that a finding's number counts; a notebook's code cells joined."""
    sys.path.insert(0, str(ROOT))
    from cfgfix.sourcing import read_python

    return read_python(str(path)).text.splitlines()


def case_of(project: Path, commit: str, item: dict[str, Any], around: int) -> dict[str, Any]:
    place = item["location"]
    lines = text_of(project / place["path"])
    first, last = max(1, place["line"] - around), min(len(lines), place["end_line"] + around)
    return {
        "project": project.name,
        "commit": commit,
        "file": place["path"],
        "line": place["line"],
        "message": item["message"],
        "severity": item["severity"],
        "related": [
            f"{other['path']}:{other['line']}: {other['label']}"
            for other in (*item["flow"], *item["related"])
        ],
        "code": "\n".join(f"{number:5d}  {lines[number - 1]}" for number in range(first, last + 1)),
        "verdict": "",
        "reason": "",
    }


def identity(case: dict[str, Any]) -> tuple[Any, ...]:
    return case["project"], case["file"], case["line"], case["message"]


def draw(projects: list[Path], warnings: int, seed: int, around: int) -> None:
    known: dict[tuple[Any, ...], tuple[str, str]] = {}
    if CASES.exists():
        for line in CASES.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            known[identity(case)] = (case["verdict"], case["reason"])
    errors: list[tuple[dict[str, Any], dict[str, Any]]] = []
    others: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for project in projects:
        commit = commit_of(project)
        for item in findings(project):
            pair = (case_of(project, commit, item, around), item)
            (errors if item["severity"] == "error" else others).append(pair)
    chance = random.Random(seed)  # noqa: S311 - a sample that can be drawn again
    chosen = errors + (chance.sample(others, warnings) if len(others) > warnings else others)
    chance.shuffle(chosen)
    cases, keys = [], []
    for number, (case, item) in enumerate(chosen, 1):
        case["verdict"], case["reason"] = known.get(identity(case), ("", ""))
        cases.append(json.dumps({"id": number, **case}, ensure_ascii=False))
        keys.append(json.dumps({"id": number, "rule": item["rule"], "confidence": item["confidence"]}))
    CASES.write_text("\n".join(cases) + "\n", encoding="utf-8")
    KEY.write_text("\n".join(keys) + "\n", encoding="utf-8")
    print(f"{len(errors)} errors, {len(chosen) - len(errors)} of {len(others)} warnings")


def report() -> None:
    keys = {item["id"]: item for item in map(json.loads, KEY.read_text(encoding="utf-8").splitlines())}
    counts: dict[str, collections.Counter[str]] = {}
    for case in map(json.loads, CASES.read_text(encoding="utf-8").splitlines()):
        for name in (keys[case["id"]]["rule"], case["severity"], "all"):
            counts.setdefault(name, collections.Counter())[case["verdict"] or "open"] += 1
    for name, found in sorted(counts.items()):
        judged = found["agree"] + found["disagree"]
        share = f"{100 * found['agree'] / judged:5.1f} %" if judged else "    -"
        print(f"{name:10s} {share}  {dict(found)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("projects", nargs="*", type=Path)
    parser.add_argument("--warnings", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--around", type=int, default=12)
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if options.report:
        report()
    else:
        draw([path.resolve() for path in options.projects], options.warnings, options.seed, options.around)


if __name__ == "__main__":
    main()
