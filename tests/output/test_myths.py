"""What measurement refutes is told as a myth wherever it is told, and never as advice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cfgfix.cli.app import cli
from cfgfix.core.findings import note_parts
from cfgfix.output.sarif import _rule_as_sarif
from cfgfix.rules.catalogue import builtin
from cfgfix.rules.reader import load_yaml, refuted
from cfgfix.rules.rule import Rule

REFUTING = [rule for rule in builtin().rules if refuted(load_yaml(rule.path))]


def told(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("rule", REFUTING, ids=[rule.id for rule in REFUTING])
def test_a_rule_tells_its_myth_as_one(rule: Rule) -> None:
    claim = told(str(refuted(load_yaml(rule.path))[0]["claim"]))
    explained = told(CliRunner().invoke(cli, ["explain", rule.id]).output)
    helped = _rule_as_sarif(rule)["help"]
    for text in (explained, helped["text"], helped["markdown"]):
        assert f"Myth: {claim}" in told(text)
        assert "advice:" not in text.lower()


def test_a_finding_tells_its_myth_as_one(tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text("data:\n  num_workers: 64\n")
    asked = [
        "check",
        str(tmp_path),
        "--dialect",
        "myxtts",
        "--hardware",
        "rtx4090,cpus=8,ram=64",
        "--exit-zero",
    ]
    data = json.loads(CliRunner().invoke(cli, [*asked, "--output-format", "json"]).stdout)
    notes = [note for file in data["files"] for item in file["findings"] for note in item["notes"]]
    assert any(note_parts(note)[0] == "myth" for note in notes)
    assert not any(note.startswith("advice") for note in notes)
    text = CliRunner().invoke(cli, asked).stdout
    assert "= myth: use 16, 24 or 32 workers" in text
    assert "advice:" not in text


def test_an_ordinary_note_stays_one() -> None:
    assert note_parts("the values differ") == ("note", "the values differ")
    assert note_parts("myth: a - measured: b") == ("myth", "a - measured: b")
