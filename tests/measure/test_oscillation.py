from __future__ import annotations

import json
import math

import numpy as np
import pytest

from cfgfix.measure.oscillation import (
    MIN_SAMPLES,
    Outcome,
    find_causes,
    find_oscillation,
)

SERIES = 25


def made(kind, count, random):
    index = np.arange(count)
    noise = 1 + 0.1 * random.standard_normal(count)
    if kind == "white":
        return noise
    if kind == "drift":
        return noise + 2 * index / count
    if kind == "bimodal":
        return np.where(random.random(count) < 0.3, 2.0, 1.0) + 0.05 * random.standard_normal(count)
    noise[random.integers(count)] += 13
    return noise


@pytest.mark.parametrize("kind", ["white", "drift", "bimodal", "outlier"])
@pytest.mark.parametrize("count", [50, 100])
def test_what_has_no_period_is_not_called_oscillating(kind, count):
    """The rate itself is measured in benchmarks/instruments.py; here at most 3 of 25 fixed series."""
    random = np.random.default_rng(count)
    found = [find_oscillation(made(kind, count, random), seed=turn) for turn in range(SERIES)]
    assert sum(entry.outcome is Outcome.OSCILLATING for entry in found) <= 3


@pytest.mark.parametrize("period", [2.0, 3.3, 7.7, 12.5, 25.0])
def test_a_period_is_found_within_five_percent(period):
    random = np.random.default_rng(7)
    index = np.arange(200)
    series = 1 + 0.1 * random.standard_normal(200) + 0.3 * np.cos(2 * math.pi * index / period)
    found = find_oscillation(series)
    assert found.outcome is Outcome.OSCILLATING
    assert found.period == pytest.approx(period, rel=0.05)
    low, high = found.period_interval
    assert low <= found.period <= high
    assert found.p_value <= 0.01
    json.dumps(found.as_dict())


@pytest.mark.parametrize("every", [5, 10, 20])
def test_a_stall_every_so_many_batches_is_found_with_its_height(every):
    random = np.random.default_rng(8)
    series = 0.01 + 0.0005 * random.standard_normal(200)
    series[::every] += 0.1
    found = find_oscillation(series)
    assert found.outcome is Outcome.OSCILLATING
    assert found.period == pytest.approx(every, rel=0.05)
    assert found.amplitude == pytest.approx(0.1, rel=0.1)
    truth = 0.1 / every / (0.01 + 0.1 / every)
    assert found.excess_share == pytest.approx(truth, abs=0.05)


def test_an_oscillation_on_a_drift_is_found():
    random = np.random.default_rng(9)
    index = np.arange(150)
    series = 1 + 0.05 * random.standard_normal(150) + 2 * index / 150 + 0.2 * np.sin(2 * math.pi * index / 9)
    found = find_oscillation(series)
    assert found.outcome is Outcome.OSCILLATING
    assert found.period == pytest.approx(9, rel=0.05)


def test_three_cycles_of_a_real_card_are_found_by_their_whole_length():
    """What NVML said of an H100 (driver 580.159.04, a reading each 200 ms) that worked two seconds and rested two, three times."""
    cycle = (31, 97, 97, 93, 97, 97, 97, 97, 97, 97, 67, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    second = (30, 94, 94, 94, 94, 95, 95, 97, 98, 98, 68, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    third = (28, 97, 98, 97, 98, 97, 98, 98, 97, 96, 68, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    found = find_oscillation(cycle + second + third)
    assert found.outcome is Outcome.OSCILLATING
    assert found.period == pytest.approx(20, rel=0.02)


def test_few_values_are_inconclusive():
    found = find_oscillation([1.0, 2.0] * (MIN_SAMPLES // 2 - 1))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert str(MIN_SAMPLES) in found.reason


def test_flat_and_straight_series_do_not_oscillate():
    assert find_oscillation(np.ones(50)).outcome is Outcome.NONE
    assert find_oscillation(1 + np.arange(50) / 50).outcome is Outcome.NONE


def test_what_would_have_been_seen_is_told():
    random = np.random.default_rng(10)
    noise = 1 + 0.1 * random.standard_normal(200)
    quiet = find_oscillation(noise)
    assert quiet.outcome is Outcome.NONE
    wave = quiet.detectable * np.sin(2 * math.pi * np.arange(200) / 11)
    assert find_oscillation(noise + wave).outcome is Outcome.OSCILLATING


def test_the_same_series_gives_the_same_answer():
    series = np.random.default_rng(11).random(60)
    assert find_oscillation(series) == find_oscillation(series)


def test_the_cause_with_the_period_comes_first():
    random = np.random.default_rng(12)
    series = 1 + 0.05 * random.standard_normal(200)
    series[3::10] += 1
    found = find_oscillation(series)
    causes = find_causes(found, {"checkpoint": 25, "log": 10, "evaluation": 20, "epoch": 500}, series)
    named = {cause.name: cause for cause in causes}
    assert named["log"].matches
    assert "values 3 (mod 10)" in named["log"].note
    assert named["evaluation"].matches
    assert "2 peaks per interval" in named["evaluation"].note
    assert not named["checkpoint"].matches
    assert not named["epoch"].matches
    assert "not judged" in named["epoch"].note
    assert causes[0].matches


def test_without_an_oscillation_nothing_causes_it():
    found = find_oscillation(np.random.default_rng(13).random(60))
    causes = find_causes(found, {"log": 10, "nothing": math.inf})
    assert [(cause.name, cause.matches) for cause in causes] == [("log", False)]
