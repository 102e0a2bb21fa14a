"""A best setting at the edge of what was tried: where the search goes on, and where it says so."""

from __future__ import annotations

import pytest

from cfgfix.diagnose.search import _search_beyond_edge, at_edge, at_lower_edge
from cfgfix.diagnose.search_result import Try
from cfgfix.diagnose.search_space import Plan, settings_key


class Machine:
    """Runs trials whose rate is known."""

    def __init__(self, rate):
        self.rate, self.seen = rate, []

    def run(self, trials, seconds, what):
        self.seen += [dict(values) for _, values in trials]
        return [
            {"event": "result", "samples_per_second": self.rate(values), "batches": 10}
            for _, values in trials
        ]


def gone_on(rate, values, space, *, wanted=(), refused=lambda _: None):
    plan = Plan(None, {}, space, wanted=frozenset(wanted))
    best, notes = Try(values, rate(values), None, 2.0), []
    machine = Machine(rate)
    found = _search_beyond_edge(plan, best, {settings_key(values): best}, machine, notes, refused)
    return found.values, notes, machine.seen


@pytest.mark.parametrize(
    ("values", "space", "edge"),
    [
        ({"workers": 8}, {"workers": (2, 4, 8, -1)}, ["workers"]),
        ({"workers": 4}, {"workers": (2, 4, 8)}, []),
        ({"workers": -1}, {"workers": (2, 4, -1)}, []),
        ({"workers": 8, "xla": True}, {"workers": (8,), "xla": (False, True)}, []),
    ],
)
def test_the_edge_is_the_largest_of_several(values, space, edge):
    assert at_edge(values, space) == edge


def test_the_search_goes_on_for_as_long_as_it_gains():
    found, notes, seen = gone_on(lambda v: min(v["workers"], 30), {"workers": 8}, {"workers": (2, 4, 8)})
    assert found == {"workers": 32}
    assert len(notes) == 2
    assert {one["workers"] for one in seen} == {8, 16, 32, 64}


def test_it_ends_at_once_where_more_gains_nothing():
    found, notes, _ = gone_on(lambda _: 100, {"workers": 8}, {"workers": (2, 4, 8)})
    assert found == {"workers": 8}
    assert notes == []


@pytest.mark.parametrize(
    ("values", "space", "edge"),
    [
        ({"workers": 8}, {"workers": (8, 16, -1)}, ["workers"]),
        ({"workers": 1}, {"workers": (1, 2, 4)}, []),
        ({"workers": 4}, {"workers": (2, 4, 8)}, []),
        ({"prefetch": -1, "workers": 8}, {"prefetch": (-1, 2), "workers": (8,)}, []),
    ],
)
def test_the_lower_edge_is_the_smallest_of_several(values, space, edge):
    assert at_lower_edge(values, space) == edge


def test_it_goes_down_where_less_is_better():
    found, notes, seen = gone_on(
        lambda v: 100 / max(v["workers"], 3), {"workers": 16}, {"workers": (16, 32, -1)}
    )
    assert found == {"workers": 2}
    assert len(notes) == 3
    assert {one["workers"] for one in seen} == {16, 8, 4, 2, 1}


def test_the_smallest_of_the_named_values_is_told():
    found, notes, seen = gone_on(
        lambda v: 1 / v["workers"], {"workers": 8}, {"workers": (8, 16)}, wanted=["workers"]
    )
    assert (found, seen) == ({"workers": 8}, [])
    assert "workers: the best value, 8, is the smallest that was tried" in notes[0]


def test_it_ends_after_some_doublings():
    found, _, _ = gone_on(lambda v: v["workers"], {"workers": 8}, {"workers": (2, 4, 8)})
    assert found == {"workers": 128}


def test_bounds_that_were_named_are_kept_and_told():
    found, notes, seen = gone_on(
        lambda v: v["workers"], {"workers": 8}, {"workers": (2, 4, 8)}, wanted=["workers"]
    )
    assert found == {"workers": 8}
    assert seen == []
    assert "workers: the best value, 8, is the largest that was tried" in notes[0]


def test_what_changes_the_learning_or_fits_no_memory_is_not_tried():
    space = {"batch_size": (8, 16)}
    assert gone_on(lambda v: v["batch_size"], {"batch_size": 16}, space)[2] == []
    space = {"prefetch": (2, 4)}
    refused = gone_on(lambda v: v["prefetch"], {"prefetch": 4}, space, refused=lambda _: "too large")
    assert refused[2] == []
