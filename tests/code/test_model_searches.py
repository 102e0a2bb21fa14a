"""Models that each turn of a search makes: TFF039 where the folds of a function stand in a loop over a grid."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

SEARCH = """\
import itertools
import tensorflow as tf
from sklearn.model_selection import ParameterGrid

DATA = tf.ones((8, 2)), tf.ones((8, 1))


def build(units, rate=1e-3):
    model = tf.keras.Sequential([tf.keras.layers.Dense(units), tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.Adam(rate), "mse")
    return model


def folds(count):
    for number in range(count):
        yield number


def by_product(widths, rates):
    for units, rate in itertools.product(widths, rates):
        for fold in folds(3):
            model = build(units, rate)  # found
            model.fit(*DATA)


def by_grid(settings):
    grid = ParameterGrid(settings)
    for number, setting in enumerate(grid):
        for fold in folds(3):
            net = build(**setting)  # found
            net.fit(*DATA)


def by_folds():
    for fold in folds(5):
        model = build(4)
        model.fit(*DATA)


def by_experiments(config):
    for experiment in config.experiments:
        for fold in folds(3):
            model = build(experiment.units)
            model.fit(*DATA)


def cleared(widths, rates):
    for units, rate in itertools.product(widths, rates):
        tf.keras.backend.clear_session()
        for fold in folds(3):
            model = build(units, rate)
            model.fit(*DATA)


by_product([4, 8], [1e-2, 1e-3]), by_grid({"units": [4, 8]}), by_folds(), by_experiments(1), cleared([4], [1e-2])
"""


def test_models_of_a_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_marked(tmp_path, monkeypatch, "TFF039", SEARCH)
