"""The rules about config and code: their cases, and what a user sees of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cfgfix.advice.key_report import key_lines
from cfgfix.lint.rule_cases import run_case
from cfgfix.lint.runner import Request, check, fix
from cfgfix.rules.catalogue import read_folder
from cfgfix.rules.reader import load_yaml
from cfgfix.rules.rule import Rule
from cfgfix.settings.reader import Settings, read

RULES = Path(__file__).resolve().parents[1] / "rules" / "code"
ALL = [(rule, case) for rule in read_folder(str(RULES)) for case in load_yaml(rule.path)["cases"]]

CONFIG = """
from dataclasses import dataclass, field
import yaml

@dataclass
class Data:
    batch_size: int = 8
    pad: bool = False
    max_length: int = 100
    cache_it: bool = False

@dataclass
class Config:
    data: Data = field(default_factory=Data)

    @classmethod
    def load(cls, path):
        return cls(data=Data(**yaml.safe_load(open(path))["data"]))
"""
TRAIN = """
import external
from config import Config

def main(path):
    config = Config.load(path)
    external.go(config.data.batch_size)
    if config.data.pad:
        external.go(config.data.max_length)
    external.go(getattr(config.data, "depth", 3))
"""
YAML = "data:\n  batch_size: 4\n  pad: false\n  max_length: 50\n  cache_it: true\n  n_mels: 80\n"


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    (tmp_path / "config.py").write_text(CONFIG)
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "run.yaml").write_text(YAML)
    (tmp_path / "cfgfix.toml").write_text('schema = "config.py:Config"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CFGFIX_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def found(*paths: str, **changes: Any) -> list[str]:
    report = check(Request(paths=paths or (".",), **changes))
    return [
        f"{item.rule} {'.'.join(map(str, item.key_path or ())) or Path(item.location.path).name}"
        for item in report.findings()
        if item.rule.startswith(("REF", "SCH", "SUP"))
    ]


@pytest.mark.parametrize(("rule", "case"), ALL, ids=[f"{rule.id}-{case['name']}" for rule, case in ALL])
def test_case(rule: Rule, case: dict[str, Any]) -> None:
    assert run_case(rule, case).problems == ()


def test_a_config_is_held_against_the_code(project):
    assert found("run.yaml") == ["REF014 data.max_length", "REF005 data.cache_it", "REF001 data.n_mels"]
    assert found() == [*found("run.yaml"), "REF010 train.py"]


def test_a_second_run_says_the_same(project):
    assert found() == found()


def test_the_loading_is_told(project):
    report = check(Request(paths=("run.yaml",)))
    assert "yaml.safe_load in" in report.loading
    assert "stops the program" in report.loading


def test_the_settings_overrule_what_an_unknown_key_does(project):
    (project / "cfgfix.toml").write_text('schema = "config.py:Config"\nunknown-keys = "ignored"\n')
    report = check(Request(paths=("run.yaml",)))
    finding = next(item for item in report.findings() if item.rule == "REF001")
    assert finding.severity.label == "warning"
    assert "dropped" in finding.message


def test_a_comment_silences_in_the_config_and_in_the_code(project):
    (project / "run.yaml").write_text(
        YAML.replace("cache_it: true", "cache_it: true  # cfgfix: ignore[REF005]")
    )
    (project / "train.py").write_text(TRAIN.replace('"depth", 3))', '"depth", 3))  # cfgfix: ignore[REF010]'))
    assert found() == ["REF014 data.max_length", "REF001 data.n_mels"]


def test_a_project_without_class_or_source_root_loses_nothing(project):
    (project / "cfgfix.toml").write_text("")
    report = check(Request(paths=("run.yaml",)))
    assert not [item for item in report.findings() if item.rule.startswith("REF")]
    (project / "run.yaml").write_text(
        "data: {batch_size: 4, num_workers: 2}  # cfgfix: ignore[REF005] not known here\n"
    )
    assert "SUP001" not in {item.rule for item in check(Request(paths=("run.yaml",))).findings()}


def test_a_source_root_is_enough(project):
    (project / "train.py").write_text(
        "import yaml, external\nconfig = yaml.safe_load(open('x'))\nexternal.go(config['data']['batch_size'])\n"
    )
    (project / "config.py").unlink()
    settings = Settings(root=str(project), source_roots=(".",), dialect="generic")
    report = check(Request(paths=("run.yaml",), settings=settings))
    dead = [".".join(map(str, item.key_path or ())) for item in report.findings() if item.rule == "REF005"]
    assert dead == ["data.pad", "data.max_length", "data.cache_it", "data.n_mels"]


def test_the_yaml_version_is_the_one_of_the_code(project):
    (project / "train.py").write_text(
        "from ruamel.yaml import YAML\nimport external\nexternal.go(YAML(typ='safe').load(open('x'))['data']['pad'])\n"
    )
    (project / "config.py").unlink()
    (project / "run.yaml").write_text("data:\n  pad: yes\n  batch_size: 4\n")
    loaders = {}
    for stated in (None, "pyyaml"):
        settings = Settings(root=str(project), source_roots=(".",), dialect="myxtts", loader=stated)
        report = check(Request(paths=("run.yaml",), settings=settings))
        loaders[stated] = report.files[0].loader
    assert loaders == {None: "ruamel", "pyyaml": "pyyaml"}


def test_fixing_leaves_what_the_code_says(project):
    before = (project / "run.yaml").read_text()
    report = fix(Request(paths=("run.yaml",)))
    assert (project / "run.yaml").read_text() == before
    assert not report.errors


def test_code_that_does_not_parse_is_passed_over(project):
    (project / "broken.py").write_text("def (:\n")
    assert "REF005 data.cache_it" in found("run.yaml")


def test_the_page_of_a_key(project):
    settings = read("cfgfix.toml")
    assert settings is not None
    page = "\n".join(key_lines("max_length", settings))
    assert "defined by Data in config.py:9" in page
    assert "counts only with data.pad: on" in page
    assert "run.yaml:4 says 50" in page
    assert "nothing reads it" in "\n".join(key_lines("data.cache_it", settings))
    assert key_lines("no_such_key", settings) == []
    assert key_lines("", settings) == []


def test_the_page_is_part_of_explain(project, capsys):
    from cfgfix.cli.start import run

    assert run(["explain", "data.cache_it"]) == 0
    assert "nothing reads it" in capsys.readouterr().out
    assert run(["explain", "data.cache_it", "--json"]) == 0
    assert "nothing reads it" in json.dumps(json.loads(capsys.readouterr().out))


def test_a_file_that_nothing_reads_is_told_once(project):
    (project / "train.py").write_text(
        "import yaml, external\nconfig = yaml.safe_load(open('x'))\nexternal.go(config['optimizer']['rate'])\n"
    )
    (project / "config.py").unlink()
    settings = Settings(root=str(project), source_roots=(".",), dialect="generic")
    findings = [
        item
        for item in check(Request(paths=("run.yaml",), settings=settings)).findings()
        if item.rule == "REF005"
    ]
    assert len(findings) == 1
    assert any("any of the 5 keys" in note for note in findings[0].notes)


@pytest.mark.parametrize(
    ("read", "rules"),
    [
        ("record_length", []),
        ("record_length_bytes", [("REF005", "warning")]),
        (None, [("SCH001", "warning")]),
    ],
)
def test_the_code_at_hand_decides_whether_an_old_key_is_read(tmp_path, monkeypatch, read, rules):
    (tmp_path / "run.yaml").write_text(
        "framework: tensorflow\nworkflow: {train: true}\ndataset: {num_files_train: 8, record_length: 2048}\n"
    )
    (tmp_path / "main.py").write_text(
        "import yaml, external\n\nconfig = yaml.safe_load(open('run.yaml'))\n"
        f"external.go(config['framework'], config['workflow']['train'], config['dataset']['num_files_train'])\n"
        f"external.go(config['dataset']['{read}'])\n"
    )
    monkeypatch.chdir(tmp_path)
    settings = Settings(root=str(tmp_path), source_roots=(".",) if read else ())
    findings = check(Request(paths=("run.yaml",), settings=settings)).findings()
    told = [
        (item.rule, item.severity.label) for item in findings if item.key_path == ("dataset", "record_length")
    ]
    assert told == rules


def test_a_key_that_stops_an_older_checkout_too_is_told_whatever_is_read(tmp_path, monkeypatch):
    (tmp_path / "run.yml").write_text(
        "EXP_DIR: x\nTRAIN: {LEARNING_RATE: 0.1, STEPSIZE: [3], NO_SUCH: 1}\nTEST: {RPN_NMS_THRESH: 0.7}\n"
    )
    (tmp_path / "main.py").write_text(
        "import yaml, external\n\nconfig = yaml.safe_load(open('run.yml'))\nexternal.go(config['TRAIN']['NO_SUCH'])\n"
    )
    monkeypatch.chdir(tmp_path)
    settings = Settings(root=str(tmp_path), source_roots=(".",), dialect="tf-faster-rcnn")
    findings = check(Request(paths=("run.yml",), settings=settings)).findings()
    assert ("SCH001", "error") in [
        (item.rule, item.severity.label) for item in findings if item.key_path == ("TRAIN", "NO_SUCH")
    ]
