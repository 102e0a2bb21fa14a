"""What one layer makes of its inputs: shapes, weights, and the tensors it keeps; and the arguments it is made with."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cfgfix.core.records import dataclass

Shape = tuple[int | None, ...]
"""The dimensions of a tensor without those of the batch; None for one that is not known."""


class UnknownSize(Exception):  # noqa: N818 - no error: the code does not show it
    """A size is not known."""


class MisfitError(UnknownSize):
    """The inputs of a layer are certainly refused; the text says why."""


class OpenSizeError(MisfitError):
    """The inputs of a layer leave a size open that its weights need."""


UNKNOWN = object()
"""Stands for an argument that the code does not show."""


@dataclass(frozen=True, slots=True)
class LayerSizes:
    """The sizes of a layer for one sample: outputs, weights and kept elements.

    Attributes:
        outputs: The shapes of what it gives.
        trainable: The numbers in its weights that are trained.
        fixed: The numbers in its weights that are not, such as the moving averages of batch normalization.
        for_weights: Whether its inputs are kept to work out the gradients of its weights.
        inputs: Whether its inputs are kept to work out the gradients of its inputs.
        outputs_kept: Whether its outputs are.
        extra: The elements that it keeps besides.
        masks: The elements of one byte that it keeps besides.
        reuses: Whether what it gives lies in the memory of its input.
        work: The elements that the backward pass of the layer needs at once, besides gradients.
        passes: Whether the gradient of its outputs is that of its inputs.
    """

    outputs: tuple[Shape, ...]
    trainable: int = 0
    fixed: int = 0
    for_weights: bool = False
    inputs: bool = False
    outputs_kept: bool = False
    extra: float = 0
    masks: float = 0
    reuses: bool = False
    work: float = 0
    passes: bool = False

    @property
    def output(self) -> Shape:
        """The shape of the first output."""
        return self.outputs[0]


Inputs = tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer as it is made.

    Attributes:
        name: The name of its class, such as `Conv2D`.
        arguments: What it is made with.
    """

    name: str
    arguments: Arguments


class Arguments:
    """The arguments of one layer, by parameter.

    Args:
        given: What is given: plain values, `UNKNOWN`, `Layer` for a layer, `Named` for a function or class by its name.
    """

    __slots__ = ("given",)

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given

    def value(self, name: str, default: Any = None) -> Any:
        """Return the value of an argument.

        Raises:
            UnknownSize: The argument is given and not known.
        """
        found = self.given.get(name, default)
        if found is UNKNOWN:
            raise UnknownSize
        return found

    def number(self, name: str, default: int | None = None) -> int:
        """Return an argument that is a positive whole number.

        Raises:
            UnknownSize: The argument is no such number.
        """
        found = self.value(name, default)
        if isinstance(found, float) and found.is_integer():
            found = int(found)
        if isinstance(found, bool) or not isinstance(found, int) or not 0 < found < MAX_NUMBER:
            raise UnknownSize
        return found

    def flag(self, name: str, default: bool) -> bool:
        """Return an argument as a truth value."""
        found = self.value(name, default)
        if not isinstance(found, bool):
            raise UnknownSize
        return found

    def word(self, name: str, default: str) -> str:
        """Return an argument as text in lower case."""
        found = self.value(name, default)
        if found is None:
            return default
        if not isinstance(found, str):
            raise UnknownSize
        return found.lower()

    def sizes(self, name: str, rank: int, default: int | None = None) -> tuple[int, ...]:
        """Return an argument as one number for each spatial dimension.

        The argument is one number for all dimensions, or a list.
        """
        found = self.value(name, default)
        numbers = tuple(found) if isinstance(found, (list, tuple)) else (found,) * rank
        if len(numbers) != rank or not all(
            isinstance(one, int) and not isinstance(one, bool) and 0 < one < MAX_NUMBER for one in numbers
        ):
            raise UnknownSize
        return numbers

    def channels_last(self) -> None:
        """Raise `UnknownSize` unless channels are the last dimension, as by default."""
        if self.value("data_format") not in (None, "channels_last"):
            raise UnknownSize

    def layer(self, name: str) -> Layer:
        """Return an argument that is itself a layer."""
        found = self.value(name)
        if not isinstance(found, Layer):
            raise UnknownSize
        return found


@dataclass(frozen=True, slots=True)
class Named:
    """A function or class of a library by its full name, as an argument."""

    name: str


MAX_NUMBER = 1 << 31
"""Most that one argument or dimension may be; more is no size."""
MAX_ELEMENTS = 1 << 60
"""Most elements of one tensor; more is no size."""

Rule = Callable[[Arguments, Inputs], LayerSizes]


def shape_text(shape: Shape) -> str:
    """Return a shape in words: `28 x 28 x 3`."""
    return " x ".join("?" if size is None else str(size) for size in shape)


def elements(shape: Shape) -> int:
    """Return the number of elements of a tensor for one sample.

    Raises:
        UnknownSize: A dimension is not known.
    """
    total = 1
    for size in shape:
        if size is None:
            raise UnknownSize
        total *= size
    if total > MAX_ELEMENTS:
        raise UnknownSize
    return total


def channels(shape: Shape) -> int:
    """Return the last dimension of a tensor, as a layer's weights need it.

    Raises:
        UnknownSize: The tensor has no dimension.
        OpenSizeError: The last dimension is left open.
    """
    if not shape:
        raise UnknownSize
    if shape[-1] is None:
        raise OpenSizeError(f"gets {shape_text(shape)} (? is left open), and its weights need that size")
    return shape[-1]


def known_elements(shape: Shape) -> float:
    """Return the number of elements of a tensor for one sample.

    Infinite where a dimension is not known.
    """
    try:
        return elements(shape)
    except UnknownSize:
        return math.inf


def only_input(inputs: Inputs) -> Shape:
    """Return the shape of a layer's only input.

    Raises:
        UnknownSize: There are several, or none.
    """
    if len(inputs) != 1:
        raise UnknownSize
    return inputs[0]


def product(numbers: Sequence[int]) -> int:
    """Return the product of some numbers."""
    return math.prod(numbers)
