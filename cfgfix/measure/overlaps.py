"""How far work of several kinds runs at one time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cfgfix.measure.device_profile import Overlap

Span = tuple[float, float]


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return spans of time joined where they touch or overlap, in order."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if end <= start:
            continue
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def covered(spans: Iterable[Span]) -> float:
    """Return how much time the spans cover, overlaps counted once."""
    return sum(end - start for start, end in merged(spans))


def shared_time(groups: Sequence[Sequence[Span]], at_least: int = 2) -> float:
    """Return how long spans of at least `at_least` groups overlap."""
    edges: list[tuple[float, int]] = []
    for spans in groups:
        for start, end in merged(spans):
            edges += [(start, 1), (end, -1)]
    edges.sort(key=lambda edge: (edge[0], edge[1]))
    total, active, since = 0.0, 0, 0.0
    for moment, step in edges:
        if active >= at_least:
            total += moment - since
        active += step
        since = moment
    return total


def measure_overlap(
    names: Sequence[str], spans: Sequence[Sequence[Span]], *, items: int, sequential: float
) -> Overlap:
    """Return busy shares and overlap from each stage's spans of work.

    Raises:
        ValueError: There is no work.
    """
    everything = [span for group in spans for span in group]
    if not everything:
        raise ValueError("no stage did any work")
    total = max(end for _, end in everything) - min(start for start, _ in everything)
    busy = tuple(covered(group) / total for group in spans)
    return Overlap(
        tuple(names),
        busy,
        shared_time(spans, 2) / total,
        max(0.0, 1 - covered(everything) / total),
        total,
        items,
        sequential,
    )
