"""tools/corpus.py over projects whose code is at hand, and the records of what a reader said of it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from scripts import load_script

ROOT = Path(__file__).resolve().parent.parent
CONFIG = """
from dataclasses import dataclass, field
import yaml

@dataclass
class Model:
    width: int = 8
    text_encoder_dim: int = 3

@dataclass
class Data:
    batch_size: int = 8
    note: str = ""
    sample_rate: int = 22050

@dataclass
class Training:
    epochs: int = 3
    learning_rate: float = 0.1

@dataclass
class Config:
    model: Model = field(default_factory=Model)
    data: Data = field(default_factory=Data)
    training: Training = field(default_factory=Training)

    @classmethod
    def load(cls, path):
        raw = yaml.safe_load(open(path))
        return cls(Model(**raw["model"]), Data(**raw["data"]), Training(**raw["training"]))
"""
TRAIN = """
import tensorflow as tf
from config import Config

def main(path):
    config = Config.load(path)
    dataset = tf.data.Dataset.range(9).map(lambda x: tf.py_function(float, [x], tf.float32))
    for epoch in range(config.training.epochs):
        step(dataset.batch(config.data.batch_size), config.training.learning_rate, config.model.width)
    print(config.model.text_encoder_dim, config.data.sample_rate + 1)

def step(*values):
    import runner

    runner.go(values)
"""
RUN = """\
model: {width: 4, text_encoder_dim: 3}
data:
  batch_size: 4
  note: x
  sample_rate: 22050
  batchsize: 8
training: {epochs: 2, learning_rate: 1e-4}
"""


@pytest.fixture
def tool(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    module = load_script("tools/corpus_code.py")
    data = tmp_path / "data"
    data.mkdir()
    for name in ("FOUND", "CASES", "KEY", "SHEET", "CHECKED"):
        monkeypatch.setattr(module, name, data / getattr(module, name).name)
    monkeypatch.setattr(
        module,
        "READINGS",
        {name: (data / f"{name}.jsonl", data / f"{name}_key.jsonl") for name in ("first", "fresh")},
    )
    return module


@pytest.fixture
def code(tmp_path):
    checkout = tmp_path / "code" / "owner+name"
    (checkout / "configs").mkdir(parents=True)
    (checkout / "config.py").write_text(CONFIG)
    (checkout / "train.py").write_text(TRAIN)
    (checkout / "configs" / "run.yaml").write_text(RUN)
    git = ["git", "-C", str(checkout), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "a"]):
        subprocess.run([*git, *command], check=True)
    return tmp_path / "code"


def command(tool_name: str, *arguments: str) -> int:
    main = load_script("tools/corpus.py", tool_name).main
    return int(main(arguments))


def test_a_checkout_is_checked_with_its_class_and_left_as_it_is(tool, code):
    before = sorted(path for path in code.rglob("*") if ".git" not in path.parts)
    (project,) = tool.run(code)
    assert project.settings.schema == "config.py:Config"
    assert sorted(path for path in code.rglob("*") if ".git" not in path.parts) == before
    found = {(row[2], row[3], row[5]) for row in tool.rows([project])}
    assert {
        ("configs/run.yaml", "REF001", "error"),
        ("configs/run.yaml", "REF005", "warning"),
        ("train.py", "TFD001", "warning"),
    } <= found
    assert all(len(row[1]) == 40 for row in tool.rows([project]))


def test_the_sheet_names_no_rule_and_the_record_holds_no_code(tool, code, capsys):
    assert command("corpus_tool", "update", "--code", str(code)) == 0
    assert "errors" in capsys.readouterr().out
    kept = tool.CASES.read_text()
    shown = [json.loads(line) for line in tool.SHEET.read_text().splitlines()]
    assert any("note: x" in row["code"] for row in shown)
    assert "note: x" not in kept
    for row in map(json.loads, kept.splitlines()):
        assert set(row) == {
            "id",
            "project",
            "commit",
            "file",
            "line",
            "message",
            "severity",
            "related",
            "verdict",
            "reason",
        }
        assert row["severity"] in ("error", "warning")
    rules = {json.loads(line)["rule"] for line in tool.KEY.read_text().splitlines()}
    assert "REF005" in rules
    assert not any(rule in kept for rule in rules)
    assert len(kept.splitlines()) == len(tool.KEY.read_text().splitlines())


def test_verdicts_are_kept_and_differences_told(tool, code, capsys):
    assert command("corpus_tool", "update", "--code", str(code)) == 0
    rows = [json.loads(line) for line in tool.CASES.read_text().splitlines()]
    for row in rows:
        row["verdict"], row["reason"] = "agree", "read"
    tool.CASES.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert command("corpus_tool", "update", "--code", str(code)) == 0
    assert all(json.loads(line)["reason"] == "read" for line in tool.CASES.read_text().splitlines())
    assert command("corpus_tool", "--code", str(code)) == 0
    assert command("corpus_tool", "report", "--code", str(code)) == 0
    assert "100.0 %" in capsys.readouterr().out
    kept = tool.FOUND.read_text()
    tool.FOUND.write_text("\n".join(line for line in kept.splitlines() if "REF005" not in line) + "\n")
    assert command("corpus_tool", "--code", str(code)) == 1
    assert "REF005" in capsys.readouterr().out
    commit = tool.stored()[0][1]
    tool.FOUND.write_text(kept.replace(commit, "0" * 40))
    assert command("corpus_tool", "--code", str(code)) == 1
    told = capsys.readouterr().out
    assert f"owner+name is at {commit}, the snapshot at {'0' * 40}" in told
    assert "REF005" not in told


def test_without_checkouts_the_tool_says_so(tool, tmp_path, capsys):
    (tmp_path / "none").mkdir()
    assert command("corpus_tool", "--code", str(tmp_path / "none")) == 2
    assert command("corpus_tool", "--code", str(tmp_path / "missing")) == 2
    assert "owner+name" in capsys.readouterr().err


DATA = ROOT / "benchmarks" / "corpus"


@pytest.mark.parametrize(
    "name",
    [
        "with_code",
        "with_code_first",
        "with_code_fresh",
        "with_code_last",
        "with_code_older",
        "with_code_later",
    ],
)
def test_the_records_are_complete(name):
    rows = [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    keys = [
        json.loads(line) for line in (DATA / f"{name}_key.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [row["id"] for row in rows] == [key["id"] for key in keys]
    for row in rows:
        assert "code" not in row
        assert "rule" not in row
        assert row["verdict"] in ("agree", "disagree", "unsure", "")
        assert bool(row["verdict"]) is bool(row["reason"])


def test_the_sheet_is_that_of_the_snapshot():
    lines = (DATA / "with_code.tsv").read_text(encoding="utf-8").splitlines()[1:]
    told = [line.split("\t") for line in lines if not line.endswith("info")]
    rows = [json.loads(line) for line in (DATA / "with_code.jsonl").read_text(encoding="utf-8").splitlines()]
    assert sorted((row[0], row[2], int(row[4]), row[5]) for row in told) == sorted(
        (row["project"], row["file"], row["line"], row["severity"]) for row in rows
    )


def test_what_was_read_is_right_in_nineteen_of_twenty_errors_and_nine_of_ten_warnings():
    rows = [json.loads(line) for line in (DATA / "with_code.jsonl").read_text(encoding="utf-8").splitlines()]
    for severity, share in (("error", 0.95), ("warning", 0.9)):
        judged = [row["verdict"] for row in rows if row["severity"] == severity]
        right, wrong = judged.count("agree"), judged.count("disagree")
        assert right >= share * (right + wrong)
