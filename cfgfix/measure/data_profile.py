"""What `profile data` finds: rates, consumers, the start of an epoch, and the profile that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cfgfix.measure import content
from cfgfix.measure.oscillation import Cause, Oscillation
from cfgfix.measure.pace import Lock, Pace
from cfgfix.measure.padding import Padding
from cfgfix.measure.shards import Shards
from cfgfix.measure.stage_profile import Stage
from cfgfix.measure.statistics import (
    Interval,
    Steadiness,
    Summary,
)
from cfgfix.measure.tracing import ProfilerVerdict
from cfgfix.measure.verdicts import OldLimit, Verdict


@dataclass(frozen=True, slots=True)
class Rates:
    """The rate at which a dataset gives batches, after the warm-up. Times in seconds."""

    batch: Summary
    """Time from one batch to the next."""
    first_element: float
    build: float
    warmup: int
    steady: Steadiness
    batches_per_second: float
    samples_per_second: float
    bytes_per_second: float
    samples_per_batch: float
    bytes_per_batch: float
    has_strings: bool
    cpu_per_batch: float
    """CPU seconds of all threads per batch."""
    cpus_busy: float
    """CPUs at work on average."""
    cpus_elsewhere: float
    """CPUs that other processes kept at work meanwhile."""
    read_per_batch: float | None
    """Bytes read from files per batch, cached or not."""
    storage_per_batch: float | None
    """Bytes per batch that came from storage."""
    restarts: int
    delayed: float = 0.0
    """Threads of this process that waited for a CPU, on average."""
    within_epochs: float | None = None
    """The mean time of a batch, starts of epochs left out; None where there are none."""

    @property
    def pace(self) -> float:
        """The mean time of a batch within an epoch."""
        return self.batch.mean if self.within_epochs is None else self.within_epochs

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        data = {
            name: getattr(self, name) for name in self.__dataclass_fields__ if name not in ("batch", "steady")
        }
        return {"batch_seconds": self.batch.as_dict(), "steady": self.steady.as_dict(), **data}


@dataclass(frozen=True, slots=True)
class Consumer:
    """How long a consumer with a given step time waits for data."""

    step_seconds: float
    idle: Interval
    """Share of the time the device waits for data, measured."""
    predicted: float
    """The same from the pipeline's own pace: max(0, 1 - step / batch time)."""
    floor: float = 0.0
    """Wait for a batch that lies in memory, which is the instrument's own; it is taken off the idle share."""
    real_step_seconds: float | None = None
    """How long the step really took: on a busy machine the consumer gets the CPU back late."""
    profiler: ProfilerVerdict | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "step_seconds": self.step_seconds,
            "idle_share": self.idle.as_dict(),
            "predicted_idle_share": self.predicted,
            "floor_seconds": self.floor,
            "real_step_seconds": self.real_step_seconds,
            "profiler": self.profiler.as_dict() if self.profiler else None,
        }


@dataclass(frozen=True, slots=True)
class Differential:
    """The time of a batch in parts, measured by runs that leave parts out.

    Seconds per batch; None where a run was not made.
    """

    delivery: float | None
    """With all elements in memory: handing batches over."""
    delivery_cpu: float | None
    """CPU seconds of the same."""
    preparation: Interval | None
    """With all files in the page cache, less delivery: decoding, transforming, batching."""
    fetch: Interval | None
    """With no file in the page cache, less the same with all files in it."""
    files: int
    bytes: int
    cold_cached_share: float | None
    """How much of the files was still cached at the start of the cold runs."""
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "delivery": self.delivery,
            "delivery_cpu": self.delivery_cpu,
            "preparation": self.preparation.as_dict() if self.preparation else None,
            "fetch": self.fetch.as_dict() if self.fetch else None,
            "files": self.files,
            "bytes": self.bytes,
            "cold_cached_share": self.cold_cached_share,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Feeding:
    """The CPUs needed to give a device a batch every `step_seconds`."""

    step_seconds: float
    cpus_usable: int
    cpus_needed: float
    """CPU seconds per batch / step seconds."""
    by_cpu: bool
    """Whether the CPUs are what limits the pipeline now."""

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class EpochStart:
    """The extra time of an epoch's first batch over an ordinary batch."""

    seconds: float
    batches: int | None
    """Of an epoch; None where that is not known."""
    fills: str | None
    """The stage that is filled meanwhile, such as `Shuffle`."""

    def share(self, batch_seconds: float) -> float | None:
        """Return the share of an epoch that its start takes.

        `batch_seconds` is the time from one batch to the next.
        """
        if self.batches is None:
            return None
        whole = self.seconds + self.batches * batch_seconds
        return self.seconds / whole if whole else 0.0

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {"seconds": self.seconds, "batches": self.batches, "fills": self.fills}


@dataclass(frozen=True, slots=True)
class DataProfile:
    """Everything `profile data` found."""

    source: str
    rates: Rates
    series: tuple[float, ...]
    """Seconds per batch after the warm-up."""
    oscillation: Oscillation
    causes: tuple[Cause, ...]
    stages: tuple[Stage, ...]
    lock: Lock | None
    """None where no stage runs Python."""
    consumer: Consumer | None
    differential: Differential | None
    feeding: Feeding | None
    service: Mapping[str, Any] | None
    limits: tuple[OldLimit, ...]
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = ()
    pace: Pace | None = None
    """What the stages' times add up to, beside the time of a batch; None without stages."""
    start: EpochStart | None = None
    """None where an epoch does not begin again, or nobody knows."""
    order: content.ClassOrder | None = None
    """None where the batches have no classes."""
    padding: Padding | None = None
    """None where nothing in the batches is known for padding."""
    shards: Shards | None = None
    """None where no files are interleaved."""
    within: Oscillation | None = None
    """The same with the starts of epochs levelled; None where there are none, or nothing oscillates."""

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "kind": "data",
            "source": self.source,
            "rates": self.rates.as_dict(),
            "series": list(self.series),
            "oscillation": self.oscillation.as_dict(),
            "causes": [cause.as_dict() for cause in self.causes],
            "stages": [stage.as_dict() for stage in self.stages],
            "pace": self.pace.as_dict() if self.pace else None,
            "class_order": self.order.as_dict() if self.order else None,
            "padding": self.padding.as_dict() if self.padding else None,
            "shards": self.shards.as_dict() if self.shards else None,
            "epoch_start": self.start.as_dict() if self.start else None,
            "interpreter_lock": self.lock.as_dict() if self.lock else None,
            "consumer": self.consumer.as_dict() if self.consumer else None,
            "differential": self.differential.as_dict() if self.differential else None,
            "feeding": self.feeding.as_dict() if self.feeding else None,
            "service": dict(self.service) if self.service else None,
            "older_limits": [limit.as_dict() for limit in self.limits],
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts of a dataset to measure, and for how long."""

    batches: int = 200
    seconds: float = 30.0
    """For each run."""
    step_seconds: float | None = None
    cold: bool = False
    pairs: int = 3
    """Of cold and warm runs."""
    data_path: str | None = None
    intervals: Mapping[str, float] = field(default_factory=dict)
    """What happens every so many batches: checkpoint, log, evaluation, shuffle refill."""
    stages: bool = True
    trace: bool = True
    logdir: str | None = None
    service: int = 0
    """Workers of a tf.data service to measure the dataset through; 0: none."""
