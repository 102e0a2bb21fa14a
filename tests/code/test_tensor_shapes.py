"""Shapes of whole tensors, held against what NumPy makes of arrays of these shapes."""

from __future__ import annotations

import itertools

import pytest

from cfgfix.code.inference.networks.tensors import (
    BATCH,
    broadcast,
    expanded,
    joined,
    multiplied,
    reduced,
    reshaped,
    squeezed,
    stacked,
    turned,
)
from cfgfix.code.tensorflow.layers.sizes import MisfitError, UnknownSize

np = pytest.importorskip("numpy")

SHAPES = [(), (1,), (3,), (1, 3), (2, 3), (3, 2), (2, 1), (2, 2, 3), (1, 3, 2), (4, 1, 3)]


@pytest.mark.parametrize("one", SHAPES)
@pytest.mark.parametrize("other", SHAPES)
def test_pairs_as_numpy_takes_them(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    """Sums and products of all pairs have NumPy's shape, and are refused where it refuses them."""
    arrays = np.zeros(one), np.zeros(other)
    try:
        expected = (arrays[0] + arrays[1]).shape
    except ValueError:
        with pytest.raises(MisfitError):
            broadcast(one, other)
    else:
        assert broadcast(one, other) == expected
    if min(len(one), len(other)) < 2:
        return
    try:
        expected = (arrays[0] @ arrays[1]).shape
    except ValueError:
        with pytest.raises(MisfitError):
            multiplied(one, other)
    else:
        assert multiplied(one, other) == expected


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape])
def test_one_as_numpy_changes_it(shape: tuple[int, ...]) -> None:
    """Axes are added, dropped, turned, reduced and joined as NumPy does it."""
    array = np.zeros(shape)
    assert turned(shape, None) == array.T.shape
    for order in itertools.permutations(range(len(shape))):
        assert turned(shape, order) == array.transpose(order).shape
    for axis in range(-len(shape), len(shape)):
        assert reduced(shape, [axis], kept=False) == array.sum(axis).shape
        assert reduced(shape, [axis], kept=True) == array.sum(axis, keepdims=True).shape
        assert expanded(shape, axis) == np.expand_dims(array, axis).shape
        assert joined([shape, shape], axis) == np.concatenate([array, array], axis).shape
        assert stacked([shape, shape], axis) == np.stack([array, array], axis).shape
        if shape[axis] == 1:
            assert squeezed(shape, axis) == array.squeeze(axis).shape
        else:
            with pytest.raises(UnknownSize):
                squeezed(shape, axis)
    assert reshaped(shape, [-1]) == array.reshape(-1).shape
    with pytest.raises(MisfitError):
        reshaped(shape, [array.size + 1])


def test_sizes_that_are_not_known_are_not_refused() -> None:
    """What may fit is taken, and what cannot fit whatever the batch is refused."""
    assert broadcast((None, 4), (3, 1)) == (3, 4)
    assert joined([(None, 4), (None, 5)], 1) == (None, 9)
    assert reshaped((None, 6), (-1, 4)) == (None, 4)
    assert reshaped((None, 40, 96), (BATCH, -1, 8, 12)) == (None, 40, 8, 12)
    with pytest.raises(MisfitError, match="4000 numbers"):
        reshaped((None, 40, 100), (BATCH, -1, 8, 12))
    with pytest.raises(MisfitError, match="beside the axis"):
        joined([(None, 4, 2), (None, 5, 3)], 1)
