"""How right the reading of code is, against what people found by reading it, and how long it takes.

    python benchmarks/config_code/run.py --myxtts PATH --tensorflowtts PATH

The paths are checkouts of the two projects at the commits that the truth files name. Only their Python and YAML files
are copied to a temporary folder, where the settings and the cache are written too.

Dead means: read by nothing, or only by tests, tools or the inference code, or only logged or stored, or overwritten
before use. Precision is the share of keys called dead that are; recall the share of dead keys that are called so.
Both are given against the truth and against the first reading, before its errors were corrected (the truth files say
which rows that are, and why).
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

from cfgfix.config.schema.infer import infer
from cfgfix.core.findings import format_key_path
from cfgfix.settings.reader import Settings
from cfgfix.usage.checks import project_files, usage_of
from cfgfix.usage.key_uses import DEAD, Usage


def copied(source: Path, target: Path) -> Path:
    """Copy the Python and YAML files of a checkout."""
    for path in source.rglob("*"):
        if path.suffix in (".py", ".ipynb", ".yaml", ".yml") and path.is_file() and ".git" not in path.parts:
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    return target


def compared(name: str, usage: Usage, truth: Mapping[str, Mapping[str, Any]]) -> tuple[int, int, int]:
    """Print precision, recall and the keys that differ; return right, wrong and missed against the truth."""
    result = (0, 0, 0)
    for title, field in (("the truth", "status"), ("the first reading", "first")):
        right, wrong, missed, exact, judged = 0, 0, 0, 0, 0
        for text, row in truth.items():
            use = usage.keys.get(tuple(text.split(".")))
            if use is None:
                continue
            status = row.get(field, row["status"])
            judged += 1
            exact += use.status == status or (use.status == "unsure" and status == "live")
            right += use.status in DEAD and status in DEAD
            wrong += use.status in DEAD and status not in DEAD
            missed += use.status not in DEAD and status in DEAD
        precision = right / (right + wrong) if right + wrong else 1.0
        recall = right / (right + missed) if right + missed else 1.0
        print(
            f"{name}, against {title}: {judged} keys, {right + missed} dead; called dead {right + wrong}; "
            f"precision {precision:.3f}, recall {recall:.3f}; same status {exact}"
        )
        if field == "status":
            result = (right, wrong, missed)
    for text, row in truth.items():
        use = usage.keys.get(tuple(text.split(".")))
        if use is None or use.status == row["status"] or (use.status == "unsure" and row["status"] == "live"):
            continue
        print(f"  differs: {text}: cfgfix says {use.status}, the reading says {row['status']}")
    guards = [(text, row["guard"].split()[0]) for text, row in truth.items() if row.get("guard")]
    if guards:
        found = sum(
            any(format_key_path(guard[0]) == key for guard in usage.keys[tuple(text.split("."))].guards)
            for text, key in guards
        )
        print(f"{name}: guards named by the reading {len(guards)}, found {found}")
    return result


def timed(folder: Path, command: list[str], cache: Path, rounds: int) -> tuple[float, float]:
    """Return the median wall seconds of a command without and with a cache."""
    cold, warm = [], []
    environment = {**os.environ, "CFGFIX_CACHE_DIR": str(cache), "PYTHONPATH": str(HERE.parent.parent)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    for _ in range(rounds):
        shutil.rmtree(cache, ignore_errors=True)
        for times in (cold, warm):
            start = time.perf_counter()
            subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
            times.append(time.perf_counter() - start)
    return statistics.median(cold), statistics.median(warm)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--myxtts", type=Path)
    parser.add_argument("--tensorflowtts", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary)
        if options.myxtts is not None:
            truth = yaml.safe_load((HERE / "truth_myxtts.yaml").read_text(encoding="utf-8"))
            folder = copied(options.myxtts, base / "myxtts")
            (folder / "cfgfix.toml").write_text(f'schema = "{truth["class"]}"\n', encoding="utf-8")
            os.chdir(folder)
            settings = Settings(root=str(folder), tensorflow="requirements")
            inferred = infer(truth["class"], str(folder))
            usage = usage_of(project_files(settings), settings, inferred, (), "benchmark", use_cache=False)
            wrong += compared("MyXTTS", usage, truth["keys"])[1]
            for entry in usage.entries:
                print(f"  {entry.spot.path}: {'may load' if entry.loads else 'never loads'} a config file")
            for command in (["check", "configs/config.yaml"], ["check", "."], ["explain", "data.batch_size"]):
                argv = [sys.executable, "-m", "cfgfix", *command]
                cold, warm = timed(folder, argv, base / "cache", options.rounds)
                print(
                    f"MyXTTS, cfgfix {' '.join(command)}: cold {cold:.2f} s, warm {warm:.2f} s ({cold / warm:.0f}x)"
                )
        if options.tensorflowtts is not None:
            truth = yaml.safe_load((HERE / "truth_tensorflowtts.yaml").read_text(encoding="utf-8"))
            folder = copied(options.tensorflowtts, base / "tensorflowtts")
            os.chdir(folder)
            settings = Settings(root=str(folder), source_roots=(".",), tensorflow="requirements")
            for path, about in truth["configs"].items():
                keys = [tuple(text.split(".")) for text in about["keys"]]
                usage = usage_of(project_files(settings), settings, None, keys, "benchmark", use_cache=False)
                wrong += compared(f"TensorFlowTTS {path}", usage, about["keys"])[1]
        os.chdir(HERE)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
