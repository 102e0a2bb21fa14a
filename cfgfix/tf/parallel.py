"""Run one function over many items: serially, in threads, or in processes, as its share of the GIL makes worth it.

TensorFlow is not imported here. Worker processes are fresh interpreters that import the function by name: the caller's
main module is not run again, as it would be by `spawn`, and no TensorFlow runtime is forked.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import struct
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from cfgfix.core.errors import CfgfixError

if TYPE_CHECKING:
    import subprocess

MODES = ("auto", "serial", "threads", "processes")

SAMPLE_SECONDS = 0.05
"""A sample for measuring is at least this long, so that the scheduler's slices (some milliseconds) weigh little."""

PAIRS = 3
"""Pairs of runs that are measured; the shortest of each kind count, for a busy machine only ever makes a run longer."""

START_SECONDS = 0.5
"""What a worker process costs before its first result; benchmarks/runtime.py measures it. Less work than this in all is
done serially."""

CHUNK_SECONDS = 0.05
"""Work handed out at a time: long against a pipe's round trip (some 0.1 ms), short against the whole."""


@dataclass(frozen=True, slots=True)
class Way:
    """How work was spread over threads or processes, and why.

    Attributes:
        mode: `serial`, `threads` or `processes`.
        workers: Threads, or processes besides this one.
        gil_share: Share of its time in which the function holds the GIL, from 0 to 1; None where it was not measured.
        item_seconds: Seconds for one item, or None.
        reason: What decided it.
    """

    mode: str
    workers: int
    gil_share: float | None
    item_seconds: float | None
    reason: str


def measure_gil_share(function: Callable[[Any], Any], sample: Sequence[Any]) -> float:
    """Measure the share of its time for which a function holds the GIL.

    It lies between 0 (never) and 1 (always). The sample is run by one thread, then by two at once, each on its own.
    If the GIL is free both finish in the time of one; if it is held they take twice as long.

    Args:
        function: A function of one item.
        sample: Items to run it on.
    """
    alone: list[float] = []
    both: list[float] = []
    for _ in range(PAIRS):
        started = time.perf_counter()
        for item in sample:
            function(item)
        alone.append(time.perf_counter() - started)
        both.append(_time_two_threads(function, sample))
    return min(1.0, max(0.0, min(both) / max(min(alone), 1e-9) - 1.0))


def _time_two_threads(function: Callable[[Any], Any], sample: Sequence[Any]) -> float:
    gate = threading.Barrier(3)
    failures: list[BaseException] = []

    def run() -> None:
        gate.wait()
        try:
            for item in sample:
                function(item)
        except BaseException as error:  # noqa: BLE001 - it is raised again where the caller is
            failures.append(error)

    threads = [threading.Thread(target=run, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    gate.wait()
    started = time.perf_counter()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return time.perf_counter() - started


def map_parallel(
    function: Callable[[Any], Any], items: Sequence[Any], *, workers: int | None = None, mode: str = "auto"
) -> tuple[list[Any], Way]:
    """Return a function's results for all items, and how the work was spread.

    The results are in the order of the items.

    Args:
        function: A function of one item. For processes it must be importable by name and its results must be plain.
        items: The items.
        workers: How many run at once; by default the usable CPUs.
        mode: `auto` decides by measuring; else `serial`, `threads` or `processes`.

    Raises:
        CfgfixError: There is no such mode, or processes are asked for and cannot run this function.
        Exception: What the function raises, from wherever it ran.

    >>> map_parallel(len, ["a", "bb"])[0]
    [1, 2]
    """
    if mode not in MODES:
        raise CfgfixError(f"there is no mode {mode!r}", hint=f"known: {', '.join(MODES)}")
    if workers is None:
        from cfgfix.hardware.cpu import read_cpu

        workers = read_cpu("/", os.environ).cpu.workers() or 1
    elif workers < 1:
        raise CfgfixError("workers must be at least 1")
    if mode == "serial":
        return [function(item) for item in items], Way("serial", 1, None, None, "asked for")
    if mode == "threads":
        return _map_by_threads(function, items, workers), Way("threads", workers, None, None, "asked for")
    if mode == "processes":
        obstacle = _why_not_sendable(function)
        if obstacle:
            raise CfgfixError(f"worker processes cannot run this function: {obstacle}", hint="use threads")
        return _map_by_processes(function, items, [], workers, None), Way(
            "processes", workers - 1, None, None, "asked for"
        )
    done: list[Any] = []
    started = time.perf_counter()
    while len(done) < len(items) and time.perf_counter() - started < SAMPLE_SECONDS:
        done.append(function(items[len(done)]))
    if len(done) == len(items):
        return done, Way("serial", 1, None, None, "done before anything could be measured")
    each = (time.perf_counter() - started) / len(done)
    left = (len(items) - len(done)) * each
    if workers == 1 or left < START_SECONDS:
        reason = (
            "one usable CPU" if workers == 1 else f"{left:.2f} s of work are less than starting workers costs"
        )
        return done + [function(item) for item in items[len(done) :]], Way("serial", 1, None, each, reason)
    share = measure_gil_share(function, items[: len(done)])
    threaded = left * (share + (1.0 - share) / workers)
    spread = left / workers + START_SECONDS / workers
    obstacle = "" if threaded <= spread else _why_not_sendable(function)
    if threaded <= spread or (obstacle and share < 0.9):
        rest = _map_by_threads(function, items[len(done) :], workers)
        return done + rest, Way(
            "threads", workers, share, each, f"it holds the GIL for {share:.0%} of its time"
        )
    if obstacle:
        rest = [function(item) for item in items[len(done) :]]
        reason = f"it holds the GIL for {share:.0%} of its time, and {obstacle}"
        return done + rest, Way("serial", 1, share, each, reason)
    made = _map_by_processes(function, items, done, workers, each)
    return made, Way("processes", workers - 1, share, each, f"it holds the GIL for {share:.0%} of its time")


def _map_by_threads(function: Callable[[Any], Any], items: Sequence[Any], workers: int) -> list[Any]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(function, items))


def _why_not_sendable(function: Callable[[Any], Any]) -> str:
    """Return why a function cannot be sent to a fresh process, or an empty text."""
    module = getattr(function, "__module__", None) or type(function).__module__
    if module == "__main__":
        return "it is defined in the main program, which workers do not run; move it to a module"
    try:
        text = pickle.dumps(function)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        return f"it cannot be sent to another process: {error}"
    return "it refers to the main program; move it to a module" if b"__main__" in text else ""


def _chunk_bounds(start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    for first in range(start, end, size):
        yield first, min(end, first + size)


def _map_by_processes(
    function: Callable[[Any], Any], items: Sequence[Any], done: list[Any], workers: int, each: float | None
) -> list[Any]:
    """Return the function's results for all items, computed by several processes.

    This process works from the front while the others start and then work from the back: no slower than serial
    meanwhile.
    """
    results: list[Any] = [*done, *[None] * (len(items) - len(done))]
    size = 64 if each is None else max(1, min(1024, int(CHUNK_SECONDS / max(each, 1e-9))))
    waiting = deque(_chunk_bounds(len(done), len(items), size))
    failures: list[BaseException] = []
    stop = threading.Event()
    helpers = [
        threading.Thread(
            target=_feed_worker, args=(function, items, results, waiting, failures, stop), daemon=True
        )
        for _ in range(workers - 1)
    ]
    for helper in helpers:
        helper.start()
    try:
        while not failures:
            try:
                first, end = waiting.popleft()
            except IndexError:
                if not any(helper.is_alive() for helper in helpers) and not waiting:
                    break
                time.sleep(0.002)
                continue
            for index in range(first, end):
                results[index] = function(items[index])
    finally:
        stop.set()
        for helper in helpers:
            helper.join()
    if failures:
        raise failures[0]
    return results


def _feed_worker(
    function: Callable[[Any], Any],
    items: Sequence[Any],
    results: list[Any],
    waiting: deque[tuple[int, int]],
    failures: list[BaseException],
    stop: threading.Event,
) -> None:
    """Give one worker process work until none is left, and keep its results.

    Work of a worker that dies goes back to the others.
    """
    chunk: tuple[int, int] | None = None
    try:
        with _worker_process() as process:
            if process.stdin is None or process.stdout is None:
                return
            _send_object(process.stdin, function)
            while not stop.is_set() and not failures:
                try:
                    chunk = waiting.pop()
                except IndexError:
                    return
                _send_object(process.stdin, list(items[chunk[0] : chunk[1]]))
                good, answer = _receive_object(process.stdout)
                if not good:
                    failures.append(answer)
                    return
                results[chunk[0] : chunk[1]] = answer
                chunk = None
    except (OSError, EOFError, pickle.UnpicklingError):
        if chunk is not None:
            waiting.append(chunk)


@contextlib.contextmanager
def _worker_process() -> Iterator[subprocess.Popen[bytes]]:
    import subprocess

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", "from cfgfix.tf.parallel import serve; serve()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    )
    try:
        yield process
    finally:
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _send_object(stream: BinaryIO | Any, value: Any) -> None:
    body = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    stream.write(struct.pack("<Q", len(body)))
    stream.write(body)
    stream.flush()


def _receive_object(stream: BinaryIO | Any) -> Any:
    head = stream.read(8)
    if len(head) < 8:
        raise EOFError
    (length,) = struct.unpack("<Q", head)
    body = stream.read(length)
    if len(body) < length:
        raise EOFError
    return pickle.loads(body)  # noqa: S301 - a pipe between this program and a process that it started


def serve() -> None:
    """Run as a worker: read a function, then answer lists of items with results.

    The worker ends when the pipe does.
    """
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the function prints must not get between the answers
    questions = os.fdopen(os.dup(0), "rb")
    sys.stdin = io.StringIO()
    with contextlib.suppress(EOFError, BrokenPipeError):
        function = _receive_object(questions)
        while True:
            items = _receive_object(questions)
            try:
                answer: tuple[bool, Any] = True, [function(item) for item in items]
                body = pickle.dumps(answer)
            except Exception as error:  # noqa: BLE001 - it is raised again where the caller is
                body = _packed_failure(error)
            answers.write(struct.pack("<Q", len(body)))
            answers.write(body)
            answers.flush()


def _packed_failure(error: Exception) -> bytes:
    try:
        body = pickle.dumps((False, error))
        pickle.loads(body)  # noqa: S301 - made one line above; not every exception survives the way back
    except Exception:  # noqa: BLE001 - then its text must do
        body = pickle.dumps((False, CfgfixError(f"a worker failed: {type(error).__name__}: {error}")))
    return body
