"""A stage of a pipeline and what it costs, and the sections of stages between buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cfgfix.measure.dataset_graph import normal

_ASYNCHRONOUS = frozenset(
    {
        "prefetch",
        "parallelmap",
        "parallelinterleave",
        "legacyparallelinterleave",
        "parallelbatch",
        "mapandbatch",
        "parallelfilter",
    }
)
"""Nodes with threads of their own: what they take from their input runs while others work."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One node of the dataset graph, in the order of the data: sources first."""

    operation: str
    """Such as `ParallelMap`; `FromGenerator` for the flat_map that from_generator makes."""
    function: str | None
    """Name of the user's function, where it has one."""
    seconds: float
    """Time inside this stage per batch at the end of the pipeline, summed over its threads."""
    share: float
    """Of the time inside all stages."""
    elements: float
    """Elements it gives per batch at the end of the pipeline."""
    parallelism: int
    """How many calls may run at once."""
    autotuned: bool
    """Whether tf.data chooses that number."""
    python: bool
    """Whether it calls Python, so that the interpreter lock admits one call at a time."""
    inputs: tuple[int, ...]
    """Positions of its inputs in the list of stages."""
    pool: int | None = None
    """Threads that run its calls, where fewer may be there than calls; None for a stage without calls or with threads enough."""
    quiet_seconds: float | None = None
    """Its time per batch while nothing disturbed it: the lower fifth of the readings. None where there are too few."""
    phase: str = "running"
    """`running`; `start`: it has run when the first batch of an epoch comes; `once`: a cache spares it from the second epoch on."""

    @property
    def at_once(self) -> int:
        """The number of calls that really run at once."""
        return self.parallelism if self.pool is None else max(1, min(self.parallelism, self.pool))

    @property
    def label(self) -> str:
        """The operation's name, with the user's function where there is one."""
        return f"{self.operation}({self.function})" if self.function else self.operation

    @property
    def capacity(self) -> float:
        """The batches per second that the stage could give if it never waited.

        Infinite for a stage that costs nothing.
        """
        return self.at_once / self.seconds if self.seconds > 0 else float("inf")

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {
            "operation": self.operation,
            "function": self.function,
            "seconds_per_batch": self.seconds,
            "share": self.share,
            "elements_per_batch": self.elements,
            "parallelism": self.parallelism,
            "autotuned": self.autotuned,
            "at_once": self.at_once,
            "python": self.python,
            "phase": self.phase,
            "quiet_seconds_per_batch": self.quiet_seconds,
            "capacity": self.capacity if self.seconds > 0 else None,
        }


@dataclass(frozen=True, slots=True)
class Section:
    """Stages that run one after the other in one thread, or one parallel stage."""

    members: tuple[int, ...]
    """Positions in the list of stages."""
    seconds: float
    """What a batch takes here at least, once everything else is ready."""


def find_sections(stages: Sequence[Stage]) -> tuple[Section, ...]:
    """Return the sections of a pipeline that work at the same time.

    The slowest of them sets the pace.
    """
    consumers = {child for stage in stages for child in stage.inputs}
    roots = [place for place in range(len(stages)) if place not in consumers]
    found: list[Section] = []

    def close(members: list[int]) -> None:
        if members:
            found.append(Section(tuple(members), sum(stages[place].seconds for place in members)))

    def visit(place: int, chain: list[int]) -> None:
        stage = stages[place]
        if normal(stage.operation) in _ASYNCHRONOUS:
            found.append(Section((place,), stage.seconds / stage.at_once))
            inner: list[int] = []
            for child in stage.inputs:
                visit(child, inner)
            close(inner)
            return
        chain.append(place)
        for child in stage.inputs:
            visit(child, chain)

    for root in roots:
        chain: list[int] = []
        visit(root, chain)
        close(chain)
    return tuple(found)
