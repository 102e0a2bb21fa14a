"""The graph of a dataset: its operations, their inputs and what their functions hold."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cfgfix.core.wording import callable_name

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
        """The number of elements in the buffer of a shuffle; None for other nodes."""
        return self._first_number() if normal(self.operation).startswith("shuffle") else None

    def _first_number(self) -> int | None:
        import tensorflow as tf

        for value in self.constants:
            if not value.tensor_shape.dim and value.dtype == tf.int64.as_datatype_enum:
                return int(tf.make_ndarray(value))
        return None

    @property
    def batch_size(self) -> int | None:
        """The number of elements in each batch of a batching node; None for other nodes."""
        return self._first_number() if normal(self.operation) in _BATCHING else None


def normal(operation: str) -> str:
    """Return the operation name that the graph and the performance model share.

    Version, case and the word `Dataset` are taken off.
    """
    name = re.sub(r"V\d+$", "", operation).replace("Dataset", "").lower()
    return _MODEL_NAMES.get(name, name)


def read_graph(dataset: Any) -> Node | None:
    """Return the last node of a dataset's graph, with its inputs below.

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
    """Return the names of the graph's functions that hold a wanted operation.

    Functions that call such a function are among them.
    """
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


def has_cache(node: Node | None) -> bool:
    """Return whether a dataset keeps elements from one epoch to the next."""
    return any(normal(entry.operation) == "cache" for entry in walk(node))


def epoch_batches(dataset: Any, graph: Node | None) -> int | None:
    """Return the number of batches in an epoch, or None where unknown.

    The number is known also where the dataset repeats itself.
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
