from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest
from cache_folders import after_a_first_run

pytest.importorskip("numpy")
pytest.importorskip("tensorflow")

from cfgfix.core.errors import CfgfixError, UnreadableError
from cfgfix.diagnose import search as searching
from cfgfix.diagnose.search_result import Found, Try
from cfgfix.diagnose.search_space import Plan, bind, candidates, too_large
from cfgfix.diagnose.winner import write_winner
from cfgfix.measure.statistics import Interval

ROOT = Path(__file__).resolve().parent.parent.parent
MODULE = """
import os, signal, time
import tensorflow as tf

def wait(value):
    time.sleep(0.005)
    return value

def sleepy(config):
    data = config["data"]
    dataset = tf.data.Dataset.range(100000).map(
        lambda value: tf.numpy_function(wait, [value], tf.int64), num_parallel_calls=data["num_workers"]
    )
    return dataset.batch(data["batch_size"])

def unread(config):
    return tf.data.Dataset.range(100000).map(lambda value: value * 2).batch(config["data"]["batch_size"])

def deadly(config):
    workers = config["data"]["num_workers"]
    if workers == 2:
        os._exit(3)
    if workers == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    if workers == 4:
        raise RuntimeError("four is too many")
    if workers == 5:
        time.sleep(1000)
    delay = 0.002 * workers
    def items():
        for number in range(1000000):
            time.sleep(delay)
            yield number
    return tf.data.Dataset.from_generator(items, output_signature=tf.TensorSpec((), tf.int64)).batch(2)

def broken(config):
    raise KeyError("no such speaker")
"""
CONFIG = """# the run of May
model: {n_mels: 80}
data:
  dataset_path: "d"   # where it lies
  num_workers:   1 # one
  batch_size: 4
  prefetch_buffer_size: 2
training:
  learning_rate: 1.0e-4
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "mine.py").write_text(textwrap.dedent(MODULE))
    # Line ends of another system: all that is not concerned stays.
    (tmp_path / "train.yaml").write_bytes(CONFIG.replace("\n", "\r\n").encode())
    return tmp_path


@pytest.mark.acceptance
def test_more_workers_win_and_just_their_bytes_change(cfgfix, project):
    before = (project / "train.yaml").read_bytes()
    done = cfgfix(
        "tune", "train.yaml", "--dataset", "mine:sleepy", "--workers", "1,2", "--prefetch", "2", "--seconds", "0.5",
        "--json", "--quiet", "--html", "page.html", "--apply",
    )  # fmt: skip
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["space"] == {"workers": [1, 2], "prefetch": [2]}
    assert found["present"]["values"] == {"workers": 1, "prefetch": 2}
    assert found["winner"]["values"] == {"workers": 2, "prefetch": 2}
    assert [change["key"] for change in found["changes"]] == ["data.num_workers"]
    assert found["winner"]["values"] in [entry["values"] for entry in found["tried"]]
    assert found["ratio"]["low"] > 1
    assert len(found["pairs"]) == 5
    assert found["gain"]
    assert found["applied"]
    assert (project / "train.yaml").read_bytes() == before.replace(
        b"num_workers:   1 #", b"num_workers:   2 #"
    )
    page = (project / "page.html").read_text()
    assert "workers down, prefetch across" in page
    assert "<script" not in page


@pytest.mark.acceptance
def test_settings_that_end_the_process_are_survived_and_nothing_is_written_without_gain(cfgfix, project):
    before = (project / "train.yaml").read_bytes()
    done = cfgfix(
        "tune", "train.yaml", "--dataset", "mine:deadly", "--workers", "1,2,3,4,5,9", "--seconds", "0.2", "--apply",
        "--time-limit", "5", "--quiet", "--json", "--state", "state.jsonl",
    )  # fmt: skip
    assert done.code == 0, done.err
    found = json.loads(done.out)
    by_workers = {entry["values"]["workers"]: entry for entry in found["tried"]}
    assert "code 3" in by_workers[2]["error"]
    assert "SIGKILL" in by_workers[3]["error"]
    assert "four is too many" in by_workers[4]["error"]
    assert "did not end within" in by_workers[5]["error"]
    assert by_workers[1]["samples_per_second"] > by_workers[9]["samples_per_second"]
    started = [line for line in (project / "state.jsonl").read_text().splitlines() if '"start"' in line]
    assert sum(r"\"workers\": 2}" in line for line in started) == 1
    assert found["winner"] is None
    assert not found["applied"]
    assert (project / "train.yaml").read_bytes() == before


@pytest.mark.acceptance
def test_a_search_that_was_killed_goes_on(cfgfix, project):
    arguments = [
        "tune", "train.yaml", "--dataset", "mine:deadly", "--workers", "1,9", "--seconds", "0.5", "--state", "state.jsonl",
        "--quiet",
    ]  # fmt: skip
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "CFGFIX_CACHE_DIR": after_a_first_run(project / "cache"),
    }
    running = subprocess.Popen([sys.executable, "-m", "cfgfix", *arguments], cwd=project, env=environment)
    state = project / "state.jsonl"
    limit = time.monotonic() + 90
    while time.monotonic() < limit and running.poll() is None:
        if state.is_file() and state.read_text().count('"result"') >= 1:
            break
        time.sleep(0.05)
    running.kill()
    running.wait()
    kept = state.read_text()
    assert kept.count('"result"') >= 1
    done = cfgfix(*arguments, "--resume", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert len(found["tried"]) == 2
    assert any("taken over" in note for note in found["notes"])
    assert state.read_text().startswith(kept.rpartition("\n")[0])
    other = cfgfix(*arguments[:4], "--workers", "1,2", "--state", "state.jsonl", "--resume")
    assert other.code == 2
    assert "another search" in other.err


def test_a_present_setting_that_fails_ends_the_search(cfgfix, project):
    done = cfgfix("tune", "train.yaml", "--dataset", "mine:broken", "--workers", "1,2", "--quiet")
    assert done.code == 3
    assert "no such speaker" in done.err
    assert 'Traceback (most recent call last):\n  File "/' not in done.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "nothing to measure"),
        (["--dataset", "mine:sleepy"], "without a config"),
        (["train.yaml", "--data-path", "."], "reach only your own"),
        (["train.yaml", "--dataset", "mine:sleepy", "--workers", "a"], "whole numbers"),
        (["train.yaml", "--dataset", "mine:sleepy", "--workers", "-2"], "must be from -1"),
        (["train.yaml", "--dataset", "mine:sleepy", "--xla"], "change the step"),
        (["train.yaml", "--dataset", "mine:sleepy", "--workers", "1,2", "--cold"], "--data-path"),
        (["train.yaml", "--dataset", "mine:sleepy", "--workers", "1"], "nothing to search"),
        (["--data-path", ".", "--apply"], "needs a config"),
        (["train.yaml", "--dataset", "mine:sleepy", "--workers", "1,2", "--state", "mine.py"], "no state of a search"),
    ],
)  # fmt: skip
def test_wrong_use(project, monkeypatch, capsys, arguments, told):
    from cfgfix.cli.start import run

    monkeypatch.chdir(project)
    monkeypatch.setenv("CFGFIX_CACHE_DIR", str(project / "cache"))
    before = (project / "mine.py").read_bytes()
    assert run(["tune", *arguments, "--quiet"]) == 2
    assert told in capsys.readouterr().err
    assert (project / "mine.py").read_bytes() == before


# Without a process


def fake(rates, pair_noise=0.0, slowing=0.0):
    """Stand for the measuring process: a rate for each number of workers, None for a failure."""
    from cfgfix.measure.search import append

    trials = iter(range(10**6))

    def run_child(_entry, options, **_more):
        for trial in options["trials"]:
            append(options["journal"], {"event": "start", "id": trial["id"]})
            workers = trial["values"]["workers"]
            rate = rates[workers]
            if rate is None:
                append(
                    options["journal"], {"event": "failed", "id": trial["id"], "error": "bad", "trace": ""}
                )
                continue
            rate *= 1 - slowing * next(trials)
            if trial["id"].startswith("pair"):
                rate *= 1 + pair_noise * (-1) ** int(trial["id"].split()[1]) * (-1) ** workers
            entry = {"samples_per_second": rate, "batches": 9, "batch_bytes": 4096.0, "batch_samples": 4.0}
            append(options["journal"], {"event": "result", "id": trial["id"], **entry})
        return {}

    return run_child


@pytest.fixture
def run(project, monkeypatch):
    monkeypatch.chdir(project)

    def search(rates, values=(1, 2, 4), pair_noise=0.0, slowing=0.0, **more):
        monkeypatch.setattr("cfgfix.measure.sampling.run_child", fake(rates, pair_noise, slowing))
        plan = Plan(
            "train.yaml",
            {"dataset": "mine:sleepy"},
            {"workers": tuple(values)},
            state=str(project / "state"),
            # Named values are bounds: nothing is tried beyond them.
            wanted=frozenset({"workers"}),
            **more,
        )
        return searching.search(plan, lambda _what, _share: None)

    return search


def test_the_best_third_goes_on_with_more_time(run):
    rates = {number: 100.0 + number for number in range(1, 10)}
    found = run(rates, range(1, 10))
    assert found.winner is not None
    assert found.winner.values == {"workers": 9}
    assert sorted(entry.seconds for entry in found.tried) == [2.0] * 6 + [6.0] * 3
    assert found.gain


def test_a_batch_size_comes_with_what_it_changes(project, monkeypatch):
    monkeypatch.chdir(project)
    plan = Plan("train.yaml", {"dataset": "mine:sleepy"}, {"batch_size": (8, 16), "xla": (True, False)})
    _, prepared, present, notes = searching._prepared_search(plan)
    assert present == {"batch_size": 4}
    assert prepared.space == {"batch_size": (4, 8, 16)}
    assert any("what the model learns" in note for note in notes)
    assert any(note.startswith("xla is not searched") for note in notes)


def test_a_gain_that_noise_could_have_made_is_none(run, project):
    before = (project / "train.yaml").read_bytes()
    found = run({1: 100.0, 2: 101.0, 4: 90.0}, pair_noise=0.1)
    assert found.winner is not None
    assert not found.gain
    assert "no gain is proven" in found.summary()
    with pytest.raises(ValueError, match="proven"):
        write_winner("train.yaml", found)
    assert (project / "train.yaml").read_bytes() == before


def test_a_machine_that_gets_slower_is_so_for_all_alike(run):
    found = run({1: 100.0, 2: 103.0, 4: 102.0}, slowing=0.01)
    rates = {entry.values["workers"]: entry.rate for entry in found.tried}
    assert max(rates, key=lambda workers: rates[workers] or 0) == 2


def test_where_every_other_setting_fails_the_present_one_stays(run):
    found = run({1: 100.0, 2: None, 4: None})
    assert found.winner is None
    assert "2 failed" in found.summary()


def test_what_is_too_large_is_never_tried(run, monkeypatch):
    seen = []

    def bounded(values, **_facts):
        seen.append(values)
        return "too large" if values["workers"] == 4 else None

    monkeypatch.setattr(searching, "too_large", bounded)
    found = run({1: 100.0, 2: 120.0, 4: 1e9})
    assert found.winner is not None
    assert found.winner.values == {"workers": 2}
    assert found.excluded == (({"workers": 4}, "too large"),)
    assert len(seen) == 3


@pytest.mark.parametrize(
    ("values", "ram", "fits"),
    [
        ({"batch_size": 8, "prefetch": 2}, 64.0, True),
        ({"batch_size": 8, "prefetch": 2}, 63.0, False),
        ({"batch_size": 8, "prefetch": -1}, 32.0, True),
        ({"prefetch": 2}, 31.0, False),
        ({"batch_size": 10**6}, None, True),
    ],
)
def test_the_memory_bound(values, ram, fits):
    # 1 MiB a sample, 4 samples a batch where the setting names no size: 8 * (2 + 2) MiB is half of 64 MiB.
    told = too_large(values, sample_bytes=2.0**20, batch=4, prefetch=1, ram_mib=ram)
    assert (told is None) == fits


def test_a_file_that_changed_during_the_search_is_left(run, project):
    found = run({1: 100.0, 2: 200.0, 4: 150.0})
    (project / "train.yaml").write_text("data: {num_workers: 1}\n")
    with pytest.raises(UnreadableError, match="changed during the search"):
        write_winner("train.yaml", found)
    assert (project / "train.yaml").read_text() == "data: {num_workers: 1}\n"


def test_a_value_that_would_be_an_error_is_not_written(project, monkeypatch):
    monkeypatch.chdir(project)
    before = (project / "train.yaml").read_bytes()
    bound = bind("train.yaml")
    best = Try({"workers": -5}, 2.0, None, 1.0)
    found = Found(
        "x", {"workers": (1,)}, (best,), Try({"workers": 1}, 1.0, None, 1.0), best, Interval(2, 1.9, 2.1), (), (), "warm", (), bound,
        (("workers", "data.num_workers", 1, -5),),
    )  # fmt: skip
    with pytest.raises(UnreadableError, match="new error"):
        write_winner("train.yaml", found)
    assert (project / "train.yaml").read_bytes() == before


def test_a_value_that_the_rules_call_an_error_is_not_tried(run):
    found = run({1: 100.0, 2: 120.0, -5: 1e9}, (1, 2, -5))
    assert found.winner is not None
    assert found.winner.values == {"workers": 2}
    ((values, reason),) = found.excluded
    assert values == {"workers": -5}
    assert "CFG002" in reason


def test_too_many_combinations():
    with pytest.raises(CfgfixError, match="too many"):
        candidates({"workers": tuple(range(30)), "prefetch": tuple(range(30))})


def test_a_copy_differs_from_the_file_in_its_values_alone(project, monkeypatch):
    monkeypatch.chdir(project)
    bound = bind("train.yaml")
    assert bound.present["workers"] == 1
    assert "private_threads" in bound.notes
    assert bound.text_with({"workers": 3}) == (project / "train.yaml").read_bytes().replace(
        b"  1 #", b"  3 #"
    )


def test_the_state_belongs_to_one_search(project, monkeypatch):
    monkeypatch.chdir(project)
    bound = bind("train.yaml")
    plan = Plan("train.yaml", {"dataset": "mine:sleepy"}, {"workers": (1, 2)})
    mark = searching.fingerprint(plan, bound)
    assert mark == searching.fingerprint(plan, bound)
    (project / "mine.py").write_text(MODULE + "\n# changed\n")
    assert searching.fingerprint(plan, bound) != mark


def test_what_no_key_gives_is_tried_on_the_dataset(project, monkeypatch):
    monkeypatch.chdir(project)
    plan = Plan("train.yaml", {"dataset": "mine:sleepy"}, {"workers": (1, 2), "private_threads": (2, 4)})
    bound, prepared, present, notes = searching._prepared_search(plan)
    assert present == {"workers": 1, "private_threads": 0}
    assert prepared.space["private_threads"] == (0, 2, 4)
    assert any(note.startswith("private_threads: the config has no key for it") for note in notes)
    assert bound is not None
    values = {"workers": 2, "private_threads": 4}
    assert [change[0] for change in searching._changes_of_values(bound, values)] == ["workers"]
    (text,) = searching._code_changes(bound, values)
    assert "private_threadpool_size = 4" in text
    assert searching._code_changes(bound, {"workers": 2, "private_threads": 0}) == ()


def test_a_gain_by_the_code_is_told_and_not_written(run, project):
    before = (project / "train.yaml").read_bytes()
    found = run({1: 100.0, 2: 150.0, 4: 120.0})
    assert found.gain
    found = replace(found, code_changes=("end the dataset with .prefetch(4)",))
    assert found.as_dict()["code_changes"] == ["end the dataset with .prefetch(4)"]
    with pytest.raises(CfgfixError, match="a change to the code"):
        write_winner(str(project / "train.yaml"), found)
    assert (project / "train.yaml").read_bytes() == before


def test_the_dataset_gets_threads_and_prefetch():
    tf = pytest.importorskip("tensorflow", reason="needs the tf extra")
    from cfgfix.measure.search import _with_setting

    plain = tf.data.Dataset.range(10).batch(2)
    assert _with_setting(plain, {"prefetch": 0, "private_threads": 0}) is plain
    changed = _with_setting(plain, {"prefetch": 3, "private_threads": 4})
    assert changed.options().threading.private_threadpool_size == 4
    assert type(changed).__name__ == "_PrefetchDataset"
    assert [batch.tolist() for batch in changed.as_numpy_iterator()] == [
        batch.tolist() for batch in plain.as_numpy_iterator()
    ]


def planned(project, monkeypatch, space, graphs, *, python=False):
    """Return what is left of a search where graphs tell what each setting makes of the dataset."""
    monkeypatch.chdir(project)
    bound, plan, present, notes = searching._prepared_search(Plan("train.yaml", {"dataset": "mine:x"}, space))

    class Runner:
        bound = None

        def run(self, trials, seconds, what):
            return [{"event": "result", "graph": graphs(values)} for _, values in trials]

        def rebind(self, bound):
            self.bound = bound

    probe = {"graph": graphs(present), "python_in_graph": python}
    runner = Runner()
    return *searching._without_idle_keys(plan, bound, present, probe, runner, notes), notes, runner.bound


SPACE = {"workers": (1, 2), "prefetch": (-1, 2)}


def test_a_key_that_changes_nothing_is_left_alone(project, monkeypatch):
    plan, bound, present, notes, told = planned(project, monkeypatch, SPACE, lambda v: str(v["workers"]))
    assert plan.space == {"workers": (1, 2), "prefetch": (-1, 0, 2)}
    assert present == {"workers": 1, "prefetch": 0}
    assert told is bound
    assert set(bound.paths) == {"batch_size", "workers"}
    assert any(note.startswith("data.prefetch_buffer_size changes nothing") for note in notes)
    # Then the code is what is to be changed, and the key stays as it is.
    assert searching._changes_of_values(bound, {"workers": 1, "prefetch": 2}) == ()
    assert searching._code_changes(bound, {"workers": 1, "prefetch": 2})

    plan, bound, present, _, _ = planned(project, monkeypatch, SPACE, lambda v: str(v["prefetch"]))
    assert (list(plan.space), present) == (["prefetch"], {"prefetch": 2})


def test_keys_that_reach_the_dataset_or_python_are_searched(project, monkeypatch):
    everything = planned(project, monkeypatch, SPACE, str)
    assert everything[0].space == SPACE
    # A generator has no graph to tell by, and a function of Python may read the number of workers.
    assert planned(project, monkeypatch, SPACE, lambda _: None)[0].space == SPACE
    reads = planned(project, monkeypatch, SPACE, lambda v: str(v["prefetch"]), python=True)
    assert reads[0].space == SPACE


def test_a_search_of_idle_keys_alone_says_so(project, monkeypatch):
    with pytest.raises(CfgfixError, match=r"nothing to search: data\.num_workers changes nothing"):
        planned(project, monkeypatch, {"workers": (1, 2)}, lambda _: "the same")


def test_the_graph_tells_what_a_setting_reached():
    tf = pytest.importorskip("tensorflow", reason="needs the tf extra")
    from cfgfix.measure.search import _graph_text

    def made(calls=2, waiting=2, threads=0):
        data = tf.data.Dataset.range(10).map(lambda v: v + 1, num_parallel_calls=calls).prefetch(waiting)
        options = tf.data.Options()
        options.threading.private_threadpool_size = threads
        return _graph_text(data.with_options(options))

    assert made() == made()
    assert len({made(), made(calls=4), made(waiting=3), made(threads=3)}) == 4
    generator = tf.data.Dataset.from_generator(
        lambda: iter([1]), output_signature=tf.TensorSpec((), tf.int64)
    )
    assert _graph_text(generator.prefetch(2)) is None


@pytest.mark.acceptance
def test_a_key_that_nothing_reads_is_not_written(cfgfix, project):
    before = (project / "train.yaml").read_bytes()
    done = cfgfix(
        "tune", "train.yaml", "--dataset", "mine:unread", "--prefetch", "2,4", "--seconds", "0.1", "--json", "--quiet", "--apply",
        "--exit-zero",
    )  # fmt: skip
    found = json.loads(done.out)
    assert found["changes"] == []
    assert any("data.prefetch_buffer_size changes nothing in the dataset" in note for note in found["notes"])
    assert (project / "train.yaml").read_bytes() == before
