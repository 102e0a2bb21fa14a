"""Many random edits, each judged by readers that share no code with cfgfix: how many are applied, refused and wrong.

    python benchmarks/edits.py --out benchmarks/results/edits.json

Documents are the YAML test suite and real training configurations, where a folder with them is at hand (`../shared` or
CFGFIX_SHARED), and made-up ones. `npm install --prefix .node yaml` adds a third reader.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.opinions import judge, trials


def summed(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Return the sums of two tables of counts."""
    result: dict[str, Any] = {}
    for key in (*first, *(key for key in second if key not in first)):
        one, other = first.get(key), second.get(key)
        if isinstance(one, dict) or isinstance(other, dict):
            result[key] = summed(one or {}, other or {})
        else:
            result[key] = (one or 0) + (other or 0)
    return result


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--suite", type=int, default=70_000, help="edits of the YAML test suite")
    parser.add_argument(
        "--real",
        type=int,
        default=3_000,
        help="edits of real configurations; one takes as long as ten others",
    )
    parser.add_argument("--made-up", type=int, default=30_000, help="edits of made-up documents")
    parser.add_argument("--add", type=Path, help="an earlier result, whose counts are added")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--wrong", type=Path, help="where to write the edits that are wrong")
    parser.add_argument(
        "--pairs",
        type=Path,
        help="where to write right pairs of document and edit, for benchmarks/edit_peers.py",
    )
    options = parser.parse_args()
    shared = Path(os.environ.get("CFGFIX_SHARED") or ROOT.parent / "shared")
    readers = judge.readers()
    total = trials.Tally()
    parts: dict[str, dict[str, object]] = {}
    pairs: list[dict[str, object]] = []
    plans = []
    if (shared / "corpus").is_dir():
        # Again and again, since each time other edits are made; large files are left to the tests of large files.
        real = [path for path in trials.real(shared) if path.stat().st_size <= 12_000]
        plans = [
            ("YAML test suite", itertools.cycle(trials.suite(shared)), options.suite, 10),
            ("real configurations", itertools.cycle(real), options.real, 10),
        ]
    plans.append(
        ("made-up documents", map(trials.made_up, itertools.count(options.seed * 10**9)), options.made_up, 8)
    )
    started = time.time()
    for number, (name, sources, edits, each) in enumerate(plans):
        step = max(500, edits // 40)
        part = trials.Tally()

        def keep(before: str, after: str, changes: list[trials.Change], name: str = name) -> None:
            if len(changes) == 1:
                pairs.append(
                    {"from": name, "before": before, "after": after, "change": trials.plain(changes[0])}
                )

        while part.edits < edits:
            seed = options.seed * 10**6 + number * 10**4 + part.edits
            got = trials.run(
                sources, min(step, edits - part.edits), each, seed, readers, keep if options.pairs else None
            )
            part.add(got)
            print(
                f"{time.time() - started:7.0f} s  {name}: {part.edits} edits, {sum(part.applied.values())} applied, {len(part.wrong)} wrong",
                flush=True,
            )
            if options.wrong and part.wrong:
                options.wrong.write_text(json.dumps(total.wrong + part.wrong, indent=1))
        if part.edits:
            parts[name] = part.data()
        total.add(part)
    for reader in readers:
        if isinstance(reader, judge.Npm):
            reader.close()
    result = {
        "command": f"python benchmarks/edits.py --suite {options.suite} --real {options.real} --made-up {options.made_up} --seed {options.seed}",
        "readers": [reader.name for reader in readers],
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("PyYAML", "ruamel.yaml")},
        },
        "total": total.data(),
        "parts": parts,
    }
    if options.add:
        earlier = json.loads(options.add.read_text())
        result["command"] = f"{earlier['command']} && {result['command']}"
        result["parts"] = {**earlier["parts"], **parts}
        result["total"] = summed(earlier["total"], total.data())
    print(json.dumps(result["total"], indent=1))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    if options.pairs:
        options.pairs.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    return 1 if total.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
