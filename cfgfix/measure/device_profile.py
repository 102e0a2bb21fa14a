"""What `profile devices` finds: series of figures, devices, overlaps, and the profile that holds them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from cfgfix.measure.oscillation import Oscillation
from cfgfix.measure.statistics import Summary, summarise
from cfgfix.measure.verdicts import OldLimit, Verdict


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
        """Return the statistics of the series, or None where it is empty."""
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
        """Return the series with this name, or None."""
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
    """The busy shares of pipeline stages, and how far they overlap.

    Shares are of the time from the first start to the last end.
    """

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
