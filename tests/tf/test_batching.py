"""Batches of samples of like length."""

from __future__ import annotations

from typing import Any

import pytest

tf = pytest.importorskip("tensorflow", reason="needs the tf extra")

from cfgfix.core.errors import CfgfixError
from cfgfix.tf import batch_by_length, optimize

pytestmark = pytest.mark.tensorflow

SIZES = [3, 9, 4, 2, 8, 10, 1, 7, 3, 5]


def rows() -> Any:
    return tf.data.Dataset.from_tensor_slices(SIZES).map(
        lambda n: {
            "x": tf.fill([n, 2], tf.cast(n, tf.float32)),
            "word": tf.strings.as_string(n)[None],
            "n": n,
        }
    )


def padded(longest: int) -> Any:
    return rows().map(lambda row: {**row, "x": tf.pad(row["x"], [[0, longest - row["n"]], [0, 0]])})


SHAPES = {"x": [None, 2], "word": [2], "n": []}


@pytest.mark.parametrize("make", [rows, lambda: padded(12)])
def test_every_element_comes_once_and_whole(make: Any) -> None:
    ready = batch_by_length(make(), 3, SHAPES, length="n", lengths=[4, 12])
    seen = []
    for batch in ready:
        sizes = batch["n"].numpy().tolist()
        length = batch["x"].shape[1]
        assert length == (4 if max(sizes) <= 4 else 12)
        assert all((size <= 4) == (length == 4) for size in sizes)
        assert len(sizes) <= 3
        for size, row in zip(sizes, batch["x"].numpy(), strict=True):
            assert (row[:size] == size).all()
            assert (row[size:] == 0).all()
        assert batch["word"].shape[1] == 2
        assert [word[0].decode() for word in batch["word"].numpy()] == [str(size) for size in sizes]
        seen += sizes
    assert sorted(seen) == sorted(SIZES)


def test_shapes_are_known_but_for_the_length() -> None:
    spec = batch_by_length(rows(), 2, SHAPES, length="n", lengths=[12], drop_remainder=True).element_spec
    assert spec["x"].shape.as_list() == [2, None, 2]
    assert spec["word"].shape.as_list() == [2, 2]


def test_the_length_may_be_a_function_and_the_element_a_tuple() -> None:
    data = rows().map(lambda row: (row["x"], row["n"]))
    ready = batch_by_length(
        data, 5, ([None, 2], []), length=lambda x, n: tf.shape(x)[0], lengths=[5, 10], padding_values=-1
    )
    shapes = {tuple(x.shape) for x, _ in ready}
    assert shapes == {(5, 5, 2), (1, 5, 2), (4, 10, 2)}
    assert min(float(tf.reduce_min(x)) for x, _ in ready) == -1


def test_a_longer_element_is_an_error_when_it_comes() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="longer"):
        list(batch_by_length(rows(), 3, SHAPES, length="n", lengths=[4, 8]))


def test_a_component_beyond_its_fixed_shape_is_an_error() -> None:
    data = rows().map(lambda row: {**row, "word": tf.repeat(row["word"], row["n"])})
    with pytest.raises(tf.errors.InvalidArgumentError):
        list(batch_by_length(data, 3, {**SHAPES, "word": [6]}, length="n", lengths=[12]))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"lengths": [4, 4]}, "rise"),
        ({"lengths": []}, "rise"),
        ({"length": "frames"}, "no component"),
        ({"padded_shapes": {"x": [12, 2], "word": [2], "n": []}}, "None"),
        ({"padded_shapes": {"x": [None, 2]}}, "each of"),
        ({"padded_shapes": {**SHAPES, "x": [None, 1]}}, "does not fit"),
        ({"padded_shapes": {**SHAPES, "x": [None]}}, "does not fit"),
    ],
)
def test_what_does_not_fit_is_refused(more: dict[str, Any], said: str) -> None:
    asked = {"padded_shapes": SHAPES, "length": "n", "lengths": [4, 12], **more}
    with pytest.raises(CfgfixError, match=said):
        batch_by_length(rows(), 3, **asked)


def test_optimize_batches_by_length() -> None:
    ready = optimize(
        padded(12), {"batch_size": 3, "prefetch": 1}, "cpu,cpus=2,ram=8", shuffle_buffer=10,
        padded_shapes=SHAPES, length="n", lengths=[4, 12],
    )  # fmt: skip
    for _ in range(2):
        seen = [int(size) for batch in ready for size in batch["n"]]
        assert sorted(seen) == sorted(SIZES)
    with pytest.raises(CfgfixError, match="like length"):
        optimize(padded(12), {"batch_size": 3}, "cpu,cpus=2,ram=8", padded_shapes=SHAPES, lengths=[4, 12])
