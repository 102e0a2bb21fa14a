"""What the figures mean: verdicts with their evidence, the rules they belong to, and the older limits beside the figures."""

from __future__ import annotations

import enum
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cfgfix.core.errors import CfgfixError
from cfgfix.rules.catalogue import builtin
from cfgfix.rules.faults import Fault


class Outcome(enum.Enum):
    """How a verdict turned out."""

    GOOD = "good"
    PROBLEM = "problem"
    INCONCLUSIVE = "inconclusive"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One conclusion from the figures."""

    name: str
    outcome: Outcome
    summary: str
    evidence: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    """What is at fault, as rules know it."""
    change: str | None = None
    """The setting or the code to change, and to what."""
    fixes: tuple[str, ...] = ()
    """What `cfgfix fix` would write into the user's config, or why it would not."""
    worth: float | None = None
    """How many times as fast the run is at most once this is mended; None where that is not known."""
    explained_by: tuple[str, ...] = ()
    """Names of verdicts beside it that say what to change, where it only points to them."""

    @property
    def rules(self) -> tuple[str, ...]:
        """The ids of the rules that explain the verdict's faults."""
        return tuple(rule.id for rule in builtin().explaining(*self.faults))

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "name": self.name,
            "outcome": self.outcome.value,
            "summary": self.summary,
            "evidence": list(self.evidence),
            "faults": [fault.value for fault in self.faults],
            "rules": [{"id": rule.id, "name": rule.name} for rule in builtin().explaining(*self.faults)],
            "change": self.change,
            "fixes": list(self.fixes),
            "worth": self.worth,
            **({"explained_by": list(self.explained_by)} if self.explained_by else {}),
        }


INPUT_BOUND = (0.05, 0.20)
"""Share of the step time spent waiting for input: below, not input-bound; between, moderately; above, highly.

The limits of TensorFlow's profiler (tensorflow/core/profiler/convert/op_stats_to_input_pipeline_analysis.cc).
"""


@dataclass(frozen=True, slots=True)
class OldLimit:
    """A limit of the older tools, shown beside a figure and never used for a verdict."""

    figure: str
    value: float
    unit: str
    reading: str
    """What the older tools would have said."""
    limits: str
    source: str
    caution: str = ""

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            name: getattr(self, name)
            for name in ("figure", "value", "unit", "reading", "limits", "source", "caution")
        }


_GUIDE = "older GPU guide of MyXTTSModel, thresholds for good, acceptable and bad"


def _band_name(value: float, edges: tuple[float, float], names: tuple[str, str, str]) -> str:
    return names[0] if value < edges[0] else names[1] if value <= edges[1] else names[2]


def old_limits(
    *,
    variation: float | None = None,
    data_share: float | None = None,
    batch_seconds: float | None = None,
    steps_per_second: float | None = None,
    utilisation: float | None = None,
) -> tuple[OldLimit, ...]:
    """Return the limits of older tools beside some figures, each with its judgement.

    Shares and utilisation go from 0 to 1.
    """
    # Where more is better the edges are negative, and the figure is turned round too.
    rows = (
        (
            "standard deviation / mean of the batch time",
            variation,
            "",
            (0.2, 0.5),
            ("good", "acceptable", "oscillating"),
            "good below 0.2, acceptable to 0.5, oscillating above",
            "one outlier in a hundred steady batches gives 1.09, and says nothing of a period",
        ),
        (
            "waiting for data / step time",
            data_share,
            "",
            (0.3, 0.5),
            ("good", "improvable", "bottleneck"),
            "good below 0.3, improvable to 0.5, bottleneck above",
            "TensorFlow's profiler calls 0.05 moderately and 0.20 highly input-bound",
        ),
        (
            "time per batch",
            batch_seconds,
            "s",
            (0.1, 0.2),
            ("good", "acceptable", "slow"),
            "good below 0.1 s, acceptable to 0.2 s, slow above, for a batch of 16",
            "means nothing without the batch size and the step time",
        ),
        (
            "steps per second",
            steps_per_second,
            "1/s",
            (-10, -5),
            ("good", "acceptable", "slow"),
            "good above 10, acceptable from 5, slow below",
            "means nothing without the model and the device",
        ),
        (
            "GPU utilisation",
            utilisation,
            "",
            (-0.7, -0.5),
            ("good", "acceptable", "low"),
            "good from 0.7, acceptable from 0.5, low below",
            "NVML's figure is the share of time with any kernel at work, not how much of the chip works",
        ),
    )
    return tuple(
        OldLimit(
            figure,
            value,
            unit,
            _band_name(-value if edges[0] < 0 else value, edges, names),
            limits,
            _GUIDE,
            caution,
        )
        for figure, value, unit, edges, names, limits, caution in rows
        if value is not None and math.isfinite(value)
    )


_PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
_INSTALLED = re.compile(r"[\\/](?:site-packages|dist-packages)[\\/]")
"""Folders of packages that pip or a distribution put there."""
_GENERATED = "__autograph_generated_file"
"""How TensorFlow names the temporary files of the functions it has rewritten."""


def _is_installed(path: str) -> bool:
    """Tell whether a file belongs to Python, an installed package or this package.

    Files that AutoGraph generates count, too.
    """
    if os.path.basename(path).startswith(_GENERATED):
        return True
    return bool(_INSTALLED.search(path)) or path.startswith(
        (_PACKAGE + os.sep, os.path.dirname(os.path.realpath(os.__file__)) + os.sep)
    )


@dataclass(slots=True)
class FixLookup:
    """The findings of `cfgfix check` in some files, with their fixes, by rule."""

    paths: tuple[str, ...]
    found: dict[str, list[str]] = field(default_factory=dict)
    """By rule id: one line for each finding, with its fix or why there is none."""
    error: str | None = None


def look_up_fixes(*paths: str) -> FixLookup:
    """Return the findings and fixes of `cfgfix check` in some files, by rule.

    The files are a config and Python files; nothing is written or imported.
    """
    from cfgfix.core.records import replace
    from cfgfix.lint import runner as engine

    # What is installed is not the user's to repair, and the code around it is that of the whole environment.
    own = tuple(path for path in paths if not _is_installed(os.path.realpath(path)))
    lookup = FixLookup(own)
    if not own:
        return lookup
    try:
        report = engine.check(
            engine.Request(paths=own, adjust=lambda settings: replace(settings, hardware="auto"))
        )
    except CfgfixError as error:
        lookup.error = str(error)
        return lookup
    if report.errors:
        lookup.error = str(report.errors[0])
    for file in report.files:
        for finding in file.findings:
            place = f"{file.path}:{finding.location.line}"
            if finding.fix is not None:
                text = f"{place}: {finding.fix.title} ({finding.rule}, {finding.fix.safety.name.lower()})"
            else:
                text = f"{place}: {finding.message} ({finding.rule}: no automatic fix)"
            lookup.found.setdefault(finding.rule, []).append(text)
    return lookup


def with_fixes(verdicts: Sequence[Verdict], lookup: FixLookup | None) -> tuple[Verdict, ...]:
    """Return the verdicts with the fixes that `cfgfix fix` would make for their rules.

    Verdicts that name no rule stay as they are.
    """
    from dataclasses import replace

    made = []
    for verdict in verdicts:
        rules = verdict.rules
        if not rules:
            made.append(verdict)
            continue
        names = ", ".join(rules)
        if lookup is None:
            fixes: tuple[str, ...] = (
                f"name the config (`cfgfix profile` takes it as --config FILE) to see what cfgfix fix would change ({names})",
            )
        else:
            where = " and ".join(lookup.paths)
            fixes = tuple(text for rule in rules for text in lookup.found.get(rule, ()))
            if not fixes and lookup.error is not None:
                fixes = (f"{where} could not be checked: {lookup.error}",)
            elif not fixes and not verdict.change:
                fixes = (f"cfgfix fix changes nothing in {where} for {names}",)
        made.append(replace(verdict, fixes=fixes))
    return tuple(made)


def from_dict(data: dict[str, Any]) -> Verdict:
    """Return the verdict that `as_dict` wrote."""
    return Verdict(
        data["name"],
        Outcome(data["outcome"]),
        data["summary"],
        tuple(data["evidence"]),
        tuple(Fault(word) for word in data["faults"]),
        data["change"],
        tuple(data["fixes"]),
        data.get("worth"),
        tuple(data.get("explained_by", ())),
    )
