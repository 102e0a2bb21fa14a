"""Places of a run at which two numbers of a program contradict each other."""

from __future__ import annotations

from typing import Protocol

from cfgfix.code.inference.interpreter.objects import ConfigKey, Made, Spot
from cfgfix.core.records import dataclass

REFUSED, INDEX, LABELS = "refused-shape", "index-beyond-table", "labels-against-output"
STEPS, SCHEDULE, WEIGHTS = "steps-beyond-data", "rate-ends-early", "weights-of-other-sizes"
LOGITS, SPREAD = "unscaled-outputs", "labels-spread"
LACKING, UNSPLIT = "call-lacks-argument", "nothing-split-off"
"""What may be wrong, by the names of the rules' checks."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A place of a run at which two numbers contradict each other.

    Attributes:
        kind: What is wrong: the name of a rule's check.
        spot: Where.
        values: The operands of the message.
        related: Other places, each with what happens there.
        keys: The config keys that the numbers come from.
        severity: The severity; None for the rule's own.
    """

    kind: str
    spot: Spot
    values: dict[str, object]
    related: tuple[tuple[Spot, str], ...] = ()
    keys: tuple[ConfigKey, ...] = ()
    severity: str | None = None


@dataclass(frozen=True, slots=True)
class Weighed:
    """A layer with weights.

    Attributes:
        name: The name of its class.
        count: How many numbers its weights hold.
        made: The call that makes it.
    """

    name: str
    count: int
    made: Made


@dataclass(frozen=True, slots=True)
class WeightFile:
    """A file of weights that a run writes or loads.

    Attributes:
        path: The file, as the program names it.
        saving: Whether the run writes it.
        spot: Where.
        layers: The layers whose weights are in it.
    """

    path: str
    saving: bool
    spot: Spot
    layers: tuple[Weighed, ...]


Beside = list[tuple[Made | None, str]]
"""Calls that a conflict rests on, each with what happens there; nothing where only their config keys count."""


class Teller(Protocol):
    """Takes note of conflicts that the run certainly comes to and nothing catches."""

    def tell(
        self,
        kind: str,
        spot: Spot | None,
        values: dict[str, object],
        beside: Beside,
        severity: str | None = None,
    ) -> None:
        """Note a conflict.

        Args:
            kind: What is wrong.
            spot: Where.
            values: The operands of the message.
            beside: The calls that it rests on.
            severity: The severity; None for the rule's own.
        """
