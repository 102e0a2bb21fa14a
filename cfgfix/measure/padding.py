"""How much of the batches is padding, on which a step computes too, and how much less a few lengths would leave.

What is padding is known where a component of the batch tells the lengths, where padded batches are as long as their longest sample, or
where they hold whole numbers such as letters. Anything else that ends in equal values, a picture with a black border, is left alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cfgfix.core.wording import counted
from cfgfix.measure.dataset_graph import normal, read_graph, walk
from cfgfix.measure.sampling import user_code
from cfgfix.measure.verdicts import Outcome, Verdict

LENGTHS = 4
"""Lengths that are suggested: so many shapes are traced, and compiled, once each."""
LEAST_ROWS = 16
LEAST_LENGTH = 8
"""Positions of the longest sample below which padding is not looked for."""
TOLD = 0.2
"""Share of padding from which it is told."""
WORTH = 1.15
"""How many times as fast the run would be, at most, from which padding is a problem."""

Lengths = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Padding:
    """The padding of the largest component of the batches that has any."""

    component: str
    batches: int
    rows: int
    content: float
    """Positions of a sample that hold data, on average."""
    padded: float
    """Positions of a sample in its batch, on average."""
    weight: float
    """Share of the numbers of a batch that are in this component."""
    lengths: tuple[int, ...]
    """Lengths that leave least padding when each batch holds samples of like length."""
    fitted: float
    """Positions of a sample with those lengths, on average."""

    @property
    def share(self) -> float:
        """Share of the positions that is padding."""
        return 1 - self.content / self.padded

    @property
    def saved(self) -> float:
        """The share of positions saved by batching samples of like length."""
        return max(0.0, 1 - self.fitted / self.padded)

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**fields, "lengths": list(self.lengths), "share": self.share, "saved": self.saved}


@dataclass(slots=True)
class _PaddedComponent:
    name: str
    whole_numbers: bool
    content: list[Lengths] = field(default_factory=list)
    padded: list[int] = field(default_factory=list)
    cells: int = 0
    told: dict[str, list[Lengths]] = field(default_factory=dict)
    """By the name of a component: the lengths that it would tell."""


def content_lengths(values: npt.NDArray[Any]) -> Lengths:
    """Return the length of the data in each row of a batch, without its padding.

    The padding is the value in which most rows end.
    """
    rows, positions = values.shape[:2]
    flat = values.reshape(rows, positions, -1)
    last = flat[:, -1, :]
    even = (last == last[:, :1]).all(axis=1)
    if not even.any():
        return np.full(rows, positions, np.int64)
    found, counts = np.unique(last[even, 0], return_counts=True)
    filled = (flat != found[np.argmax(counts)]).any(axis=2)
    lengths = positions - np.argmax(filled[:, ::-1], axis=1)
    return np.where(filled.any(axis=1), lengths, 0).astype(np.int64)


def best_lengths(lengths: Lengths, most: int = LENGTHS) -> tuple[int, ...]:
    """Return at most `most` lengths that leave the least padding.

    Each sample is padded to the next length.
    """
    step = 8 if lengths.max() >= 64 else 1
    sizes, counts = np.unique(-(-np.maximum(lengths, 1) // step) * step, return_counts=True)
    below = np.concatenate([[0], np.cumsum(counts)])
    # cost[j]: positions of the samples up to size j, where size j is one of the lengths chosen so far.
    cost = sizes * below[1:]
    chosen: list[list[int]] = [[place] for place in range(len(sizes))]
    for _ in range(min(most, len(sizes)) - 1):
        better, parts = cost.copy(), [list(part) for part in chosen]
        for place in range(1, len(sizes)):
            options = cost[:place] + sizes[place] * (below[place + 1] - below[1 : place + 1])
            least = int(np.argmin(options))
            if options[least] < better[place]:
                better[place], parts[place] = options[least], [*chosen[least], place]
        cost, chosen = better, parts
    return tuple(int(sizes[place]) for place in chosen[-1])


def fitted_lengths(lengths: Lengths, to: Sequence[int]) -> Lengths:
    """Return the length that each sample is padded to.

    Samples longer than all lengths get the longest.
    """
    edges = np.asarray(to, np.int64)
    return np.asarray(edges[np.minimum(np.searchsorted(edges, lengths), len(edges) - 1)], np.int64)


def read_padding(dataset: Any, *, batches: int = 50, seconds: float = 1.0) -> Padding | None:
    """Return the padding of a dataset's first batches.

    None where there is no padding, or nothing shows that equal values are padding.
    """
    import tensorflow as tf

    paths = _parts_by_path(getattr(dataset, "element_spec", None))
    sequences = {
        name: _PaddedComponent(name, spec.dtype.is_integer)
        for name, spec in paths.items()
        if isinstance(spec, tf.TensorSpec)
        and (spec.dtype.is_floating or spec.dtype.is_integer)
        and spec.shape.rank is not None
        and spec.shape.rank >= 2
        and (spec.shape[1] is None or spec.shape[1] >= LEAST_LENGTH)
    }
    graph = read_graph(dataset)
    padding = any(normal(node.operation) == "paddedbatch" for node in walk(graph))
    tellers = [
        name
        for name, spec in paths.items()
        if isinstance(spec, tf.TensorSpec) and spec.dtype.is_integer and spec.shape.rank == 1
    ]
    if not sequences or not (padding or tellers):
        return None
    begin, seen, cells = time.perf_counter(), 0, 0
    with user_code("iterating the dataset"):
        for element in dataset:
            parts = _parts_by_path(element)
            for name, part in parts.items():
                if not isinstance(part, tf.Tensor) or part.dtype == tf.string:
                    continue
                cells += int(tf.size(part))
                if name in sequences:
                    _add_lengths(
                        sequences[name], np.asarray(part), {key: np.asarray(parts[key]) for key in tellers}
                    )
            seen += 1
            if seen >= batches or time.perf_counter() - begin > seconds:
                break
    found = [
        made for each in sequences.values() if (made := _padding_of(each, seen, cells, padding)) is not None
    ]
    return max(found, key=lambda made: made.weight * made.saved, default=None)


def _parts_by_path(element: Any) -> dict[str, Any]:
    """Return the parts of an element by path: keys and positions, joined by dots."""
    import tensorflow as tf

    flat = tf.nest.flatten(element)
    try:
        names = [".".join(map(str, path)) for path in _part_names(element)]
    except TypeError:
        return {}
    return dict(zip(names, flat, strict=True)) if len(names) == len(flat) else {}


def _part_names(element: Any, path: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    if isinstance(element, dict):
        for key in sorted(element):
            yield from _part_names(element[key], (*path, key))
    elif isinstance(element, (tuple, list)):
        for place, part in enumerate(element):
            yield from _part_names(part, (*path, place))
    else:
        yield path


def _add_lengths(
    component: _PaddedComponent, values: npt.NDArray[Any], told: dict[str, npt.NDArray[Any]]
) -> None:
    lengths = content_lengths(values)
    component.content.append(lengths)
    component.padded.append(values.shape[1])
    component.cells += values.size
    for name, vector in told.items():
        if vector.shape == lengths.shape:
            component.told.setdefault(name, []).append(vector.astype(np.int64))


def _padding_of(
    component: _PaddedComponent, batches: int, cells: int, padded_batches: bool
) -> Padding | None:
    """Return the padding of a component of the batches.

    None where nothing shows that the equal values at its end are padding.
    """
    if not component.content:
        return None
    sizes = np.repeat(component.padded, [len(part) for part in component.content]).astype(np.int64)
    lengths = np.concatenate(component.content)
    if len(lengths) < LEAST_ROWS or np.unique(lengths).size < 2:
        return None
    known = None
    for parts in component.told.values():
        told = np.concatenate(parts)
        if told.shape == lengths.shape and (lengths <= told).all() and (told <= sizes).all():
            # Content that ends in the value of the padding looks shorter than it is.
            known = told if float(np.mean(told == lengths)) >= 0.5 and np.unique(told).size > 1 else known
    if known is None and padded_batches:
        longest = np.array([part.max() for part in component.content])
        by_longest = float(np.mean(longest == component.padded)) >= 0.8 and len(set(component.padded)) > 1
        known = lengths if by_longest or component.whole_numbers else None
    if known is None:
        return None
    to = best_lengths(known)
    return Padding(
        component.name,
        batches,
        len(known),
        float(known.mean()),
        float(sizes.mean()),
        component.cells / cells if cells else 0.0,
        to,
        float(np.minimum(fitted_lengths(known, to), sizes).mean()),
    )


def judge_padding(found: Padding | None, *, step_share: float | None = None) -> Iterator[Verdict]:
    """Yield the verdict on the padding, where there is enough of it.

    Args:
        found: None where there is none.
        step_share: Share of the run that compiled functions take; None where no step was seen.
    """
    if found is None or found.share < TOLD or found.saved < TOLD / 2 or found.weight < 0.5:
        return
    worth = 1 / max(1 - step_share * found.saved, 0.05) if step_share is not None else None
    yield Verdict(
        "padding",
        Outcome.PROBLEM if worth is not None and worth >= WORTH else Outcome.INFO,
        f"{found.share:.0%} of `{found.component}` is padding, and the step computes on it",
        (
            f"{found.content:.4g} of {found.padded:.4g} positions of a sample hold data, on average over {counted(found.rows, 'sample')}",
            f"batches of like length, padded to {', '.join(map(str, found.lengths))}, would have {1 - found.content / found.fitted:.0%}",
        ),
        change=f"batch samples of like length: cfgfix.tf.batch_by_length(..., lengths={list(found.lengths)}); "
        "each epoch has the same samples, in batches that are made up in another way",
        worth=worth,
    )
