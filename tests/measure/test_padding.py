"""How much of the batches is padding, and what is left alone."""

from __future__ import annotations

import numpy as np
import pytest

from cfgfix.measure.padding import (
    Padding,
    best_lengths,
    content_lengths,
    fitted_lengths,
    judge_padding,
    read_padding,
)
from cfgfix.measure.verdicts import Outcome

SIZES = np.array([12, 40, 14, 38, 16, 9, 37, 11] * 4)


def ragged(tf, sizes=SIZES, low=1.0):
    """Return a dataset of rows of different lengths with features of two numbers each."""
    numbers = tf.constant(sizes, tf.int64)
    data = tf.data.Dataset.range(len(sizes))
    return data.map(
        lambda place: {
            "x": low + tf.random.uniform([numbers[place], 2]),
            "n": tf.cast(numbers[place], tf.int32),
        }
    )


def test_content_ends_where_the_value_of_the_padding_begins():
    rows = np.zeros((3, 6, 2), np.float32)
    rows[0, :4] = 1
    rows[1, :2] = 1
    rows[2] = 1
    assert content_lengths(rows).tolist() == [4, 2, 6]
    assert content_lengths(np.array([[5, 6, 0, 0], [0, 0, 0, 0]])).tolist() == [2, 0]
    assert content_lengths(np.array([[1.0, 2.0], [3.0, 4.0]])[:, :, None].repeat(2, 2)).max() <= 2


@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_the_lengths_leave_least_padding(most):
    chance = np.random.default_rng(3)
    lengths = chance.integers(1, 30, 12)
    found = best_lengths(lengths, most)
    assert len(found) <= most
    assert found[-1] == lengths.max()

    def cost(edges):
        return int(fitted_lengths(lengths, edges).sum())

    from itertools import combinations

    sizes = sorted(set(lengths.tolist()))
    every = [(*chosen, sizes[-1]) for count in range(most) for chosen in combinations(sizes[:-1], count)]
    assert cost(found) == min(cost(edges) for edges in every)


def test_long_lengths_are_round_numbers():
    assert all(length % 8 == 0 for length in best_lengths(np.array([297, 390, 434, 719, 899])))


def test_padding_is_known_by_the_lengths_in_the_batch(tf):
    data = ragged(tf).padded_batch(8, padded_shapes={"x": [64, 2], "n": []})
    found = read_padding(data)
    assert found is not None
    assert found.component == "x"
    assert found.content == pytest.approx(SIZES.mean())
    assert found.padded == 64
    assert found.saved > 0.5
    assert found.lengths[-1] == 40


def test_padding_is_known_where_batches_are_as_long_as_their_longest(tf):
    sizes = np.concatenate([[12, 40] * 4, [10, 30] * 4, [9, 25] * 4])
    data = ragged(tf, sizes).map(lambda row: row["x"]).padded_batch(8)
    found = read_padding(data)
    assert found is not None
    assert found.content == pytest.approx(sizes.mean())
    assert found.padded == pytest.approx((40 + 30 + 25) / 3)


def test_padding_of_letters_is_known(tf):
    data = ragged(tf).map(lambda row: tf.cast(row["x"][:, 0], tf.int32)).padded_batch(8, padded_shapes=[50])
    found = read_padding(data)
    assert found is not None
    assert found.padded == 50


def test_pictures_with_a_black_border_are_left_alone(tf):
    pictures = np.ones([32, 28, 28, 1], np.float32)
    for place, picture in enumerate(pictures):
        picture[20 - place % 7 :] = 0
    labels = np.arange(32) % 10
    data = tf.data.Dataset.from_tensor_slices((pictures, labels))
    assert read_padding(data.batch(8)) is None
    assert read_padding(data.padded_batch(8)) is None


def test_labels_that_happen_to_be_below_the_length_are_no_lengths(tf):
    rows = np.ones([32, 16, 2], np.float32)
    for place, row in enumerate(rows):
        row[10 + place % 3 :] = 0
    data = tf.data.Dataset.from_tensor_slices({"x": rows, "y": np.arange(32, dtype=np.int32) % 10})
    assert read_padding(data.batch(8)) is None


def test_a_dataset_without_sequences_has_no_padding(tf):
    assert read_padding(tf.data.Dataset.range(100).batch(8)) is None
    assert read_padding(tf.data.Dataset.from_tensors({"a": tf.ragged.constant([[1], [2, 3]])})) is None


def made(**more):
    fields = {
        "component": "mel", "batches": 10, "rows": 80, "content": 500.0, "padded": 1000.0,
        "weight": 0.9, "lengths": (400, 800), "fitted": 600.0,
    }  # fmt: skip
    return Padding(**{**fields, **more})


def test_padding_is_a_problem_where_the_step_takes_the_time():
    (verdict,) = judge_padding(made(), step_share=0.9)
    assert verdict.outcome is Outcome.PROBLEM
    assert verdict.worth == pytest.approx(1 / (1 - 0.9 * 0.4))
    assert "400, 800" in verdict.evidence[1]
    (verdict,) = judge_padding(made(), step_share=0.1)
    assert verdict.outcome is Outcome.INFO
    (verdict,) = judge_padding(made())
    assert verdict.outcome is Outcome.INFO
    assert verdict.worth is None


@pytest.mark.parametrize(
    "found",
    [
        None,
        made(content=900.0),
        made(fitted=980.0),
        made(weight=0.2),
    ],
)
def test_little_padding_is_not_told(found):
    assert list(judge_padding(found, step_share=1.0)) == []
