"""Run the measurements behind the rules and keep the results as data.

    python benchmarks/evidence/run.py                # all scripts
    python benchmarks/evidence/run.py workers threads # some of them, the others keep what they had

`results.json` beside this file holds everything; `rules/evidence.json` holds what rule pages and `cfgfix explain` show and
travels with the package. Each script is stamped with its date, the versions and the machine, since a part may be run
elsewhere, and with how busy the machine was: the share of CPU time that other processes took meanwhile.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil
from harness import QUIET_SAMPLES, QUIET_SHARE, busy_seconds

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"
SHIPPED = HERE.parents[1] / "rules" / "evidence.json"
VERSIONS = ("tensorflow", "keras", "numpy", "PyYAML", "ruamel.yaml")
NOT_SCRIPTS = {"run", "harness"}
ON_GPU = {"on_gpu"}
"""They need a GPU, and are left as they were where there is none; all others are kept from seeing one."""


def scripts() -> list[str]:
    """The names of all measurements."""
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem not in NOT_SCRIPTS)


def card() -> str:
    """The name of the first GPU and its driver, or `none`."""
    try:
        import pynvml

        pynvml.nvmlInit()
        name = pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(0))
        driver = pynvml.nvmlSystemGetDriverVersion()
    except Exception:  # noqa: BLE001 - no binding, no driver, no card: no GPU
        return "none"
    return f"{name}, driver {driver}"


def machine(name: str) -> dict[str, Any]:
    """What the figures of a script depend on."""
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return {
        "cpu": model,
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "ram_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "gpu": card() if name in ON_GPU else "none",
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
    }


def measure(name: str) -> dict[str, Any]:
    """Run one script and return its tables with their circumstances."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "tables.json"
        environment = {
            **os.environ,
            "EVIDENCE_OUT": str(out),
            "TF_CPP_MIN_LOG_LEVEL": "3",
        }
        if name not in ON_GPU:
            environment["CUDA_VISIBLE_DEVICES"] = ""
        busy, start = busy_seconds(), time.perf_counter()
        used_before = sum(os.times()[2:4])
        done = subprocess.run(
            [sys.executable, str(HERE / f"{name}.py")], cwd=HERE, env=environment, check=False
        )
        seconds = time.perf_counter() - start
        own = sum(os.times()[2:4]) - used_before
        if done.returncode:
            raise SystemExit(f"{name}.py ended with {done.returncode}; nothing was written")
        tables = json.loads(out.read_text(encoding="utf-8"))
    circumstances = machine(name)
    return {
        "date": dt.datetime.now(tz=dt.timezone.utc).date().isoformat(),
        "versions": {name: version(name) for name in VERSIONS} | {"python": platform.python_version()},
        "machine": circumstances,
        "seconds": round(seconds),
        "others": round(max(0.0, busy_seconds() - busy - own) / (seconds * circumstances["cpus"]), 2),
        "tables": tables,
    }


def shipped(results: dict[str, Any]) -> dict[str, Any]:
    """The part that goes into the package: titles, names, ratios, facts."""
    small: dict[str, Any] = {}
    for name, result in sorted(results.items()):
        tables = {}
        for table in result["tables"]:
            if "times" in table:
                # The ratio of minima: other work makes a run slower, never faster.
                tables[table["title"]] = {row["name"]: row["minima"] for row in table["times"]}
            else:
                tables[table["title"]] = {row["name"]: row["value"] for row in table["facts"]}
        timed = sorted(table["title"] for table in result["tables"] if "times" in table)
        disturbed = sorted(
            table["title"]
            for table in result["tables"]
            if "times" in table
            and not table.get("waits")
            and (table["quiet"] < QUIET_SAMPLES if "quiet" in table else result["others"] > QUIET_SHARE)
        )
        small[name] = {key: result[key] for key in ("date", "versions", "machine", "others")} | {
            "tables": tables,
            "timed": timed,
            "disturbed": disturbed,
        }
    return small


def main() -> None:
    """Measure what is asked for and write both files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(scripts())}")
    names = parser.parse_args().names or [
        name for name in scripts() if name not in ON_GPU or card() != "none"
    ]
    unknown = set(names) - set(scripts())
    if unknown:
        parser.error(f"no measurement is called {min(unknown)}; there are {', '.join(scripts())}")
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    results = {name: result for name, result in results.items() if name in scripts()}
    for name in names:
        print(f"== {name}", flush=True)
        results[name] = measure(name)
        RESULTS.write_text(
            json.dumps(dict(sorted(results.items())), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        SHIPPED.write_text(
            json.dumps(shipped(results), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
