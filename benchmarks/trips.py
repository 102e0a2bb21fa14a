"""Measure how far a reader must go to follow one finding: `python benchmarks/trips.py [--markdown] [--arrows]`.

Four trips: a value in YAML and a call in Python, each checked and fixed, with one rule selected. Each is made twice before it is measured, so
that caches are warm and modules imported. Counted are cfgfix's own functions: how many take part, how often one calls a function of another
module (a call into a generator counts each time that it goes on), how deep they stand in one another, and how many modules they are from.
With `--packages`, what the top level is like: its packages and modules, the floors they come to when each stands above all that it imports
(imports in functions count), which imports which, and which stand in a circle.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
PACKAGE = str(ROOT / "cfgfix") + os.sep

CONFIG = """\
data:
  batch_size: 32
  shuffle: true
training:
  learning_rate: 1e-4
  epochs: 10
"""
CODE = """\
import tensorflow as tf


def load(path):
    return tf.io.read_file(path)


def data(paths):
    dataset = tf.data.Dataset.from_tensor_slices(paths)
    return dataset.map(load, num_parallel_calls=min(8, tf.data.AUTOTUNE))
"""
TRIPS = (
    ("YAML check", "config.yaml", CONFIG, "YML001", False),
    ("YAML fix", "config.yaml", CONFIG, "YML001", True),
    ("Python check", "data.py", CODE, "TFD020", False),
    ("Python fix", "data.py", CODE, "TFD020", True),
)
WARM_RUNS = 2


@dataclass
class Trip:
    """What one run passes through; called by the interpreter as a function is entered and left."""

    functions: set[CodeType] = field(default_factory=set)
    arrows: Counter[tuple[str, str]] = field(default_factory=Counter)
    depth: int = 0
    stack: list[CodeType] = field(default_factory=list)

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """Take in one event of the interpreter."""
        del argument
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            return
        if event == "call":
            if self.stack and self.stack[-1].co_filename != code.co_filename:
                self.arrows[name_of(self.stack[-1]), name_of(code)] += 1
            self.functions.add(code)
            self.stack.append(code)
            self.depth = max(self.depth, len(self.stack))
        elif event == "return" and self.stack:
            self.stack.pop()

    @property
    def changes(self) -> int:
        """How often a function of another module is called."""
        return self.arrows.total()

    @property
    def modules(self) -> int:
        """How many modules the functions are from."""
        return len({code.co_filename for code in self.functions})


def name_of(code: CodeType) -> str:
    """Return the module and name of a function."""
    return f"{code.co_filename.removeprefix(PACKAGE).removesuffix('.py')}:{code.co_name}"


def run(name: str, rule: str, *, fix: bool) -> bool:
    """Check or fix a file of the working folder with one rule, and tell whether it was found or mended."""
    from cfgfix.core.records import replace
    from cfgfix.lint import runner

    request = runner.Request(paths=(name,), adjust=lambda settings: replace(settings, select=(rule,)))
    report = runner.fix(request) if fix else runner.check(request)
    found = (
        [applied.finding for file in report.files for applied in file.applied] if fix else report.findings()
    )
    return [finding.rule for finding in found] == [rule]


def measure(name: str, text: str, rule: str, *, fix: bool) -> Trip:
    """Make a trip in a folder of its own and return what it passes through."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        path = Path(folder) / name
        for _ in range(WARM_RUNS):
            path.write_text(text, encoding="utf-8")
            run(name, rule, fix=fix)
        path.write_text(text, encoding="utf-8")
        trip = Trip()
        sys.setprofile(trip)
        try:
            done = run(name, rule, fix=fix)
        finally:
            sys.setprofile(None)
        os.chdir(ROOT)
    if not done:
        sys.exit(f"{rule} was not told of {name}: there is no trip to measure")
    return trip


def top_level() -> dict[str, set[str]]:
    """Return the packages and modules of the top level, each with those that it imports from."""
    package = Path(PACKAGE)
    rooms = {
        path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    arrows: dict[str, set[str]] = {room: set() for room in rooms - {"__init__"}}
    for path in package.rglob("*.py"):
        own = path.relative_to(package).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_bytes())):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            for name in names:
                parts = name.split(".")
                if parts[0] == "cfgfix" and len(parts) > 1 and parts[1] in arrows and own in arrows:
                    arrows[own] |= {parts[1]} - {own}
    return arrows


def floors(arrows: dict[str, set[str]]) -> tuple[int, list[str]]:
    """Return how many floors there are, and what stands in a circle or above one."""
    floor: dict[str, int] = {}
    while ready := [room for room, others in arrows.items() if room not in floor and others <= floor.keys()]:
        floor |= {room: 1 + max((floor[other] for other in arrows[room]), default=0) for room in ready}
    return max(floor.values()), sorted(arrows.keys() - floor.keys())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--markdown", action="store_true", help="as a table for trips.md")
    parser.add_argument(
        "--arrows", action="store_true", help="also each call into another module, the most frequent first"
    )
    parser.add_argument(
        "--packages", action="store_true", help="what the top level is like, in place of the trips"
    )
    options = parser.parse_args()
    if options.packages:
        arrows = top_level()
        height, circles = floors(arrows)
        count = sum(len(others) for others in arrows.values())
        print(
            f"{len(arrows)} packages and modules, {height} floors, {count} arrows, in circles: {len(circles)}"
        )
        return
    with tempfile.TemporaryDirectory() as cache:
        os.environ["CFGFIX_CACHE_DIR"] = cache
        titles = ("trip", "functions", "module changes", "depth", "modules")
        line = "| {} | {} | {} | {} | {} |" if options.markdown else "{:<14} {:>10} {:>15} {:>6} {:>8}"
        print(line.format(*titles))
        if options.markdown:
            print("|---" * len(titles) + "|")
        for title, name, text, rule, fix in TRIPS:
            trip = measure(name, text, rule, fix=fix)
            print(line.format(title, len(trip.functions), trip.changes, trip.depth, trip.modules))
            if options.arrows:
                for (caller, called), times in trip.arrows.most_common():
                    print(f"    {times:4} {caller} -> {called}")


if __name__ == "__main__":
    main()
