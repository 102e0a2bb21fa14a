"""Compare variants in turn, so that a busy machine hits all of them alike, and report ratios.

What is printed is also kept, table by table. Where the environment names a file in EVIDENCE_OUT, the tables are written
there as JSON when the script ends; `run.py` collects them.
"""

from __future__ import annotations

import atexit
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable

ROUNDS = int(os.environ.get("ROUNDS", "5"))
QUIET_SAMPLES = 3
"""Samples without other work that every variant should have; a table goes on past its rounds for them."""
QUIET_SHARE = 0.15
"""CPUs that others may use during a sample that counts as quiet."""
LONGEST = float(os.environ.get("LONGEST", "45"))
"""Seconds after which a table stops waiting for quiet samples."""
Variant = Callable[[], "float | None"]
TABLES: list[dict[str, object]] = []


def _write() -> None:
    path = os.environ.get("EVIDENCE_OUT")
    if path:
        with open(path, "w", encoding="utf-8") as stream:
            json.dump(TABLES, stream)


atexit.register(_write)


def busy_seconds() -> float:
    """Return the CPU seconds that all processes of the machine have used."""
    import psutil

    spent = psutil.cpu_times()
    return float(sum(spent) - spent.idle - getattr(spent, "iowait", 0.0))


def section(title: str) -> None:
    """Begin a table of facts."""
    TABLES.append({"title": title, "facts": []})
    print(f"\n{title}")


def compare(title: str, variants: dict[str, Variant], rounds: int = ROUNDS, *, waits: bool = False) -> None:
    """Print the time of each variant and how many times as fast as the first it is.

    Rounds beyond those asked for are run until every variant has a few samples that no other work disturbed, or the
    time is up; variants that mostly wait (`waits`) need none. A variant may return the seconds to be counted; otherwise its whole call counts. The ratio of minima is the one to
    trust where other work disturbs the machine: nothing makes a run faster than it is.
    """
    for run in variants.values():
        run()
    times: dict[str, list[float]] = {name: [] for name in variants}
    quiet = dict.fromkeys(variants, 0)
    began = time.perf_counter()
    number = 0
    while number < rounds or (min(quiet.values()) < QUIET_SAMPLES and time.perf_counter() - began < LONGEST):
        for name in variants if number % 2 == 0 else list(variants)[::-1]:
            busy, own, start = busy_seconds(), sum(os.times()[:4]), time.perf_counter()
            inner = variants[name]()
            elapsed = time.perf_counter() - start
            others = busy_seconds() - busy - (sum(os.times()[:4]) - own)
            quiet[name] += others < QUIET_SHARE * elapsed
            times[name].append(inner if inner is not None else elapsed)
        number += 1
    rounds = number
    base = next(iter(times.values()))
    print(f"\n{title} ({rounds} rounds)")
    rows: list[dict[str, object]] = []
    TABLES.append(
        {"title": title, "rounds": rounds, "quiet": min(quiet.values()), "waits": waits, "times": rows}
    )
    for name, values in times.items():
        paired = statistics.median(first / value for first, value in zip(base, values, strict=True))
        rows.append(
            {
                "name": name,
                "median_ms": round(1000 * statistics.median(values), 1),
                "paired": round(paired, 2),
                "minima": round(min(base) / min(values), 2),
            }
        )
        print(
            f"  {name:44s} {1000 * statistics.median(values):9.1f} ms   paired {paired:6.2f}   minima {min(base) / min(values):6.2f}"
        )
    sys.stdout.flush()


def fact(text: str, value: object) -> None:
    """Print something that is always so."""
    if not TABLES or "facts" not in TABLES[-1]:
        TABLES.append({"title": "facts", "facts": []})
    rows = TABLES[-1]["facts"]
    assert isinstance(rows, list)
    rows.append(
        {"name": text.strip(), "value": value if isinstance(value, (int, float, str)) else str(value)}
    )
    print(f"  {text}: {value}")


def outcome(call: Callable[[], object]) -> str:
    """Return `ok`, or the name of the error that a call raises."""
    try:
        call()
    except Exception as error:  # noqa: BLE001 - whatever is raised is the answer
        return type(error).__name__
    return "ok"


def drain(dataset: Iterable[object], step: float = 0.0) -> float:
    """Go through a data set, as long as a step takes at each element, and return the seconds."""
    start = time.perf_counter()
    for _ in dataset:
        if step:
            time.sleep(step)
    return time.perf_counter() - start


def memory_mb() -> float:
    """Return the resident memory of this process in MB."""
    import psutil

    return float(psutil.Process().memory_info().rss) / 1e6
