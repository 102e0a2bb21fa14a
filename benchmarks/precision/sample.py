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
    code      the lines around it, with their numbers; only in `sheet.jsonl`, which is not kept
    verdict   empty: `agree`, `disagree` or `unsure`, by the reader
    reason    empty: one sentence

No rule id, name, reason or documentation is in it: they stand in `key.jsonl` (id, rule, confidence, fingerprint), which
the reader does not open. A verdict that is there already, in `cases.jsonl` or in the first reading (`cases-first.jsonl`), is
kept where project, file and line are the same and the message is alike; where its words or its severity have changed since,
`read_as` keeps what the reader saw.
`python benchmarks/precision/sample.py --report` joins both files and prints the precision of each rule; with `--reading
NAME` that of a kept reading.
"""

from __future__ import annotations

import argparse
import collections
import difflib
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CASES, KEY = HERE / "cases.jsonl", HERE / "key.jsonl"
SHEET = HERE / "sheet.jsonl"
"""The cases with the code around them, for the reader; other projects' code is not kept, so git ignores it."""
FIRST, FIRST_KEY = HERE / "cases-first.jsonl", HERE / "key-first.jsonl"
READINGS = (
    "first",
    "fresh",
    "wide",
    "wider",
    "last",
    "final",
    "late",
    "latest",
    "closing",
    "newest",
    "recent",
    "further",
    "more",
    "packages",
    "registry",
    "untouched",
    "unmet",
    "unseen",
    "unvisited",
    "unfamiliar",
    "unopened",
    "unmentioned",
    "undiscovered",
    "unexplored",
    "unturned",
    "unasked",
    "unheard",
    "unstudied",
    "unmarked",
    "unlisted",
    "unsorted",
    "unwatched",
    "untried",
    "unglimpsed",
    "unraised",
    "unmapped",
    "unvetted",
    "unpacked",
    "unclaimed",
    "unhurried",
    "unsought",
    "unloaded",
    "unsampled",
    "unported",
    "unbidden",
    "unbribed",
    "unlearned",
    "unheralded",
    "unswayed",
    "unprompted",
    "unsigned",
    "unstamped",
    "unpicked",
    "unspoiled",
    "unjudged",
    "unforeseen",
)
"""The readings of projects nobody had read, each kept as it was given: `cases-NAME.jsonl` with `key-NAME.jsonl`."""
ALIKE = 0.75
"""How much of two messages must agree (`difflib` ratio) for a verdict on one to be kept for the other."""
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
        # What is installed here says nothing of what a project means.
        "--tensorflow",
        "requirements",
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
    if path.suffix in (".yaml", ".yml"):
        from cfgfix.core.source_file import read_source

        return read_source(str(path)).text.splitlines()
    from cfgfix.lint.code_run import read_python

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


def place_of(case: dict[str, Any]) -> tuple[Any, ...]:
    return case["project"], case["file"], case["line"]


def verdicts(*paths: Path) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """Return the cases that were read, by place, from files of which the latest reading comes first."""
    known: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for path in paths:
        if path.exists():
            for case in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
                if case["verdict"]:
                    known.setdefault(place_of(case), []).append(case)
    return known


def carry_over(case: dict[str, Any], known: dict[tuple[Any, ...], list[dict[str, Any]]]) -> None:
    """Give a case the verdict on the message at its place that is most like its own."""

    def likeness(other: dict[str, Any]) -> float:
        seen = other.get("read_as", other)["message"]
        return difflib.SequenceMatcher(None, case["message"], seen, autojunk=False).ratio()

    best = max(known.get(place_of(case), []), key=likeness, default=None)
    if best is None or likeness(best) < ALIKE:
        return
    case["verdict"], case["reason"] = best["verdict"], best["reason"]
    seen = best.get("read_as", {"severity": best["severity"], "message": best["message"]})
    if (seen["severity"], seen["message"]) != (case["severity"], case["message"]):
        case["read_as"] = seen


def draw(projects: list[Path], warnings: int, seed: int, around: int) -> None:
    pairs = [
        (case_of(project, commit, item, around), item)
        for project in projects
        for commit in (commit_of(project),)
        for item in findings(project)
    ]
    print(written(pairs, verdicts(CASES, FIRST), warnings, seed, SHEET, CASES, KEY))


def written(
    pairs: list[tuple[dict[str, Any], dict[str, Any]]],
    known: dict[tuple[Any, ...], list[dict[str, Any]]],
    warnings: int,
    seed: int,
    sheet: Path,
    cases: Path,
    key: Path,
) -> str:
    """Write what the reader sees, the record of it without code, and the key; return in words how many rows there are.

    Args:
        pairs: Cases, with the findings that they are of.
        known: Verdicts that were given before, by place.
        warnings: How many warnings are drawn; every error is taken.
        seed: Of the draw and of the order.
        sheet: The file for the reader.
        cases: The file that is kept.
        key: The file that names the rules.
    """
    errors = [pair for pair in pairs if pair[0]["severity"] == "error"]
    others = [pair for pair in pairs if pair[0]["severity"] == "warning"]
    chance = random.Random(seed)  # noqa: S311 - a sample that can be drawn again
    chosen = errors + (chance.sample(others, warnings) if len(others) > warnings else others)
    chance.shuffle(chosen)
    shown, kept, keys = [], [], []
    for number, (case, item) in enumerate(chosen, 1):
        carry_over(case, known)
        shown.append(json.dumps({"id": number, **case}, ensure_ascii=False))
        del case["code"]
        kept.append(json.dumps({"id": number, **case}, ensure_ascii=False))
        keys.append(json.dumps({"id": number, "rule": item["rule"], "confidence": item["confidence"]}))
    for path, rows in ((sheet, shown), (cases, kept), (key, keys)):
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return f"{len(errors)} errors, {len(chosen) - len(errors)} of {len(others)} warnings"


def report(cases: Path, key: Path) -> None:
    keys = {item["id"]: item for item in map(json.loads, key.read_text(encoding="utf-8").splitlines())}
    counts: dict[str, collections.Counter[str]] = {}
    for case in map(json.loads, cases.read_text(encoding="utf-8").splitlines()):
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
    parser.add_argument(
        "--reading", choices=READINGS, help="report a kept reading rather than the last drawing"
    )
    options = parser.parse_args()
    if options.report:
        name = options.reading
        report(*((HERE / f"cases-{name}.jsonl", HERE / f"key-{name}.jsonl") if name else (CASES, KEY)))
    else:
        draw([path.resolve() for path in options.projects], options.warnings, options.seed, options.around)


if __name__ == "__main__":
    main()
