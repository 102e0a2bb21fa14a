"""A search keeps to its time, whatever its trials take, and tells what it found until then."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("numpy")
pytest.importorskip("tensorflow")

from cfgfix.cli import measuring
from cfgfix.diagnose import search as searching
from cfgfix.diagnose.search_space import Plan
from cfgfix.measure import search as measured
from cfgfix.measure.sampling import UserCodeError

CONFIG = "data:\n  num_workers: 1\n  batch_size: 4\n"


class Machine:
    """Stands for the measuring process and the clock: a trial takes a second."""

    def __init__(self):
        self.now, self.asked, self.seconds = 1000.0, 0, 1.0
        self.at = {}
        """What happens at trials, by their number."""

    def time(self):
        return self.now

    def run_child(self, _entry, options, *, seconds, **_more):
        begin = self.now
        for trial in options["trials"]:
            if options["until"] is not None and self.now >= options["until"]:
                return {}
            self.asked += 1
            measured.append(options["journal"], {"event": "start", "id": trial["id"]})
            if (what := self.at.get(self.asked)) == "hangs":
                self.now = begin + seconds
                raise UserCodeError("did not end")
            if what is not None:
                raise what
            self.now += self.seconds
            entry = {"samples_per_second": 100.0 + trial["values"]["workers"], "batches": 9}
            measured.append(
                options["journal"],
                {"event": "result", "id": trial["id"], **entry, "batch_bytes": 64.0, "batch_samples": 4.0},
            )
        return {}


@pytest.fixture
def machine(tmp_path, monkeypatch):
    (tmp_path / "train.yaml").write_text(CONFIG)
    monkeypatch.chdir(tmp_path)
    made = Machine()
    monkeypatch.setattr("cfgfix.measure.sampling.run_child", made.run_child)
    monkeypatch.setattr(searching.time, "time", made.time)
    return made


def search(values=range(1, 9), **more):
    space = {"workers": tuple(values)}
    plan = Plan("train.yaml", {"dataset": "mine:make"}, space, state="state", wanted=frozenset(space), **more)
    return searching.search(plan, lambda _what, _share: None)


def test_a_search_with_time_enough_holds_its_best_against_the_present(machine):
    found = search()
    assert found.winner is not None
    assert found.winner.values == {"workers": 8}
    assert len(found.pairs) == 5
    assert not any("time" in note for note in found.notes)


def test_the_rounds_leave_time_for_the_pairs(machine):
    begin = machine.now
    found = search(total_seconds=30.0)
    assert len(found.tried) == 8
    assert len(found.pairs) == 5
    assert machine.now - begin <= 1 + 30


def test_what_was_found_until_then_is_told(machine):
    begin = machine.now
    found = search(total_seconds=10.0)
    assert machine.now - begin <= 1 + 10
    assert found.present.rate == 101.0
    assert len(found.tried) == 6
    assert found.winner is not None
    assert found.ratio is None
    assert "it could not be held against the present setting" in found.summary()
    assert any("2 of 8 settings were not tried: the time was up (10 s in all" in note for note in found.notes)
    assert any("2 paired runs instead of 5 are too few" in note for note in found.notes)


def test_a_trial_that_hangs_takes_no_more_than_the_time(machine):
    machine.at[5] = "hangs"
    begin = machine.now
    found = search(total_seconds=100.0)
    assert machine.now - begin <= 1 + 100 + 2 * searching.ENDING_SECONDS
    # Not that trial's fault: the time was up.
    assert all(entry.error is None for entry in found.tried)
    assert len(found.tried) == 3


def test_without_time_for_any_other_the_present_setting_is_told(machine):
    found = search(total_seconds=0.5)
    assert [entry.values for entry in found.tried] == [{"workers": 1}]
    assert found.winner is None
    assert any("7 of 8 settings were not tried" in note for note in found.notes)


def test_what_was_found_is_told_after_ctrl_c(machine):
    machine.at[6] = KeyboardInterrupt()
    found = search()
    assert len(found.tried) == 4
    assert machine.asked == 6
    assert any("4 of 8 settings were not tried: the search was interrupted" in note for note in found.notes)


def test_ctrl_c_before_anything_is_known_ends_it(machine):
    machine.at[1] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        search()


def test_the_end_of_cfgfix_itself_is_no_ctrl_c(machine):
    class Told(KeyboardInterrupt):
        pass

    machine.at[6] = Told()
    with pytest.raises(Told):
        search()


def test_what_lies_beyond_the_edge_is_told_where_there_is_no_time(machine, monkeypatch):
    monkeypatch.setattr(searching, "at_edge", lambda values, _space: ["workers"])
    machine.seconds = 2.0
    space = {"workers": (1, 2)}
    plan = Plan("train.yaml", {"dataset": "mine:make"}, space, state="state", total_seconds=16.0)
    found = searching.search(plan, lambda _what, _share: None)
    assert any("what lies beyond was not: the time was up" in note for note in found.notes)


# --- the measuring process


def test_no_trial_begins_after_the_time(tmp_path, monkeypatch):
    monkeypatch.setattr(measured, "_measure_trial", lambda *_: pytest.fail("it ran"))
    options = {
        "journal": str(tmp_path / "journal"), "trials": [{"id": "a", "values": {}, "config": None}], "trial_limit": 60,
        "until": time.time() - 1,
    }  # fmt: skip
    assert measured.job(options, lambda _what, _share: None) == {"fresh": False}
    assert measured.read(options["journal"]) == []


@pytest.mark.parametrize(("until", "told"), [(0.0, []), (10**10, ["failed"])])
def test_a_trial_that_the_end_of_the_search_stops_has_not_failed(tmp_path, monkeypatch, until, told):
    killed = threading.Event()
    monkeypatch.setattr(measured.os, "kill", lambda *_: killed.set())
    with measured._limit_time(0.001, str(tmp_path / "journal"), "a", until):
        assert killed.wait(60)
    assert [entry["event"] for entry in measured.read(str(tmp_path / "journal"))] == told


def test_a_trial_that_takes_long_is_not_silent(monkeypatch):
    monkeypatch.setattr(measured, "HEARTBEAT_SECONDS", 0.001)
    heard, enough = [], threading.Event()

    def progress(what, share):
        heard.append((what, share))
        if len(heard) >= 3:
            enough.set()

    with measured._report_progress(progress, "round 1", [0, 3], 6):
        assert enough.wait(60)
    assert heard[:3] == [("round 1", 0.5)] * 3


def test_a_long_task_is_told_again_where_lines_are_not_written_over(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(measuring.time, "monotonic", lambda: now[0])
    with measuring.progress_line(quiet=False) as show:
        for second in range(40):
            now[0] = float(second)
            show("round 1", second / 40)
    assert capsys.readouterr().err.splitlines() == ["round 1 ...", "round 1 38% ...", "round 1 75% ..."]


# --- real processes

MODULE = """
import time
import tensorflow as tf

def make(config):
    def items():
        for number in range(10**6):
            time.sleep(0.001 * config["data"]["num_workers"])
            yield number
    return tf.data.Dataset.from_generator(items, output_signature=tf.TensorSpec((), tf.int64)).batch(2)
"""
COMMAND = (
    "tune", "train.yaml", "--dataset", "mine:make", "--workers", "1,2,3,4", "--seconds", "0.2", "--json", "--state", "state"
)  # fmt: skip


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "train.yaml").write_text(CONFIG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.acceptance
def test_the_command_ends_with_its_time(cfgfix, project):
    done = cfgfix(*COMMAND, "--total-seconds", "1")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["present"]["samples_per_second"] > 0
    assert any("the time was up (1 s in all" in note for note in found["notes"])


@pytest.mark.acceptance
def test_the_command_tells_what_it_found_after_ctrl_c(project):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with open("out", "w+b") as out:
        process = subprocess.Popen([sys.executable, "-m", "cfgfix", *COMMAND], stdout=out, env=environment)
        signal.signal(signal.SIGINT, before)
        while sum(entry["event"] == "result" for entry in measured.read("state")) < 3:
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(300) in (0, 1)
        out.seek(0)
        found = json.load(out)
    assert any("interrupted" in note for note in found["notes"])
    assert found["present"]["samples_per_second"] > 0
