"""What scanning Python costs: cold and warm, one process and two, beside other tools on the same files.

    python benchmarks/scan.py PROJECT [PROJECT ...] [--tensorflow] [--peers VENV] [--rounds N] [--save NAME]

`--tensorflow` adds TensorFlow's own Python tree, of the package installed beside this interpreter. `--peers` names a
virtual environment with `fixit`, `torchfix` and `flake8`; they are measured on the first project only, and slow ones on a
part of its files, scaled by lines. CPU seconds (user and system, children included) are what is compared, since a busy
machine stretches the clock and not the work. `--save` writes `benchmarks/results/scan-NAME.json`.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
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


def least(runs: list[dict[str, float]]) -> dict[str, float]:
    """The run that was disturbed least."""
    best = min(runs, key=lambda item: item["cpu"])
    return {name: round(value, 3) for name, value in best.items()}


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
        for _ in range(rounds):
            for jobs in (1, 2):
                cache = Path(scratch) / "cache"
                shutil.rmtree(cache, ignore_errors=True)
                shutil.copytree(ready, cache)
                env = {**base, "XDG_CACHE_HOME": str(cache), "CFGFIX_JOBS": str(jobs)}
                words = "one process" if jobs == 1 else "two processes"
                runs.setdefault(f"cfgfix, cold, {words}", []).append(run([*check, str(folder)], env))
                # Other options, so that the answer as a whole is not repeated: what was summarised is used.
                runs.setdefault(f"cfgfix, warm, {words}", []).append(
                    run([*check[:-1], "jsonl", str(folder)], env)
                )
                if jobs == 1:
                    time.sleep(1.1)
                    run([*check, str(folder)], env)
                    runs.setdefault("cfgfix, unchanged", []).append(run([*check, str(folder)], env))
            runs.setdefault("reading the bytes", []).append(
                run([sys.executable, "-c", reading, str(folder)], base)
            )
            runs.setdefault("listing the files", []).append(
                run([sys.executable, "-c", listing, str(folder)], base)
            )
            ruff = shutil.which("ruff")
            if ruff:
                cache_dir = str(Path(scratch) / "ruff")
                runs.setdefault("ruff, uncached", []).append(
                    run([ruff, "check", "--isolated", "--no-cache", str(folder)], base)
                )
                run([ruff, "check", "--isolated", "--cache-dir", cache_dir, str(folder)], base)
                runs.setdefault("ruff, warm", []).append(
                    run([ruff, "check", "--isolated", "--cache-dir", cache_dir, str(folder)], base)
                )
        if peers is not None:
            part = [path for path in files if path.stat().st_size < 60_000][:25]
            share = sum(path.read_bytes().count(b"\n") for path in part) / lines
            names = [str(path) for path in part]
            (Path(scratch) / "one").mkdir()
            (Path(scratch) / "one" / "pyproject.toml").write_text(
                '[tool.fixit]\nroot = true\nenable = ["fixit.rules:NoNamedTuple"]\ndisable = ["fixit.rules"]\n',
                encoding="utf-8",
            )
            for name, command in {
                "Fixit with one rule": [
                    str(peers / "bin" / "fixit"),
                    "--config-file",
                    str(Path(scratch) / "one" / "pyproject.toml"),
                    "lint",
                    *names,
                ],
                "TorchFix": [str(peers / "bin" / "torchfix"), "--select=ALL", *names],
            }.items():
                found = run(command, base)
                for key in ("cpu", "seconds"):
                    found[key] /= share
                runs[name] = [found]
                result.setdefault("scaled", {})[name] = round(share, 3)
    result["runs"] = {name: least(values) for name, values in runs.items()}
    cold = result["runs"]["cfgfix, cold, one process"]["cpu"]
    for name, values in result["runs"].items():
        values["ratio_to_cold"] = round(values["cpu"] / cold, 3)
        print(
            f"  {name:30s} {values['cpu']:8.2f} CPU s  {values['seconds']:8.2f} s  {values['memory_mb']:7.0f} MB"
            f"  {len(files) / values['cpu']:9.0f} files/s  {lines / values['cpu']:10.0f} lines/s  {values['ratio_to_cold']:7.2f} x cold",
            flush=True,
        )
    return result


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
        results["tensorflow"] = measure(Path(spec.origin).parent, 1, None)
    if options.save:
        target = HERE / "results"
        target.mkdir(exist_ok=True)
        text = json.dumps(results, indent=1) + "\n"
        (target / f"scan-{options.save}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
