"""The layers of a model in the order in which they run, and the memory that a training step needs for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cfgfix.code.tensorflow.layers.sizes import LayerSizes, Shape, UnknownSize, elements
from cfgfix.core.records import dataclass

FLOAT32 = 4
"""Bytes of a number in a weight and in its gradient."""
MAX_NODES = 5_000
"""Most calls of layers in one model; more is none that a person wrote."""


@dataclass(frozen=True, slots=True)
class Node:
    """One call of a layer.

    Attributes:
        sizes: What it makes.
        inputs: The numbers of the tensors that it gets.
        outputs: The numbers of those that it gives.
        trained: Whether its weights are trained.
    """

    sizes: LayerSizes
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    trained: bool = True


@dataclass(frozen=True, slots=True)
class Part:
    """The memory of a moment in a training step, without weights and optimizer state.

    Attributes:
        gradients: Numbers in the gradients of weights that exist then.
        sample: Bytes for each sample of the batch.
    """

    gradients: int
    sample: float


class Network:
    """The layers of a model.

    Attributes:
        shapes: The shape of each tensor, by its number.
        nodes: The calls of layers, in their order.
        trainable: Numbers in the weights that are trained.
        fixed: Numbers in those that are not.
    """

    def __init__(self) -> None:
        self.shapes: list[Shape] = []
        self.nodes: list[Node] = []
        self.trainable = 0
        self.fixed = 0

    def tensor(self, shape: Shape) -> int:
        """Add a tensor that comes from outside, and return its number."""
        self.shapes.append(shape)
        return len(self.shapes) - 1

    def add(
        self, sizes: LayerSizes, inputs: Iterable[int], *, trained: bool = True, first: bool = True
    ) -> Node:
        """Add a call of a layer.

        Args:
            sizes: What it makes.
            inputs: The numbers of the tensors that it gets.
            trained: Whether its weights are trained.
            first: Whether it is the first call of this layer, whose weights count.

        Raises:
            UnknownSize: The model is larger than any.
        """
        if len(self.nodes) >= MAX_NODES:
            raise UnknownSize
        node = Node(sizes, tuple(inputs), tuple(map(self.tensor, sizes.outputs)), trained)
        self.nodes.append(node)
        if first:
            self.trainable += sizes.trainable if trained else 0
            self.fixed += sizes.fixed if trained else sizes.fixed + sizes.trainable
        return node

    def parts(self, width: int = FLOAT32) -> list[Part]:
        """Return the moments of a training step that need the most memory.

        Each needs the most at some batch size.

        Args:
            width: Bytes of a number in an activation.

        Raises:
            UnknownSize: A dimension is not known.
        """
        return _largest_parts(_TrainingStep(self, width).moments())

    def kept(self, width: int = FLOAT32) -> float:
        """Return the bytes for each sample that exist at the end of the forward pass.

        Raises:
            UnknownSize: A dimension is not known.
        """
        step = _TrainingStep(self, width)
        step.moments()
        return step.kept


def _largest_parts(parts: Sequence[Part]) -> list[Part]:
    """Return the parts that need the most memory at some batch size."""
    found: list[Part] = []
    for part in sorted(parts, key=lambda part: (-part.sample, -part.gradients)):
        if not found or part.gradients > found[-1].gradients:
            found.append(part)
    return found


class _TrainingStep:
    """One training step: what is in memory after each layer, forward and backward.

    Args:
        network: The model.
        width: Bytes of a number in an activation.
    """

    def __init__(self, network: Network, width: int) -> None:
        self.nodes = network.nodes
        self.width = width
        self.kept = 0.0
        self.bytes = [elements(shape) * width for shape in network.shapes]
        self.buffer = list(range(len(network.shapes)))
        self.graded = [False] * len(network.shapes)
        for node in self.nodes:
            learns = node.trained and node.sizes.trainable > 0
            reaches = learns or any(self.graded[number] for number in node.inputs)
            for number in node.outputs:
                self.graded[number] = reaches
                if node.sizes.reuses and node.inputs:
                    self.buffer[number] = self.buffer[node.inputs[0]]

    def _kept_by(self, node: Node) -> tuple[set[int], float]:
        """Return the buffers that a layer keeps for the backward pass, and extra bytes."""
        learns = node.trained and node.sizes.trainable > 0
        graded = any(self.graded[number] for number in node.inputs)
        sizes = node.sizes
        kept: set[int] = set()
        if not learns and not graded:
            return kept, 0
        if (sizes.for_weights and learns) or sizes.inputs:
            kept.update(self.buffer[number] for number in node.inputs)
        if sizes.outputs_kept:
            kept.update(self.buffer[number] for number in node.outputs)
        return kept, sizes.extra * self.width + sizes.masks

    def moments(self) -> list[Part]:
        """Return the memory in use at each layer, in the forward and the backward pass.

        The backward pass frees the buffers that a layer has kept when it has passed the layer.
        """
        produced = {number for node in self.nodes for number in node.outputs}
        readers: dict[int, int] = {}
        keepers: dict[int, int] = {}
        kept_by = [self._kept_by(node) for node in self.nodes]
        for node, (kept, _) in zip(self.nodes, kept_by, strict=True):
            for number in node.inputs:
                readers[self.buffer[number]] = readers.get(self.buffer[number], 0) + 1
            for buffer in kept:
                keepers[buffer] = keepers.get(buffer, 0) + 1
        # The batch itself stays.
        live = float(sum(self.bytes[number] for number in range(len(self.bytes)) if number not in produced))
        found: list[Part] = []
        for node, (_, extra) in zip(self.nodes, kept_by, strict=True):
            live += extra
            if not node.sizes.reuses:
                live += sum(self.bytes[number] for number in node.outputs)
            found.append(Part(0, live))
            for number in node.inputs:
                buffer = self.buffer[number]
                readers[buffer] -= 1
                if not readers[buffer] and not keepers.get(buffer) and buffer in produced:
                    live -= self.bytes[buffer]
        self.kept = live
        found += self._parts_of_backward_pass(live, keepers, kept_by, produced)
        return found

    def _parts_of_backward_pass(
        self,
        live: float,
        keepers: dict[int, int],
        kept_by: list[tuple[set[int], float]],
        produced: set[int],
    ) -> list[Part]:
        found: list[Part] = []
        gradients = 0
        holders: dict[int, list[int]] = {}
        """The gradient of each tensor: a list of its bytes, shared by the tensors whose gradient it is."""
        shares: dict[int, int] = {}
        for number in self._results_kept():
            if self.graded[number]:
                live += self.bytes[number]
                holders[number] = [self.bytes[number]]
                shares[id(holders[number])] = 1
        for node, (kept, extra) in zip(reversed(self.nodes), reversed(kept_by), strict=True):
            mine = [holders.pop(number) for number in node.outputs if number in holders]
            if mine:
                live += self._passed_on(node, mine, holders, shares)
                found.append(Part(gradients, live + node.sizes.work * self.width))
                if node.trained:
                    gradients += node.sizes.trainable
                for holder in mine:
                    shares[id(holder)] -= 1
                    if not shares[id(holder)]:
                        live -= holder[0]
            live -= extra
            for buffer in kept:
                keepers[buffer] -= 1
                if not keepers[buffer] and buffer in produced:
                    live -= self.bytes[buffer]
        found.append(Part(gradients, live))
        return found

    def _passed_on(
        self, node: Node, mine: list[list[int]], holders: dict[int, list[int]], shares: dict[int, int]
    ) -> float:
        """Allot the gradients of a layer's inputs, and return the bytes allocated."""
        more = 0.0
        same = node.sizes.passes or node.sizes.reuses or _in_place(node.sizes)
        for number in node.inputs:
            if not self.graded[number]:
                continue
            if number in holders:
                # Gradients of several readers are added up.
                continue
            size = self.bytes[number]
            if same and mine[0][0] == size:
                holders[number] = mine[0]
                shares[id(mine[0])] += 1
            else:
                holders[number] = [size]
                shares[id(holders[number])] = 1
                more += size
        return more

    def _results_kept(self) -> list[int]:
        read = {number for node in self.nodes for number in node.inputs}
        return [number for node in self.nodes for number in node.outputs if number not in read]


def _in_place(sizes: LayerSizes) -> bool:
    """Tell whether a layer's input gradient overwrites its output gradient.

    That is so for activations.
    """
    return not sizes.for_weights and sizes.outputs_kept and not sizes.inputs and not sizes.trainable
