"""What each operation of a pipeline took, from the model that TensorFlow keeps of it."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cfgfix.core.errors import CfgfixError
from cfgfix.measure.dataset_graph import Node, normal
from cfgfix.measure.sampling import Progress, UserCodeError, user_code
from cfgfix.measure.stage_profile import Stage

UNSEEN = frozenset(
    {"options", "model", "maxintraopparallelism", "privatethreadpool", "assertcardinality", "finalize"}
)
"""Graph nodes that may have no node in the model."""
_CONSERVING = frozenset(
    {
        *UNSEEN,
        "root",
        "map",
        "parallelmap",
        "prefetch",
        "shuffle",
        "shuffleandrepeat",
        "cache",
        "repeat",
        "take",
        "enumerate",
        "zip",
    }
)
"""Nodes that give one element for each they take."""
_QUIET_READINGS = 8
_QUIET_SPANS = 2
"""How often the elements of one span must have come, at least, for spans that overlap to say something."""
_MATCHING_ROUNDS = 16
"""Rounds of calls over which their time is held against the elements they gave: an end more or less is then a few percent."""


def read_costs(
    dataset: Any,
    total: StageCosts,
    cached: bool,
    batches: int,
    seconds: float,
    warmup: int,
    progress: Progress,
) -> int:
    """Add the costs of a dataset's stages to `total`.

    Returns the number of batches that were taken.
    """
    import tensorflow as tf

    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    options.autotune.enabled = True
    plain = dataset.with_options(options)
    what = "measuring the cost of each stage"
    with user_code("iterating the dataset"):
        iterator = iter(plain)
        begin = told = time.perf_counter()
        taken = 0
        try:
            for _ in range(warmup):
                next(iterator)
        except StopIteration:
            iterator = iter(plain)
        if cached:
            iterator = _fill_caches(plain, iterator, begin + seconds / 2)
        total.start(_read_model(iterator))
        begin = time.perf_counter()
        pause, read = 0.0, begin
        fresh = False
        while taken < batches:
            try:
                next(iterator)
            except StopIteration:
                if fresh:
                    raise UserCodeError("the dataset gives no batch the second time it is read") from None
                total.add(_read_model(iterator))
                iterator, fresh = iter(plain), True
                total.start(None)
                continue
            fresh = False
            taken += 1
            now = time.perf_counter()
            if now - read > 20 * pause:
                # Often, since a repeated dataset drops the nodes of an epoch that has ended; but a twentieth of the time at most.
                total.add(_read_model(iterator))
                read = time.perf_counter()
                pause = read - now
            if now - told > 0.25:
                told = now
                progress(what, max(taken / batches, (now - begin) / seconds))
            if now - begin > seconds:
                break
        total.add(_read_model(iterator))
    return taken


def _fill_caches(plain: Any, iterator: Any, until: float) -> Any:
    """Take batches until the caches are full, and return the iterator to go on with.

    A dataset that has ended gives a new iterator.
    """
    while time.perf_counter() < until:
        try:
            next(iterator)
        except StopIteration:
            return iter(plain)
        model = _read_model(iterator)
        caches = [node for node in model.nodes.values() if normal(node.name) == "memorycacheimpl"]
        if caches and not any(node.inputs for node in caches):
            return iterator
    return iterator


def _read_model(iterator: Any) -> Any:
    import tensorflow as tf

    try:
        return tf.data.experimental.get_model_proto(iterator)
    except (AttributeError, tf.errors.OpError) as error:
        raise CfgfixError(f"this TensorFlow keeps no model of the pipeline: {error}") from error


@dataclass(slots=True)
class _StageCost:
    operation: str
    function: str | None
    python: bool
    inputs: list[int]
    node: Node | None = None
    below: float = 1.0
    """Elements it takes from each input for one of its own, by what its kind promises; 0 where only counting tells."""
    nanoseconds: int = 0
    elements: int = 0
    parallelism: int = 1
    autotuned: bool = False
    each: list[tuple[float, int]] = field(default_factory=list)
    """Seconds and elements of each reading."""

    def quiet(self, elements: float, at_once: int) -> float | None:
        """Return the time of some elements at the pace of the fastest fifth of readings.

        None where there are too few readings.
        """
        # Calls at once end between readings: time and elements match only over many rounds of them.
        alone = not normal(self.operation).startswith("parallel")
        least = 1 if alone else _MATCHING_ROUNDS * at_once
        spent = np.cumsum([0.0, *(seconds for seconds, _ in self.each)])
        count = np.cumsum([0, *(number for _, number in self.each)])
        if count[-1] < _QUIET_SPANS * least:
            return None
        rates: list[float] = []
        start = 0
        while start < count.size:
            end = int(np.searchsorted(count, count[start] + least))
            if end >= count.size:
                break
            rates.append(float((spent[end] - spent[start]) / (count[end] - count[start])))
            start = end if alone else start + 1
        return float(np.quantile(rates, 0.2)) * elements if len(rates) >= _QUIET_READINGS else None


class StageCosts:
    """Adds up the time and elements of each stage between readings of the model.

    Nodes of the model come and go: a repeated dataset makes its inputs anew, interleave makes one per file. A stage
    is known by its place in the graph, so nodes with the same place add up.
    """

    def __init__(self, graph: Node | None, pool: int) -> None:
        self._graph = graph
        self._pool = pool
        self.seen: set[int] = set()
        """Nodes of the graph that gave elements."""
        self.elsewhere: set[int] = set()
        """Nodes of the graph that are measured by themselves."""
        self._before: dict[int, tuple[int, int]] = {}
        self._order: dict[tuple[int, ...], int] = {}
        self._costs: list[_StageCost] = []

    def start(self, model: Any | None) -> None:
        """Take a reading of the model to compare the next one with.

        None stands for a new iterator, which starts at zero.
        """
        self._before = (
            {}
            if model is None
            else {key: (node.processing_time, node.num_elements) for key, node in model.nodes.items()}
        )

    def add(self, model: Any) -> None:
        """Add the time and the elements since the last reading to each stage's cost."""
        root = model.nodes[model.output]
        for place, key in enumerate(root.inputs if root.name == "Root" else [model.output]):
            self._visit(model, key, self._graph, (place,))
        self.start(model)

    def _counts_since(self, model: Any, key: int) -> tuple[int, int]:
        node = model.nodes[key]
        time_before, elements_before = self._before.get(key, (0, 0))
        return max(node.processing_time - time_before, 0), max(node.num_elements - elements_before, 0)

    def _count_inside(self, model: Any, key: int) -> int:
        return self._counts_since(model, key)[0] + sum(
            self._count_inside(model, entry) for entry in model.nodes[key].inputs
        )

    def _names_below(self, model: Any, key: int) -> set[str]:
        node = model.nodes[key]
        return {normal(node.name)}.union(*(self._names_below(model, entry) for entry in node.inputs))

    def _visit(self, model: Any, key: int, node: Node | None, path: tuple[int, ...]) -> int:
        entry = model.nodes[key]
        name = normal(entry.name)
        while (
            node is not None
            and normal(node.operation) != name
            and normal(node.operation) not in self._names_below(model, key)
        ):
            node = node.inputs[0] if len(node.inputs) == 1 else None
        same = node if node is not None and normal(node.operation) == name else None
        children = list(entry.inputs)
        extra: list[int] = []
        own = [key]
        if name == "cache":
            # The model has a second node for what a cache does.
            for child in list(entry.inputs):
                if normal(model.nodes[child].name).endswith("cacheimpl"):
                    own.append(child)
                    children.remove(child)
                    children.extend(model.nodes[child].inputs)
        if same is not None and name == "repeat":
            # The input of the epoch that ends and of the one that begins may both be there.
            places = [(child, same.inputs[0] if same.inputs else None, 0) for child in children]
        elif same is not None:
            # Datasets that a function returned (interleave, flat_map) come and go; they belong to this stage.
            count = len(same.inputs)
            places = [(child, same.inputs[place], place) for place, child in enumerate(children[:count])]
            extra = children[count:]
        else:
            places = [(child, node, place) for place, child in enumerate(children)]
        inputs = [self._visit(model, child, below, (*path, place)) for child, below, place in places]
        position = self._order.get(path)
        if position is None:
            position = self._order[path] = len(self._costs)
            self._costs.append(
                _StageCost(
                    operation=same.operation if same is not None else re.sub(r"V\d+$", "", entry.name),
                    function=same.function if same is not None else None,
                    python=same is not None and (same.python or same.operation == "Generator"),
                    inputs=inputs,
                    node=same,
                    below=_taken_per_element(name, same),
                )
            )
        cost = self._costs[position]
        # A node may come into view after its consumer: its input had ended when that was first seen.
        cost.inputs += [child for child in inputs if child not in cost.inputs]
        spent, elements = self._counts_since(model, key)
        spent += sum(self._counts_since(model, other)[0] for other in own[1:])
        if elements and same is not None:
            self.seen.add(id(same))
        spent += sum(self._count_inside(model, child) for child in extra)
        cost.nanoseconds += spent
        cost.elements += elements
        cost.each.append((spent / 1e9, elements))
        parallel = next((value for value in entry.parameters if value.name == "parallelism"), None)
        if parallel is not None:
            cost.parallelism, cost.autotuned = max(1, round(parallel.value)), bool(parallel.tunable)
        return position

    def position_of(self, node: Node) -> int | None:
        """Return the position of a graph node in the list of stages, or None."""
        return next(
            (rank for rank, place in enumerate(self._in_order()) if self._costs[place].node is node), None
        )

    def elements_at(self, node: Node) -> float:
        """Return the number of elements that a graph node gives for each batch."""
        place = next((place for place, cost in enumerate(self._costs) if cost.node is node), None)
        return self._elements_per_batch().get(place, 1.0) if place is not None else 1.0

    def _elements_per_batch(self) -> dict[int, float]:
        """Return the elements per batch of each stage, from the kinds of later stages.

        Counting would take buffers that fill or drain meanwhile, and ends of epochs that no reading saw, for work.
        Stages for which the kinds do not settle the number are left out.
        """
        flow: dict[int, float] = {}
        for place in reversed(self._in_order()):
            flow.setdefault(place, 1.0 if place in self._root_stages() else 0.0)
            cost = self._costs[place]
            if flow[place] and cost.below:
                for child in cost.inputs:
                    flow[child] = flow[place] * cost.below
        return {place: value for place, value in flow.items() if value}

    def _root_stages(self) -> list[int]:
        consumed = {child for cost in self._costs for child in cost.inputs}
        return [place for place in range(len(self._costs)) if place not in consumed]

    def _in_order(self) -> list[int]:
        """Return the positions of the stages in the order of the data, sources first."""
        order: list[int] = []

        def visit(place: int) -> None:
            if place not in order and id(self._costs[place].node) not in self.elsewhere:
                for child in self._costs[place].inputs:
                    visit(child)
                order.append(place)

        for root in self._root_stages():
            visit(root)
        return order

    def stages(self, batches: int, held: frozenset[int] = frozenset()) -> tuple[Stage, ...]:
        """Return the stages with their costs per batch, sources first.

        Args:
            batches: How many were taken.
            held: Nodes in front of a shuffle that takes all their elements before it gives the first.
        """
        flow = self._elements_per_batch()
        order = self._in_order()
        made = []
        for place in order:
            cost = self._costs[place]
            elements = flow.get(place, cost.elements / batches)
            spent = cost.nanoseconds / 1e9
            generator = cost.function == "flat_map_fn" and cost.python
            unbounded = cost.node is not None and cost.node.unbounded
            pool = self._pool if cost.function is not None and not unbounded else None
            made.append(
                Stage(
                    operation="FromGenerator" if generator else cost.operation,
                    function=None if generator else cost.function,
                    seconds=spent / cost.elements * elements if cost.elements else spent / batches,
                    share=0.0,
                    elements=elements,
                    parallelism=cost.parallelism,
                    autotuned=cost.autotuned,
                    python=cost.python,
                    inputs=tuple(
                        order.index(child) for child in dict.fromkeys(cost.inputs) if child in order
                    ),
                    phase="start" if cost.node is not None and id(cost.node) in held else "running",
                    pool=pool,
                    quiet_seconds=cost.quiet(
                        elements, min(cost.parallelism, pool) if pool else cost.parallelism
                    ),
                )
            )
        total = sum(stage.seconds for stage in made)
        return tuple(replace(stage, share=stage.seconds / total if total else 0.0) for stage in made)


def _taken_per_element(name: str, node: Node | None) -> float:
    if name in _CONSERVING:
        return 1.0
    size = node.batch_size if node is not None else None
    return float(size) if size else 0.0
