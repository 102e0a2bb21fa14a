"""Readings of GPUs by NVML and of this process's CPUs, taken at an interval."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from cfgfix.measure.device_profile import Device, Series
from cfgfix.measure.oscillation import find_oscillation
from cfgfix.measure.statistics import Floats


class _ReadingThread:
    """Takes a reading every `interval` seconds in a thread of its own."""

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


class Sampler(_ReadingThread):
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
        count = self._ask_card(0, "count", nvml.nvmlDeviceGetCount) or 0
        for index in range(count):
            handle = self._ask_card(index, "handle", nvml.nvmlDeviceGetHandleByIndex, index)
            if handle is not None and (pid is None or self._uses(index, handle, pid)):
                self.handles[index] = handle
        self._pid = pid

    def _ask_card(self, index: int, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call an NVML function and return its answer.

        None where this card or driver does not answer; then the same is never asked again.
        """
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
        wanted = _process_family(pid)
        for name in ("nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetGraphicsRunningProcesses"):
            function = getattr(self._nvml, name, None)
            entries = self._ask_card(index, name, function, handle) if function else None
            if any(entry.pid in wanted for entry in entries or ()):
                return True
        return False

    def _run(self) -> None:
        self._start = time.perf_counter()
        while not self._stop.is_set():
            self.read()
            self._stop.wait(self._interval)

    def _put_reading(
        self, index: int, name: str, unit: str, source: str, moment: float, value: float
    ) -> None:
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
                self._put_reading(
                    index, "memory", "bytes", "nvmlDeviceGetMemoryInfo", moment, float(memory.used)
                )
            power = self._ask_card(index, "power", nvml.nvmlDeviceGetPowerUsage, handle)
            if power is not None:
                self._put_reading(index, "power", "W", "nvmlDeviceGetPowerUsage", moment, power / 1000)
            for name, kind in (("sm clock", nvml.NVML_CLOCK_SM), ("memory clock", nvml.NVML_CLOCK_MEM)):
                clock = self._ask_card(index, name, nvml.nvmlDeviceGetClockInfo, handle, kind)
                if clock is not None:
                    self._put_reading(index, name, "MHz", "nvmlDeviceGetClockInfo", moment, float(clock))
            for name, kind in (
                ("pcie received", nvml.NVML_PCIE_UTIL_RX_BYTES),
                ("pcie sent", nvml.NVML_PCIE_UTIL_TX_BYTES),
            ):
                rate = self._ask_card(index, name, nvml.nvmlDeviceGetPcieThroughput, handle, kind)
                if rate is not None:
                    # NVML measures over 20 ms and gives KB/s.
                    self._put_reading(
                        index,
                        name,
                        "bytes/s",
                        "nvmlDeviceGetPcieThroughput",
                        time.perf_counter() - self._start,
                        rate * 1024.0,
                    )

    def _memory(self, index: int, handle: Any) -> Any:
        """Return the used and the total memory of a card, as NVML tells them.

        The second version of the call is preferred: its `used` leaves out the driver's reserve. An idle H100 has 503
        MB in use by the first version and none by the second, as `nvidia-smi` shows it (driver 580).
        """
        call = self._nvml.nvmlDeviceGetMemoryInfo
        version = getattr(self._nvml, "nvmlMemory_v2", None)
        found = None if version is None else self._ask_card(index, "memory v2", call, handle, version)
        return found if found is not None else self._ask_card(index, "memory", call, handle)

    def _read_utilisation(self, index: int, handle: Any) -> None:
        nvml = self._nvml
        key = (index, "samples")
        last = self._last.get(key, 0)
        found = self._ask_card(
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
                self._put_reading(
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
        rates = self._ask_card(index, "rates", nvml.nvmlDeviceGetUtilizationRates, handle)
        if rates is not None:
            self._put_reading(
                index,
                "utilisation",
                "%",
                "nvmlDeviceGetUtilizationRates",
                time.perf_counter() - self._start,
                float(rates.gpu),
            )

    def devices(self) -> tuple[Device, ...]:
        """Return the GPUs with the series that were read."""
        made = []
        for index, handle in self.handles.items():
            series = tuple(
                Series(name, unit, tuple(times), tuple(values), source)
                for (place, name), (unit, source, times, values) in self._data.items()
                if place == index
            )
            made.append(
                _with_oscillation(
                    Device(
                        index, self._card_name(index, handle), "GPU", series, self._card_facts(index, handle)
                    )
                )
            )
        return tuple(made)

    def _card_name(self, index: int, handle: Any) -> str:
        name = self._ask_card(index, "name", self._nvml.nvmlDeviceGetName, handle)
        return name.decode() if isinstance(name, bytes) else str(name or f"GPU {index}")

    def _card_facts(self, index: int, handle: Any) -> dict[str, str]:
        nvml = self._nvml
        facts = {}
        memory = self._memory(index, handle)
        if memory is not None:
            facts["memory total"] = f"{memory.total / 2**20:.0f} MiB"
        limit = self._ask_card(index, "limit", nvml.nvmlDeviceGetEnforcedPowerLimit, handle)
        if limit is not None:
            facts["power limit"] = f"{limit / 1000:.0f} W"
        width = self._ask_card(index, "width", nvml.nvmlDeviceGetMaxPcieLinkWidth, handle)
        generation = self._ask_card(index, "generation", nvml.nvmlDeviceGetMaxPcieLinkGeneration, handle)
        if width is not None and generation is not None:
            facts["PCIe at most"] = f"generation {generation}, {width} lanes"
        return facts

    def topology(self) -> tuple[str, ...]:
        """Return a line for each pair of cards that says how they are connected."""
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
                level = self._ask_card(
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


def _process_family(pid: int) -> set[int]:
    """Return the ids of a process and its children.

    A launcher's workers hold the GPU, not the launcher.
    """
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
    """Return readings at even times, with the median spacing; None if too few.

    Readings come when they come; the last reading before each even time counts, as a monitor's does.
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
    """Return the initialised NVML module; without one, None and the reason."""
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


class CpuSampler(_ReadingThread):
    """Reads the CPU time of the machine, and of one process with its children.

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
        spent = self._resources_spent()
        while not self._stop.wait(self._interval):
            now = time.perf_counter()
            self._machine[0].append(now - start)
            self._machine[1].append(psutil.cpu_percent())
            if self._pid is not None:
                more = self._resources_spent()
                if more is None:
                    break
                if spent is not None:
                    self._process[0].append(now - start)
                    self._process[1].append(max(0.0, more[0] - spent[0]) / (now - before))
                    self._memory[0].append(now - start)
                    self._memory[1].append(more[1])
                spent = more
            before = now

    def _resources_spent(self) -> tuple[float, float] | None:
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
        """Return the CPUs as a device, with the series that were read."""
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
