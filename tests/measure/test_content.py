"""What is wrong with the batches themselves: order, repeats, nesting."""

from __future__ import annotations

import numpy as np
import pytest

from cfgfix.measure.content import (
    class_order,
    inner_batches,
    judge_graph,
    judge_order,
    labels_of,
    read_labels,
)
from cfgfix.measure.data import measure
from cfgfix.measure.data_profile import Plan
from cfgfix.measure.dataset_graph import read_graph
from cfgfix.measure.verdicts import Outcome


def parts(labels, size=16):
    return np.split(np.asarray(labels), len(labels) // size)


def test_samples_in_the_order_of_their_classes_are_told():
    labels = np.repeat(np.arange(10), 64)
    order = class_order(parts(labels))
    assert order.sorted
    assert order.in_a_batch == pytest.approx(1)
    assert order.if_shuffled > 7
    (verdict,) = judge_order(order)
    assert verdict.outcome is Outcome.PROBLEM
    assert "a batch holds 1 of them" in verdict.summary


def test_a_small_shuffle_over_sorted_samples_does_not_help():
    random = np.random.default_rng(0)
    labels = np.concatenate([random.permutation(part) for part in np.split(np.repeat(np.arange(10), 64), 10)])
    assert class_order(parts(labels)).sorted


@pytest.mark.parametrize("seed", range(8))
def test_shuffled_samples_are_in_order(seed):
    random = np.random.default_rng(seed)
    for classes in (2, 10, 100):
        labels = random.integers(0, classes, 1600)
        assert list(judge_order(class_order(parts(labels)))) == []
        rare = np.where(random.random(1600) < 0.02, 1, 0)
        assert list(judge_order(class_order(parts(rare)))) == []


def test_what_says_nothing_is_not_judged():
    assert class_order(parts(np.zeros(640, int))) is None
    assert class_order(parts(np.arange(640))) is None
    assert class_order(parts(np.repeat([0, 1], 16))) is None


@pytest.mark.parametrize(
    ("second", "labels"),
    [
        ([1, 0, 2, 1], [1, 0, 2, 1]),
        ([[1.0], [0.0], [2.0], [1.0]], [1, 0, 2, 1]),
        ([[0, 1], [1, 0], [0, 1], [0, 1]], [1, 0, 1, 1]),
        ([0.5, 1.0, 2.0, 3.0], None),
        ([[0.2, 0.8]] * 4, None),
        ([1, 2], None),
        (["a", "b", "c", "d"], None),
    ],
)
def test_labels_are_whole_numbers_or_one_of_a_row(second, labels):
    found = labels_of((np.zeros(4), np.array(second)))
    assert found is None if labels is None else found.tolist() == labels


def test_elements_without_labels_have_none(tf):
    assert labels_of({"x": 1}) is None
    assert labels_of((np.zeros(4), {"y": 1})) is None
    assert read_labels(tf.data.Dataset.range(10)) == []


def graph_of(tf, build):
    return read_graph(build(tf.data.Dataset.range(64)))


def test_random_numbers_before_a_cache_are_told(tf):
    def augment(value):
        return tf.cast(value, tf.float32) + tf.random.uniform([])

    def plain(value):
        return tf.cast(value, tf.float32)

    def told(build):
        return [verdict.summary for verdict in judge_graph(graph_of(tf, build)) if verdict.name == "repeats"]

    assert told(lambda data: data.map(plain).cache().map(augment).batch(4)) == []
    (summary,) = told(lambda data: data.map(augment).cache().batch(4))
    assert summary.startswith("augment draws random numbers before cache()")
    (summary,) = told(lambda data: data.shuffle(64).cache().batch(4))
    assert "every epoch has the order of the first" in summary
    assert told(lambda data: data.shuffle(64).cache().shuffle(64).batch(4)) == []
    assert told(lambda data: data.cache().shuffle(64).batch(4)) == []


def test_batches_of_batches_count_all_their_samples(tf):
    def nested(data):
        return data.batch(4).map(lambda rows: rows + 1).batch(8).prefetch(1)

    assert inner_batches(graph_of(tf, nested)) == 4
    assert inner_batches(graph_of(tf, lambda data: data.batch(4).unbatch().batch(8))) == 1
    assert inner_batches(graph_of(tf, lambda data: data.batch(4))) == 1
    found = measure(lambda: nested(tf.data.Dataset.range(10**6)), Plan(batches=15, seconds=3, stages=False))
    assert found.rates.samples_per_batch == 32
    assert any(verdict.name == "batches" for verdict in found.verdicts)
