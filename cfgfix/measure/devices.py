"""`profile devices`: what GPUs do over time, read from NVML; and pipelines over two devices: busy share and overlap.

NVML's utilisation is the share of a sample period (a sixth of a second to a second, by product) in which any kernel ran. It
says nothing about how much of the chip worked, and it averages away steps shorter than its period; where the driver keeps
its own samples with their times, those are read.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cfgfix.core.errors import CfgfixError
from cfgfix.measure.device_profile import Device, DeviceProfile, Overlap
from cfgfix.measure.device_samplers import CpuSampler, Sampler, open_nvml
from cfgfix.measure.device_verdicts import judge
from cfgfix.measure.overlaps import Span, measure_overlap
from cfgfix.measure.sampling import Progress, call_with_config, load_callable, load_config, silent, user_code
from cfgfix.measure.verdicts import old_limits


def run_pipeline(
    source: Iterable[Any],
    stages: Sequence[tuple[str, Callable[[Any], Any]]],
    *,
    items: int,
    depth: int = 2,
    warmup: int = 3,
    progress: Progress = silent,
) -> Overlap:
    """Run items through stages one after the other, then at once; return the overlap.

    In the second run each stage has a thread of its own.

    A stage's span ends when its result is there: one number of each result is fetched, which waits for the device
    that makes it and for no other.

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
    """Read all devices for some time; return devices, topology and the GPU status.

    The status says whether there is a GPU, or why not.

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
    """Return the overlap that `Overlap.as_dict` wrote as plain data."""
    return Overlap(
        tuple(data["stages"]),
        tuple(data["busy_share"]),
        data["overlap_share"],
        data["idle_share"],
        data["seconds"],
        data["items"],
        data["sequential_seconds"],
    )


__all__ = ["DeviceProfile", "judge", "make_profile", "open_nvml", "pipeline_job", "run_pipeline", "watch"]
