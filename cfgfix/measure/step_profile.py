"""What `profile step` finds: the plan, the comparisons with other ways, and the profile that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cfgfix.measure.operations import StepOperations
from cfgfix.measure.pace import Load
from cfgfix.measure.statistics import (
    Interval,
    Summary,
)
from cfgfix.measure.verdicts import OldLimit, Verdict
from cfgfix.measure.watch import Sync, Trace


@dataclass(frozen=True, slots=True)
class StepPlan:
    """The parts of a step to measure, and for how long."""

    rounds: int = 20
    """How often each part is timed, in turn."""
    steps: int = 50
    """Of the training loop with real batches."""
    seconds: float = 60.0
    """For each part of the measurement."""
    trace: bool = True
    """Run some steps under TensorFlow's profiler for the times of operations and layers."""
    compare: bool = True
    """Measure XLA and mixed precision against the step as it is."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The step with one thing changed, timed in pairs with the unchanged step."""

    name: str
    ratio: Interval | None
    """Time with the change / time without; None where it failed."""
    compile_seconds: float | None
    failed: str | None = None
    """Why it could not run."""
    already: bool = False
    """Whether the step as it is has it."""

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "name": self.name,
            "ratio": self.ratio.as_dict() if self.ratio else None,
            "compile_seconds": self.compile_seconds,
            "failed": self.failed,
            "already": self.already,
        }


@dataclass(frozen=True, slots=True)
class StepProfile:
    """Everything `profile step` found. Times in seconds."""

    source: str
    devices: tuple[str, ...]
    parts: Mapping[str, Interval]
    """Forward, loss, backward and optimizer; empty for a step callable, which cannot be cut."""
    step: Summary
    """The whole compiled step on one batch, or the callable."""
    compile_seconds: float
    data: Summary
    """Waiting for a batch in the loop."""
    loop: Summary
    """From one step to the next in the loop."""
    data_share: Interval
    batches: int
    samples_per_second: float
    traces: tuple[Trace, ...]
    """Tracings beyond each function's first."""
    made_anew: Mapping[str, int]
    compiled: bool
    """Whether any `tf.function` ran in the step."""
    syncs: tuple[Sync, ...]
    watched_steps: int
    comparisons: tuple[Comparison, ...]
    peak_bytes: Mapping[str, float]
    """Peak memory by device; `host` is the process."""
    load: Load | None = None
    """Of the machine while the loop ran."""
    xla_inside: bool = False
    """Whether functions that the step calls are compiled with XLA."""
    floor: float = 0.0
    """Seconds that a batch in memory keeps the same step waiting; taken off `data_share`."""
    step_memory: tuple[Mapping[str, float], ...] = ()
    """The same after each watched step: what the peak has risen to by then."""
    operations: StepOperations = field(default_factory=StepOperations)
    limits: tuple[OldLimit, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "kind": "step",
            "source": self.source,
            "devices": list(self.devices),
            "parts": {name: part.as_dict() for name, part in self.parts.items()},
            "step_seconds": self.step.as_dict(),
            "compile_seconds": self.compile_seconds,
            "data_seconds": self.data.as_dict(),
            "floor_seconds": self.floor,
            "loop_seconds": self.loop.as_dict(),
            "data_share": self.data_share.as_dict(),
            "batches": self.batches,
            "samples_per_second": self.samples_per_second,
            "retraces": [trace.as_dict() for trace in self.traces],
            "functions_made_anew": dict(self.made_anew),
            "compiled": self.compiled,
            "host_syncs": [sync.as_dict() for sync in self.syncs],
            "watched_steps": self.watched_steps,
            "comparisons": [comparison.as_dict() for comparison in self.comparisons],
            "peak_bytes": dict(self.peak_bytes),
            "peak_bytes_by_step": [dict(entry) for entry in self.step_memory],
            "operations": self.operations.as_dict(),
            "older_limits": [limit.as_dict() for limit in self.limits],
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "notes": list(self.notes),
        }
