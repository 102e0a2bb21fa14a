"""Many random edits, each judged by readers that share no code with cfgfix: how many are applied, refused and wrong.

    python benchmarks/edits.py --edits 100000 --out benchmarks/results/edits.json

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

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.opinions import judge, trials


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--edits", type=int, default=100_000)
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
    at_hand = (shared / "corpus").is_dir()
    plans = []
    if at_hand:
        suite, real = trials.suite(shared), trials.real(shared)
        # Again and again, since each time other edits are made; large files are left to the tests of large files.
        real = [path for path in real if path.stat().st_size <= 12_000]
        plans = [
            ("YAML test suite", itertools.cycle(suite), options.edits * 9 // 20, 10),
            # One of these takes as long as ten of the others.
            ("real configurations", itertools.cycle(real), options.edits // 10, 10),
        ]
    rest = options.edits - sum(plan[2] for plan in plans)
    plans.append(("made-up documents", map(trials.made_up, itertools.count(options.seed * 10**9)), rest, 8))
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
        parts[name] = part.data()
        total.add(part)
    for reader in readers:
        if isinstance(reader, judge.Npm):
            reader.close()
    result = {
        "command": f"python benchmarks/edits.py --edits {options.edits} --seed {options.seed}",
        "readers": [reader.name for reader in readers],
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("PyYAML", "ruamel.yaml")},
        },
        "total": total.data(),
        "parts": parts,
    }
    print(json.dumps(result["total"], indent=1))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    if options.pairs:
        options.pairs.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    return 1 if total.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
