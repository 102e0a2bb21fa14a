from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cfgfix.core.errors import CfgfixError
from cfgfix.tf import parallel
from cfgfix.tf.parallel import map_parallel, measure_gil_share

sys.path.insert(0, str(Path(__file__).parent))
import sample_functions

TEXTS = [f"text {index}" for index in range(400)]


@pytest.mark.measured
def test_the_share_is_high_for_python_and_low_for_waiting() -> None:
    held = measure_gil_share(sample_functions.letters, TEXTS[:40])
    free = measure_gil_share(sample_functions.wait, TEXTS[:40])
    assert 0 <= free < held <= 1


@pytest.mark.parametrize("mode", ["serial", "threads", "processes"])
def test_results_come_in_order(mode: str) -> None:
    made, way = map_parallel(sample_functions.letters, TEXTS, workers=2, mode=mode)
    assert made == [sample_functions.letters(text) for text in TEXTS]
    assert way.mode == mode


@pytest.mark.measured
def test_processes_take_part() -> None:
    made, _ = map_parallel(sample_functions.who, TEXTS * 15, workers=2, mode="processes")
    assert len(set(made)) == 2
    assert os.getpid() in made


def test_waiting_work_goes_to_threads_and_little_work_nowhere(monkeypatch) -> None:
    monkeypatch.setattr(parallel, "measure_gil_share", lambda *_: 0.1)
    _, way = map_parallel(sample_functions.wait, TEXTS, workers=2)
    assert way.mode == "threads"
    assert way.gil_share == 0.1
    _, way = map_parallel(len, TEXTS, workers=2)
    assert way.mode == "serial"
    _, way = map_parallel(sample_functions.wait, TEXTS, workers=1)
    assert (way.mode, way.reason) == ("serial", "one usable CPU")


def test_what_holds_the_gil_goes_to_processes(monkeypatch) -> None:
    # On a fast machine the work would be over before workers are there.
    monkeypatch.setattr(parallel, "START_SECONDS", 0.001)
    monkeypatch.setattr(parallel, "measure_gil_share", lambda *_: 1.0)
    made, way = map_parallel(sample_functions.letters, TEXTS * 4, workers=2)
    assert way.mode == "processes"
    assert made == [sample_functions.letters(text) for text in TEXTS * 4]


def test_what_cannot_travel_stays_here(monkeypatch) -> None:
    # On a fast machine the work would be over before workers are there.
    monkeypatch.setattr(parallel, "START_SECONDS", 0.001)
    monkeypatch.setattr(parallel, "measure_gil_share", lambda *_: 1.0)
    made, way = map_parallel(lambda text: sample_functions.letters(text), TEXTS * 4, workers=2)  # noqa: PLW0108 - a lambda is the point
    assert way.mode == "serial"
    assert "cannot be sent" in way.reason
    assert len(made) == 1600
    with pytest.raises(CfgfixError, match="use threads"):
        map_parallel(lambda text: text, TEXTS, workers=2, mode="processes")


@pytest.mark.parametrize("mode", ["serial", "threads", "processes"])
def test_an_exception_arrives_as_it_was(mode: str) -> None:
    with pytest.raises(KeyError, match="this one is bad"):
        map_parallel(sample_functions.fail, [*TEXTS, "bad"], workers=2, mode=mode)


def test_printing_workers_do_no_harm() -> None:
    made, _ = map_parallel(sample_functions.chatter, TEXTS * 4, workers=2, mode="processes")
    assert set(made) == {len(text) + 1 for text in TEXTS}


def test_workers_that_die_cost_nothing_but_time(monkeypatch) -> None:
    monkeypatch.setenv("CFGFIX_TEST_MAIN", str(os.getpid()))
    made, _ = map_parallel(sample_functions.die_in_workers, TEXTS * 4, workers=3, mode="processes")
    assert made == [len(text) for text in TEXTS * 4]


def test_wrong_use() -> None:
    with pytest.raises(CfgfixError, match="no mode"):
        map_parallel(len, TEXTS, mode="fibers")
    with pytest.raises(CfgfixError, match="at least 1"):
        map_parallel(len, TEXTS, workers=0)
