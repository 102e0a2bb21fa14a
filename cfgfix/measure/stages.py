"""What each stage of a dataset graph costs, from TensorFlow's own model of the pipeline.

While a pipeline runs, tf.data keeps for every node of its graph the time spent inside it, without the time in its inputs
(`tf.data.experimental.get_model_proto`). Two readings, after the warm-up and at the end, give the cost per batch. TensorFlow's
graph rewrites are off in this run, since they fuse stages; so the stages are those the user wrote.

A node whose input has ended - before a shuffle that holds everything, a full cache, a short epoch - is gone from the model. What
such a run does not show is iterated by itself, and its cost per element counts for as many elements as the graph hands on.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cfgfix.core.errors import CfgfixError
from cfgfix.core.wording import callable_name
from cfgfix.measure.sampling import Progress, UserCodeError, silent, user_code

_PYTHON_OPS = frozenset({"PyFunc", "PyFuncStateless", "EagerPyFunc"})
_RANDOM_OPS = re.compile(
    r"(Stateless|Stateful)?(Random(?!Dataset)|TruncatedNormal|Multinomial|StandardNormal|Uniform(Full)?Int|Uniform$|ParameterizedTruncatedNormal)"
)
_METHODS = (
    "map",
    "flat_map",
    "interleave",
    "filter",
    "reduce",
    "scan",
    "take_while",
    "group_by_window",
    "rejection_resample",
)
_UNSEEN = frozenset(
    {"options", "model", "maxintraopparallelism", "privatethreadpool", "assertcardinality", "finalize"}
)
"""Graph nodes that may have no node in the model."""
_MODEL_NAMES = {
    "foreverrepeat": "repeat",
    "finiterepeat": "repeat",
    "emptyrepeat": "repeat",
    "finitetake": "take",
    "finiteskip": "skip",
    "memorycache": "cache",
    "filecache": "cache",
    "fromtensor": "tensor",
    "fromtensorslices": "tensorslice",
}
"""How the graph spells what the model spells in its own way."""
_CONSERVING = frozenset(
    {
        *_UNSEEN,
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
_BATCHING = frozenset({"batch", "parallelbatch", "paddedbatch"})
_FOLLOWED = frozenset(
    {
        "prefetch",
        "options",
        "model",
        "repeat",
        "shuffle",
        "map",
        "parallelmap",
        "batch",
        "parallelbatch",
        "paddedbatch",
        "cache",
    }
)
"""Nodes behind which an epoch has as many elements as before, or batches of them."""
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
_QUIET_READINGS = 8
_PREFIX_DEPTH = 4
"""Parts of one pipeline that are iterated by themselves, at most, one inside the other."""


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
        """How many calls really run at once."""
        return self.parallelism if self.pool is None else max(1, min(self.parallelism, self.pool))

    @property
    def label(self) -> str:
        """The operation with the user's function."""
        return f"{self.operation}({self.function})" if self.function else self.operation

    @property
    def capacity(self) -> float:
        """Batches per second it could give if it never waited.

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
    """Stages that run one after the other in one thread, or the calls of one parallel stage."""

    members: tuple[int, ...]
    """Positions in the list of stages."""
    seconds: float
    """What a batch takes here at least, once everything else is ready."""


def find_sections(stages: Sequence[Stage]) -> tuple[Section, ...]:
    """Return the parts of a pipeline that work at the same time.

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


@dataclass(slots=True)
class Node:
    """A node of the dataset graph as it was built."""

    operation: str
    function: str | None
    python: bool
    inputs: list[Node]
    constants: list[Any]
    random: bool = False
    """Whether a function of it draws random numbers."""
    unbounded: bool = False
    """Whether its calls run in a pool that grows with them."""

    @property
    def buffer_size(self) -> int | None:
        """Elements that a shuffle holds."""
        return self._first_number() if normal(self.operation).startswith("shuffle") else None

    def _first_number(self) -> int | None:
        import tensorflow as tf

        for value in self.constants:
            if not value.tensor_shape.dim and value.dtype == tf.int64.as_datatype_enum:
                return int(tf.make_ndarray(value))
        return None

    @property
    def batch_size(self) -> int | None:
        """Elements that one of its elements is made of, for a node that batches."""
        return self._first_number() if normal(self.operation) in _BATCHING else None


def normal(operation: str) -> str:
    """Return an operation's name as the graph and the model both spell it."""
    name = re.sub(r"V\d+$", "", operation).replace("Dataset", "").lower()
    return _MODEL_NAMES.get(name, name)


def read_graph(dataset: Any) -> Node | None:
    """Return the last node of a dataset's graph, or None.

    None where TensorFlow cannot write the graph down.
    """
    import tensorflow as tf

    try:
        text = tf.raw_ops.DatasetToGraphV2(
            input_dataset=dataset._variant_tensor,  # noqa: SLF001 - the handle that this public operation takes
            external_state_policy=1,
            strip_device_assignment=True,
        )
        graph = tf.compat.v1.GraphDef.FromString(text.numpy())
    except (tf.errors.OpError, AttributeError, TypeError):
        return None
    python = _functions_with(graph, _PYTHON_OPS.__contains__)
    drawing = _functions_with(graph, lambda name: _RANDOM_OPS.match(name) is not None)
    nodes = {node.name: node for node in graph.node}
    made: dict[str, Node] = {}

    def make(name: str) -> Node | None:
        name = name.split(":", maxsplit=1)[0].lstrip("^")
        if name in made:
            return made[name]
        node = nodes.get(name)
        if node is None or "Dataset" not in node.op or node.op == "DatasetToGraphV2":
            return None
        functions = [value.func.name for value in node.attr.values() if value.HasField("func")]
        found = Node(
            re.sub(r"V\d+$", "", node.op).replace("Dataset", ""),
            _function_name(functions),
            any(function in python for function in functions),
            [],
            [],
            any(function in drawing for function in functions),
            node.attr["use_unbounded_threadpool"].b,
        )
        made[name] = found
        for entry in node.input:
            child = make(entry)
            if child is not None:
                found.inputs.append(child)
                continue
            source = nodes.get(entry.split(":")[0].lstrip("^"))
            if source is not None and source.op == "Const":
                found.constants.append(source.attr["value"].tensor)
        return found

    used = {
        entry.split(":")[0].lstrip("^") for node in graph.node for entry in node.input if "Dataset" in node.op
    }
    last = [node.name for node in graph.node if "Dataset" in node.op and node.name not in used]
    returned = [entry for node in graph.node if node.op == "_Retval" for entry in node.input]
    return make(returned[0]) if returned and make(returned[0]) else (make(last[-1]) if last else None)


def _functions_with(graph: Any, wanted: Callable[[str], bool]) -> frozenset[str]:
    """Return the names of the graph's functions that hold such an operation, directly or through others."""
    library = {entry.signature.name: entry for entry in graph.library.function}
    direct = {name for name, entry in library.items() if any(wanted(node.op) for node in entry.node_def)}
    while True:
        more = {
            name
            for name, entry in library.items()
            if name not in direct
            and any(
                value.func.name in direct
                for node in entry.node_def
                for value in node.attr.values()
                if value.HasField("func")
            )
        }
        if not more:
            return frozenset(direct)
        direct |= more


def _function_name(functions: list[str]) -> str | None:
    for name in functions:
        for method in sorted(_METHODS, key=len, reverse=True):
            match = re.match(rf"__inference_Dataset_{method}_(.+)_\d+$", name)
            if match:
                return callable_name(match.group(1))
    return None


def walk(node: Node | None) -> Iterator[Node]:
    """Yield a node and all its inputs."""
    if node is not None:
        yield node
        for child in node.inputs:
            yield from walk(child)


def strings_in(node: Node | None) -> list[str]:
    """Return the string constants of a dataset graph, such as file names."""
    import tensorflow as tf

    texts: list[str] = []
    for entry in walk(node):
        for tensor in entry.constants:
            if tensor.dtype == tf.string.as_datatype_enum:
                # make_ndarray cannot read the packed form that dataset graphs use.
                values = tf.io.parse_tensor(tensor.SerializeToString(), tf.string).numpy()
                texts += [item.decode("utf-8", "replace") for item in np.atleast_1d(values).ravel().tolist()]
    return texts


def pool_size(dataset: Any) -> int:
    """Return how many threads run the calls of a dataset's functions."""
    import os

    threading = dataset.options().threading
    private = getattr(threading, "private_threadpool_size", None)
    if private:
        return int(private)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def has_cache(node: Node | None) -> bool:
    """Return whether a dataset keeps elements from one epoch to the next."""
    return any(normal(entry.operation) == "cache" for entry in walk(node))


def epoch_batches(dataset: Any, graph: Node | None) -> int | None:
    """Return how many batches an epoch has, or None where that is not known.

    It is known also where the dataset repeats itself.
    """
    factor = 1.0
    while graph is not None and len(graph.inputs) == 1:
        size = int(dataset.cardinality())
        if size >= 0:
            return max(1, math.ceil(size / factor))
        if normal(graph.operation) not in _FOLLOWED:
            return None
        factor *= graph.batch_size or 1
        inputs = dataset._inputs()  # noqa: SLF001 - as in `_gaps`
        if len(inputs) != 1:
            return None
        dataset, graph = inputs[0], graph.inputs[0]
    size = int(dataset.cardinality())
    return max(1, math.ceil(size / factor)) if size >= 0 else None


def measure_stages(
    dataset: Any, *, batches: int = 50, seconds: float = 20.0, warmup: int = 5, progress: Progress = silent
) -> tuple[Stage, ...]:
    """Return what each stage costs, sources first.

    Raises:
        UserCodeError: The dataset failed or is shorter than the warm-up.
        CfgfixError: This TensorFlow keeps no model of the pipeline.
    """
    return _measure(
        dataset,
        batches=batches,
        seconds=seconds,
        warmup=warmup,
        progress=progress,
        pool=pool_size(dataset),
        depth=_PREFIX_DEPTH,
    )


def _measure(
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
    total = _Costs(graph, pool)
    taken = _read_costs(dataset, total, has_cache(graph), batches, seconds, warmup, progress)
    gaps = list(_gaps(dataset, graph, total.seen)) if depth else []
    total.elsewhere.update(id(node) for gap in gaps for node in walk(gap.node))
    stages = total.stages(taken, frozenset(_nodes_before_full_shuffle(dataset, graph)))
    for gap in gaps:
        # Cold, since this part gives elements no more once its consumer holds them all.
        per_batch = total.elements_at(gap.parent) * (gap.parent.batch_size or 1)
        inner = _measure(
            gap.dataset,
            batches=max(batches, 30),
            seconds=max(1.0, seconds / 4),
            warmup=2,
            progress=progress,
            pool=pool,
            depth=depth - 1,
        )
        phase = "once" if gap.cached else "start" if gap.shuffled else "running"
        stages = _joined(stages, inner, total.position_of(gap.parent), per_batch, phase)
    whole = sum(stage.seconds for stage in stages)
    return tuple(replace(stage, share=stage.seconds / whole if whole else 0.0) for stage in stages)


def _joined(
    stages: tuple[Stage, ...], inner: tuple[Stage, ...], parent: int | None, per_batch: float, phase: str
) -> tuple[Stage, ...]:
    """Put the stages of a part that was iterated by itself before its consumer."""
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
class _Gap:
    """A part of the pipeline that did nothing while it was watched, as the Python object that stands for it."""

    dataset: Any
    node: Node
    parent: Node
    cached: bool
    shuffled: bool


def _gaps(dataset: Any, graph: Node | None, seen: set[int]) -> Iterator[_Gap]:
    """Yield the topmost parts that were not seen at work."""

    def visit(part: Any, node: Node, parent: Node | None, above: frozenset[str]) -> Iterator[_Gap]:
        name = normal(node.operation)
        # Only what lies behind a node that was seen is missing; a node without a model counterpart is passed.
        if id(node) in seen:
            parent = node
        elif parent is not None and name not in _UNSEEN:
            yield _Gap(part, node, parent, "cache" in above, bool(above & {"shuffle", "shuffleandrepeat"}))
            return
        inputs = part._inputs()  # noqa: SLF001 - the only way to a dataset's inputs; tried with TensorFlow 2.15 to 2.21
        if len(inputs) == len(node.inputs):
            for entry, child in zip(inputs, node.inputs, strict=True):
                yield from visit(entry, child, parent, above | {name})

    if graph is not None and hasattr(dataset, "_inputs"):
        yield from visit(dataset, graph, None, frozenset())


def _nodes_before_full_shuffle(dataset: Any, graph: Node | None) -> Iterator[int]:
    """Yield the nodes, by `id`, that lie before a shuffle whose buffer takes everything they give."""
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


def _read_costs(
    dataset: Any,
    total: _Costs,
    cached: bool,
    batches: int,
    seconds: float,
    warmup: int,
    progress: Progress,
) -> int:
    """Iterate over a dataset, add up the costs of its stages, and return how many batches they are of."""
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
    """Take batches until the caches are full, and return the iterator to go on with."""
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
class _Cost:
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
        """Return the time of so many elements in the lower fifth of the readings."""
        # Calls at once end between readings: only several rounds of them together have time and elements that match.
        least = 1 if at_once == 1 else 4 * at_once
        rates = []
        spent, count = 0.0, 0
        for seconds, number in self.each:
            spent, count = spent + seconds, count + number
            if count >= least:
                rates.append(spent / count)
                spent, count = 0.0, 0
        return float(np.quantile(rates, 0.2)) * elements if len(rates) >= _QUIET_READINGS else None


class _Costs:
    """Adds up what happened in each stage between readings of the model.

    Nodes of the model come and go: a repeated dataset makes its inputs anew, interleave makes one per file. A stage is known by
    its place in the graph, so nodes with the same place add up.
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
        self._costs: list[_Cost] = []

    def start(self, model: Any | None) -> None:
        """Take a reading as the start; None is the start of a new iterator."""
        self._before = (
            {}
            if model is None
            else {key: (node.processing_time, node.num_elements) for key, node in model.nodes.items()}
        )

    def add(self, model: Any) -> None:
        """Add what happened since the reading before."""
        root = model.nodes[model.output]
        for place, key in enumerate(root.inputs if root.name == "Root" else [model.output]):
            self._visit(model, key, self._graph, (place,))
        self.start(model)

    def _since(self, model: Any, key: int) -> tuple[int, int]:
        node = model.nodes[key]
        time_before, elements_before = self._before.get(key, (0, 0))
        return max(node.processing_time - time_before, 0), max(node.num_elements - elements_before, 0)

    def _inside(self, model: Any, key: int) -> int:
        return self._since(model, key)[0] + sum(
            self._inside(model, entry) for entry in model.nodes[key].inputs
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
                _Cost(
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
        spent, elements = self._since(model, key)
        spent += sum(self._since(model, other)[0] for other in own[1:])
        if elements and same is not None:
            self.seen.add(id(same))
        spent += sum(self._inside(model, child) for child in extra)
        cost.nanoseconds += spent
        cost.elements += elements
        cost.each.append((spent / 1e9, elements))
        parallel = next((value for value in entry.parameters if value.name == "parallelism"), None)
        if parallel is not None:
            cost.parallelism, cost.autotuned = max(1, round(parallel.value)), bool(parallel.tunable)
        return position

    def position_of(self, node: Node) -> int | None:
        """Return where a node of the graph stands in the list of stages."""
        return next(
            (rank for rank, place in enumerate(self._in_order()) if self._costs[place].node is node), None
        )

    def elements_at(self, node: Node) -> float:
        """Return how many elements a node of the graph gives for each batch."""
        place = next((place for place, cost in enumerate(self._costs) if cost.node is node), None)
        return self._flow().get(place, 1.0) if place is not None else 1.0

    def _flow(self) -> dict[int, float]:
        """Return the elements per batch of each stage, where the kinds of the stages behind it settle them.

        Counting would take buffers that fill or drain meanwhile, and ends of epochs that no reading saw, for work.
        """
        flow: dict[int, float] = {}
        for place in reversed(self._in_order()):
            flow.setdefault(place, 1.0 if place in self._roots() else 0.0)
            cost = self._costs[place]
            if flow[place] and cost.below:
                for child in cost.inputs:
                    flow[child] = flow[place] * cost.below
        return {place: value for place, value in flow.items() if value}

    def _roots(self) -> list[int]:
        consumed = {child for cost in self._costs for child in cost.inputs}
        return [place for place in range(len(self._costs)) if place not in consumed]

    def _in_order(self) -> list[int]:
        """Return the stages' positions, sources first."""
        order: list[int] = []

        def visit(place: int) -> None:
            if place not in order and id(self._costs[place].node) not in self.elsewhere:
                for child in self._costs[place].inputs:
                    visit(child)
                order.append(place)

        for root in self._roots():
            visit(root)
        return order

    def stages(self, batches: int, held: frozenset[int] = frozenset()) -> tuple[Stage, ...]:
        """Return the stages with their costs per batch, sources first.

        Args:
            batches: How many were taken.
            held: Nodes of the graph whose elements a shuffle holds all before it gives the first.
        """
        flow = self._flow()
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
