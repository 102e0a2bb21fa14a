"""What the figures of devices mean: the verdicts of `profile devices`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cfgfix.core.wording import counted, times_as_fast
from cfgfix.measure.device_profile import Device, Overlap
from cfgfix.measure.verdicts import Outcome, Verdict
from cfgfix.rules.faults import Fault

UNDERUSED = 70.0
"""Percent. Amazon SageMaker Debugger's LowGPUUtilization calls a GPU underused when the 95th percentile is below this."""
FLUCTUATION_LOW = 10.0
"""Percent. The same rule calls it fluctuating when the 95th percentile is above 70 and the 5th below this."""


def judge(
    devices: Sequence[Device], gpu: str, overlap: Overlap | None, *, working: bool
) -> tuple[Verdict, ...]:
    """Return the verdicts on the figures of devices.

    Args:
        devices: The devices, with the series that were read.
        gpu: Whether there is a GPU, or why not.
        overlap: The overlap of a two-device pipeline, where such a pipeline was run.
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
