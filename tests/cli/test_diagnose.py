from __future__ import annotations

import json
import textwrap
import wave

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("tensorflow")

from cfgfix.core.errors import CfgfixError
from cfgfix.diagnose import checks
from cfgfix.diagnose.checks import State, Subject, diagnose

MODULE = """
import tensorflow as tf

def good():
    return tf.data.Dataset.range(640).map(lambda value: (tf.one_hot(value % 4, 4), tf.one_hot(value % 2, 2))).batch(8, drop_remainder=True).repeat()

def nothing():
    return tf.data.Dataset.range(0).batch(4)

def twice():
    return tf.data.Dataset.range(640).map(lambda value: tf.one_hot(value % 4, 4)).batch(8).batch(8)

def poisoned():
    return tf.data.Dataset.from_tensor_slices([1.0, float("nan")]).batch(1)

def broken():
    raise KeyError("no such speaker")

def step():
    keras = tf.keras
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)]), "mse", "sgd"

def uncompilable():
    def step(batch):
        return tf.strings.length(tf.strings.as_string(batch[0]))
    return step
"""
CONFIG = """
model: {n_mels: 80}
data:
  dataset_path: d
  num_workers: 2
  batch_size: 8
  prefetch_to_gpu: false
training:
  learning_rate: 1e-4
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "mine.py").write_text(textwrap.dedent(MODULE))
    (tmp_path / "train.yaml").write_text(CONFIG.lstrip())
    return tmp_path


def states(out):
    return {check["name"]: check["state"] for check in json.loads(out)["checks"]}


def test_every_check_says_how_it_ended(cfgfix, project):
    done = cfgfix(
        "diagnose", "train.yaml", "--dataset", "mine:good", "--step", "mine:step", "--source-root", ".", "--json", "--quiet",
        "--batches", "40", "--html", "page.html", "--output",
    )  # fmt: skip
    found = states(done.out)
    assert list(found) == list(checks.TITLES)
    assert found["configuration"] == "fail", done.out
    assert found["hardware"] == found["loader"] == found["compilation"] == "pass"
    assert found["storage"] == "skipped"
    assert done.code == 1
    by_name = {check["name"]: check for check in json.loads(done.out)["checks"]}
    assert "YML001" in by_name["configuration"]["rules"]
    assert any("1.0e-4" in fix for fix in by_name["configuration"]["fixes"])
    assert by_name["pipeline"]["data"]["rates"]["samples_per_second"] > 0
    text = (project / "diagnostic_report.txt").read_text()
    assert "FAIL  Configuration" in text
    page = (project / "page.html").read_text()
    assert page.count('class="state') == len(found)
    assert "<script" not in page
    assert "http" not in page


def test_a_users_failure_is_a_failed_check_with_its_reason(cfgfix, project):
    done = cfgfix("diagnose", "--dataset", "mine:broken", "--step", "mine:step", "--json", "--quiet")
    found = states(done.out)
    assert found["loader"] == found["compilation"] == found["pipeline"] == "fail"
    assert found["configuration"] == found["code"] == found["storage"] == "skipped"
    assert "no such speaker" in done.out
    assert done.code == 1


@pytest.mark.parametrize(("name", "told"), [("nothing", "no batch"), ("poisoned", "not numbers")])
def test_batches_that_are_of_no_use(project, monkeypatch, name, told):
    monkeypatch.chdir(project)
    subject = Subject(None, (), None, {"dataset": f"mine:{name}", "source_roots": [str(project)]})
    found = checks._loader_outcome(subject, lambda what, share: None)
    assert found.state is State.FAIL
    assert told in found.summary


def test_batches_of_batches_are_told(project, monkeypatch):
    monkeypatch.chdir(project)
    subject = Subject(None, (), None, {"dataset": "mine:twice", "source_roots": [str(project)]})
    found = checks._loader_outcome(subject, lambda what, share: None)
    assert found.state is State.PASS
    assert "element: (8, 8, 4)" in found.evidence
    assert any("batches of batches" in line for line in found.evidence)


def test_a_step_that_xla_cannot_compile(project, monkeypatch):
    monkeypatch.chdir(project)
    options = {"dataset": "mine:good", "step": "mine:uncompilable", "source_roots": [str(project)]}
    found = checks._compilation_outcome(Subject(None, (), None, options), lambda what, share: None)
    assert found.state is State.FAIL
    assert "XLA" in found.summary
    assert found.rules == ("TFF013",)


def test_a_check_that_breaks_has_failed(monkeypatch):
    def bad(*_arguments):
        raise ZeroDivisionError("inside the check")

    def told(*_arguments):
        raise CfgfixError("cannot be judged")

    monkeypatch.setattr(checks, "_hardware_outcome", bad)
    monkeypatch.setattr(checks, "_configuration_outcome", told)
    found = {
        outcome.name: outcome for outcome in diagnose(Subject(None, (), None, {}), lambda what, share: None)
    }
    assert found["hardware"].state is State.FAIL
    assert "inside the check" in found["hardware"].summary
    assert found["configuration"].state is State.FAIL
    assert list(found) == list(checks.TITLES)
    assert found["pipeline"].state is State.SKIPPED


@pytest.mark.parametrize(
    ("capability", "built", "fits"),
    [
        ((8, 9), ["sm_80", "compute_90"], True),
        ((9, 0), ["sm_80", "compute_80"], True),
        ((9, 0), ["sm_80", "sm_86"], False),
        ((6, 1), ["sm_70", "compute_70"], False),
        ((12, 0), ["sm_90", "compute_90"], True),
        ((8, 0), ["sm_86"], False),
        ((8, 0), [], True),
    ],
)
def test_code_for_a_compute_capability(capability, built, fits):
    gpu = {"model": "card", "compute_capability": list(capability)}
    assert (checks._capability_line(gpu, built) is None) is fits


def folder_with_speech(folder):
    (folder / "wavs").mkdir(parents=True)
    with open(folder / "metadata.csv", "w", encoding="utf-8") as rows:
        for number in range(12):
            with wave.open(str(folder / "wavs" / f"a{number}.wav"), "wb") as sound:
                sound.setnchannels(1)
                sound.setsampwidth(2)
                sound.setframerate(22050)
                sound.writeframes(np.zeros(8000, "<i2").tobytes())
            rows.write(f"a{number}|words|words\n")
    return folder


def outcome_of_pipeline(read, per_second):
    return checks._outcome_of(
        "pipeline", State.PASS, "", data={"rates": {"read_per_batch": read, "batches_per_second": per_second}}
    )


def test_storage_fails_where_it_is_slower_than_the_need(tmp_path):
    folder = folder_with_speech(tmp_path / "set")
    subject = Subject(None, (), None, {"data_path": str(folder)}, step_seconds=1e-9)
    found = checks._storage_outcome(subject, outcome_of_pipeline(10**9, 1))
    if found.state is State.SKIPPED:  # a file system in memory has no cold files
        assert "tmpfs" in found.summary or "memory" in found.summary
        return
    assert found.state is State.FAIL
    assert found.data["needed_mbs"] > found.data["mbs"]
    easy = checks._storage_outcome(
        Subject(None, (), None, {"data_path": str(folder)}, step_seconds=10.0), outcome_of_pipeline(10, 1)
    )
    assert easy.state is State.PASS


def test_storage_that_cannot_be_read_fails(tmp_path):
    gone = Subject(None, (), None, {"data_path": str(tmp_path / "gone")})
    assert checks._storage_outcome(gone, None).state is State.FAIL
    (tmp_path / "empty").mkdir()
    empty = checks._storage_outcome(Subject(None, (), None, {"data_path": str(tmp_path / "empty")}), None)
    assert empty.state in (State.FAIL, State.SKIPPED)


def test_nothing_is_written_into_the_data(tmp_path):
    folder = folder_with_speech(tmp_path / "set")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    checks._storage_outcome(Subject(None, (), None, {"data_path": str(folder)}), None)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_a_step_without_batches_is_told(cfgfix, project):
    done = cfgfix("diagnose", "--step", "mine:step")
    assert done.code == 2
    assert "--dataset" in done.err


def test_a_config_is_judged_by_the_settings_nearest_to_it(project, monkeypatch):
    monkeypatch.chdir(project)
    (project / "inner").mkdir()
    (project / "inner" / "train.yaml").write_text(CONFIG.lstrip())
    plain = checks._configuration_outcome(Subject("inner/train.yaml", (), None, {}))
    assert "YML001" in plain.rules
    (project / "inner" / "cfgfix.toml").write_text('ignore = ["YML001"]\n')
    assert "YML001" not in checks._configuration_outcome(Subject("inner/train.yaml", (), None, {})).rules


@pytest.mark.parametrize(
    ("states", "arguments", "code"),
    [
        ({}, [], 0),
        ({"pipeline": State.SKIPPED}, [], 3),
        ({"pipeline": State.SKIPPED}, ["--partial"], 0),
        ({"pipeline": State.SKIPPED, "hardware": State.FAIL}, ["--partial"], 1),
        # What no name makes run, such as a GPU that is not there, is no reason.
        ({"memory": State.SKIPPED, "storage": State.SKIPPED}, [], 0),
    ],
)
def test_a_check_that_was_skipped_has_not_passed(project, monkeypatch, capsys, states, arguments, code):
    from cfgfix.cli.start import run

    monkeypatch.chdir(project)
    made = tuple(
        checks.Outcome(name, title, states.get(name, State.PASS), "made")
        for name, title in checks.TITLES.items()
    )
    monkeypatch.setattr(checks, "diagnose", lambda _subject, _tell: made)
    assert run(["diagnose", "train.yaml", "--quiet", *arguments]) == code
    assert ("not run yet" in capsys.readouterr().out) is ("pipeline" in states)
