"""What scanning Python costs: cold and warm, one process and two, beside other tools on the same files.

    python benchmarks/scan.py PROJECT [PROJECT ...] [--tensorflow] [--peers VENV] [--rounds N] [--save NAME]

`--tensorflow` adds TensorFlow's own Python tree, of the package installed beside this interpreter. `--peers` names a
virtual environment with `fixit`, `torchfix` and `flake8`; they are measured on the first project only, on all its files.
TorchFix leaves files alone that do not hold the word `torch`, so it is also measured on a copy of the project in which
`tensorflow` is called `torch`: there it has as much to look at as cfgfix has.

CPU seconds (user and system, children included) are what is compared, since a busy machine stretches the clock and not
the work. In each round every command runs once, one after the other; a figure is the median of the rounds, and a ratio
the median of the ratios of each round. `--save` writes `benchmarks/results/scan-NAME.json`.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def run(command: list[str], env: dict[str, str], cwd: str | None = None) -> dict[str, float]:
    """Run a command; return CPU seconds, seconds and peak memory in MB."""
    start = time.perf_counter()
    with open(os.devnull, "wb") as nowhere:
        process = subprocess.Popen(command, stdout=nowhere, stderr=nowhere, env=env, cwd=cwd)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return {
        "cpu": usage.ru_utime + usage.ru_stime,
        "seconds": time.perf_counter() - start,
        "memory_mb": usage.ru_maxrss / 1024,
    }


def middle(runs: list[dict[str, float]], cold: list[dict[str, float]]) -> dict[str, float]:
    """The median of each figure, and of the ratios of CPU seconds to those of the cold scan of the same round."""
    found = {name: round(statistics.median(item[name] for item in runs), 3) for name in runs[0]}
    pairs = zip(runs, cold, strict=False)
    found["ratio_to_cold"] = round(statistics.median(one["cpu"] / other["cpu"] for one, other in pairs), 3)
    return found


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if ".git" not in path.parts)


def measure(folder: Path, rounds: int, peers: Path | None) -> dict[str, Any]:
    files = files_of(folder)
    contents = [path.read_bytes() for path in files]
    lines = sum(data.count(b"\n") for data in contents)
    size = sum(map(len, contents))
    del contents
    print(f"\n{folder.name}: {len(files)} files, {lines} lines, {size / 1e6:.1f} MB", flush=True)
    result: dict[str, Any] = {"files": len(files), "lines": lines, "bytes": size, "runs": {}}
    with tempfile.TemporaryDirectory(prefix="cfgfix-scan-") as scratch:
        ready = Path(scratch) / "ready"
        empty = Path(scratch) / "empty"
        empty.mkdir()
        (empty / "a.py").write_text("import tensorflow as tf\n", encoding="utf-8")
        base = {
            **{k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")},
            "PYTHONPATH": str(ROOT),
        }
        check = [sys.executable, "-m", "cfgfix", "check", "--isolated", "--output-format", "json"]
        # The rules are compiled once for each installation; that is not part of a scan.
        run([*check, str(empty)], {**base, "XDG_CACHE_HOME": str(ready)})
        runs: dict[str, list[dict[str, float]]] = {}
        reading = "import sys, pathlib\nfor p in pathlib.Path(sys.argv[1]).rglob('*.py'):\n    p.read_bytes()"
        listing = "import os, sys\nfor f, _, names in os.walk(sys.argv[1]):\n    for n in names:\n        os.stat(os.path.join(f, n))"
        parsing = (
            "import sys, pathlib, gc, warnings\ngc.disable()\nwarnings.simplefilter('ignore')\n"
            "for p in pathlib.Path(sys.argv[1]).rglob('*.py'):\n"
            "    try:\n        compile(p.read_bytes(), str(p), 'exec', 0x400, True)\n"
            "    except (SyntaxError, ValueError):\n        pass"
        )
        python = [sys.executable, "-c"]
        others: dict[str, list[str]] = {
            "reading the bytes": [*python, reading, str(folder)],
            "listing the files": [*python, listing, str(folder)],
            "Python's parser alone": [*python, parsing, str(folder)],
        }
        ruff = shutil.which("ruff")
        if ruff:
            store = str(Path(scratch) / "ruff")
            others["ruff, uncached"] = [ruff, "check", "--isolated", "--no-cache", str(folder)]
            others["ruff, warm"] = [ruff, "check", "--isolated", "--cache-dir", store, str(folder)]
            run(others["ruff, warm"], base)
        if peers is not None:
            others |= peer_commands(peers, files, folder, Path(scratch))
        for number in range(rounds):
            for jobs in (1, 2):
                cache = Path(scratch) / "cache"
                shutil.rmtree(cache, ignore_errors=True)
                shutil.copytree(ready, cache)
                env = {**base, "XDG_CACHE_HOME": str(cache), "CFGFIX_JOBS": str(jobs)}
                words = "one process" if jobs == 1 else "two processes"
                runs.setdefault(f"cfgfix, cold, {words}", []).append(run([*check, str(folder)], env))
                if jobs == 1:
                    # Without one of the rules, so that no answer is repeated: the summaries are used.
                    less = [*check, "--ignore", "TFD001", str(folder)]
                    runs.setdefault("cfgfix, summaries known", []).append(run(less, env))
                    again = [*check[:-1], "jsonl", str(folder)]
                    runs.setdefault("cfgfix, other output", []).append(run(again, env))
                    time.sleep(1.1)
                    run([*check, str(folder)], env)
                    runs.setdefault("cfgfix, unchanged", []).append(run([*check, str(folder)], env))
            for name, command in others.items():
                if number and name.startswith("Fixit"):
                    # A minute a time: once is enough beside what is asked of it.
                    continue
                runs.setdefault(name, []).append(run(command, base))
    cold = runs["cfgfix, cold, one process"]
    result["runs"] = {name: middle(values, cold) for name, values in runs.items()}
    for name, values in result["runs"].items():
        print(
            f"  {name:30s} {values['cpu']:8.2f} CPU s  {values['seconds']:8.2f} s  {values['memory_mb']:7.0f} MB"
            f"  {len(files) / values['cpu']:9.0f} files/s  {lines / values['cpu']:10.0f} lines/s  {values['ratio_to_cold']:7.2f} x cold",
            flush=True,
        )
    return result


def peer_commands(peers: Path, files: list[Path], folder: Path, scratch: Path) -> dict[str, list[str]]:
    """Other tools that rest on libcst, on the same files; TorchFix also on a copy that imports `torch`."""
    (scratch / "one").mkdir()
    (scratch / "one" / "pyproject.toml").write_text(
        '[tool.fixit]\nroot = true\nenable = ["fixit.rules:NoNamedTuple"]\ndisable = ["fixit.rules"]\n',
        encoding="utf-8",
    )
    copies = []
    for path in files:
        copy = scratch / "torch" / path.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes().replace(b"tensorflow", b"torch"))
        copies.append(str(copy))
    fixit = [str(peers / "bin" / "fixit"), "--config-file", str(scratch / "one" / "pyproject.toml"), "lint"]
    torchfix = [str(peers / "bin" / "torchfix"), "-j1", "--select=ALL"]
    return {
        "Fixit with one rule": [*fixit, *map(str, files)],
        "TorchFix": [*torchfix, *map(str, files)],
        "TorchFix, a copy for torch": [*torchfix, *copies],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("projects", nargs="*", type=Path)
    parser.add_argument("--tensorflow", action="store_true")
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--save")
    options = parser.parse_args()
    results: dict[str, Any] = {}
    for number, folder in enumerate(options.projects):
        results[folder.name] = measure(
            folder.resolve(), options.rounds, options.peers if number == 0 else None
        )
    if options.tensorflow:
        spec = importlib.util.find_spec("tensorflow")
        if spec is None or spec.origin is None:
            raise SystemExit("TensorFlow is not installed beside this interpreter")
        results["tensorflow"] = measure(Path(spec.origin).parent, options.rounds, None)
    if options.save:
        target = HERE / "results"
        target.mkdir(exist_ok=True)
        text = json.dumps(results, indent=1) + "\n"
        (target / f"scan-{options.save}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
