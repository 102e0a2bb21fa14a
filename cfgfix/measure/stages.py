"""What each stage of a dataset graph costs, from TensorFlow's own model of the pipeline.

While a pipeline runs, tf.data keeps for every node of its graph the time spent inside it, without the time in its inputs
(`tf.data.experimental.get_model_proto`). Two readings, after the warm-up and at the end, give the cost per batch. TensorFlow's
graph rewrites are off in this run, since they fuse stages; so the stages are those the user wrote.

A node whose input has ended - before a shuffle that holds everything, a full cache, a short epoch - is gone from the model. What
such a run does not show is iterated by itself, and its cost per element counts for as many elements as the graph hands on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from cfgfix.measure.dataset_graph import Node, has_cache, normal, read_graph, strings_in, walk
from cfgfix.measure.sampling import Progress, silent
from cfgfix.measure.stage_costs import UNSEEN, StageCosts, read_costs
from cfgfix.measure.stage_profile import Stage

_PREFIX_DEPTH = 4
"""Parts of one pipeline that are iterated by themselves, at most, one inside the other."""


def pool_size(dataset: Any) -> int:
    """Return the number of threads that run the functions of a dataset."""
    import os

    threading = dataset.options().threading
    private = getattr(threading, "private_threadpool_size", None)
    if private:
        return int(private)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def measure_stages(
    dataset: Any, *, batches: int = 50, seconds: float = 20.0, warmup: int = 5, progress: Progress = silent
) -> tuple[Stage, ...]:
    """Return the cost per batch of each stage of a dataset, sources first.

    Raises:
        UserCodeError: The dataset failed or is shorter than the warm-up.
        CfgfixError: This TensorFlow keeps no model of the pipeline.
    """
    return _measured_stages(
        dataset,
        batches=batches,
        seconds=seconds,
        warmup=warmup,
        progress=progress,
        pool=pool_size(dataset),
        depth=_PREFIX_DEPTH,
    )


def _measured_stages(
    dataset: Any,
    *,
    batches: int,
    seconds: float,
    warmup: int,
    progress: Progress,
    pool: int,
    depth: int,
) -> tuple[Stage, ...]:
    graph = read_graph(dataset)
    total = StageCosts(graph, pool)
    taken = read_costs(dataset, total, has_cache(graph), batches, seconds, warmup, progress)
    gaps = list(_unseen_parts(dataset, graph, total.seen)) if depth else []
    total.elsewhere.update(id(node) for gap in gaps for node in walk(gap.node))
    stages = total.stages(taken, frozenset(_nodes_before_full_shuffle(dataset, graph)))
    for gap in gaps:
        # Cold, since this part gives elements no more once its consumer holds them all.
        per_batch = total.elements_at(gap.parent) * (gap.parent.batch_size or 1)
        inner = _measured_stages(
            gap.dataset,
            batches=max(batches, 30),
            seconds=max(1.0, seconds / 4),
            warmup=2,
            progress=progress,
            pool=pool,
            depth=depth - 1,
        )
        phase = "once" if gap.cached else "start" if gap.shuffled else "running"
        stages = _put_before_consumer(stages, inner, total.position_of(gap.parent), per_batch, phase)
    whole = sum(stage.seconds for stage in stages)
    return tuple(replace(stage, share=stage.seconds / whole if whole else 0.0) for stage in stages)


def _put_before_consumer(
    stages: tuple[Stage, ...], inner: tuple[Stage, ...], parent: int | None, per_batch: float, phase: str
) -> tuple[Stage, ...]:
    """Return the stages with those of a part that was measured alone in front.

    Their costs are scaled to a batch, and the stage at `parent` becomes their consumer.
    """
    order = {"running": 0, "start": 1, "once": 2}
    first = [
        replace(
            stage,
            seconds=stage.seconds * per_batch,
            quiet_seconds=None if stage.quiet_seconds is None else stage.quiet_seconds * per_batch,
            elements=stage.elements * per_batch,
            phase=max(phase, stage.phase, key=order.__getitem__),
        )
        for stage in inner
    ]
    moved = [
        replace(
            stage,
            inputs=(
                *(entry + len(first) for entry in stage.inputs),
                *((len(first) - 1,) if place == parent and first else ()),
            ),
        )
        for place, stage in enumerate(stages)
    ]
    return (*first, *moved)


@dataclass(frozen=True, slots=True)
class _UnseenPart:
    """A part of the pipeline that was not seen at work, as a dataset to iterate alone."""

    dataset: Any
    node: Node
    parent: Node
    cached: bool
    shuffled: bool


def _unseen_parts(dataset: Any, graph: Node | None, seen: set[int]) -> Iterator[_UnseenPart]:
    """Yield the topmost parts of a pipeline that were not seen at work."""

    def visit(part: Any, node: Node, parent: Node | None, above: frozenset[str]) -> Iterator[_UnseenPart]:
        name = normal(node.operation)
        # Only what lies behind a node that was seen is missing; a node without a model counterpart is passed.
        if id(node) in seen:
            parent = node
        elif parent is not None and name not in UNSEEN:
            yield _UnseenPart(
                part, node, parent, "cache" in above, bool(above & {"shuffle", "shuffleandrepeat"})
            )
            return
        inputs = part._inputs()  # noqa: SLF001 - the only way to a dataset's inputs; tried with TensorFlow 2.15 to 2.21
        if len(inputs) == len(node.inputs):
            for entry, child in zip(inputs, node.inputs, strict=True):
                yield from visit(entry, child, parent, above | {name})

    if graph is not None and hasattr(dataset, "_inputs"):
        yield from visit(dataset, graph, None, frozenset())


def _nodes_before_full_shuffle(dataset: Any, graph: Node | None) -> Iterator[int]:
    """Yield the `id` of each node in front of a shuffle that buffers all elements."""
    if graph is None or not hasattr(dataset, "_inputs"):
        return
    inputs = dataset._inputs()  # noqa: SLF001 - as in `_gaps`
    if len(inputs) != len(graph.inputs):
        return
    for entry, child in zip(inputs, graph.inputs, strict=True):
        if normal(graph.operation) in ("shuffle", "shuffleandrepeat") and 0 <= int(entry.cardinality()) <= (
            graph.buffer_size or 0
        ):
            yield from (id(node) for node in walk(child))
        else:
            yield from _nodes_before_full_shuffle(entry, child)


__all__ = ["Node", "Stage", "measure_stages", "pool_size", "read_graph", "strings_in", "walk"]
