from __future__ import annotations

import json
import textwrap
import time

import pytest

from cfgfix.core.errors import CfgfixError
from cfgfix.measure import search

MODULE = """
import time
import tensorflow as tf

CALLS = []

def make(config):
    CALLS.append(config)
    if config["fail"] == "memory":
        raise tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor")
    if config["fail"] == "key":
        raise KeyError("speaker")
    return tf.data.Dataset.range(config["size"]).batch(config["batch_size"])

def bare():
    return tf.data.Dataset.range(4).batch(2)

def parts(config):
    keras = tf.keras
    if keras.mixed_precision.global_policy().name != config["policy"]:
        raise ValueError("the policy is " + keras.mixed_precision.global_policy().name)
    return keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)]), lambda batch, output: tf.reduce_mean(output), "sgd"

def pictures(config):
    return tf.data.Dataset.from_tensors(tf.ones((4, 1))).repeat(config["size"])

def step(config):
    def run(batch):
        return tf.reduce_sum(batch)
    return run
"""


@pytest.fixture
def trial(tf, tmp_path, monkeypatch):
    name = f"searched_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(MODULE))
    monkeypatch.syspath_prepend(str(tmp_path))

    def run(*settings, **more):
        trials = []
        for number, values in enumerate(settings):
            path = tmp_path / f"{number}.yaml"
            path.write_text(json.dumps({"fail": "", "batch_size": 4, "size": 64, **values}))
            trials.append({"id": str(number), "values": {}, "config": str(path), "seconds": 0.05})
        for entry, values in zip(trials, more.pop("values", []), strict=False):
            entry["values"] = values
        trials += more.pop("then", [])
        options = {
            "dataset": f"{name}:{more.pop('dataset', 'make')}",
            "config": str(tmp_path / "0.yaml"),
            "journal": str(tmp_path / "journal"),
            "trial_limit": 60,
            "trials": trials,
            **more,
        }
        if options.get("step"):
            options["step"] = f"{name}:{options['step']}"
        found = search.job(options, lambda _what, _share: None)
        return found, search.read(options["journal"])

    return run


def test_each_setting_is_measured_with_its_own_config(trial):
    found, journal = trial({"batch_size": 2}, {"batch_size": 8})
    assert found == {"fresh": False}
    assert [entry["event"] for entry in journal] == ["start", "result", "start", "result"]
    assert [entry["batch_samples"] for entry in journal if "batch_samples" in entry] == [2, 8]
    assert all(entry["samples_per_second"] > 0 for entry in journal if entry["event"] == "result")
    assert journal[1]["batch_bytes"] == 2 * 8


def test_a_failure_is_a_result_and_the_rest_goes_on(trial):
    found, journal = trial({"fail": "key"}, {})
    assert found == {"fresh": False}
    assert [entry["event"] for entry in journal] == ["start", "failed", "start", "result"]
    assert "speaker" in journal[1]["error"]
    assert "KeyError" in journal[1]["trace"]


def test_what_failed_once_is_not_tried_again(trial, tmp_path):
    again = {"id": "again", "values": {}, "config": str(tmp_path / "0.yaml"), "seconds": 0.05}
    _, journal = trial({"fail": "key"}, {}, then=[again])
    assert [entry["event"] for entry in journal] == ["start", "failed", "start", "result", "failed"]
    assert journal[-1]["error"] == journal[1]["error"]


def test_after_running_out_of_memory_a_new_process_is_asked_for(trial):
    found, journal = trial({}, {"fail": "memory"}, {})
    assert found == {"fresh": True}
    assert [entry["event"] for entry in journal] == ["start", "result", "start", "failed"]
    assert journal[-1]["error"].startswith("out of memory")


def test_a_function_that_takes_no_config_cannot_be_searched(trial):
    with pytest.raises(CfgfixError, match="takes no config"):
        trial({}, dataset="bare")


def test_the_step_is_measured_with_the_pipeline(trial):
    _, journal = trial({}, step="step")
    assert journal[-1]["event"] == "result"
    assert journal[-1]["batches"] >= search.LEAST_BATCHES


def test_xla_and_precision_reach_a_step_in_parts(trial, tf):
    try:
        _, journal = trial(
            {"policy": "mixed_bfloat16"}, {"policy": "float32"}, dataset="pictures", step="parts",
            values=[{"mixed_precision": "mixed_bfloat16"}, {"xla": True}],
        )  # fmt: skip
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")
    assert [entry["event"] for entry in journal] == ["start", "result", "start", "result"], journal


def test_a_journal_that_was_cut_off_in_a_line(tmp_path):
    path = tmp_path / "journal"
    assert search.read(str(path)) == []
    search.append(str(path), {"event": "start", "id": "a"})
    with open(path, "a") as stream:
        stream.write('{"event": "resu')
    assert search.read(str(path)) == [{"event": "start", "id": "a"}]


def test_what_is_added_after_a_line_that_was_cut_off_is_read(tmp_path):
    path = tmp_path / "journal"
    path.write_text('{"event": "resu')
    search.append(str(path), {"event": "start", "id": "b"})
    assert search.read(str(path)) == [{"event": "start", "id": "b"}]


def test_a_trial_in_time_is_not_stopped():
    with search._limit_time(60, "unused", "a"):
        begin = time.monotonic()
    assert time.monotonic() - begin < 30
