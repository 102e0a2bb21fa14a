"""Two devices at work at once: one prepares batches while the other runs the step.

A thread prepares batches on one device and puts them into a bounded queue; the caller takes them out and runs the step on
the other device. Exceptions and the end of the data cross the queue; nothing is left running when the loop is left.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from cfgfix.core.errors import CfgfixError
from cfgfix.tf.concepts import Config, read_concepts

if TYPE_CHECKING:
    from typing_extensions import Self

    from cfgfix.tf.runtime import Applied

TRIPLE = 3
"""Buffers by default: one in use, one ready, one being filled."""

KEPT = 10_000
"""Timings that are kept; older ones are dropped, so that memory stays bounded in a long run."""

_POLL_SECONDS = 0.05
"""How often a waiting thread looks whether it should stop."""

JOIN_SECONDS = 10.0
"""How long `close` waits for the batch that is being prepared; a function that hangs cannot be stopped from outside."""


@dataclass(frozen=True, slots=True)
class Timing:
    """One batch on its way, in seconds of `time.perf_counter`.

    `wait_end` to `step_end` is the caller's own time with the batch: from getting it to asking for the next.
    """

    source_start: float
    prepare_start: float
    prepare_end: float
    wait_start: float
    wait_end: float
    step_end: float


@dataclass(frozen=True, slots=True)
class Report:
    """The times of the two stages; times in milliseconds are medians.

    Attributes:
        batches: Batches that went through and are counted.
        source_ms: Getting a batch from the source.
        prepare_ms: Preparing it on the one device.
        wait_ms: What the step's side waited for it.
        step_ms: The step.
        overlap: Share of the preparing that happened while a step ran, 0 to 1: 0 means that the two take turns. It cannot
            be 1 where preparing takes longer than the step.
        wall_s: From the first source to the end of the last step.
        work_s: Time of all preparing and all steps together: what taking turns would cost at least.
        verdict: `preparing`, `step` or `balanced`: which side is the slower one.
        buffers: Buffers of the queue.
        devices: The device that prepares and the one that runs the step.
    """

    batches: int
    source_ms: float
    prepare_ms: float
    wait_ms: float
    step_ms: float
    overlap: float
    wall_s: float
    work_s: float
    verdict: str
    buffers: int
    devices: tuple[str, str]

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "batches": self.batches,
            "source_ms": self.source_ms,
            "prepare_ms": self.prepare_ms,
            "wait_ms": self.wait_ms,
            "step_ms": self.step_ms,
            "overlap": self.overlap,
            "wall_s": self.wall_s,
            "work_s": self.work_s,
            "verdict": self.verdict,
            "buffers": self.buffers,
            "devices": list(self.devices),
        }


class _DataEnd:
    """The end of the data, or the exception that ended it."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


class _SharedState:
    """The state shared by the thread and the pipeline.

    The thread holds no reference to the pipeline, so that the pipeline can be dropped.
    """

    def __init__(self, buffers: int) -> None:
        self.ready: queue.Queue[Any] = queue.Queue()
        # A permit is one buffer: taken before a batch is prepared, given back when the step is done with it.
        self.permits = threading.Semaphore(buffers)
        self.stop = threading.Event()


def _device_scope(device: str | None) -> Any:
    return tf.device(f"/{device}") if device else contextlib.nullcontext()


def _known_device(device: str | None) -> str | None:
    if device is None:
        return None
    name = device.removeprefix("/").removeprefix("device:").upper()
    names = [item.name.removeprefix("/device:") for item in tf.config.list_logical_devices()]
    if name not in names:
        raise CfgfixError(f"there is no device {device!r}", hint=f"there are: {', '.join(names)}")
    return name


def _wait_for(value: Any) -> None:
    """Wait until tensors are computed, by reading one number of a result.

    A GPU only queues work.
    """
    for part in tf.nest.flatten(value):
        if isinstance(part, tf.Tensor) and "GPU" in part.device and part.shape.num_elements() != 0:
            tf.reshape(part, [-1])[:1].numpy()


def _call_on_device(function: Callable[..., Any], device: str | None, item: Any) -> Any:
    with _device_scope(device):
        return function(*item) if isinstance(item, tuple) else function(item)


def _copied_to_device(value: Any, device: str | None) -> Any:
    if device is None:
        return value
    with _device_scope(device):
        return tf.nest.map_structure(tf.identity, value)


def _produce_items(
    shared: _SharedState,
    source: Iterator[Any],
    prepare: Callable[..., Any],
    device: str | None,
    target: str | None,
) -> None:
    try:
        while True:
            while not shared.permits.acquire(timeout=_POLL_SECONDS):
                if shared.stop.is_set():
                    return
            if shared.stop.is_set():
                return
            source_start = time.perf_counter()
            try:
                item = next(source)
            except StopIteration:
                shared.ready.put(_DataEnd())
                return
            prepare_start = time.perf_counter()
            made = _copied_to_device(_call_on_device(prepare, device, item), target)
            _wait_for(made)
            shared.ready.put((made, source_start, prepare_start, time.perf_counter()))
            del item, made
    except BaseException as error:  # noqa: BLE001 - it is raised again on the caller's side
        shared.ready.put(_DataEnd(error))


class DevicePipeline:
    """Prepares batches on one device while the caller's step runs on another.

    Args:
        source: A tf.data.Dataset or any iterable of batches; iterated once for each loop over the pipeline.
        prepare: What is done to a batch on the first device; a tuple is passed as several arguments. Make it a tf.function:
            Python code in it takes the GIL from the step's side.
        prepare_device: Where, such as `GPU:0`; None leaves it to TensorFlow.
        step_device: Where the step runs; results are copied there before they wait. None: no copy.
        buffers: Batches that exist at a time, the one in use and the one being prepared included: the bound on memory.
        config: Concepts or a YAML file: `data_gpu` and `model_gpu` name the devices where `applied` tells their names, and
            `device_buffer` the number of buffers.
        applied: What `configure` returned.

    Raises:
        CfgfixError: A device does not exist, or there is no buffer.

    >>> with DevicePipeline(tf.data.Dataset.range(4), lambda x: x * 2, prepare_device="CPU:0") as batches:
    ...     [int(batch) for batch in batches]
    [0, 2, 4, 6]
    """

    def __init__(
        self,
        source: Iterable[Any],
        prepare: Callable[..., Any],
        *,
        prepare_device: str | None = None,
        step_device: str | None = None,
        buffers: int | None = None,
        config: Config = None,
        applied: Applied | None = None,
    ) -> None:
        concepts = read_concepts(config)
        roles = dict(applied.plan.roles or {}) if applied is not None else {}
        for role, name in (("data", "data_gpu"), ("model", "model_gpu")):
            if concepts.raw(name) is not None and role not in roles:
                raise CfgfixError(
                    f"{concepts.place(name)} needs the answer of configure, which knows what that GPU is called now",
                    hint="pass applied=configure(config)",
                )
        self.prepare_device = _known_device(prepare_device or roles.get("data"))
        self.step_device = _known_device(step_device or roles.get("model"))
        wanted = concepts.whole("device_buffer", buffers, least=1)
        self.buffers = TRIPLE if wanted is None else wanted
        self._source = source
        self._prepare = prepare
        self._shared: _SharedState | None = None
        self._thread: threading.Thread | None = None
        self._finalizer: weakref.finalize[Any, Any] | None = None
        self._timings: deque[Timing] = deque(maxlen=KEPT)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        """Yield prepared batches; leaving the loop early stops the thread.

        The batches lie on the step's device, but TensorFlow runs what the loop does on its default device: put the step
        under `with tf.device(pipeline.step_device)`, or use `run`.

        Raises:
            CfgfixError: Another loop over this pipeline is still running.
            Exception: What the source or `prepare` raised, after the batches before it.
        """
        if self._thread is not None:
            raise CfgfixError("a loop over this pipeline is still running", hint="leave it, or call close()")
        shared = _SharedState(self.buffers)
        self._shared = shared
        self._thread = threading.Thread(
            target=_produce_items,
            args=(shared, iter(self._source), self._prepare, self.prepare_device, self.step_device),
            name="cfgfix-prepare",
            daemon=True,
        )
        # A pipeline that is dropped, or a program that ends within the loop, still lets the thread end.
        self._finalizer = weakref.finalize(self, _stop_thread, shared, self._thread)
        self._thread.start()
        return self._batches_from_thread(shared, self._thread)

    def _batches_from_thread(self, shared: _SharedState, thread: threading.Thread) -> Iterator[Any]:
        try:
            while True:
                wait_start = time.perf_counter()
                answer = self._take_item(shared, thread)
                wait_end = time.perf_counter()
                if isinstance(answer, _DataEnd):
                    if answer.error is not None:
                        raise answer.error
                    return
                batch, source_start, prepare_start, prepare_end = answer
                del answer
                try:
                    yield batch
                finally:
                    # A loop that is left has ended its step too.
                    step_end = time.perf_counter()
                    self._timings.append(
                        Timing(source_start, prepare_start, prepare_end, wait_start, wait_end, step_end)
                    )
                    del batch
                    shared.permits.release()
        finally:
            if self._shared is shared:
                self.close()

    @staticmethod
    def _take_item(shared: _SharedState, thread: threading.Thread) -> Any:
        while True:
            try:
                return shared.ready.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                if shared.stop.is_set():
                    return _DataEnd()
                if not thread.is_alive() and shared.ready.empty():
                    return _DataEnd(CfgfixError("the preparing thread ended without a word"))

    def run(self, step: Callable[..., Any], *, limit: int | None = None) -> Report:
        """Run a step for every batch and return the times of the stages.

        Args:
            step: A function of a batch (a tuple is passed as several arguments), run on the step's device. Its result is
                waited for, so that times are those of work and not of queueing it.
            limit: Steps at most.
        """
        batches = iter(self)
        try:
            for count, batch in enumerate(batches, start=1):
                _wait_for(_call_on_device(step, self.step_device, batch))
                if count == limit:
                    break
        finally:
            close = getattr(batches, "close", None)
            if close is not None:
                close()
        return self.report()

    def parts(self, step: Callable[..., Any]) -> tuple[Iterable[Any], list[tuple[str, Callable[[Any], Any]]]]:
        """Return the source and the two stages as functions, each placed on its device.

        `cfgfix profile devices --pipeline` runs them.

        Args:
            step: A function of a batch (a tuple is passed as several arguments).

        >>> source, stages = DevicePipeline(range(2), lambda x: x + 1, prepare_device="CPU:0").parts(lambda x: x * 10)
        >>> [name for name, _ in stages], [stages[1][1](stages[0][1](item)) for item in source]
        (['prepare on CPU:0', 'step'], [10, 20])
        """

        def prepared(item: Any) -> Any:
            return _copied_to_device(
                _call_on_device(self._prepare, self.prepare_device, item), self.step_device
            )

        def stepped(batch: Any) -> Any:
            return _call_on_device(step, self.step_device, batch)

        return self._source, [
            (f"prepare on {self.prepare_device}" if self.prepare_device else "prepare", prepared),
            (f"step on {self.step_device}" if self.step_device else "step", stepped),
        ]

    def close(self) -> None:
        """Stop the thread and wait for it; prepared batches are dropped.

        Calling it twice does no harm.

        Raises:
            CfgfixError: The batch being prepared did not end in time; its thread stays behind.
        """
        shared, thread, finalizer = self._shared, self._thread, self._finalizer
        self._shared = self._thread = self._finalizer = None
        if shared is None or thread is None:
            return
        if finalizer is not None:
            finalizer.detach()
        _stop_thread(shared, thread)
        if thread is not threading.current_thread() and thread.is_alive():
            raise CfgfixError(f"the batch being prepared has not ended within {JOIN_SECONDS:g} s of closing")

    @property
    def timings(self) -> tuple[Timing, ...]:
        """The latest batches' timings, at most `KEPT`."""
        return tuple(self._timings)

    def report(self) -> Report:
        """Return the times of the stages so far.

        Raises:
            CfgfixError: No batch has gone through yet.
        """
        import numpy as np

        rows = np.array(
            [
                (
                    row.source_start,
                    row.prepare_start,
                    row.prepare_end,
                    row.wait_start,
                    row.wait_end,
                    row.step_end,
                )
                for row in self._timings
            ]
        )
        if not len(rows):
            raise CfgfixError("no batch has gone through the pipeline yet")
        source, start, end, wait, got, done = rows.T
        preparing, steps = end - start, done - got
        together = float(
            np.sum(
                [
                    np.clip(np.minimum(done, stop) - np.maximum(got, begin), 0, None).sum()
                    for begin, stop in zip(start, end, strict=True)
                ]
            )
        )
        work = float(preparing.sum() + steps.sum())
        ratio = float(np.median(preparing) / max(float(np.median(steps)), 1e-12))
        verdict = "preparing" if ratio > BALANCE else "step" if ratio < 1 / BALANCE else "balanced"
        return Report(
            batches=len(rows),
            source_ms=float(np.median(start - source)) * 1e3,
            prepare_ms=float(np.median(preparing)) * 1e3,
            wait_ms=float(np.median(got - wait)) * 1e3,
            step_ms=float(np.median(steps)) * 1e3,
            overlap=together / max(float(preparing.sum()), 1e-12),
            wall_s=float(done.max() - source.min()),
            work_s=work,
            verdict=verdict,
            buffers=self.buffers,
            devices=(self.prepare_device or "any", self.step_device or "any"),
        )


BALANCE = 1.1
"""Sides whose medians differ by less than this factor count as balanced: medians of the same work on a shared machine
differ by some percent from run to run."""


def _stop_thread(shared: _SharedState, thread: threading.Thread) -> None:
    shared.stop.set()
    if thread is not threading.current_thread():
        thread.join(JOIN_SECONDS)
    with contextlib.suppress(queue.Empty):
        while True:
            shared.ready.get_nowait()


@dataclass(frozen=True, slots=True)
class Leak:
    """The answer of a leak monitor.

    Attributes:
        leaking: Whether memory grows with the steps, beyond chance.
        bytes_per_step: By how much, the median slope.
        p_value: How likely such a trend would be without growth.
        grown: Bytes between the first and the last block's floor.
        steps: Steps that were looked at.
        reason: In words.
    """

    leaking: bool
    bytes_per_step: float
    p_value: float
    grown: int
    steps: int
    reason: str


LEAK_BLOCKS = 8
"""Parts a run is divided into; each counts by its lowest reading, so that memory that comes and goes does not count."""

LEAK_P = 0.01
"""A trend less likely than this without growth counts. With 8 blocks in rising order the chance is 1 in 40,320."""

LEAK_LEAST = 1 << 20
"""Growth below one MiB over a run is not told: allocators keep that much for themselves."""


class LeakMonitor:
    """Tells whether memory grows with the steps of a training run.

    Args:
        device: A GPU such as `GPU:0`, read from TensorFlow's allocator; None: this process's memory.
        read: Reads bytes in use, instead of either.
        warmup: Steps that are not counted: tracing, compiling and caches fill memory once.

    >>> monitor = LeakMonitor(read=iter(range(0, 10**9, 10**6)).__next__, warmup=0)
    >>> for step in range(64): monitor.step()
    >>> monitor.judge().leaking
    True
    """

    def __init__(
        self, device: str | None = None, *, read: Callable[[], int] | None = None, warmup: int = 10
    ) -> None:
        name = _known_device(device)
        if name is not None and not name.startswith("GPU") and read is None:
            raise CfgfixError(
                "TensorFlow tells the memory of GPUs alone",
                hint="leave device out to watch this process's memory",
            )
        self._read = read or (process_bytes if name is None else lambda: device_bytes(name))
        self._warmup = warmup
        self._count = 0
        self._calls = 0
        self._readings: list[int] = []
        self._steps: list[int] = []
        self._stride = 1

    def step(self, count: int = 1) -> None:
        """Read and record the memory after a step.

        Args:
            count: Steps since the last call.
        """
        self._count += count
        self._calls += 1
        if self._count <= self._warmup or self._calls % self._stride:
            return
        self._readings.append(int(self._read()))
        self._steps.append(self._count)
        if len(self._readings) >= KEPT:
            # Every other reading of a long run is enough, and memory stays bounded.
            self._readings, self._steps = self._readings[::2], self._steps[::2]
            self._stride *= 2

    def judge(self) -> Leak:
        """Return whether memory grows with the steps.

        Mann-Kendall's test is made on the lowest readings of `LEAK_BLOCKS` parts of the run.
        """
        import numpy as np

        count = len(self._readings)
        if count < 2 * LEAK_BLOCKS:
            return Leak(False, 0.0, 1.0, 0, 0, f"{count} readings are too few: {2 * LEAK_BLOCKS} are needed")
        floors = [
            int(part.min()) for part in np.array_split(np.asarray(self._readings, np.int64), LEAK_BLOCKS)
        ]
        places = [
            float(part.mean()) for part in np.array_split(np.asarray(self._steps, np.int64), LEAK_BLOCKS)
        ]
        pairs = [(early, late) for early in range(LEAK_BLOCKS) for late in range(early + 1, LEAK_BLOCKS)]
        score = int(sum(np.sign(floors[late] - floors[early]) for early, late in pairs))
        slopes = [(floors[late] - floors[early]) / (places[late] - places[early]) for early, late in pairs]
        chance = _kendall_p(score, LEAK_BLOCKS)
        each = float(np.median(slopes))
        grown = floors[-1] - floors[0]
        steps = self._steps[-1] - self._steps[0]
        leaking = chance < LEAK_P and grown >= LEAK_LEAST
        words = f"{grown / 2**20:+.1f} MiB over {steps} steps, {each:+.0f} bytes a step (p = {chance:.2g})"
        return Leak(leaking, each, chance, grown, steps, words)


def _kendall_p(score: int, count: int) -> float:
    """Return the chance of a Mann-Kendall score at least this high without a trend.

    Orders are counted exactly.
    """
    ways = [1]  # ways[k]: orders of n things with k pairs in falling order
    for number in range(2, count + 1):
        longer = [0] * (len(ways) + number - 1)
        for index, value in enumerate(ways):
            for more in range(number):
                longer[index + more] += value
        ways = longer
    pairs = count * (count - 1) // 2
    falling = (pairs - score) // 2
    return sum(ways[: max(0, falling + 1)]) / sum(ways)


def process_bytes() -> int:
    """Return the resident memory of this process, in bytes."""
    try:
        with open("/proc/self/statm", "rb") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        import psutil

        return int(psutil.Process().memory_info().rss)


def device_bytes(device: str) -> int:
    """Return the bytes in use on a GPU, as TensorFlow's allocator counts them."""
    return int(tf.config.experimental.get_memory_info(device)["current"])
