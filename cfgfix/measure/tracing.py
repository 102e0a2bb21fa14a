"""TensorFlow's own profiler over a short loop, and the input-pipeline verdict that the `xprof` package reads from its trace."""

from __future__ import annotations

import glob
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ProfilerVerdict:
    """The answer of TensorFlow's profiler on the same loop; times in milliseconds."""

    available: bool
    conclusion: str
    step_ms: float | None = None
    input_ms: float | None = None
    compute_ms: float | None = None
    hardware: str | None = None

    @property
    def input_share(self) -> float | None:
        """Share of the step spent waiting for input."""
        return self.input_ms / self.step_ms if self.input_ms is not None and self.step_ms else None

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "available": self.available,
            "conclusion": self.conclusion,
            "step_ms": self.step_ms,
            "input_ms": self.input_ms,
            "compute_ms": self.compute_ms,
            "input_share": self.input_share,
            "hardware": self.hardware,
        }


def trace_loop(body: Callable[[int], None], *, steps: int, logdir: str | None = None) -> ProfilerVerdict:
    """Run `body(step)` under the profiler and return the profiler's verdict.

    Each call of the body is one step of the trace.

    Args:
        body: One training step with its wait for data; what it raises goes through.
        steps: How often.
        logdir: Where to keep the trace for TensorBoard; without it the trace is thrown away.
    """
    import tensorflow as tf

    with tempfile.TemporaryDirectory() as scratch:
        place = logdir or scratch
        with tf.profiler.experimental.Profile(place):
            for step in range(steps):
                with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
                    body(step)
        files = glob.glob(os.path.join(glob.escape(place), "plugins", "profile", "*", "*.xplane.pb"))
        files.sort(key=os.path.getmtime)
        return read_trace(files[-1:])


def read_trace(files: list[str]) -> ProfilerVerdict:
    """Return the verdict on the input pipeline from the profiler's trace files."""
    if not files:
        return ProfilerVerdict(False, "the profiler wrote no trace")
    try:
        from xprof.convert import raw_to_tool_data
    except ImportError as error:
        return ProfilerVerdict(False, f"the xprof package is not there ({error})")
    try:
        data, _ = raw_to_tool_data.xspace_to_tool_data(files, "input_pipeline_analyzer", {})
        facts = _step_table_properties(json.loads(data))
    except (ValueError, TypeError, KeyError, AttributeError, RuntimeError) as error:
        return ProfilerVerdict(False, f"xprof could not read the trace ({type(error).__name__}: {error})")
    if facts is None:
        return ProfilerVerdict(False, "xprof found no steps in the trace")

    def number(name: str) -> float | None:
        try:
            return float(facts[name])
        except (KeyError, TypeError, ValueError):
            return None

    compute = [
        value
        for name in ("device_compute_time_ms_avg", "host_compute_time_ms_avg")
        if (value := number(name)) is not None
    ]
    return ProfilerVerdict(
        True,
        str(facts.get("input_conclusion") or "no conclusion"),
        number("steptime_ms_average"),
        number("infeed_time_ms_avg"),
        sum(compute) if compute else None,
        facts.get("hardware_type"),
    )


def _step_table_properties(tables: Any) -> dict[str, Any] | None:
    """Return the properties of the table that holds the step times, or None."""
    for table in tables:
        facts = table.get("p") or {}
        if "steptime_ms_average" in facts:
            found: dict[str, Any] = facts
            return found
    return None
