from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfgfix.measure.statistics import (
    Interval,
    block_length,
    bootstrap,
    clean,
    lag_one,
    paired_difference,
    paired_ratio,
    robust_deviation,
    slope,
    steady_state,
    summarise,
    trend_p_value,
    warmup_end,
    winsorised,
)

numbers = st.lists(st.floats(0.001, 1000), min_size=2, max_size=60)


@given(numbers)
@settings(max_examples=50, deadline=None)
def test_a_summary_is_ordered(values):
    found = summarise(values)
    slack = 1e-9 * found.high
    assert found.count == len(values)
    assert found.low <= found.median <= found.p95 + slack
    assert found.p95 <= found.p99 + slack <= found.high + 2 * slack
    assert found.mean_interval.low <= found.mean + slack
    assert found.mean_interval.high >= found.mean - slack


@given(numbers, st.floats(0.1, 10))
@settings(max_examples=30, deadline=None)
def test_a_summary_scales_with_its_unit(values, factor):
    plain, scaled = summarise(values), summarise([value * factor for value in values])
    for name in ("mean", "median", "p95", "deviation", "robust_deviation"):
        assert getattr(scaled, name) == pytest.approx(getattr(plain, name) * factor, rel=1e-9, abs=1e-9)
    assert scaled.mean_interval.high == pytest.approx(plain.mean_interval.high * factor, rel=1e-9)


def test_one_outlier_moves_the_deviation_and_not_the_robust_one():
    steady = [0.045 + 0.001 * (place % 3) for place in range(99)]
    found = summarise([*steady, 0.6])
    assert found.variation > 1
    assert found.robust_variation < 0.05


def test_series_that_have_no_summary():
    with pytest.raises(ValueError, match="no summary"):
        summarise([])
    with pytest.raises(ValueError, match="axes"):
        clean([[1.0, 2.0]])
    assert clean([1.0, math.nan, 2.0, math.inf]).tolist() == [1.0, 2.0]


def test_the_interval_of_a_mean_covers_it_as_often_as_it_says():
    random = np.random.default_rng(5)
    covered = 0
    for turn in range(200):
        interval = bootstrap(random.normal(1, 0.2, 60), seed=turn)
        covered += interval.low <= 1 <= interval.high
    assert 180 <= covered <= 200


def test_the_interval_of_dependent_values_is_wider():
    random = np.random.default_rng(5)
    values = np.zeros(400)
    for place in range(1, 400):
        values[place] = 0.9 * values[place - 1] + random.standard_normal()
    whole = bootstrap(values)
    shuffled = bootstrap(random.permutation(values))
    assert block_length(values) > 5
    assert lag_one(values) > 0.8
    assert whole.high - whole.low > 1.5 * (shuffled.high - shuffled.low)


def test_the_same_series_gives_the_same_interval():
    values = np.random.default_rng(1).random(50)
    assert bootstrap(values) == bootstrap(values)


def test_pairs_cancel_what_disturbs_both():
    random = np.random.default_rng(2)
    disturbed = random.exponential(10, 40)
    difference = paired_difference(disturbed, disturbed + 1 + 0.01 * random.standard_normal(40))
    assert difference.low < 1 < difference.high
    assert difference.high - difference.low < 0.02
    assert difference.excludes_zero
    ratio = paired_ratio(disturbed + 1, 2 * (disturbed + 1))
    assert ratio.low == pytest.approx(2)
    assert ratio.high == pytest.approx(2)


def test_pairs_must_be_pairs():
    with pytest.raises(ValueError, match="same number"):
        paired_difference([1, 2], [1])
    with pytest.raises(ValueError, match="same number"):
        paired_ratio([1, 2], [1])
    with pytest.raises(ValueError, match="positive"):
        paired_ratio([1, 0], [1, 1])


def test_an_interval_around_zero_shows_nothing():
    assert not Interval(0.1, -0.1, 0.3).excludes_zero
    assert Interval(-0.2, -0.3, -0.1).excludes_zero


def test_few_values_are_not_called_steady():
    found = steady_state([1.0] * 9)
    assert not found.steady
    assert "too few" in found.reason


def test_the_warm_up_is_cut_off():
    random = np.random.default_rng(3)
    values = 1 + 0.05 * random.standard_normal(100)
    values[:7] += 4
    assert 7 <= warmup_end(values) <= 15
    found = steady_state(values)
    assert found.steady
    assert 7 <= found.start <= 15


def test_one_late_outlier_does_not_move_the_cut():
    values = np.ones(100) + 0.01 * np.random.default_rng(3).standard_normal(100)
    values[60] = 50
    assert warmup_end(values) < 10


def test_a_drift_is_not_steady():
    random = np.random.default_rng(4)
    values = 1 + np.arange(200) / 200 + 0.05 * random.standard_normal(200)
    found = steady_state(values)
    assert not found.steady
    assert found.drift > 0.2
    assert "slower" in found.reason
    assert not steady_state(values[::-1]).steady
    assert slope(values) > 0 > slope(values[::-1])


def test_noise_has_no_trend():
    random = np.random.default_rng(6)
    found = [trend_p_value(random.standard_normal(60)) for _ in range(100)]
    assert sum(value < 0.05 for value in found) <= 12
    assert trend_p_value(np.ones(20)) == 1


@given(numbers)
@settings(max_examples=50, deadline=None)
def test_winsorising_keeps_the_order_and_the_middle(values):
    found = winsorised(values)
    order = np.argsort(values, kind="stable")
    assert np.all(np.diff(found[order]) >= 0)
    assert np.median(found) == pytest.approx(np.median(values))
    assert robust_deviation(values) >= 0
