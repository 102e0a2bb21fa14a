"""Compare variants in turn, so that a busy machine hits all of them alike, and report ratios."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable

ROUNDS = int(os.environ.get("ROUNDS", "5"))
Variant = Callable[[], "float | None"]


def compare(title: str, variants: dict[str, Variant], rounds: int = ROUNDS) -> None:
    """Print the time of each variant and how many times as fast as the first it is.

    A variant may return the seconds to be counted; otherwise its whole call counts. The ratio of minima is the one to
    trust where other work disturbs the machine: nothing makes a run faster than it is.
    """
    for run in variants.values():
        run()
    times: dict[str, list[float]] = {name: [] for name in variants}
    for number in range(rounds):
        for name in variants if number % 2 == 0 else list(variants)[::-1]:
            start = time.perf_counter()
            inner = variants[name]()
            times[name].append(inner if inner is not None else time.perf_counter() - start)
    base = next(iter(times.values()))
    print(f"\n{title} ({rounds} rounds)")
    for name, values in times.items():
        paired = statistics.median(first / value for first, value in zip(base, values, strict=True))
        print(
            f"  {name:44s} {1000 * statistics.median(values):9.1f} ms   paired {paired:6.2f}   minima {min(base) / min(values):6.2f}"
        )
    sys.stdout.flush()


def fact(text: str, value: object) -> None:
    """Print something that is always so."""
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
