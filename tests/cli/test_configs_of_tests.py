"""A config of the project's tests: its chosen values are information, what cannot be loaded is not."""

from __future__ import annotations

import json

import pytest

ODD = "data:\n  batch_size: 0\ntraining:\n  learning_rate: 1e-4\n  epochs: 3\nmodel: {decoder_dim: 1024}\n"


def severities(result):
    return {
        finding["rule"]: finding["severity"]
        for file in json.loads(result.out)["files"]
        for finding in file["findings"]
        if finding["rule"] in ("CFG001", "YML001")
    }


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("configs/a.yaml", "error"),
        ("tests/a.yaml", "info"),
        ("package/tests/data/a.yaml", "info"),
        ("fixtures/a.yaml", "info"),
        ("configs/test/a.yaml", "error"),
        ("tests.yaml", "error"),
    ],
)
def test_values_are_information_below_the_tests(cfgfix, config, place, expected):
    config(ODD, place)
    result = cfgfix("check", place, "--output-format", "json")
    assert severities(result) == {"CFG001": expected, "YML001": "error"}


def test_the_project_s_own_folder_may_lie_below_tests(cfgfix, config, tmp_path, monkeypatch):
    config(ODD, "tests/project/configs/a.yaml")
    (tmp_path / "tests" / "project" / "cfgfix.toml").write_text("")
    monkeypatch.chdir(tmp_path / "tests" / "project")
    assert severities(cfgfix("check", "--output-format", "json"))["CFG001"] == "error"


def test_a_severity_that_the_settings_give_stays(cfgfix, config, tmp_path):
    config(ODD, "tests/a.yaml")
    (tmp_path / "cfgfix.toml").write_text("[severity]\nCFG001 = 'warning'\n")
    assert severities(cfgfix("check", "--output-format", "json"))["CFG001"] == "warning"
