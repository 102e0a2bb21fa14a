"""Shapes of whole tensors, the batch included, through the operations that every array library has."""

from __future__ import annotations

import math
from collections.abc import Iterator
from collections.abc import Sequence as Row

from cfgfix.code.inference.interpreter.objects import Made, Mapping, Sequence, Value
from cfgfix.code.tensorflow.layers.sizes import MisfitError, Shape, UnknownSize, shape_text
from cfgfix.core.records import dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """A number that whole numbers in a tensor stay below.

    Attributes:
        number: The bound: the largest number is one less.
        since: The call that bounds them.
        reached: Whether the largest number certainly occurs.
    """

    number: int
    since: Made
    reached: bool = True


@dataclass(frozen=True, slots=True)
class Tensor:
    """What is known of a tensor or array.

    Attributes:
        shape: Its dimensions, that of the batch included; None for one that is not known.
        since: The call that gives it this shape; None for a constant.
        bound: What its whole numbers stay below, if known.
        one_hot: Whether its last dimension has a place for each class.
    """

    shape: Shape
    since: Made | None = None
    bound: Bound | None = None
    one_hot: bool = False


def whole_text(shape: Shape) -> str:
    """Return a whole shape in words, such as `(?, 28, 28)`."""
    inner = ", ".join("?" if size is None else str(size) for size in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def broadcast(*shapes: Shape) -> Shape:
    """Return the shape of an element-wise operation.

    Raises:
        MisfitError: The shapes differ.
    """
    rank = max(map(len, shapes))
    made: list[int | None] = []
    for place in range(-rank, 0):
        sizes = {shape[place] for shape in shapes if -place <= len(shape)}
        wide = sizes - {1}
        if len(wide - {None}) > 1:
            raise MisfitError(f"gets {' and '.join(map(whole_text, shapes))}")
        known = wide - {None}
        made.append(known.pop() if known else None if wide else 1)
    return tuple(made)


def multiplied(left: Shape, right: Shape, *, turn_left: bool = False, turn_right: bool = False) -> Shape:
    """Return the shape of a product of matrices.

    Raises:
        MisfitError: The inner dimensions differ.
        UnknownSize: One of them is no matrix.
    """
    if len(left) < 2 or len(right) < 2:
        raise UnknownSize
    one = (*left[:-2], left[-1], left[-2]) if turn_left else left
    other = (*right[:-2], right[-1], right[-2]) if turn_right else right
    if None not in (one[-1], other[-2]) and one[-1] != other[-2]:
        raise MisfitError(f"multiplies {whole_text(one)} with {whole_text(other)}")
    return (*broadcast(one[:-2] or (1,), other[:-2] or (1,)), one[-2], other[-1]) if len(one) > 2 or len(other) > 2 else (one[-2], other[-1])  # fmt: skip


def joined(shapes: Row[Shape], axis: int) -> Shape:
    """Return the shape of tensors put behind one another along an axis.

    Raises:
        MisfitError: They differ beside the axis.
        UnknownSize: The axis is none of theirs.
    """
    rank = len(shapes[0])
    place = axis if axis >= 0 else axis + rank
    if not 0 <= place < rank:
        raise UnknownSize
    if any(len(shape) != rank for shape in shapes):
        raise MisfitError(f"gets {' and '.join(map(whole_text, shapes))}, of several ranks")
    made: list[int | None] = []
    for number in range(rank):
        sizes = [shape[number] for shape in shapes]
        known = [size for size in sizes if size is not None]
        if number == place:
            made.append(sum(known) if len(known) == len(sizes) else None)
            continue
        if len(set(known)) > 1:
            raise MisfitError(f"gets {' and '.join(map(whole_text, shapes))}, which differ beside the axis")
        made.append(known[0] if known else None)
    return tuple(made)


def reduced(shape: Shape, axes: Row[int] | None, *, kept: bool) -> Shape:
    """Return the shape of a mean, sum or the like over some axes; None for all.

    Raises:
        UnknownSize: An axis is none of the tensor's.
    """
    places = set(range(len(shape))) if axes is None else {axis % len(shape) for axis in axes if shape}
    if axes is not None and any(not -len(shape) <= axis < len(shape) for axis in axes):
        raise UnknownSize
    return tuple(
        1 if number in places else size for number, size in enumerate(shape) if kept or number not in places
    )


BATCH = object()
"""Stands in a wanted shape for the size of the batch of what is reshaped."""


def reshaped(shape: Shape | None, wanted: Row[object]) -> Shape:
    """Return the shape of a tensor after it is reshaped.

    Args:
        shape: The whole shape from before; None where it is not known.
        wanted: Numbers, of which one may be -1; `BATCH`; None for what is not known.

    Raises:
        MisfitError: The elements do not fit.
    """
    asked = tuple(size if type(size) is int and size >= 0 else None for size in wanted)
    if shape is None:
        return asked
    rest, goal = shape, tuple(wanted)
    if rest and goal and goal[0] is BATCH:
        rest, goal = rest[1:], goal[1:]
    elif rest and goal and rest[0] is None and goal[0] == -1 and -1 not in goal[1:]:
        # What the batch is folded into may be any number.
        return asked
    if None in rest or not all(type(size) is int for size in goal):
        return asked
    numbers = [size for size in goal if type(size) is int]
    total, given = math.prod(size or 0 for size in rest), math.prod(size for size in numbers if size != -1)
    if numbers.count(-1) > 1 or not given:
        raise UnknownSize
    if total % given if -1 in numbers else total != given:
        raise MisfitError(
            f"makes {shape_text(tuple(None if size == -1 else size for size in numbers))} of {shape_text(rest)}, "
            f"which are {total} numbers"
        )
    made = [total // given if size == -1 else size for size in numbers]
    return (*asked[: len(asked) - len(made)], *made)


def stacked(shapes: Row[Shape], axis: int) -> Shape:
    """Return the shape of tensors stacked along a new axis.

    Raises:
        MisfitError: They differ.
        UnknownSize: The axis is none of theirs.
    """
    first = shapes[0]
    for other in shapes[1:]:
        if len(other) != len(first) or any(
            None not in pair and pair[0] != pair[1] for pair in zip(first, other, strict=True)
        ):
            raise MisfitError(f"stacks {whole_text(first)} and {whole_text(other)}")
    return expanded(first, axis, len(shapes))


def expanded(shape: Shape, axis: int, size: int = 1) -> Shape:
    """Return a shape with a further axis.

    Raises:
        UnknownSize: The axis is none of the result's.
    """
    place = axis if axis >= 0 else axis + len(shape) + 1
    if not 0 <= place <= len(shape):
        raise UnknownSize
    return (*shape[:place], size, *shape[place:])


def squeezed(shape: Shape, axis: int | None) -> Shape:
    """Return a shape without the axes of size 1, or without one of them.

    Raises:
        UnknownSize: That is not known.
    """
    if axis is None:
        if None in shape[1:]:
            raise UnknownSize
        return tuple(size for size in shape if size != 1)
    if not -len(shape) <= axis < len(shape) or shape[axis] not in (1, None):
        raise UnknownSize
    place = axis % len(shape)
    return shape[:place] + shape[place + 1 :]


def turned(shape: Shape, order: Row[int] | None) -> Shape:
    """Return a shape with its axes in another order; None turns them round.

    Raises:
        UnknownSize: The order is none of the shape's axes.
    """
    if order is None:
        return shape[::-1]
    places = [axis % len(shape) for axis in order] if shape else []
    if sorted(places) != list(range(len(shape))):
        raise UnknownSize
    return tuple(shape[place] for place in places)


def flat(value: Value) -> tuple[Value, ...]:
    """Return the tensors in a list or dictionary, or a single one."""
    if isinstance(value, Sequence) and value.kind in ("list", "tuple"):
        return () if value.open else tuple(each_of(value.items))
    if isinstance(value, Mapping):
        return () if value.open else tuple(each_of(list(value.entries.values())))
    return (value,)


def each_of(values: list[Value]) -> Iterator[Value]:
    """Yield the tensors in some values."""
    for value in values:
        yield from flat(value)
