"""What the graph of a dataset says: its stages, whether they draw at random, and how large an element is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from cfgfix.tf.concepts import AUTOTUNE

PYTHON_OPS = frozenset({"PyFunc", "PyFuncStateless", "EagerPyFunc"})
_RANDOM_DATASETS = frozenset({"RandomDataset", "RandomDatasetV2"})
_GENERATOR = "GeneratorDataset"


@dataclass(frozen=True, slots=True)
class Stage:
    """One transformation of a pipeline.

    Attributes:
        name: What TensorFlow calls it, without `Dataset` and its version.
        parallel: Its parallel calls: a number, `auto`, or empty.
        buffer: Its buffer or batch size: a number, `auto`, or empty.
        remarks: `random`, `Python`, or empty.
    """

    name: str
    parallel: str = ""
    buffer: str = ""
    remarks: str = ""


@dataclass(slots=True)
class _DatasetGraph:
    """The graph of a dataset, as TensorFlow writes it down."""

    nodes: dict[str, Any] = field(default_factory=dict)
    functions: dict[str, Any] = field(default_factory=dict)
    end: str = ""
    problem: str | None = None


def graph_of(dataset: Any) -> _DatasetGraph:
    """Return the graph of a dataset, read through TensorFlow's own serialisation.

    Where it cannot be serialised, the graph is empty and `problem` says why.
    """
    found = _DatasetGraph()
    try:
        text = tf.raw_ops.DatasetToGraphV2(
            input_dataset=tf.data.experimental.to_variant(dataset),
            external_state_policy=1,  # state outside the graph is no obstacle: the graph is read, not run
            strip_device_assignment=True,
        ).numpy()
    except tf.errors.OpError as error:
        found.problem = str(error).rsplit("}} ", maxsplit=1)[-1].split(" [Op:", maxsplit=1)[0]
        return found
    graph = tf.compat.v1.GraphDef.FromString(text)
    found.nodes = {node.name: node for node in graph.node}
    found.functions = {function.signature.name: function for function in graph.library.function}
    for node in graph.node:
        if node.op == "_Retval":
            found.end = node.input[0]
    return found


def _functions_of(node: Any) -> list[str]:
    names: list[str] = []
    for value in node.attr.values():
        if value.HasField("func"):
            names.append(value.func.name)
        names += [item.name for item in value.list.func]
    return names


def _ops_below(graph: _DatasetGraph, node: Any) -> set[str]:
    """Return every operation in the functions that a node calls, also through others."""
    seen: set[str] = set()
    ops: set[str] = set()
    waiting = _functions_of(node)
    while waiting:
        name = waiting.pop()
        if name in seen or name not in graph.functions:
            continue
        seen.add(name)
        for inner in graph.functions[name].node_def:
            ops.add(inner.op)
            waiting += _functions_of(inner)
            if inner.op in graph.functions:
                waiting.append(inner.op)
    return ops


def _is_random(op: str) -> bool:
    """Return whether an operation draws random numbers.

    Stateless ones do not count: their seed is data.
    """
    if op.startswith(("Stateless", "_Stateless")):
        return False
    return op in _RANDOM_DATASETS or op.startswith(
        (
            "Random",
            "Multinomial",
            "TruncatedNormal",
            "ParameterizedTrunc",
            "RngReadAndSkip",
            "StatefulUniform",
            "StatefulStandardNormal",
            "StatefulTruncatedNormal",
            "StatefulRandom",
        )
    )


def _kind_of_work(graph: _DatasetGraph, node: Any) -> str:
    inside = _ops_below(graph, node)
    if any(_is_random(op) for op in inside) or _is_random(node.op):
        return "random"
    if inside & PYTHON_OPS:
        return "Python"
    return ""


def _constant_of_node(graph: _DatasetGraph, name: str) -> int | None:
    node = graph.nodes.get(name.split(":", maxsplit=1)[0].lstrip("^"))
    if node is None or node.op != "Const":
        return None
    value = tf.make_ndarray(node.attr["value"].tensor)
    return int(value) if value.ndim == 0 and value.dtype.kind in "iu" else None


_PARALLEL_INPUT = {
    "ParallelMapDatasetV2": -1,
    "ParallelBatchDataset": 2,
    "ParallelInterleaveDatasetV4": -1,
    "ParallelInterleaveDatasetV3": -1,
    "MapAndBatchDataset": -2,
}
"""Which input of these operations is the number of parallel calls."""

_BUFFER_INPUT = {
    "PrefetchDataset": 1,
    "ShuffleDataset": 1,
    "ShuffleDatasetV2": 1,
    "ShuffleDatasetV3": 1,
    "BatchDataset": 1,
    "BatchDatasetV2": 1,
    "ParallelBatchDataset": 1,
    "PaddedBatchDatasetV2": 1,
}
"""Which input of these operations is a buffer or a batch size."""


def _dataset_nodes(graph: _DatasetGraph) -> list[Any]:
    """Return the dataset nodes from the source to the end, along the first input."""
    chain: list[Any] = []
    name = graph.end
    while name:
        node = graph.nodes.get(name.split(":", maxsplit=1)[0])
        if node is None:
            break
        if "Dataset" in node.op:
            chain.append(node)
        inputs = [item.split(":")[0] for item in node.input if not item.startswith("^")]
        name = next(
            (item for item in inputs if item in graph.nodes and "Dataset" in graph.nodes[item].op), ""
        )
    return chain[::-1]


def parallelism_text(number: int | None) -> str:
    """Return a number of parallel calls as text."""
    return "" if number is None else "auto" if number == AUTOTUNE else str(number)


def stages_of(graph: _DatasetGraph) -> list[Stage]:
    """Return the stages of a pipeline, from the source to the end."""
    stages: list[Stage] = []
    for node in _dataset_nodes(graph):
        if node.op == "OptionsDataset":
            continue
        inputs = [item for item in node.input if not item.startswith("^")]
        parallel = buffer = None
        if node.op in _PARALLEL_INPUT:
            parallel = _constant_of_node(graph, inputs[_PARALLEL_INPUT[node.op]])
        if node.op in _BUFFER_INPUT:
            buffer = _constant_of_node(graph, inputs[_BUFFER_INPUT[node.op]])
        name = node.op.rsplit("V", 1)[0] if node.op[-2:-1] == "V" and node.op[-1].isdigit() else node.op
        stages.append(
            Stage(
                name.removesuffix("Dataset"),
                parallelism_text(parallel),
                parallelism_text(buffer),
                _kind_of_work(graph, node),
            )
        )
    return stages


def randomness(dataset: Any) -> tuple[str, str] | None:
    """Return the stage that makes each pass over a dataset differ, and the kind.

    The kind is `random`, `shuffle` or `unknown`. A cache after the stage would freeze the first pass. None where
    there is no such stage.

    Args:
        dataset: A tf.data.Dataset.

    >>> import tensorflow as tf
    >>> randomness(tf.data.Dataset.range(3).map(lambda x: x + 1)) is None
    True
    >>> randomness(tf.data.Dataset.range(3).shuffle(3))
    ('Shuffle', 'shuffle')
    """
    graph = graph_of(dataset)
    if graph.problem is not None:
        return "the pipeline", "unknown"
    for node, stage in zip(
        [item for item in _dataset_nodes(graph) if item.op != "OptionsDataset"], stages_of(graph), strict=True
    ):
        if stage.remarks == "random":
            return stage.name, "random"
        if "Shuffle" in node.op and _does_reshuffle(node):
            return stage.name, "shuffle"
        if stage.remarks == "Python" or node.op.startswith(_GENERATOR):
            return stage.name, "unknown"
    for node in graph.nodes.values():  # a dataset beside the first input, such as one of a zip
        if "Dataset" in node.op and (
            _kind_of_work(graph, node) == "random" or ("Shuffle" in node.op and _does_reshuffle(node))
        ):
            return node.op, "random"
    return None


def _does_reshuffle(node: Any) -> bool:
    attribute = node.attr.get("reshuffle_each_iteration")
    return attribute is None or bool(attribute.b)


def element_bytes(dataset: Any) -> int | None:
    """Return the bytes of one element of a dataset.

    None where its shapes do not tell, as those of strings never do.

    >>> import tensorflow as tf
    >>> element_bytes(tf.data.Dataset.from_tensors(tf.zeros([4, 3])))
    48
    """
    total = 0
    for spec in tf.nest.flatten(dataset.element_spec):
        if (
            not isinstance(spec, tf.TensorSpec)
            or not spec.shape.is_fully_defined()
            or spec.dtype == tf.string
        ):
            return None
        total += spec.shape.num_elements() * spec.dtype.size
    return total
