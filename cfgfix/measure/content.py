"""What is wrong with the batches themselves: their order, their repeats, their nesting. Speed does not show it.

Two questions are answered by the graph: whether what draws random numbers, or shuffles, stands before a cache, so that every epoch
repeats the first; and whether batches are batched again. One by the data: whether the samples come in the order of their classes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cfgfix.measure.dataset_graph import Node, normal, walk
from cfgfix.measure.sampling import user_code
from cfgfix.measure.verdicts import Outcome, Verdict

MOST_CLASSES = 1000
LEAST_ROWS = 4
LEAST_BATCHES = 8
PERMUTATIONS = 200
FEW = 0.6
"""Share of the classes that a shuffled batch would hold below which the order of the classes shows."""
_UNBATCHING = frozenset({"unbatch", "flatmap", "interleave", "parallelinterleave", "window", "rebatch"})


@dataclass(frozen=True, slots=True)
class ClassOrder:
    """The mean number of classes in a batch, and the same after shuffling the labels."""

    batches: int
    classes: int
    in_a_batch: float
    if_shuffled: float
    p_value: float

    @property
    def sorted(self) -> bool:
        """Whether the samples come in the order of their classes."""
        return self.in_a_batch < FEW * self.if_shuffled and self.p_value < 0.01

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {**{name: getattr(self, name) for name in self.__dataclass_fields__}, "sorted": self.sorted}


def inner_batches(graph: Node | None) -> int:
    """Return the number of samples in each element of the last batch stage.

    1 unless batches are batched again.
    """
    size, seen = 1, False
    node = graph
    while node is not None:
        if node.batch_size is not None:
            size *= node.batch_size if seen else 1
            seen = True
        elif seen and normal(node.operation) in _UNBATCHING:
            break
        node = node.inputs[0] if len(node.inputs) == 1 else None
    return size


def judge_graph(graph: Node | None) -> Iterator[Verdict]:
    """Yield verdicts on batches of batches, and on randomness before a cache."""
    inner = inner_batches(graph)
    if inner > 1:
        yield Verdict(
            "batches",
            Outcome.INFO,
            f"batches are batched again: each element of a batch is itself a batch of {inner}",
            (f"samples are counted {inner} for each",),
            change="take one batch() out, unless that is meant",
        )
    for cache in (node for node in walk(graph) if normal(node.operation) == "cache"):
        below = [node for child in cache.inputs for node in walk(child)]
        drawn = [node for node in below if node.random]
        if drawn:
            name = drawn[0].function or "a function"
            yield Verdict(
                "repeats",
                Outcome.PROBLEM,
                f"{name} draws random numbers before cache(): every epoch repeats the first one's",
                ("the cache keeps what was drawn",),
                change=f"put cache() before the map that calls {name}",
            )
    names = [normal(node.operation) for node in walk(graph)]
    if "cache" in names:
        place = names.index("cache")
        if "shuffle" in names[place:] and "shuffle" not in names[:place]:
            yield Verdict(
                "repeats",
                Outcome.INFO,
                "shuffle stands before cache(), and none after it: every epoch has the order of the first",
                change="shuffle after cache()",
            )


def labels_of(element: Any) -> np.ndarray | None:
    """Return the class of each sample of a batch (inputs, labels), or None.

    Classes are whole numbers or one-hot rows; None for any other labels.
    """
    if (
        not isinstance(element, (tuple, list))
        or len(element) < 2
        or isinstance(element[1], (dict, tuple, list))
    ):
        return None
    try:
        values = np.asarray(element[1])
    except (TypeError, ValueError, RuntimeError):
        return None
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    elif values.ndim == 2 and 2 <= values.shape[1] <= MOST_CLASSES:
        one_hot = bool(np.isin(values, (0, 1)).all()) and bool((values.sum(axis=1) == 1).all())
        return np.argmax(values, axis=1) if one_hot else None
    if values.ndim != 1 or values.size < LEAST_ROWS or not (np.issubdtype(values.dtype, np.number)):
        return None
    whole = bool(np.isfinite(values).all()) and bool((values == np.round(values)).all())
    return values.astype(np.int64) if whole else None


def class_order(batches: Sequence[np.ndarray]) -> ClassOrder | None:
    """Return how many classes a batch holds, and how many after shuffling the labels.

    None where there are too few batches, or too few or too many classes, to tell.
    """
    if len(batches) < LEAST_BATCHES:
        return None
    pooled = np.concatenate(batches)
    classes = int(np.unique(pooled).size)
    if not 2 <= classes <= min(MOST_CLASSES, pooled.size // 4):
        return None
    ends = np.cumsum([batch.size for batch in batches])[:-1]

    def held(values: np.ndarray) -> float:
        return float(np.mean([np.unique(part).size for part in np.split(values, ends)]))

    random = np.random.default_rng(0)
    shuffled = np.array([held(random.permutation(pooled)) for _ in range(PERMUTATIONS)])
    found = held(pooled)
    p_value = float((1 + np.sum(shuffled <= found)) / (1 + PERMUTATIONS))
    return ClassOrder(len(batches), classes, found, float(shuffled.mean()), p_value)


def read_labels(dataset: Any, *, batches: int = 100, seconds: float = 1.5) -> list[np.ndarray]:
    """Return the labels of the first batches of a dataset, an array for each batch.

    Empty where the elements have no labels.
    """
    found: list[np.ndarray] = []
    begin = time.perf_counter()
    with user_code("iterating the dataset"):
        for element in dataset:
            labels = labels_of(element)
            if labels is None:
                return []
            found.append(labels)
            if len(found) >= batches or time.perf_counter() - begin > seconds:
                break
    return found


def judge_order(order: ClassOrder | None) -> Iterator[Verdict]:
    """Yield a verdict where the samples come in the order of their classes."""
    if order is None or not order.sorted:
        return
    yield Verdict(
        "order",
        Outcome.PROBLEM,
        f"the samples come in the order of their classes: a batch holds {order.in_a_batch:.2g} of them, shuffled it would hold {order.if_shuffled:.2g}",
        (f"{order.classes} classes in {order.batches} batches; p = {order.p_value:.2g}",),
        change="shuffle over all samples (file names or indices, if samples are large), or interleave the files of the classes",
    )
