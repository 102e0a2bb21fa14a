"""A dialect of a project's own: from one of its configs to findings in its own words."""

from __future__ import annotations

import json

import pytest
import yaml

EXAMPLE = """\
solver:
  rate: 0.001
  learning_rate: 1.0e-3
  batch_size: 32
net:
  width: 512
  "odd.key": 1
  "*": 2
input:
  num_workers: 8
  files: [a, b]
"""


def test_from_a_config_to_a_dialect_that_is_in_force(cfgfix, tmp_path) -> None:
    (tmp_path / "train.yaml").write_text(EXAMPLE)
    made = cfgfix("init", "--dialect", "mynet", "--example", "train.yaml", cwd=tmp_path)
    assert made.code == 0
    assert 'dialects = ["dialects"]' in made.out
    data = yaml.safe_load((tmp_path / "dialects" / "mynet" / "dialect.yaml").read_text())
    assert data["name"] == "mynet"
    assert data["concepts"]["batch_size"] == ["solver.batch_size"]
    assert data["concepts"]["workers"] == ["input.num_workers"]

    (tmp_path / "cfgfix.toml").write_text('dialects = ["dialects"]\n')
    (tmp_path / "train.yaml").write_text(EXAMPLE.replace("batch_size: 32", "batch_size: 0"))
    checked = cfgfix("check", "--hardware", "none", "--output-format", "json", "train.yaml", cwd=tmp_path)
    report = json.loads(checked.out)
    assert {file["dialect"] for file in report["files"]} == {"mynet"}
    assert "CFG001" in checked.out


def test_without_an_example_it_is_a_pattern_to_fill_in(cfgfix, tmp_path) -> None:
    made = cfgfix("init", "--dialect", "mynet", "--folder", "config/dialects", cwd=tmp_path)
    assert made.code == 0
    assert "fill in" in made.out
    assert (tmp_path / "config" / "dialects" / "mynet" / "dialect.yaml").is_file()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--dialect", "../evil"], "no name"),
        (["--dialect", "myxtts"], "already"),
        (["--dialect", "mine", "--example", "absent.yaml"], "absent.yaml"),
        (["--example", "train.yaml"], "--dialect"),
    ],
)
def test_what_cannot_be_done_is_told(cfgfix, tmp_path, arguments, word) -> None:
    result = cfgfix("init", *arguments, cwd=tmp_path)
    assert result.code not in (0, 4)
    assert word in result.err + result.out
    assert not (tmp_path / "dialects").exists()


def test_a_file_that_is_there_is_not_touched(cfgfix, tmp_path) -> None:
    place = tmp_path / "dialects" / "mynet" / "dialect.yaml"
    place.parent.mkdir(parents=True)
    place.write_text("mine\n")
    result = cfgfix("init", "--dialect", "mynet", cwd=tmp_path)
    assert result.code not in (0, 4)
    assert place.read_text() == "mine\n"


def test_the_guide_of_ten_lines_works(cfgfix, tmp_path, repo_root) -> None:
    guide = (repo_root / "docs" / "dialects.md").read_text(encoding="utf-8")
    text = guide.partition("```yaml\n")[2].partition("```")[0]
    assert len([line for line in text.splitlines() if not line.startswith("#")]) <= 12
    place = tmp_path / "dialects" / "mynet" / "dialect.yaml"
    place.parent.mkdir(parents=True)
    place.write_text(text)
    (tmp_path / "cfgfix.toml").write_text('dialects = ["dialects"]\n')
    (tmp_path / "run.yaml").write_text("solver: {ips: 0, rate: 1e-3, eps: 1e-7}\nnet: {width: 8}\n")
    result = cfgfix("check", "--hardware", "none", "--output-format", "json", "run.yaml", cwd=tmp_path)
    found = {
        (finding["rule"], finding["severity"])
        for file in json.loads(result.out)["files"]
        for finding in file["findings"]
    }
    assert found == {("CFG001", "error"), ("YML001", "error"), ("YML001", "info")}
