"""What `profile run` finds: parts of the run, stalls, and the profile that holds them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cfgfix.measure.numerics import (
    NotFinite,
)
from cfgfix.measure.observe import Step
from cfgfix.measure.pace import Load
from cfgfix.measure.padding import Padding
from cfgfix.measure.statistics import Summary
from cfgfix.measure.verdicts import Verdict
from cfgfix.measure.watch import Sync, Trace

GROWTH_BYTES, WHOLE_GROWTH = 0.1 * 2**20, 16 * 2**20
"""Growth of the memory per step, and in all, from which it is told, where it went on through the whole run. Less than that in all is what
allocators and the looks at the program take."""


LEAST_READINGS = 8
"""Of the memory, from which it can be told whether it grows."""
BETWEEN_STEPS, IN_STEP, EPOCH_END = "between steps", "in the step", "at the end of an epoch"
"""When a stall comes."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The steps to observe, and for how long."""

    steps: int = 200
    seconds: float = 60.0
    """Since the first step."""
    data_seconds: float = 8.0
    """For each run over the dataset by itself; 0: none."""


@dataclass(frozen=True, slots=True)
class Part:
    """The time that a function takes between steps."""

    who: str
    place: str
    seconds: float
    """Per step."""
    share: float
    """Of the run."""
    by_keras: bool = False
    """Whether it is the loop of Keras itself."""

    @property
    def label(self) -> str:
        """The function with its place."""
        return f"{self.who} ({short(self.place)})" if self.place else self.who

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "by_keras"}


@dataclass(frozen=True, slots=True)
class Stall:
    """Steps that took longer than the others, by the function that caused them."""

    who: str
    place: str
    what: str
    """What it had called; nothing where that is not known."""
    when: str
    """`BETWEEN_STEPS`, `IN_STEP` or `EPOCH_END`."""
    count: int
    period: float | None
    """In steps; None where they come at no fixed one."""
    seconds: float
    """What one costs, the median."""
    share: float
    """Of the run."""
    compiled: bool = False
    """Whether nothing of Python was at work then, but the compiled step."""

    @property
    def label(self) -> str:
        """The function with its place and the function that it called."""
        place = f" ({short(self.place)})" if self.place else ""
        return f"{self.who}{place}" + (f", in {self.what}" if self.what else "")

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "compiled"}


@dataclass(frozen=True, slots=True)
class Compilation:
    """One compilation by XLA."""

    step: int
    """Of those that count, from 0."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The time of evaluations and predictions within the training."""

    wait_share: float
    """Of the time of the one that takes most, for data."""
    predict_share: float = 0.0
    """Of the time of all of them, in `predict`."""
    predictions: float = 0.0
    """Calls of `predict` for each step of the training."""
    predict_seconds: float = 0.0
    """Of such a call."""
    place: str = ""
    """Of the calls that take most."""
    data: Mapping[str, Any] | None = None
    """The profile of its dataset by itself."""

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            **{name: getattr(self, name) for name in self.__dataclass_fields__},
            "data": dict(self.data) if self.data else None,
        }


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """The memory that tensors held on a GPU over the run, in bytes."""

    name: str
    first: float
    last: float
    peak: float
    """Of the readings."""
    growth: float | None
    """Per step; None where it did not go on."""
    readings: tuple[tuple[float, float], ...]
    """Seconds since the first step that counts, and bytes."""

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class RunProfile:
    """Everything `profile run` found. Times in seconds."""

    source: str
    loop: str
    """The place of the training loop."""
    kind: str
    """`fit`, or `loop` for one of the user's own."""
    steps: int
    warmup: int
    step: Summary
    """From one request for a batch to the next, starts of epochs left out."""
    shares: Mapping[str, float]
    """Of the run after the warm-up: wait, call, trace, python, epochs."""
    samples_per_second: float | None
    parts: tuple[Part, ...]
    stalls: tuple[Stall, ...]
    traces: tuple[Trace, ...]
    xla: tuple[str, ...]
    """Functions that are compiled with XLA."""
    shapes: int
    """Different shapes of batches."""
    syncs: tuple[Sync, ...]
    compilations: tuple[Compilation, ...]
    """By XLA, for new shapes of batches."""
    loops: tuple[Mapping[str, Any], ...]
    """Every place that took batches."""
    memory_growth: float | None
    """Bytes per step; None where it did not go on."""
    filling: bool
    """Whether the pipeline has a cache and its first epoch has not ended."""
    device_memory: tuple[DeviceMemory, ...]
    load: Load
    stopped: bool
    """Whether the program was ended once enough was seen."""
    data: Mapping[str, Any] | None
    """The profile of the dataset by itself."""
    not_finite: NotFinite | None = None
    """What the training went on with that is no number; None where all is."""
    padding: Padding | None = None
    """Of its batches; None where nothing in them is known for padding, or the steps take little of the time."""
    evaluation: Evaluation | None = None
    """None where there is none, or it takes little of the time."""
    verdicts: tuple[Verdict, ...] = ()
    notes: tuple[str, ...] = ()
    user_files: tuple[str, ...] = field(default_factory=tuple)

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "kind": "run",
            "source": self.source,
            "loop": {"kind": self.kind, "place": self.loop},
            "steps": self.steps,
            "warmup": self.warmup,
            "step_seconds": self.step.as_dict(),
            "shares": dict(self.shares),
            "samples_per_second": self.samples_per_second,
            "parts": [part.as_dict() for part in self.parts],
            "stalls": [stall.as_dict() for stall in self.stalls],
            "retraces": [trace.as_dict() for trace in self.traces],
            "xla_functions": list(self.xla),
            "batch_shapes": self.shapes,
            "xla_compilations": [one.seconds for one in self.compilations],
            "xla_compiled_in_steps": [one.step for one in self.compilations],
            "host_syncs": [sync.as_dict() for sync in self.syncs],
            "loops": [dict(loop) for loop in self.loops],
            "memory_growth_per_step": self.memory_growth,
            "device_memory": [device.as_dict() for device in self.device_memory],
            "cpus": {"usable": self.load.cpus, "busy": self.load.busy, "elsewhere": self.load.elsewhere},
            "stopped": self.stopped,
            "data": dict(self.data) if self.data else None,
            "not_finite": self.not_finite.as_dict() if self.not_finite else None,
            "padding": self.padding.as_dict() if self.padding else None,
            "evaluation": self.evaluation.as_dict() if self.evaluation else None,
            "older_limits": [],
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "notes": list(self.notes),
            "user_files": list(self.user_files),
        }


def short(place: str) -> str:
    """Return a place with its file relative to the working folder.

    Files outside of it keep their path.
    """
    file, _, line = place.rpartition(":")
    try:
        near = os.path.relpath(file)
    except ValueError:
        near = file
    return f"{near if not near.startswith('..') else file}:{line}"


def memory_growth(readings: Sequence[tuple[float, float]], steps: Sequence[Step]) -> float | None:
    """Return the bytes per step by which the memory grew.

    None where it did not grow through the whole run.
    """
    begin, end = steps[0].begin, steps[-1].end
    inside = [(moment, size) for moment, size in readings if begin <= moment <= end]
    if len(inside) < LEAST_READINGS:
        return None
    # By steps and not by time, for a busy machine makes some of them slow.
    reached = np.searchsorted([step.begin for step in steps], [moment for moment, _ in inside], side="right")
    quarter = np.minimum(4 * (reached - 1) // len(steps), 3)
    sizes = np.array([size for _, size in inside])
    if set(quarter) != {0, 1, 2, 3}:
        return None
    quarters = [float(np.median(sizes[quarter == place])) for place in range(4)]
    rises = np.diff(quarters)
    growth = (quarters[-1] - quarters[0]) / (0.75 * len(steps))
    # Buffers that fill grow fast and then not at all.
    steady = bool((rises > 0).all()) and float(rises.min()) > 0.5 * float(rises.max())
    enough = growth >= GROWTH_BYTES and quarters[-1] - quarters[0] >= WHOLE_GROWTH
    return growth if steady and enough else None


MOST_READINGS = 200
"""Readings of a device's memory that are kept for its course."""


def device_memory(
    readings: Sequence[tuple[float, Mapping[str, float]]], steps: Sequence[Step]
) -> tuple[DeviceMemory, ...]:
    """Return the memory that tensors held on each GPU while the steps ran."""
    begin, end = steps[0].begin, steps[-1].end
    series: dict[str, list[tuple[float, float]]] = {}
    for moment, held in readings:
        if begin <= moment <= end:
            for name, size in held.items():
                series.setdefault(name, []).append((moment, size))
    found = []
    for name, seen in series.items():
        sizes = [size for _, size in seen]
        thinned = seen[:: -(-len(seen) // MOST_READINGS)]
        course = tuple((moment - begin, size) for moment, size in thinned)
        found.append(DeviceMemory(name, sizes[0], sizes[-1], max(sizes), memory_growth(seen, steps), course))
    return tuple(found)
