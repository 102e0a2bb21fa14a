"""Time whole processes in turn, A B C A B C ..., and give ratios round by round.

On a shared machine only ratios of neighbours hold; every figure is a median over rounds.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "benchmarks" / ".peers"
"""Where the other tools' environments are kept; git ignores it."""
CORPUS = Path(os.environ.get("CFGFIX_SHARED") or ROOT.parent / "shared") / "corpus" / "configs"
"""Configs of public projects, where this machine has them."""
PINNED = {
    "yamllint": "yamllint==1.38.0",
    "check-jsonschema": "check-jsonschema==0.39.0",
    "fixit": "fixit==2.2.1",
    "torchfix": "torchfix==0.7.0",
    "ruff": "ruff==0.17.6",
    "tensorflow": "tensorflow==2.21.0",
}
"""The other tools, each at the version that figures are told for."""


@dataclass
class Command:
    """One command to be timed."""

    name: str
    argv: list[str]
    env: dict[str, str] = field(default_factory=dict)
    before: list[str] | Callable[[], object] | None = None
    """Run, or called, before each round, untimed."""
    ok: tuple[int, ...] = (0, 1)
    """Exit codes that mean it did its work."""


@dataclass
class Timing:
    """Wall and processor seconds of every round, and the largest memory seen."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    peak: list[float] = field(default_factory=list)
    """MiB. A process starts with what its parent had, so figures below that of this script say nothing."""


@dataclass
class Workload:
    """Commands that do the same work, to be timed in turn."""

    title: str
    commands: list[Command]
    rounds: int
    warmup: int = 1
    note: str = ""
    """What the work is made of, where that depends on what is at hand."""
    files: int = 0
    lines: int = 0
    """How much each command reads, where its speed is to be shown as well."""


def run_once(command: Command) -> tuple[float, float, float]:
    """Run a command once; return wall seconds, processor seconds and peak MiB of the process."""
    if callable(command.before):
        command.before()
    elif command.before:
        subprocess.run(command.before, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment.update(command.env)
    start = time.perf_counter()
    process = subprocess.Popen(
        command.argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    code = os.waitstatus_to_exitcode(status)
    process.returncode = code
    if code not in command.ok:
        raise SystemExit(f"{command.name} exited with {code}: {' '.join(command.argv)[:300]}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(commands: list[Command], rounds: int, warmup: int = 1) -> dict[str, Timing]:
    """Run all commands in turn, `rounds` times after `warmup` uncounted rounds."""
    timings = {command.name: Timing() for command in commands}
    for number in range(warmup + rounds):
        for command in commands:
            wall, cpu, peak = run_once(command)
            if number >= warmup:
                timing = timings[command.name]
                timing.wall.append(wall)
                timing.cpu.append(cpu)
                timing.peak.append(peak)
    return timings


def ratio(first: Timing, second: Timing, kind: str = "cpu") -> tuple[float, float, float]:
    """Return least, median and greatest ratio first/second over rounds."""
    pairs = [a / b for a, b in zip(getattr(first, kind), getattr(second, kind), strict=True)]
    return min(pairs), statistics.median(pairs), max(pairs)


def table(timings: dict[str, Timing], base: str) -> list[str]:
    """Return a Markdown table: medians, and the ratio of `base` to every other command."""
    rows = [
        "| command | CPU ms | wall ms | peak MiB | cfgfix / this, CPU (min-max) |",
        "|---|---|---|---|---|",
    ]
    for name, timing in timings.items():
        low, middle, high = ratio(timings[base], timing)
        share = "" if name == base else f"**{middle:.3f}** ({low:.3f}-{high:.3f})"
        rows.append(
            f"| {name} | {1000 * statistics.median(timing.cpu):.1f} | {1000 * statistics.median(timing.wall):.1f} | {max(timing.peak):.0f} | {share} |"
        )
    return rows


def rates(timings: dict[str, Timing], files: int, lines: int) -> list[str]:
    """Return a Markdown table of how many files and lines a second each command reads: of its CPU time, and by the clock."""
    rows = [
        "| command | files/s, CPU | lines/s, CPU | files/s, clock | lines/s, clock |",
        "|---|---|---|---|---|",
    ]
    for name, timing in timings.items():
        cpu, wall = statistics.median(timing.cpu), statistics.median(timing.wall)
        shown = " | ".join(f"{count / seconds:,.0f}" for seconds in (cpu, wall) for count in (files, lines))
        rows.append(f"| {name} | {shown} |")
    return rows


def environment(folder: Path, name: str, packages: list[str]) -> Path:
    """Return the bin folder of a peer's own virtual environment, made and compiled if it is not there."""
    place = folder / name
    binaries = place / "bin"
    if not (binaries / "python").exists():
        venv.create(place, with_pip=True)
    marker = place / ".installed"
    wanted = "\n".join(packages)
    if not marker.exists() or marker.read_text() != wanted:
        subprocess.run([str(binaries / "python"), "-m", "pip", "install", "-q", *packages], check=True)
        compiled(place)
        marker.write_text(wanted)
    return binaries


@cache
def own_environment(folder: Path) -> Path:
    """Return the bin folder of an environment with the wheel of this checkout, as it is when this is first asked for."""
    binaries = environment(folder, "cfgfix", ["build"])
    wheels = folder / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    python = str(binaries / "python")
    subprocess.run(
        [python, "-m", "build", "--wheel", "--outdir", str(wheels), str(ROOT)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    built = [str(path) for path in wheels.glob("*.whl")]
    install = [python, "-m", "pip", "install", "-q"]
    subprocess.run([*install, "--force-reinstall", "--no-deps", *built], check=True)
    subprocess.run([*install, *built], check=True)
    compiled(folder / "cfgfix")
    return binaries


def compiled(place: Path) -> None:
    """Compile what an environment holds, so that no run pays for that."""
    subprocess.run(
        [str(place / "bin" / "python"), "-m", "compileall", "-q", str(place / "lib")],
        check=False,
        env={key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"},
        stdout=subprocess.DEVNULL,
    )


def peer(folder: Path, name: str) -> Path:
    """Return the bin folder of the environment of one of the pinned tools."""
    return environment(folder, name, [PINNED[name]])


def cpu_model() -> str:
    """Return the name of this machine's CPU."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return "unknown CPU"


def machine() -> str:
    """Return one line about this machine."""
    return f"{os.cpu_count()} x {cpu_model()}, Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}"
