"""`explain FILE` shows what opens a config, by which way, and where its keys are read."""

from __future__ import annotations

import json

import pytest

PROGRAM = """
import sys
import tensorflow as tf
from reading import load

def main(path):
    plan = load(path)
    tf.keras.layers.Dense(plan["units"])
    tf.keras.optimizers.Adam(plan.get("pace", 0.1))

if __name__ == "__main__":
    main(sys.argv[1])
"""


@pytest.fixture
def plan(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "reading.py").write_text(
        "import yaml\n\ndef load(path):\n    with open(path) as stream:\n        return yaml.safe_load(stream)\n"
    )
    (tmp_path / "go.sh").write_text("python train.py plan.yaml\n")
    (tmp_path / "plan.yaml").write_text("units: 4\nlost: 1\n")
    (tmp_path / "ship.yaml").write_text("mast: 4\nsail: 1\n")
    return tmp_path


def test_it_shows_the_load_site_the_program_and_the_way(cfgfix, plan):
    out = cfgfix("explain", "plan.yaml", cwd=plan).out
    assert "opened by train.py (reading.py:5): the command in go.sh:1 gives it" in out
    assert "by way of train.py:12 -> train.py:7 -> reading.py:5" in out
    assert "units  train.py:8" in out
    assert "asked for and not there" in out
    assert "pace  train.py:9" in out


def test_it_says_what_is_lacking(cfgfix, plan):
    out = cfgfix("explain", "ship.yaml", cwd=plan).out
    assert "no training config that cfgfix knows: " in out
    assert "reading.py:5 loads a file that is not known, and asks for none of its keys" in out


def test_as_json(cfgfix, plan):
    facts = json.loads(cfgfix("explain", "plan.yaml", "--json", cwd=plan).out)
    assert facts["opened"][0]["way"] == ["train.py:12", "train.py:7", "reading.py:5"]
    assert facts["read"] == {"units": "train.py:8"}


def test_a_key_is_explained_by_its_reads_without_settings(cfgfix, plan):
    assert "reaches layers.Dense(units) in train.py:8" in cfgfix("explain", "units", cwd=plan).out
    data = json.loads(cfgfix("explain", "units", "--json", cwd=plan).out)
    assert data["code"] == ["In the code: units: read in train.py:8 (plan.yaml)"]
