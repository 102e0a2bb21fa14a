"""`profile devices`: what GPUs do over time, read from NVML; and pipelines over two devices: busy share and overlap.

NVML's utilisation is the share of a sample period (a sixth of a second to a second, by product) in which any kernel ran. It
says nothing about how much of the chip worked, and it averages away steps shorter than its period; where the driver keeps
its own samples with their times, those are read.
"""

from __future__ import annotations

import contextlib
import math
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cfgfix.core.errors import CfgfixError
from cfgfix.core.wording import counted, times_as_fast
from cfgfix.measure.oscillation import Oscillation, find_oscillation
from cfgfix.measure.sampling import Progress, call_with_config, load_callable, load_config, silent, user_code
from cfgfix.measure.statistics import Floats, Summary, summarise
from cfgfix.measure.verdicts import OldLimit, Outcome, Verdict, old_limits
from cfgfix.rules.faults import Fault

Span = tuple[float, float]

UNDERUSED = 70.0
"""Percent. Amazon SageMaker Debugger's LowGPUUtilization calls a GPU underused when the 95th percentile is below this."""
FLUCTUATION_LOW = 10.0
"""Percent. The same rule calls it fluctuating when the 95th percentile is above 70 and the 5th below this."""


@dataclass(frozen=True, slots=True)
class Series:
    """One figure of one device over time. Times in seconds since the start."""

    name: str
    unit: str
    times: tuple[float, ...]
    values: tuple[float, ...]
    source: str
    """How it was read."""

    def summary(self) -> Summary | None:
        """Return the series in a few numbers, or None for an empty one."""
        return summarise(self.values) if self.values else None

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        summary = self.summary()
        return {
            "name": self.name,
            "unit": self.unit,
            "source": self.source,
            "times": list(self.times),
            "values": list(self.values),
            "summary": summary.as_dict() if summary else None,
        }


@dataclass(frozen=True, slots=True)
class Device:
    """One GPU, or the CPUs."""

    index: int
    name: str
    kind: str
    """`GPU` or `CPU`."""
    series: tuple[Series, ...]
    facts: Mapping[str, str] = field(default_factory=dict)
    oscillation: Oscillation | None = None
    """Of the utilisation; periods in seconds are in `facts`."""

    def find(self, name: str) -> Series | None:
        """Return a series by name."""
        return next((series for series in self.series if series.name == name and series.values), None)

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "index": self.index,
            "name": self.name,
            "kind": self.kind,
            "facts": dict(self.facts),
            "series": [series.as_dict() for series in self.series],
            "oscillation": self.oscillation.as_dict() if self.oscillation else None,
        }


@dataclass(frozen=True, slots=True)
class Overlap:
    """How the stages of a pipeline share the time. Shares of the time from the first start to the last end."""

    stages: tuple[str, ...]
    busy: tuple[float, ...]
    together: float
    """Share in which at least two stages work at once."""
    idle: float
    """Share in which none works."""
    seconds: float
    items: int
    sequential_seconds: float
    """The same items with one stage after the other."""

    @property
    def speedup(self) -> float:
        """How much faster the pipeline is than its stages one after the other."""
        return self.sequential_seconds / self.seconds if self.seconds else math.nan

    @property
    def possible(self) -> float:
        """The speed-up if the longest stage were always at work."""
        longest = max(self.busy, default=0.0)
        return sum(self.busy) / longest if longest else math.nan

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "stages": list(self.stages),
            "busy_share": list(self.busy),
            "overlap_share": self.together,
            "idle_share": self.idle,
            "seconds": self.seconds,
            "items": self.items,
            "sequential_seconds": self.sequential_seconds,
            "speedup": self.speedup,
            "possible_speedup": self.possible,
        }


@dataclass(frozen=True, slots=True)
class DeviceProfile:
    """Everything `profile devices` found."""

    devices: tuple[Device, ...]
    topology: tuple[str, ...]
    gpu: str
    """Whether there is a GPU, and why not."""
    pid: int | None
    overlap: Overlap | None
    limits: tuple[OldLimit, ...]
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "kind": "devices",
            "gpu": self.gpu,
            "pid": self.pid,
            "devices": [device.as_dict() for device in self.devices],
            "topology": list(self.topology),
            "pipeline": self.overlap.as_dict() if self.overlap else None,
            "older_limits": [limit.as_dict() for limit in self.limits],
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "notes": list(self.notes),
        }


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return spans of time joined where they touch or overlap, in order."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if end <= start:
            continue
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def covered(spans: Iterable[Span]) -> float:
    """Return how much time the spans cover, overlaps counted once."""
    return sum(end - start for start, end in merged(spans))


def shared_time(groups: Sequence[Sequence[Span]], at_least: int = 2) -> float:
    """Return the time in which at least so many of the groups have a span."""
    edges: list[tuple[float, int]] = []
    for spans in groups:
        for start, end in merged(spans):
            edges += [(start, 1), (end, -1)]
    edges.sort(key=lambda edge: (edge[0], edge[1]))
    total, active, since = 0.0, 0, 0.0
    for moment, step in edges:
        if active >= at_least:
            total += moment - since
        active += step
        since = moment
    return total


def measure_overlap(
    names: Sequence[str], spans: Sequence[Sequence[Span]], *, items: int, sequential: float
) -> Overlap:
    """Return busy shares and overlap from each stage's spans of work.

    Raises:
        ValueError: There is no work.
    """
    everything = [span for group in spans for span in group]
    if not everything:
        raise ValueError("no stage did any work")
    total = max(end for _, end in everything) - min(start for start, _ in everything)
    busy = tuple(covered(group) / total for group in spans)
    return Overlap(
        tuple(names),
        busy,
        shared_time(spans, 2) / total,
        max(0.0, 1 - covered(everything) / total),
        total,
        items,
        sequential,
    )


class _Reader:
    """Reads something every `interval` seconds in a thread of its own."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to read."""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop reading."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(5)

    def _run(self) -> None:
        raise NotImplementedError


class Sampler(_Reader):
    """Reads NVML in a thread of its own.

    Args:
        nvml: The module `pynvml`, or one that behaves like it; it is initialised already.
        interval: Seconds between readings.
        pid: Keep to the GPUs this process uses.
    """

    def __init__(self, nvml: Any, *, interval: float = 0.1, pid: int | None = None) -> None:
        super().__init__(interval)
        self._nvml = nvml
        self._start = 0.0
        self._anchor: dict[tuple[int, str], tuple[int, float]] = {}
        self._data: dict[tuple[int, str], tuple[str, str, list[float], list[float]]] = {}
        self._last: dict[tuple[int, str], int] = {}
        self._dead: set[tuple[int, str]] = set()
        self.handles: dict[int, Any] = {}
        count = self._ask(0, "count", nvml.nvmlDeviceGetCount) or 0
        for index in range(count):
            handle = self._ask(index, "handle", nvml.nvmlDeviceGetHandleByIndex, index)
            if handle is not None and (pid is None or self._uses(index, handle, pid)):
                self.handles[index] = handle
        self._pid = pid

    def _ask(self, index: int, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call NVML; None where this card or driver does not answer, and then never ask again."""
        if (index, name) in self._dead:
            return None
        try:
            return function(*arguments)
        except self._nvml.NVMLError as error:
            final = {
                getattr(self._nvml, code, None)
                for code in (
                    "NVML_ERROR_NOT_SUPPORTED",
                    "NVML_ERROR_FUNCTION_NOT_FOUND",
                    "NVML_ERROR_NO_PERMISSION",
                )
            }
            if getattr(error, "value", None) in final:
                self._dead.add((index, name))
            return None

    def _uses(self, index: int, handle: Any, pid: int) -> bool:
        wanted = _family(pid)
        for name in ("nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetGraphicsRunningProcesses"):
            function = getattr(self._nvml, name, None)
            entries = self._ask(index, name, function, handle) if function else None
            if any(entry.pid in wanted for entry in entries or ()):
                return True
        return False

    def _run(self) -> None:
        self._start = time.perf_counter()
        while not self._stop.is_set():
            self.read()
            self._stop.wait(self._interval)

    def _put(self, index: int, name: str, unit: str, source: str, moment: float, value: float) -> None:
        _, _, times, values = self._data.setdefault((index, name), (unit, source, [], []))
        times.append(moment)
        values.append(value)

    def read(self) -> None:
        """Read every card once."""
        nvml = self._nvml
        for index, handle in self.handles.items():
            self._read_utilisation(index, handle)
            moment = time.perf_counter() - self._start
            memory = self._memory(index, handle)
            if memory is not None:
                self._put(index, "memory", "bytes", "nvmlDeviceGetMemoryInfo", moment, float(memory.used))
            power = self._ask(index, "power", nvml.nvmlDeviceGetPowerUsage, handle)
            if power is not None:
                self._put(index, "power", "W", "nvmlDeviceGetPowerUsage", moment, power / 1000)
            for name, kind in (("sm clock", nvml.NVML_CLOCK_SM), ("memory clock", nvml.NVML_CLOCK_MEM)):
                clock = self._ask(index, name, nvml.nvmlDeviceGetClockInfo, handle, kind)
                if clock is not None:
                    self._put(index, name, "MHz", "nvmlDeviceGetClockInfo", moment, float(clock))
            for name, kind in (
                ("pcie received", nvml.NVML_PCIE_UTIL_RX_BYTES),
                ("pcie sent", nvml.NVML_PCIE_UTIL_TX_BYTES),
            ):
                rate = self._ask(index, name, nvml.nvmlDeviceGetPcieThroughput, handle, kind)
                if rate is not None:
                    # NVML measures over 20 ms and gives KB/s.
                    self._put(
                        index,
                        name,
                        "bytes/s",
                        "nvmlDeviceGetPcieThroughput",
                        time.perf_counter() - self._start,
                        rate * 1024.0,
                    )

    def _memory(self, index: int, handle: Any) -> Any:
        """Return what is used and what there is; by the second version of the call, whose `used` is without what the driver reserves.

        An idle H100 has 503 MB in use by the first version and none by the second, as `nvidia-smi` shows it (driver 580).
        """
        call = self._nvml.nvmlDeviceGetMemoryInfo
        version = getattr(self._nvml, "nvmlMemory_v2", None)
        found = None if version is None else self._ask(index, "memory v2", call, handle, version)
        return found if found is not None else self._ask(index, "memory", call, handle)

    def _read_utilisation(self, index: int, handle: Any) -> None:
        nvml = self._nvml
        key = (index, "samples")
        last = self._last.get(key, 0)
        found = self._ask(
            index, "samples", nvml.nvmlDeviceGetSamples, handle, nvml.NVML_GPU_UTILIZATION_SAMPLES, last
        )
        if found is not None:
            kind, samples = found
            stamps = [sample.timeStamp for sample in samples]
            if key not in self._anchor and stamps:
                # Samples from before the start are dropped; the newest of them ties the driver's clock (microseconds) to ours.
                self._anchor[key] = (max(stamps), time.perf_counter() - self._start)
                self._last[key] = max(stamps)
            for sample in samples:
                if sample.timeStamp <= self._last[key]:
                    continue
                self._last[key] = sample.timeStamp
                stamp, moment = self._anchor[key]
                value = _sample_value(nvml, kind, sample.sampleValue)
                self._put(
                    index,
                    "utilisation",
                    "%",
                    "nvmlDeviceGetSamples",
                    moment + (sample.timeStamp - stamp) / 1e6,
                    value,
                )
            return
        if (index, "samples") not in self._dead:
            return
        rates = self._ask(index, "rates", nvml.nvmlDeviceGetUtilizationRates, handle)
        if rates is not None:
            self._put(
                index,
                "utilisation",
                "%",
                "nvmlDeviceGetUtilizationRates",
                time.perf_counter() - self._start,
                float(rates.gpu),
            )

    def devices(self) -> tuple[Device, ...]:
        """Return what was read."""
        made = []
        for index, handle in self.handles.items():
            series = tuple(
                Series(name, unit, tuple(times), tuple(values), source)
                for (place, name), (unit, source, times, values) in self._data.items()
                if place == index
            )
            made.append(
                _with_oscillation(
                    Device(index, self._name(index, handle), "GPU", series, self._facts(index, handle))
                )
            )
        return tuple(made)

    def _name(self, index: int, handle: Any) -> str:
        name = self._ask(index, "name", self._nvml.nvmlDeviceGetName, handle)
        return name.decode() if isinstance(name, bytes) else str(name or f"GPU {index}")

    def _facts(self, index: int, handle: Any) -> dict[str, str]:
        nvml = self._nvml
        facts = {}
        memory = self._memory(index, handle)
        if memory is not None:
            facts["memory total"] = f"{memory.total / 2**20:.0f} MiB"
        limit = self._ask(index, "limit", nvml.nvmlDeviceGetEnforcedPowerLimit, handle)
        if limit is not None:
            facts["power limit"] = f"{limit / 1000:.0f} W"
        width = self._ask(index, "width", nvml.nvmlDeviceGetMaxPcieLinkWidth, handle)
        generation = self._ask(index, "generation", nvml.nvmlDeviceGetMaxPcieLinkGeneration, handle)
        if width is not None and generation is not None:
            facts["PCIe at most"] = f"generation {generation}, {width} lanes"
        return facts

    def topology(self) -> tuple[str, ...]:
        """Return how each pair of cards is connected."""
        nvml = self._nvml
        names = {
            getattr(nvml, code): text
            for code, text in (
                ("NVML_TOPOLOGY_INTERNAL", "on one board"),
                ("NVML_TOPOLOGY_SINGLE", "through one PCIe switch"),
                ("NVML_TOPOLOGY_MULTIPLE", "through several PCIe switches"),
                ("NVML_TOPOLOGY_HOSTBRIDGE", "through a PCIe host bridge"),
                ("NVML_TOPOLOGY_NODE", "within a NUMA node"),
                ("NVML_TOPOLOGY_SYSTEM", "between NUMA nodes"),
            )
            if hasattr(nvml, code)
        }
        lines = []
        indexes = list(self.handles)
        for place, first in enumerate(indexes):
            for second in indexes[place + 1 :]:
                level = self._ask(
                    first,
                    f"topology {second}",
                    nvml.nvmlDeviceGetTopologyCommonAncestor,
                    self.handles[first],
                    self.handles[second],
                )
                if level is not None:
                    lines.append(f"GPU {first} and GPU {second}: {names.get(level, f'level {level}')}")
        return tuple(lines)


def _sample_value(nvml: Any, kind: int, value: Any) -> float:
    if kind == getattr(nvml, "NVML_VALUE_TYPE_DOUBLE", 0):
        return float(value.dVal)
    return float(value.uiVal)


def _family(pid: int) -> set[int]:
    """Return a process and its children: a launcher's workers hold the GPU, not the launcher."""
    import psutil

    try:
        process = psutil.Process(pid)
        return {pid, *(child.pid for child in process.children(recursive=True))}
    except psutil.Error:
        return {pid}


def _with_oscillation(device: Device) -> Device:
    from dataclasses import replace

    series = device.find("utilisation")
    if series is None:
        return device
    times, values = np.array(series.times), np.array(series.values)
    even = evenly_spaced(times, values)
    if even is None:
        return device
    spacing, spread = even
    found = find_oscillation(spread)
    facts = dict(device.facts)
    facts["sample period"] = f"{spacing * 1e3:.0f} ms"
    if found.period is not None:
        facts["oscillation period"] = f"{found.period * spacing:.3g} s"
    return replace(device, oscillation=found, facts=facts)


def evenly_spaced(times: Floats, values: Floats) -> tuple[float, Floats] | None:
    """Return the median spacing and the values at even times, or None.

    None where there are too few. Readings come when they come; the last reading before each even time counts, as a
    monitor's does.
    """
    if times.size < 8:
        return None
    spacing = float(np.median(np.diff(times)))
    if spacing <= 0:
        return None
    grid = np.arange(times[0], times[-1], spacing)
    return spacing, np.asarray(
        values[np.searchsorted(times, grid + spacing / 2, side="right") - 1], dtype=np.float64
    )


def open_nvml() -> tuple[Any | None, str]:
    """Return the initialised NVML module, or None and why not."""
    try:
        import pynvml
    except ImportError:
        return None, "no GPU can be seen: the package nvidia-ml-py is not installed"
    try:
        pynvml.nvmlInit()
        count = pynvml.nvmlDeviceGetCount()
    except pynvml.NVMLError as error:
        reasons = {
            pynvml.NVML_ERROR_LIBRARY_NOT_FOUND: "there is no NVIDIA driver library (no GPU, or a container without access to it)",
            pynvml.NVML_ERROR_DRIVER_NOT_LOADED: "the NVIDIA driver is not loaded",
            pynvml.NVML_ERROR_NO_PERMISSION: "this user may not use the NVIDIA devices",
            pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: "the NVIDIA driver was updated and needs a reboot",
        }
        return None, "no GPU can be seen: " + reasons.get(getattr(error, "value", None), str(error))
    if not count:
        return None, "no GPU can be seen: the driver lists none"
    return pynvml, f"{count} GPU" + ("s" if count > 1 else "")


class CpuSampler(_Reader):
    """Reads how busy the CPUs are, of the machine and of one process with its children.

    Args:
        interval: Seconds between readings.
        pid: The process; None reads the machine alone.
    """

    def __init__(self, *, interval: float = 0.25, pid: int | None = None) -> None:
        super().__init__(interval)
        self._pid = pid
        self._machine: tuple[list[float], list[float]] = ([], [])
        self._process: tuple[list[float], list[float]] = ([], [])
        self._memory: tuple[list[float], list[float]] = ([], [])

    def _run(self) -> None:
        import psutil

        start = before = time.perf_counter()
        psutil.cpu_percent()
        spent = self._spent()
        while not self._stop.wait(self._interval):
            now = time.perf_counter()
            self._machine[0].append(now - start)
            self._machine[1].append(psutil.cpu_percent())
            if self._pid is not None:
                more = self._spent()
                if more is None:
                    break
                if spent is not None:
                    self._process[0].append(now - start)
                    self._process[1].append(max(0.0, more[0] - spent[0]) / (now - before))
                    self._memory[0].append(now - start)
                    self._memory[1].append(more[1])
                spent = more
            before = now

    def _spent(self) -> tuple[float, float] | None:
        """Return CPU seconds and resident bytes of the process and its children."""
        if self._pid is None:
            return None
        import psutil

        try:
            process = psutil.Process(self._pid)
            seconds = size = 0.0
            for entry in [process, *process.children(recursive=True)]:
                with contextlib.suppress(psutil.Error):
                    times = entry.cpu_times()
                    seconds += times.user + times.system
                    size += entry.memory_info().rss
        except psutil.Error:
            return None
        # A process that has ended holds no memory until its parent has taken notice; that is no reading.
        return (seconds, size) if size else None

    def device(self) -> Device:
        """Return what was read."""
        from cfgfix.measure.data import usable_cpus

        found = [
            Series(
                "utilisation",
                "%",
                tuple(self._machine[0]),
                tuple(self._machine[1]),
                "psutil, all CPUs of the machine",
            )
        ]
        if self._process[0]:
            found.append(
                Series(
                    "CPUs at work",
                    "CPUs",
                    tuple(self._process[0]),
                    tuple(self._process[1]),
                    f"psutil, process {self._pid}",
                )
            )
            found.append(
                Series(
                    "memory",
                    "bytes",
                    tuple(self._memory[0]),
                    tuple(self._memory[1]),
                    f"psutil, process {self._pid}",
                )
            )
        return _with_oscillation(Device(0, "CPU", "CPU", tuple(found), {"usable": f"{usable_cpus()} CPUs"}))


def run_pipeline(
    source: Iterable[Any],
    stages: Sequence[tuple[str, Callable[[Any], Any]]],
    *,
    items: int,
    depth: int = 2,
    warmup: int = 3,
    progress: Progress = silent,
) -> Overlap:
    """Run items through stages in turn and at once, and return the overlap.

    In the second run each stage has a thread of its own.

    A stage's span ends when its result is there: one number of each result is fetched, which waits for the device that makes
    it and for no other.

    Args:
        source: Gives the items; it is started anew for each of the two runs.
        stages: Name and function of each stage, in order; a function takes the result of the stage before.
        items: How many to time.
        depth: How many finished results may wait between stages.
        warmup: Items before those, which compile.
        progress: Told what is going on.

    Raises:
        UserCodeError: A stage or the source failed.
    """
    with user_code("running the pipeline"):
        given = list(_first_items(source, items + warmup))
        if len(given) <= warmup:
            raise CfgfixError(
                f"the pipeline's source gives {len(given)} items, more than {warmup} are needed"
            )
        for item in given[:warmup]:
            _run_stages(item, stages)
        progress("stages one after the other", 0.2)
        begin = time.perf_counter()
        for item in given[warmup:]:
            _run_stages(item, stages)
        sequential = time.perf_counter() - begin
    progress("stages at once", 0.6)
    spans = _run_threads(given[warmup:], stages, depth)
    return measure_overlap(
        [name for name, _ in stages], spans, items=len(given) - warmup, sequential=sequential
    )


def _first_items(source: Iterable[Any], count: int) -> Iterable[Any]:
    iterator = iter(source)
    for _ in range(count):
        try:
            yield next(iterator)
        except StopIteration:
            return


def _run_stages(item: Any, stages: Sequence[tuple[str, Callable[[Any], Any]]]) -> None:
    for _, function in stages:
        item = function(item)
        _wait_for(item)


def _wait_for(result: Any) -> None:
    """Wait until a stage's result is there."""
    import tensorflow as tf

    for leaf in tf.nest.flatten(result, expand_composites=True):
        if (
            isinstance(leaf, tf.Tensor)
            and hasattr(leaf, "numpy")
            and leaf.dtype not in (tf.variant, tf.resource)
        ):
            with tf.device(leaf.device):
                tf.reshape(leaf, [-1])[:1].numpy()


def _run_threads(
    given: Sequence[Any], stages: Sequence[tuple[str, Callable[[Any], Any]]], depth: int
) -> list[list[Span]]:
    end = object()
    pipes: list[queue.Queue[Any]] = [queue.Queue() for _ in stages[:1]] + [
        queue.Queue(depth) for _ in stages[1:]
    ]
    spans: list[list[Span]] = [[] for _ in stages]
    failures: list[BaseException] = []
    for item in given:
        pipes[0].put(item)
    pipes[0].put(end)
    stop = threading.Event()

    def work(place: int) -> None:
        function = stages[place][1]
        try:
            while not stop.is_set():
                try:
                    item = pipes[place].get(timeout=0.1)
                except queue.Empty:
                    continue
                if item is not end:
                    begin = time.perf_counter()
                    item = function(item)
                    _wait_for(item)
                    spans[place].append((begin, time.perf_counter()))
                if place + 1 < len(stages):
                    while not stop.is_set():
                        with contextlib.suppress(queue.Full):
                            pipes[place + 1].put(item, timeout=0.1)
                            break
                if item is end:
                    return
        except BaseException as error:  # noqa: BLE001 - raised again in the main thread
            failures.append(error)
            stop.set()

    threads = [threading.Thread(target=work, args=(place,), daemon=True) for place in range(len(stages))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with user_code("running the pipeline"):
        if failures:
            raise failures[0]
    return spans


def watch(
    *,
    seconds: float,
    interval: float = 0.1,
    pid: int | None = None,
    process: int | None = None,
    nvml: Any | None = None,
    progress: Progress = silent,
    until: Callable[[], bool] | None = None,
) -> tuple[tuple[Device, ...], tuple[str, ...], str]:
    """Read all devices for some time.

    The devices, the topology and what is known of GPUs are returned.

    Args:
        seconds: How long.
        interval: Between readings of a GPU.
        pid: Keep to the GPUs this process uses, and read its CPU time.
        process: Read the CPU time of this process, but all GPUs.
        nvml: The NVML module to use instead of the machine's own.
        progress: Told how far it is.
        until: Stop when this returns true.

    Raises:
        CfgfixError: There is no such process.
    """
    import psutil

    if pid is not None and not psutil.pid_exists(pid):
        raise CfgfixError(f"there is no process {pid}")
    module, text = (nvml, "given") if nvml is not None else open_nvml()
    gpus = Sampler(module, interval=interval, pid=pid) if module is not None else None
    if gpus is not None and pid is not None and not gpus.handles:
        text += f"; process {pid} uses none of them"
    cpus = CpuSampler(pid=pid or process)
    begin = time.perf_counter()
    for sampler in (gpus, cpus):
        if sampler is not None:
            sampler.start()
    try:
        while (spent := time.perf_counter() - begin) < seconds:
            if until is not None and until():
                break
            if pid is not None and not psutil.pid_exists(pid):
                break
            progress("watching the devices", spent / seconds)
            time.sleep(min(0.1, seconds - spent))
    finally:
        for sampler in (gpus, cpus):
            if sampler is not None:
                sampler.stop()
    devices = (*(gpus.devices() if gpus is not None else ()), cpus.device())
    return devices, gpus.topology() if gpus is not None else (), text


def judge(
    devices: Sequence[Device], gpu: str, overlap: Overlap | None, *, working: bool
) -> tuple[Verdict, ...]:
    """Return what the figures mean.

    Args:
        devices: What was read.
        gpu: Whether there is a GPU, or why not.
        overlap: Of a pipeline that was run.
        working: Whether a job ran meanwhile; an idle card that nobody uses is no problem.
    """
    made = []
    cards = [device for device in devices if device.kind == "GPU"]
    if not cards:
        made.append(Verdict("GPU", Outcome.INFO, gpu, change="figures are of the CPUs"))
    for device in cards:
        series = device.find("utilisation")
        if series is None or len(series.values) < 10:
            made.append(
                Verdict(f"GPU {device.index}", Outcome.INCONCLUSIVE, "too few readings of the utilisation")
            )
            continue
        low, high = np.quantile(series.values, [0.05, 0.95])
        evidence = (
            f"{device.name}: 5 % of the readings below {low:.0f} %, 95 % below {high:.0f} % ({len(series.values)} readings, {series.source})",
            f"limits of SageMaker Debugger's LowGPUUtilization: underused below {UNDERUSED:.0f} % at the 95th percentile, fluctuating with the 5th below {FLUCTUATION_LOW:.0f} %",
        )
        name = f"GPU {device.index}"
        if not working:
            made.append(
                Verdict(
                    name,
                    Outcome.INFO,
                    "watched without a job of its own; name a running one with --pid",
                    evidence,
                )
            )
        elif high < UNDERUSED:
            made.append(
                Verdict(
                    name,
                    Outcome.PROBLEM,
                    "underused",
                    evidence,
                    (),
                    "measure what it waits for: cfgfix profile data, cfgfix profile step",
                )
            )
        elif low < FLUCTUATION_LOW:
            swing = device.oscillation
            more = (f"utilisation: {swing.reason}",) if swing is not None else ()
            made.append(
                Verdict(
                    name,
                    Outcome.PROBLEM,
                    "fluctuates between work and waiting",
                    evidence + more,
                    (Fault.NO_PREFETCH,),
                    "prefetch; compare the period with cfgfix profile data",
                )
            )
        else:
            made.append(Verdict(name, Outcome.GOOD, "busy", evidence))
    if overlap is not None:
        made.append(_overlap_verdict(overlap))
    return tuple(made)


def _overlap_verdict(overlap: Overlap) -> Verdict:
    shares = ", ".join(
        f"{name} {share:.0%}" for name, share in zip(overlap.stages, overlap.busy, strict=True)
    )
    evidence = (
        f"busy: {shares}; at least two at once {overlap.together:.0%}, none {overlap.idle:.0%} of {overlap.seconds:.3g} s for {counted(overlap.items, 'item')}",
        f"{times_as_fast(overlap.speedup)} as one after the other; {times_as_fast(overlap.possible)} if the longest stage never waited",
    )
    longest = overlap.stages[int(np.argmax(overlap.busy))]
    if max(overlap.busy) >= 1 - 0.05:
        return Verdict(
            "pipeline",
            Outcome.GOOD,
            f"{longest} is always at work: the pipeline is as fast as it can be",
            evidence,
        )
    if overlap.speedup < 1.05:
        return Verdict(
            "pipeline",
            Outcome.PROBLEM,
            "the stages do not overlap",
            evidence,
            (),
            "run the stages as a pipeline on devices of their own, or merge them: the second device gains nothing",
        )
    return Verdict(
        "pipeline",
        Outcome.INFO,
        f"{longest} waits {1 - max(overlap.busy):.0%} of the time",
        evidence,
        (),
        "buffer more results between the stages",
    )


def make_profile(
    devices: Sequence[Device],
    topology: Sequence[str],
    gpu: str,
    *,
    pid: int | None,
    overlap: Overlap | None,
    working: bool,
) -> DeviceProfile:
    """Return the profile with its verdicts."""
    cards = [
        series
        for device in devices
        if device.kind == "GPU" and (series := device.find("utilisation")) is not None
    ]
    limits = (
        tuple(
            limit for series in cards for limit in old_limits(utilisation=float(np.mean(series.values)) / 100)
        )
        if working
        else ()
    )
    return DeviceProfile(
        tuple(devices),
        tuple(topology),
        gpu,
        pid,
        overlap,
        limits,
        judge(devices, gpu, overlap, working=working),
    )


def pipeline_job(options: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Run the user's two-device pipeline in a child process and return its overlap.

    `options["pipeline"]` names a function that returns the items (an iterable, such as a dataset) and a list of stages, each a
    function or a pair of name and function; the functions place their own work on devices. `options["logical_cpus"]` splits
    the CPU into that many logical devices first.

    Raises:
        CfgfixError: The function returns something else.
    """
    import tensorflow as tf

    split = int(options.get("logical_cpus") or 0)
    if split > 1:
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * split)
    spec = options["pipeline"]
    made = call_with_config(
        load_callable(spec), load_config(options.get("config"), options.get("config_loader")), spec
    )
    try:
        source, given = made
        stages = [
            (entry[0], entry[1])
            if isinstance(entry, tuple)
            else (getattr(entry, "__name__", f"stage {place}"), entry)
            for place, entry in enumerate(given)
        ]
    except (TypeError, ValueError, IndexError) as error:
        raise CfgfixError(
            f"{spec} returned {type(made).__name__}", hint="return (items, [stage, stage])"
        ) from error
    if len(stages) < 2 or not all(callable(function) for _, function in stages):
        raise CfgfixError(f"{spec} returned no two stages", hint="return (items, [stage, stage])")
    found = run_pipeline(
        source,
        stages,
        items=int(options.get("items", 50)),
        depth=int(options.get("depth", 2)),
        progress=progress,
    )
    devices = [device.name for device in tf.config.list_logical_devices()]
    return {"pipeline": found.as_dict(), "logical_devices": devices, "pid": os.getpid()}


def overlap_from(data: Mapping[str, Any]) -> Overlap:
    """Return the overlap that `as_dict` wrote."""
    return Overlap(
        tuple(data["stages"]),
        tuple(data["busy_share"]),
        data["overlap_share"],
        data["idle_share"],
        data["seconds"],
        data["items"],
        data["sequential_seconds"],
    )
