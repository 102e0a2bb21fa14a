from __future__ import annotations

import json
import textwrap

import pytest

pytest.importorskip("tensorflow")

MODULE = """
import time
import tensorflow as tf

def slow(value):
    time.sleep(0.01)
    return value

def pipeline(config):
    def load(value):
        made = tf.numpy_function(slow, [value], tf.int64)
        made.set_shape([])
        return tf.one_hot(made % 4, 4), tf.one_hot(made % 2, 2)

    return tf.data.Dataset.range(10**6).map(load).batch(config["data"]["batch_size"], drop_remainder=True)

def plain():
    return tf.data.Dataset.range(10**6).batch(4)

def fails():
    raise KeyError("no such speaker")

def hangs():
    time.sleep(60)

def step():
    keras = tf.keras
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)]), "mse", "sgd"

def two():
    first, second = tf.config.list_logical_devices("CPU")
    def read(value):
        time.sleep(0.005)
        with tf.device(first.name):
            return tf.constant(float(value))
    def train(value):
        time.sleep(0.005)
        with tf.device(second.name):
            return value * 2
    return range(100), [("read", read), ("train", train)]
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "speech_project.py").write_text(textwrap.dedent(MODULE), encoding="utf-8")
    (tmp_path / "config.yaml").write_text("data:\n  batch_size: 2\n  num_workers: 1\n", encoding="utf-8")
    return tmp_path


@pytest.mark.measured
def test_the_users_pipeline_is_measured(cfgfix, project):
    done = cfgfix(
        "profile", "data", "--dataset", "speech_project:pipeline", "--config", "config.yaml", "--step-ms", "5",
        "--batches", "30", "--seconds", "5", "--json", "--tensorboard", "logs", "--every", "log=10",
    )  # fmt: skip
    assert done.code == 1, done.err
    found = json.loads(done.out)
    assert found["version"] == 1
    assert found["kind"] == "data"
    assert found["source"] == "speech_project:pipeline"
    assert found["rates"]["samples_per_batch"] == 2
    verdicts = {verdict["name"]: verdict for verdict in found["verdicts"]}
    assert verdicts["input"]["outcome"] == "problem"
    assert "TFD001" in [rule["id"] for rule in verdicts["stage"]["rules"]]
    assert verdicts["stage"]["evidence"]
    assert verdicts["stage"]["change"]
    assert verdicts["stage"]["fixes"]
    assert list((project / "logs").rglob("events.out.tfevents.*"))
    assert list((project / "logs").rglob("*.xplane.pb"))
    assert "measuring the cost of each stage" in done.err


def test_text_shows_figures_verdicts_and_the_older_limits(cfgfix, project):
    done = cfgfix(
        "profile", "data", "--dataset", "speech_project:plain", "--batches", "30", "--seconds", "3", "--quiet"
    )
    assert done.code == 0, done.err
    assert done.err == ""
    for words in ("samples/s", "time inside each stage", "delivery", "older tools", "verdicts"):
        assert words in done.out


def test_the_users_step_is_measured(cfgfix, project):
    done = cfgfix(
        "profile", "step", "--step", "speech_project:step", "--dataset", "speech_project:pipeline", "--config",
        "config.yaml", "--rounds", "3", "--steps", "10", "--seconds", "5", "--no-compare", "--json",
        "--exit-zero",
    )  # fmt: skip
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert list(found["parts"]) == ["forward", "loss", "backward", "optimizer"]
    assert found["retraces"] == []
    assert found["verdicts"][0]["name"] == "data"


def test_a_two_device_pipeline_is_measured(cfgfix, project):
    done = cfgfix(
        "profile",
        "devices",
        "--pipeline",
        "speech_project:two",
        "--logical-cpus",
        "2",
        "--items",
        "20",
        "--json",
    )
    assert done.code in (0, 1), done.err
    found = json.loads(done.out)
    assert found["pipeline"]["stages"] == ["read", "train"]
    assert found["pipeline"]["items"] == 20
    assert any(device["kind"] == "CPU" for device in found["devices"])


def test_a_running_job_is_watched(cfgfix, project):
    import os

    done = cfgfix("profile", "devices", "--pid", os.getpid(), "--seconds", "1")
    assert done.code in (0, 1), done.err
    assert f"process {os.getpid()}" in done.out
    gone = cfgfix("profile", "devices", "--pid", 2**22 + 1, "--seconds", "1")
    assert gone.code == 2
    assert "no process" in gone.err


def test_the_users_failure_is_a_failure_of_the_command(cfgfix, project):
    done = cfgfix("profile", "data", "--dataset", "speech_project:fails", "--quiet")
    assert done.code == 3
    assert done.out == ""
    assert "KeyError: 'no such speaker'" in done.err
    assert "speech_project.py" in done.err
    assert "internal error" not in done.err


def test_what_does_not_end_is_stopped(cfgfix, project):
    done = cfgfix("profile", "data", "--dataset", "speech_project:hangs", "--quiet", "--time-limit", "1")
    assert done.code == 3
    assert "--time-limit" in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["data"], "nothing to measure"),
        (["step", "--dataset", "a:b"], "no step to measure"),
        (["data", "--dataset", "speech_project:pipeline"], "needs the config"),
        (["data", "--dataset", "nowhere:f"], "no module"),
        (["data", "--dataset", "speech_project:plain", "--every", "log"], "NAME=BATCHES"),
        (["devices", "--pid", "1", "--pipeline", "a:b"], "exclude each other"),
    ],
)
def test_wrong_use_is_told(cfgfix, project, arguments, words):
    done = cfgfix("profile", *arguments, "--quiet")
    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err
