"""The same document and edit given to other tools: how many results are right, by the readers of benchmarks/edits.py.

    python benchmarks/edits.py --suite 500 --real 250 --made-up 1400 --seed 77 --pairs pairs.jsonl
    python benchmarks/edit_peers.py --pairs pairs.jsonl --python PEERS/bin/python --out benchmarks/results/edit_peers.json

PEERS is a virtual environment with yamlpath, yaml-edit and ruamel.yaml. Each pair is one that cfgfix applies; what it
refuses is no part of the table, since nobody then knows the right result's layout.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.opinions import judge

KINDS = ("right", "elsewhere", "comments", "loads", "meaning", "unreadable", "no result")
TITLES = {
    "right": "right",
    "elsewhere": "right data, other lines changed",
    "comments": "comments lost",
    "loads": "no longer loads",
    "meaning": "other data",
    "unreadable": "not YAML any more",
    "no result": "refused or failed",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--python", required=True, help="the Python of the peers' environment")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    lines = options.pairs.read_text().splitlines()
    random.Random(1).shuffle(lines)  # noqa: S311 - no secret
    pairs = [json.loads(line) for line in lines[: options.count]]
    runner = str(Path(__file__).with_name("edit_peers_run.py"))
    done = subprocess.run(
        [options.python, runner], input="".join(json.dumps(pair) + "\n" for pair in pairs), capture_output=True,
        text=True, encoding="utf-8", check=True,
    )  # fmt: skip
    first, *answers = done.stdout.splitlines()
    readers = judge.readers()
    counts: dict[str, Counter[str]] = {}
    reasons: dict[str, Counter[str]] = {}
    for pair, line in zip(pairs, answers, strict=True):
        before = judge.Before(pair["before"], readers)
        results: dict[str, Any] = {"cfgfix": {"after": pair["after"]}, **json.loads(line)}
        for name, result in results.items():
            count = counts.setdefault(name, Counter())
            if "error" in result:
                count["no result"] += 1
                reasons.setdefault(name, Counter())[result["error"].split(":")[0]] += 1
                continue
            complaints, _ = judge.judge(before, result["after"], [pair["change"]])
            count[complaints[0].split(":")[0] if complaints else "right"] += 1
    for reader in readers:
        if isinstance(reader, judge.Npm):
            reader.close()
    table = ["| tool | " + " | ".join(TITLES[kind] for kind in KINDS) + " |", "|---" * (len(KINDS) + 1) + "|"]
    for name, count in counts.items():
        table.append(f"| {name} | " + " | ".join(str(count[kind]) for kind in KINDS) + " |")
    print("\n".join(table))
    result = {
        "pairs": len(pairs),
        "from": dict(Counter(pair["from"] for pair in pairs)),
        "kinds": dict(Counter(pair["change"]["kind"] for pair in pairs)),
        **json.loads(first),
        "readers": [reader.name for reader in readers],
        "counts": {name: {TITLES[kind]: count[kind] for kind in KINDS} for name, count in counts.items()},
        "why no result": {name: dict(count.most_common(8)) for name, count in reasons.items()},
    }
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
