"""Measure every budget and write benchmarks/RESULTS.md: `make bench`, or

    python benchmarks/bench.py [--only WORKLOAD] [--rounds 11] [--reference DIR] [--corpus FOLDER] [--peers FOLDER]

The other tools are installed once, each into its own environment below benchmarks/.peers, and so is the wheel of this
checkout. `--reference` (or CFGFIX_REFERENCE) names a project of 20,000 to 50,000 lines of Python; without it those rows
say so. `--corpus` names a folder of real configs; without one 300 copies of the example are used. With `--only` the figures of
one workload are shown, and no page is written. `--render` writes the page from the last record again.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import budgets
import check
import paired
import scan
from paired import ROOT

RECORD = ROOT / "benchmarks" / "results" / "budgets.json"
PAGE = ROOT / "benchmarks" / "RESULTS.md"


def about_machine(python: Path) -> dict[str, Any]:
    """Return what the figures were measured on; nothing that names the machine."""
    version = subprocess.run(
        [str(python), "-c", "import platform; print(platform.python_version())"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    return {
        "cpu": paired.cpu_model(),
        "cpus": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}",
        "python": version,
    }


def versions(peers: Path) -> dict[str, str]:
    """Return the version of cfgfix and of every tool it is measured beside."""
    own = subprocess.run(
        [str(peers / "cfgfix" / "bin" / "cfgfix"), "--version"], check=True, capture_output=True, text=True
    ).stdout.split()[-1]
    return {"cfgfix": own, **{name: text.partition("==")[2] for name, text in paired.PINNED.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    named = os.environ.get("CFGFIX_REFERENCE")
    parser.add_argument("--only", choices=[*check.NAMES, *scan.NAMES])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--reference", type=Path, default=Path(named) if named else None)
    parser.add_argument("--corpus", type=Path, default=paired.CORPUS)
    parser.add_argument("--peers", type=Path, default=paired.PEERS)
    parser.add_argument("--render", action="store_true")
    options = parser.parse_args()
    if options.render:
        PAGE.write_text(budgets.render(json.loads(RECORD.read_text(encoding="utf-8"))), encoding="utf-8")
        return
    reference = options.reference
    if reference is not None and not reference.is_dir():
        parser.error(f"{reference} is no folder")
    measured: dict[str, Any] = {}
    peers = options.peers.resolve()
    corpus, reference = options.corpus.resolve(), reference and reference.resolve()
    with tempfile.TemporaryDirectory(prefix="cfgfix-bench-") as folder:
        place = Path(folder)
        os.chdir(place)
        for room, given in ((check, corpus), (scan, reference)):
            for name, work in room.workloads(place, peers, given, options.rounds, options.only):
                print(f"\n{work.title} ({name}): {work.note}", flush=True)
                timings = paired.measure(work.commands, work.rounds, work.warmup)
                print("\n".join(paired.table(timings, work.commands[0].name)), flush=True)
                measured[name] = {
                    "title": work.title,
                    "note": work.note,
                    "commands": {
                        command: {
                            kind: [round(value, 5) for value in getattr(timing, kind)]
                            for kind in ("cpu", "wall", "peak")
                        }
                        for command, timing in timings.items()
                    },
                }
    record = {
        "date": dt.datetime.now(tz=dt.timezone.utc).date().isoformat(),
        "machine": about_machine(peers / "cfgfix" / "bin" / "python"),
        "versions": versions(peers),
        "workloads": measured,
    }
    print()
    for budget in budgets.BUDGETS:
        if options.only in (None, budget.workload):
            print(budgets.row(budget, record))
    if options.only is None:
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(budgets.render(record), encoding="utf-8")


if __name__ == "__main__":
    main()
