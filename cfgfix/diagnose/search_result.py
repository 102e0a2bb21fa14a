"""What a search found: every setting that was tried, and the best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cfgfix.measure.statistics import Interval
from cfgfix.diagnose.search_space import Bound, yaml_value


@dataclass(frozen=True, slots=True)
class Try:
    """One setting, and the rate that was measured with it.

    Attributes:
        values: By concept.
        rate: Samples per second of its longest trial; None where it failed.
        error: Why it failed.
        seconds: What that trial was given.
        batches: How many it took.
    """

    values: Mapping[str, Any]
    rate: float | None
    error: str | None
    seconds: float
    batches: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {
            "values": dict(self.values),
            "samples_per_second": self.rate,
            "error": self.error,
            "trial_seconds": self.seconds,
            "batches": self.batches,
        }


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search: all settings tried, and the best."""

    source: str
    space: Mapping[str, tuple[Any, ...]]
    tried: tuple[Try, ...]
    present: Try
    winner: Try | None
    """The best of all that ran; None where the present setting is the best."""
    ratio: Interval | None
    """Samples per second of the winner over the present setting's; None without a winner, or where too few pairs ran."""
    pairs: tuple[tuple[float, float], ...]
    excluded: tuple[tuple[Mapping[str, Any], str], ...]
    cache: str
    notes: tuple[str, ...]
    bound: Bound | None
    changes: tuple[tuple[str, str, Any, Any], ...] = field(default=())
    code_changes: tuple[str, ...] = ()
    """Concept, key, value now, better value."""

    @property
    def gain(self) -> bool:
        """Whether the winner is faster beyond doubt."""
        return self.ratio is not None and self.ratio.low > 1

    def summary(self) -> str:
        """Return the result in one sentence."""
        ran = sum(entry.rate is not None for entry in self.tried)
        told = f"{ran} setting{'s' if ran != 1 else ''} measured"
        failed = len(self.tried) - ran
        told += f", {failed} failed" if failed else ""
        told += f", {len(self.excluded)} left out" if self.excluded else ""
        if self.winner is None:
            return f"{told}; the present setting is the best of them: {setting_text(self.present.values)}"
        best = setting_text(self.winner.values)
        if self.ratio is None:
            return f"{told}; {best} came out best, but it could not be held against the present setting"
        ratio = f"{self.ratio.value:.3g} times the samples/s of the present setting (95 %: {self.ratio.low:.3g} to {self.ratio.high:.3g}, {len(self.pairs)} pairs)"
        if self.gain:
            return f"{told}; {best} gives {ratio}"
        return f"{told}; no gain is proven: the best, {best}, gives {ratio}"

    def as_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {
            "kind": "search",
            "source": self.source,
            "summary": self.summary(),
            "space": {name: list(values) for name, values in self.space.items()},
            "tried": [entry.as_dict() for entry in self.tried],
            "present": self.present.as_dict(),
            "winner": self.winner.as_dict() if self.winner else None,
            "ratio": self.ratio.as_dict() if self.ratio else None,
            "gain": self.gain,
            "pairs": [list(pair) for pair in self.pairs],
            "excluded": [{"values": dict(values), "reason": reason} for values, reason in self.excluded],
            "cache": self.cache,
            "changes": [
                {"concept": name, "key": key, "from": now, "to": better}
                for name, key, now, better in self.changes
            ],
            "code_changes": list(self.code_changes),
            "notes": list(self.notes),
        }


def setting_text(values: Mapping[str, Any]) -> str:
    """Return a setting as text for a reader."""
    return ", ".join(f"{name} {yaml_value(value)}" for name, value in values.items())
