"""What each stage of a dataset graph costs, from TensorFlow's own model of the pipeline.

While a pipeline runs, tf.data keeps for every node of its graph the time spent inside it, without the time in its inputs
(`tf.data.experimental.get_model_proto`). Two readings, after the warm-up and at the end, give the cost per batch. TensorFlow's
graph rewrites are off in this run, since they fuse stages; so the stages are those the user wrote.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cfgfix.core.errors import CfgfixError
from cfgfix.core.wording import callable_name
from cfgfix.measure.sampling import Progress, UserCodeError, silent, user_code

_PYTHON_OPS = frozenset({"PyFunc", "PyFuncStateless", "EagerPyFunc"})
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
_UNSEEN = frozenset({"options", "model", "maxintraopparallelism", "privatethreadpool"})
"""Graph nodes that have no node in the model."""


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

    @property
    def label(self) -> str:
        """The operation with the user's function."""
        return f"{self.operation}({self.function})" if self.function else self.operation

    @property
    def capacity(self) -> float:
        """Batches per second it could give if it never waited; infinite for a stage that costs nothing."""
        return self.parallelism / self.seconds if self.seconds > 0 else float("inf")

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
            "python": self.python,
            "capacity": self.capacity if self.seconds > 0 else None,
        }


@dataclass(slots=True)
class Node:
    """A node of the dataset graph as it was built."""

    operation: str
    function: str | None
    python: bool
    inputs: list[Node]
    constants: list[Any]


def normal(operation: str) -> str:
    """Return an operation's name as the graph and the model both spell it."""
    return re.sub(r"V\d+$", "", operation).replace("Dataset", "").lower()


def read_graph(dataset: Any) -> Node | None:
    """Return the last node of a dataset's graph, or None where TensorFlow cannot write the graph down."""
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
    python = _python_functions(graph)
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


def _python_functions(graph: Any) -> frozenset[str]:
    """Return the names of the graph's functions that call Python, directly or through others."""
    library = {entry.signature.name: entry for entry in graph.library.function}
    direct = {
        name for name, entry in library.items() if any(node.op in _PYTHON_OPS for node in entry.node_def)
    }
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


def measure_stages(
    dataset: Any, *, batches: int = 50, seconds: float = 20.0, warmup: int = 5, progress: Progress = silent
) -> tuple[Stage, ...]:
    """Return what each stage costs, sources first.

    Raises:
        UserCodeError: The dataset failed or is shorter than the warm-up.
        CfgfixError: This TensorFlow keeps no model of the pipeline.
    """
    import tensorflow as tf

    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    options.autotune.enabled = True
    graph = read_graph(dataset)
    plain = dataset.with_options(options)
    what = "measuring the cost of each stage"
    total = _Costs(graph)
    with user_code("iterating the dataset"):
        iterator = iter(plain)
        taken = 0
        try:
            for _ in range(warmup):
                next(iterator)
        except StopIteration:
            iterator = iter(plain)
        total.start(_read_model(iterator))
        begin = told = time.perf_counter()
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
    return total.stages(taken)


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
    nanoseconds: int = 0
    elements: int = 0
    parallelism: int = 1
    autotuned: bool = False


class _Costs:
    """Adds up what happened in each stage between readings of the model.

    Nodes of the model come and go: a repeated dataset makes its inputs anew, interleave makes one per file. A stage is known by
    its place in the graph, so nodes with the same place add up.
    """

    def __init__(self, graph: Node | None) -> None:
        self._graph = graph
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
        if same is not None and name.endswith("repeat"):
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
                )
            )
        cost = self._costs[position]
        spent, elements = self._since(model, key)
        cost.nanoseconds += spent + sum(self._inside(model, child) for child in extra)
        cost.elements += elements
        parallel = next((value for value in entry.parameters if value.name == "parallelism"), None)
        if parallel is not None:
            cost.parallelism, cost.autotuned = max(1, round(parallel.value)), bool(parallel.tunable)
        return position

    def stages(self, batches: int) -> tuple[Stage, ...]:
        """Return the stages with their costs per batch."""
        total = sum(cost.nanoseconds for cost in self._costs)
        return tuple(
            Stage(
                operation="FromGenerator"
                if cost.function == "flat_map_fn" and cost.python
                else cost.operation,
                function=None if cost.function == "flat_map_fn" and cost.python else cost.function,
                seconds=cost.nanoseconds / 1e9 / batches,
                share=cost.nanoseconds / total if total else 0.0,
                elements=cost.elements / batches,
                parallelism=cost.parallelism,
                autotuned=cost.autotuned,
                python=cost.python,
                inputs=tuple(dict.fromkeys(cost.inputs)),
            )
            for cost in self._costs
        )
