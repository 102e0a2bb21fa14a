"""What scanning Python costs: cold and unchanged, beside other tools on the same files.

    python benchmarks/scan.py PROJECT [PROJECT ...] [--tensorflow] [--fixers] [--peers FOLDER] [--rounds N]

For each command: CPU and wall time, peak memory, the ratio of cfgfix to it, and the files and lines it reads in a second.
`--tensorflow` adds TensorFlow's own Python tree, taken out of its wheel. `--fixers` adds Fixit and TorchFix on the first
project; TorchFix on a copy that says `torch` for `tensorflow`, since it reads no other files, and on the files as they are.
Every tool runs from its own virtual environment with compiled bytecode; cfgfix from its wheel. CPU seconds (user
and system, children included) are what is compared, since a busy machine stretches the clock and not the work.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import paired
from paired import PINNED, Command, Workload, machine, measure, own_environment, peer, rates, table

READING = "import sys, pathlib\nfor p in pathlib.Path(sys.argv[1]).rglob('*.py'):\n    p.read_bytes()"
LISTING = "import os, sys\nfor f, _, names in os.walk(sys.argv[1]):\n    for n in names:\n        os.stat(os.path.join(f, n))"
PARSING = """import gc, pathlib, sys, warnings
gc.disable()
warnings.simplefilter("ignore")
for p in pathlib.Path(sys.argv[1]).rglob("*.py"):
    try:
        compile(p.read_bytes(), str(p), "exec", 0x400, True)
    except (SyntaxError, ValueError):
        pass
"""
ONE_RULE = '[tool.fixit]\nroot = true\nenable = ["fixit.rules:NoNamedTuple"]\ndisable = ["fixit.rules"]\n'
MODULE = '''"""Module {number}."""

import tensorflow as tf


def load_{number}(path):
    {text}
    return tf.numpy_function(read_{number}, [path], tf.float32)


def read_{number}(path):
    return path


def make_{number}(files, batch):
    {text}
    data = tf.data.Dataset.from_tensor_slices(files)
    data = data.map(load_{number})
    return data.batch(batch)
'''
"""A module with findings; `text` is a comment and a docstring of any length."""


def size_of(folder: Path) -> tuple[int, int]:
    """Return the number of Python files below a folder, and of their lines."""
    files = lines = 0
    for path in folder.rglob("*.py"):
        if ".git" not in path.parts:
            files += 1
            with path.open("rb") as stream:
                lines += sum(1 for _ in stream)
    return files, lines


def tensorflow_tree(peers: Path, into: Path) -> Path:
    """Return TensorFlow's own Python tree, taken out of its wheel once and copied to where no tool passes it over."""
    place = peers / "tensorflow-tree"
    marker = place / ".version"
    if not marker.exists() or marker.read_text() != PINNED["tensorflow"]:
        shutil.rmtree(place, ignore_errors=True)
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
            subprocess.run([*command, "-d", folder, PINNED["tensorflow"]], check=True)
            (wheel,) = Path(folder).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                for name in archive.namelist():
                    if name.startswith("tensorflow/") and name.endswith(".py"):
                        archive.extract(name, place)
        marker.write_text(PINNED["tensorflow"])
    shutil.copytree(place / "tensorflow", into / "tensorflow")
    return into / "tensorflow"


def modules(count: int, repeated: int, into: Path) -> Path:
    """Write modules that do the same, with a comment and a docstring of so many lines in each function."""
    into.mkdir()
    line = "What this function does is told here at some length, in one line of many."
    text = f'"""{line}"""' + f"\n    # {line}" * repeated
    for number in range(count):
        source = MODULE.format(number=number, text=text)
        (into / f"module_{number:03d}.py").write_text(source, encoding="utf-8")
    return into


class Scan:
    """The commands over one folder of Python code, each with what it needs done before it."""

    def __init__(self, folder: Path, place: Path, peers: Path, own: Path) -> None:
        self.folder, self.peers, self.own = str(folder), peers, own
        self.place = place / f"scan-{folder.name}"
        self.place.mkdir()
        self.cache = self.place / "cache"
        self.env = {"CFGFIX_CACHE_DIR": str(self.cache), "CFGFIX_JOBS": "1"}
        self.files, self.lines = size_of(folder)
        self._forget()
        command = [str(own / "cfgfix"), "check", "--isolated", self.folder]
        told = subprocess.run(
            command, check=False, capture_output=True, text=True, env={**os.environ, **self.env}
        )
        read = re.search(r"(\d+) Python files?", told.stdout)
        if read is None or int(read[1]) < 0.9 * self.files:
            raise SystemExit(f"cfgfix reads {read and read[1]} of {self.files} Python files of {folder}")

    def _check(self, form: str = "json") -> list[str]:
        return [str(self.own / "cfgfix"), "check", "--isolated", "--output-format", form, self.folder]

    def _forget(self) -> None:
        shutil.rmtree(self.cache, ignore_errors=True)
        self.cache.mkdir()

    def _settle(self) -> None:
        """Check once more, long enough after the files were written that the answer may be kept."""
        time.sleep(1.1)
        paired.run_once(Command("cfgfix", self._check(), self.env))

    def cold(self) -> Command:
        return Command("cfgfix, cold", self._check(), self.env, before=self._forget)

    def cold_in_two(self) -> Command:
        env = {**self.env, "CFGFIX_JOBS": "2"}
        return Command("cfgfix, cold, two processes", self._check(), env, before=self._forget)

    def other_output(self) -> Command:
        """What is found is known; it is only shown in another form."""
        return Command("cfgfix, other output", self._check("jsonl"), self.env)

    def other_rules(self) -> Command:
        """Without one of the rules: no answer can be repeated, what was summarised in this round's cold scan is used."""
        return Command("cfgfix, summaries known", [*self._check(), "--ignore", "TFD001"], self.env)

    def unchanged(self) -> Command:
        return Command("cfgfix, unchanged", self._check(), self.env, before=self._settle)

    def script(self, name: str, text: str) -> Command:
        return Command(name, [str(self.own / "python"), "-c", text, self.folder])

    def ruff(self) -> list[Command]:
        tool = [str(peer(self.peers, "ruff") / "ruff"), "check", "--isolated"]
        cached = [*tool, "--cache-dir", str(self.place / "ruff"), self.folder]
        return [
            Command("ruff, uncached", [*tool, "--no-cache", self.folder]),
            Command("ruff, cached", cached, before=cached),
        ]

    def fixers(self) -> list[Command]:
        settings = self.place / "pyproject.toml"
        settings.write_text(ONE_RULE, encoding="utf-8")
        fixit = [
            str(peer(self.peers, "fixit") / "fixit"),
            "--config-file",
            str(settings),
            "lint",
            self.folder,
        ]
        torchfix = [str(peer(self.peers, "torchfix") / "torchfix"), "--select=ALL"]
        return [
            Command("Fixit with one rule", fixit),
            Command("TorchFix", [*torchfix, str(self._as_torch())]),
            Command("TorchFix, files as they are", [*torchfix, self.folder]),
        ]

    def _as_torch(self) -> Path:
        """Return a copy of the Python files that speaks of `torch` where they speak of `tensorflow`.

        TorchFix reads only files in which that word stands; without it there is nothing to compare.
        """
        copy = self.place / "as-torch"
        for path in Path(self.folder).rglob("*.py"):
            if ".git" not in path.parts and path.is_file():
                place = copy / path.relative_to(self.folder)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(path.read_bytes().replace(b"tensorflow", b"torch"))
        return copy

    def note(self) -> str:
        return f"{self.files:,} files, {self.lines:,} lines"

    def all(self, title: str, rounds: int, *, both: bool = True) -> Workload:
        """Everything; `both` adds the scan in two processes, which shows why one is the default."""
        floors = [
            self.script("listing the files", LISTING),
            self.script("reading the files", READING),
            self.script("Python's parser alone", PARSING),
        ]
        in_two = [self.cold_in_two()] if both else []
        known = [self.other_output(), self.other_rules(), self.unchanged()]
        commands = [self.cold(), *in_two, *known, *floors, *self.ruff()]
        return Workload(title, commands, rounds, 0, self.note(), self.files, self.lines)


NAMES = ("scan", "usage", "fixers", "tensorflow", "memory-code")


OF_PROJECT = frozenset({"scan", "usage", "fixers"})
"""What needs a project to read."""


def with_configs(reference: Path, place: Path, peers: Path, own: Path, rounds: int) -> Workload:
    """Return what a project takes with its configs: all of it cold, and its largest YAML file changed."""
    folder = place / "project"
    shutil.copytree(reference, folder, ignore=shutil.ignore_patterns(".git", "__pycache__"))
    (folder / ".git").mkdir()
    config = max(
        (path for path in folder.rglob("*.y*ml") if not path.relative_to(folder).parts[0].startswith(".")),
        key=lambda path: path.stat().st_size,
    )
    text = config.read_text(encoding="utf-8")
    scan = Scan(folder, place, peers, own)
    cold = Command("cfgfix with configs, cold", [*scan._check()], scan.env, before=scan._forget)
    number = 0

    def change() -> None:
        nonlocal number
        number += 1
        config.write_text(re.sub(r"(: )(\d)", rf"\g<1>{number}\2", text, count=1), encoding="utf-8")
        # What was written this second is not taken for unchanged.
        time.sleep(1.1)

    return Workload(
        f"Configs and Python of {reference.name}",
        [
            cold,
            scan.script("Python's parser alone", PARSING),
            Command(
                "cfgfix, one config changed",
                [str(own / "cfgfix"), "check", "--isolated", str(config)],
                scan.env,
                before=change,
            ),
            Command("yamllint", [str(peer(peers, "yamllint") / "yamllint"), str(config)]),
        ],
        rounds,
        0,
        f"{scan.note()}; the config is {config.relative_to(folder)}, {text.count(chr(10)):,} lines",
    )


def workloads(
    place: Path, peers: Path, reference: Path | None, rounds: int, only: str | None = None
) -> Iterator[tuple[str, Workload]]:
    """Yield what is to be timed, made in `place`; what needs a project to read is left out where there is none."""
    wanted = [name for name in NAMES if only in (None, name) and (reference or name not in OF_PROJECT)]
    if not wanted:
        return
    own = own_environment(peers)
    few = max(3, rounds // 3)
    if reference and "usage" in wanted:
        yield "usage", with_configs(reference, place, peers, own, few)
    if reference and {"scan", "fixers"} & set(wanted):
        scan = Scan(reference.resolve(), place, peers, own)
        if "scan" in wanted:
            yield "scan", scan.all(f"Python of {reference.name}", few)
        if "fixers" in wanted:
            commands = [scan.cold(), *scan.fixers()]
            yield (
                "fixers",
                Workload(
                    f"Python of {reference.name}, beside Fixit and TorchFix", commands, 3, 0, scan.note()
                ),
            )
    if "tensorflow" in wanted:
        tree = Scan(tensorflow_tree(peers, place), place, peers, own)
        yield "tensorflow", tree.all("TensorFlow's own Python tree", 3, both=False)
    if "memory-code" in wanted:
        count = 300
        plain = Scan(modules(count, 1, place / "modules"), place, peers, own)
        larger = Scan(modules(count, 200, place / "modules-with-more-text"), place, peers, own)
        times = larger.lines // plain.lines
        more = larger.cold()
        more.name = "cfgfix, cold, more text"
        yield (
            "memory-code",
            Workload(
                f"Memory: {count} modules, and the same with {times} times the lines",
                [plain.cold(), more],
                few,
                note="modules of one pipeline each; the text that is added is comments",
            ),
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("projects", nargs="*", type=Path)
    parser.add_argument("--tensorflow", action="store_true")
    parser.add_argument("--fixers", action="store_true")
    parser.add_argument("--peers", type=Path, default=paired.PEERS)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory(prefix="cfgfix-scan-") as folder:
        place = Path(folder)
        own = own_environment(options.peers)
        works = []
        for number, project in enumerate(options.projects):
            scan = Scan(project.resolve(), place, options.peers, own)
            works.append(scan.all(project.name, options.rounds))
            if options.fixers and number == 0:
                commands = [scan.cold(), *scan.fixers()]
                works.append(
                    Workload(project.name, commands, options.rounds, 0, scan.note(), scan.files, scan.lines)
                )
        if options.tensorflow:
            tree = Scan(tensorflow_tree(options.peers, place), place, options.peers, own)
            works.append(tree.all("TensorFlow", options.rounds))
        os.chdir(place)
        for work in works:
            print(f"\n{work.title}: {work.note}", flush=True)
            timings = measure(work.commands, work.rounds, work.warmup)
            print("\n".join(table(timings, work.commands[0].name)), flush=True)
            print("\n" + "\n".join(rates(timings, work.files, work.lines)), flush=True)


if __name__ == "__main__":
    main()
