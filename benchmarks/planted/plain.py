"""Plain training scripts in `plain/`, whose truth was written down before any was run, under `cfgfix profile run`.

    python benchmarks/planted/plain.py                  all of them (half an hour)
    python benchmarks/planted/plain.py nan grows        those whose names begin so
    python benchmarks/planted/plain.py --markdown       the table for benchmarks/planted/PLAIN.md

`plain/truth.json` says of each what must be named, with its size where that is planted, or that it is healthy.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "plain"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(HERE.parent.parent), "TF_CPP_MIN_LOG_LEVEL": "3"}


def run(name: str, truth: dict[str, Any], scratch: Path) -> tuple[int, str, str]:
    """Return exit code, standard output and error of `cfgfix profile run` for one script."""
    shutil.copytree(FOLDER, scratch, dirs_exist_ok=True)
    target = truth.get("command") or [name, *truth.get("arguments", ())]
    process = subprocess.Popen(
        [sys.executable, "-m", "cfgfix", "profile", "run", "--json", *target],
        cwd=scratch / truth.get("folder", ""),
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    if "interrupt" in truth:
        while process.poll() is None and not (scratch / truth["interrupt"]).exists():
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
    try:
        out, err = process.communicate(timeout=400)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return -1, out, f"{err}\nit did not end"
    return process.returncode, out, err


def size(found: dict[str, Any], truth: dict[str, Any]) -> float | None:
    """Return the milliseconds that were found for what is planted."""
    if "stage" in truth:
        stages = [
            entry
            for entry in (found["data"] or {"stages": ()})["stages"]
            if entry["operation"].startswith(truth["stage"])
        ]
        sizes = [entry["quiet_seconds_per_batch"] or entry["seconds_per_batch"] for entry in stages]
    elif truth["problem"] == "stall":
        sizes = [entry["seconds"] for entry in found["stalls"]]
    else:
        sizes = [entry["seconds"] for entry in found["parts"]]
    return max(sizes) * 1e3 if sizes else None


def judge(name: str, truth: dict[str, Any], code: int, out: str, err: str, scratch: Path) -> dict[str, Any]:
    """Hold what was found against the truth."""
    wrong: list[str] = []
    answer: dict[str, Any] = {"name": name, "exit": code}
    expected = truth.get("exit", 1 if "problem" in truth else 0)
    if code != expected:
        wrong.append(f"exit code {code}, not {expected}")
    if "stderr" in truth and not re.search(truth["stderr"], err):
        wrong.append("the error does not say what went wrong")
    wrong += [f"{file} is not there" for file in truth.get("left", ()) if not (scratch / file).exists()]
    if not out.strip():
        if "exit" not in truth:
            wrong.append(err.strip().splitlines()[-1] if err.strip() else "nothing was said")
        return {**answer, "problems": [], "wrong": wrong, "error": err[-1500:]}
    found = json.loads(out)
    problems = [entry for entry in found["verdicts"] if entry["outcome"] == "problem"]
    everything = json.dumps(found["verdicts"])
    if truth.get("healthy") and problems:
        wrong.append(f"healthy, but: {problems[0]['name']}: {problems[0]['summary']}")
    if "problem" in truth:
        named = [
            entry
            for entry in problems
            if entry["name"] == truth["problem"] and re.search(truth["words"], json.dumps(entry))
        ]
        if not named:
            wrong.append(f"{truth['problem']} ({truth['words']}) is not named")
        elif named[0] is not problems[0]:
            wrong.append(f"behind {problems[0]['name']}: {problems[0]['summary']}")
        if "milliseconds" in truth:
            answer["truth"], answer["found"] = truth["milliseconds"], size(found, truth)
            if answer["found"] is None or abs(answer["found"] / truth["milliseconds"] - 1) > 0.2:
                wrong.append(
                    f"size {answer['found'] and round(answer['found'], 1)} ms, not {truth['milliseconds']} ms"
                )
    if "says" in truth and not re.search(truth["says"], everything):
        wrong.append(f"does not say: {truth['says']}")
    if "silent" in truth and any(entry["name"] == truth["silent"] for entry in found["verdicts"]):
        wrong.append(f"speaks of {truth['silent']}")
    return {
        **answer,
        "problems": [f"{entry['name']}: {entry['summary']}" for entry in problems],
        "others": [
            f"{entry['outcome']} {entry['name']}: {entry['summary']}"
            for entry in found["verdicts"]
            if entry["outcome"] != "problem"
        ],
        "notes": found.get("notes"),
        "wrong": wrong,
        "elsewhere": found["cpus"]["elsewhere"],
    }


def main() -> int:
    """Run the scripts and print what was found."""
    # Inherited from a shell that runs this in the background, Ctrl-C would be ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    names = [word for word in sys.argv[1:] if not word.startswith("--")]
    truths = json.loads((FOLDER / "truth.json").read_text("utf-8"))
    rows = []
    for name, truth in truths.items():
        if names and not name.startswith(tuple(names)):
            continue
        with tempfile.TemporaryDirectory() as folder:
            scratch = Path(folder) / "plain"
            code, out, err = run(name, truth, scratch)
            row = judge(name, truth, code, out, err, scratch)
        rows.append(row)
        print("wrong" if row["wrong"] else "right", json.dumps(row), file=sys.stderr, flush=True)
    if "--markdown" in sys.argv:
        print("| script | right | first problem | what is wrong |\n|---|---|---|---|")
        for row in rows:
            first = row["problems"][0][:120] if row["problems"] else "none"
            print(
                f"| {row['name']} | {'no' if row['wrong'] else 'yes'} | {first} | {'; '.join(row['wrong'])} |"
            )
    print(f"{sum(not row['wrong'] for row in rows)} of {len(rows)} right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
