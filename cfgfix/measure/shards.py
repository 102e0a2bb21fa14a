"""Whether the files that a pipeline reads at once are of like size: a large one is read alone at the end of each epoch."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cfgfix.measure.dataset_graph import Node, normal, walk
from cfgfix.measure.verdicts import Outcome, Verdict

TOLD = 0.2
"""Share of the data that is read from one file alone from which it is told."""
_READERS = frozenset({"interleave", "parallelinterleave", "legacyparallelinterleave"})


@dataclass(frozen=True, slots=True)
class Shards:
    """How unevenly the data is spread over the files that a pipeline interleaves."""

    files: int
    at_once: int
    largest: str
    largest_share: float
    alone: float
    """Share of the data that comes while a single file is left, where several can be read at once."""

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def read_alone(sizes: Sequence[int], at_once: int) -> float:
    """Return the share of the data that is read while only one file is still open.

    Files are opened in their order, `at_once` at a time, and all give data at the same rate. 0 for a single file, or
    where files are read one after the other.
    """
    total = sum(sizes)
    waiting = list(sizes)[::-1]
    open_files: list[float] = []
    given = 0.0  # what each open file has given since the first was opened
    while waiting and len(open_files) < at_once:
        heapq.heappush(open_files, float(waiting.pop()))
    last = 0.0
    while open_files:
        end = heapq.heappop(open_files)
        if not open_files and not waiting:
            last = end - given
        given = end
        if waiting:
            heapq.heappush(open_files, given + waiting.pop())
    return last / total if total and at_once > 1 and len(sizes) > 1 else 0.0


def find_shards(graph: Node | None, files: Sequence[str], cpus: int) -> Shards | None:
    """Return how the data is spread over the files that a pipeline interleaves.

    None where it interleaves none.

    Args:
        graph: The graph of the dataset.
        files: The files that the dataset reads.
        cpus: The number of open files where tf.data chooses it.
    """
    reader = next((node for node in walk(graph) if normal(node.operation) in _READERS), None)
    sizes = {}
    for file in files:
        try:
            sizes[file] = os.path.getsize(file)
        except OSError:
            continue
    total = sum(sizes.values())
    if reader is None or len(sizes) < 2 or not total:
        return None
    at_once = min(_open_file_count(reader) or cpus, len(sizes))
    largest = max(sizes, key=lambda file: sizes[file])
    return Shards(
        len(sizes), at_once, largest, sizes[largest] / total, read_alone(list(sizes.values()), at_once)
    )


def _open_file_count(reader: Node) -> int | None:
    """Return the number of files that an interleave has open.

    None where tf.data chooses the number.
    """
    import tensorflow as tf

    for value in reader.constants:
        if not value.tensor_shape.dim and value.dtype == tf.int64.as_datatype_enum:
            number = int(tf.make_ndarray(value))
            return number if number > 0 else None
    return None


def judge_shards(found: Shards | None, *, keeps_up: bool) -> Iterator[Verdict]:
    """Yield a verdict where the files are of uneven size.

    Args:
        found: None where no files are interleaved.
        keeps_up: Whether the pipeline is as fast as its consumer.
    """
    if found is None or found.alone < TOLD:
        return
    yield Verdict(
        "shards",
        Outcome.INFO if keeps_up else Outcome.PROBLEM,
        f"the files are of uneven size: {found.alone:.0%} of an epoch comes from {os.path.basename(found.largest)} alone",
        (
            f"it holds {found.largest_share:.0%} of the data in {found.files} files, of which {found.at_once} are read at once",
            "a shuffle after it mixes less there, and a worker that gets this file has more to do than the others",
        ),
        change="write the data into files of like size, or begin with the largest",
        worth=None,
    )
