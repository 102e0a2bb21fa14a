"""Time a cold check of trees by this checkout and by an older commit: `python benchmarks/cold.py COMMIT FOLDER... [--rounds N]`.

Both run in turn, on the same Python and the same dependencies, with the rules compiled and nothing known of the tree; the figure is the median
of the ratios of neighbours, of processor and of wall seconds. The load of the machine stands beside it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from paired import Command, measure, ratio


def cold_check(name: str, checkout: Path, folder: str, cache: Path) -> Command:
    """Return the command that checks a folder with a checkout, its cache emptied of all but compiled rules before."""
    env = {"CFGFIX_CACHE_DIR": str(cache), "CFGFIX_JOBS": "1", "PYTHONPATH": str(checkout)}
    argv = [sys.executable, "-m", "cfgfix", "check", "--isolated", "--output-format", "json"]
    nothing = cache.with_name(f"{cache.name}-nothing")
    nothing.mkdir(parents=True, exist_ok=True)

    def forget() -> None:
        shutil.rmtree(cache, ignore_errors=True)
        cache.mkdir()
        subprocess.run(
            [*argv, str(nothing)],
            check=False,
            env={**os.environ, **env},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    return Command(name, [*argv, folder], env, before=forget)


def lines_below(folder: str) -> int:
    """Return the number of lines of the Python files below a folder."""
    return sum(path.read_bytes().count(b"\n") for path in Path(folder).rglob("*.py") if path.is_file())


def rows_of(folders: list[str], rounds: int, place: Path) -> list[str]:
    """Return the rows of a Markdown table, one for each folder."""
    rows = [
        "| tree | lines | today, CPU s | before, CPU s | today / before, CPU | wall | rounds | load |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for folder in folders:
        commands = [
            cold_check("today", ROOT, folder, place / "cache-today"),
            cold_check("before", place / "before", folder, place / "cache-before"),
        ]
        timings = measure(commands, rounds, warmup=0)
        today, before = timings["today"], timings["before"]
        shown = [
            f"{middle:.2f} ({low:.2f}-{high:.2f})"
            for low, middle, high in (ratio(today, before), ratio(today, before, "wall"))
        ]
        seconds = [f"{statistics.median(timing.cpu):.1f}" for timing in (today, before)]
        load = f"{os.getloadavg()[1]:.1f}"
        cells = [Path(folder).name, f"{lines_below(folder):,}", *seconds, *shown, str(rounds), load]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run(
            [*git, "add", "-q", "--detach", str(place / "before"), options.commit],
            check=True,
        )
        try:
            print("\n".join(rows_of(options.folders, options.rounds, place)))
        finally:
            subprocess.run([*git, "remove", "--force", str(place / "before")], check=True)


if __name__ == "__main__":
    main()
