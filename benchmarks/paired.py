"""Time whole processes in turn, A B C A B C ..., and give ratios round by round.

On a shared machine only ratios of neighbours hold; every figure is a median over rounds.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
import venv
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Command:
    """One command to be timed."""

    name: str
    argv: list[str]
    env: dict[str, str] = field(default_factory=dict)
    before: list[str] | None = None
    """Run before each round, untimed."""
    ok: tuple[int, ...] = (0, 1)
    """Exit codes that mean it did its work."""


@dataclass
class Timing:
    """Wall and processor seconds of every round, and the largest memory seen."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    peak_mib: float = 0.0


def run_once(command: Command) -> tuple[float, float, float]:
    """Run a command once; return wall seconds, processor seconds and peak MiB of the process."""
    if command.before:
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
                timing.peak_mib = max(timing.peak_mib, peak)
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
            f"| {name} | {1000 * statistics.median(timing.cpu):.1f} | {1000 * statistics.median(timing.wall):.1f} | {timing.peak_mib:.0f} | {share} |"
        )
    return rows


def environment(folder: Path, name: str, packages: list[str]) -> Path:
    """Return the bin folder of a peer's own virtual environment, made and compiled if it is not there."""
    place = folder / name
    binaries = place / "bin"
    if not (binaries / "python").exists():
        venv.create(place, with_pip=True)
    marker = place / ".installed"
    if not marker.exists():
        subprocess.run([str(binaries / "python"), "-m", "pip", "install", "-q", *packages], check=True)
        clean = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        subprocess.run(
            [str(binaries / "python"), "-m", "compileall", "-q", str(place / "lib")],
            check=False,
            env=clean,
            stdout=subprocess.DEVNULL,
        )
        marker.write_text("")
    return binaries


def machine() -> str:
    """Return one line about this machine."""
    model = "unknown CPU"
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return f"{os.cpu_count()} x {model}, Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}"
