"""What an observation takes down of a training: its loops, their steps, and looks at what was at work."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Step:
    """One step of a loop: from one request for a batch to the next.

    Moments are those of `time.perf_counter`.
    """

    begin: float
    end: float = 0.0
    wait: float = 0.0
    """For data."""
    call: float = 0.0
    """In compiled functions, without waits and tracing."""
    trace: float = 0.0
    """In calls that traced or compiled."""
    aside: float = 0.0
    """In another loop that takes no gradients: an evaluation of the program's own."""
    calls: int = 0
    samples: int = 0
    """Rows of its batches; 0 where they are not known."""
    batches: int = 1
    """More than one where a compiled function takes several."""
    shape: int = 0
    """A number that batches of the same shapes share."""
    trains: bool = False
    """Whether gradients were taken."""
    starts: bool = False
    """Whether an epoch began in it, or before it ended."""

    @property
    def seconds(self) -> float:
        """The length of the step."""
        return self.end - self.begin

    @property
    def between(self) -> float:
        """The part of the step left for Python: neither wait, call nor trace."""
        return max(0.0, self.seconds - self.wait - self.call - self.trace - self.aside)


@dataclass(slots=True)
class Loop:
    """A place in the program that takes batches."""

    kind: str
    """`fit`, `evaluate`, `predict`, or `loop` for one of the user's own."""
    place: str
    """`file:line` in the user's code."""
    steps: list[Step] = field(default_factory=list)
    epochs: int = 0
    dataset: Any = None
    """The last that it iterated over."""
    given: Any = None
    """What `fit` was called with."""
    waited: float = 0.0
    """For its batches, within steps that start no epoch; of `evaluate` and `predict` all of it."""
    ran: float = 0.0
    """In compiled functions of `evaluate` and `predict`."""
    turns: int = 0
    """Calls of them."""
    spent: float = 0.0
    """In `evaluate` and `predict`, all in all."""
    asked: int = 0
    """Calls of `evaluate` and `predict` themselves."""
    fresh: bool = False
    """Whether an epoch has begun and gave no batch yet."""
    eager: bool = False
    """Whether Keras was told to run eagerly."""
    lone: bool = False
    """Whether it takes its batches from nothing that is watched: NumPy arrays, a generator of the user's own."""

    @property
    def looks_on(self) -> bool:
        """Whether the loop evaluates or predicts, and so never trains."""
        return self.kind in ("evaluate", "predict")


@dataclass(slots=True)
class Guest:
    """A loop that takes batches within a step of another one."""

    place: tuple[str, str]
    begin: float
    host: Step
    """The step as it was when this loop came."""
    asked: int = 0
    """Batches since then."""
    trained: int = 0
    """Calls that took gradients since then."""
    lone: bool = False
    """Whether it takes its batches from nothing that is watched."""


@dataclass(frozen=True, slots=True)
class Look:
    """The state of the training thread at one moment."""

    moment: float
    state: str
    """`python`, `wait` or `call`."""
    who: str
    """The user's function, or the method of a callback."""
    place: str
    """`file:line` of the user's code; nothing for a callback that is not the user's."""
    what: str
    """What it had called, where that is known."""
    kind: str
    """Of the loop it was in: `fit`, `evaluate`, `predict` or `loop`."""
