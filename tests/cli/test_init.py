from __future__ import annotations

import json
import subprocess
import sys

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CONFIG = "model:\n  text_encoder_dim: 512\n  decoder_dim: 1024\ndata:\n  batch_size: 8\n  num_workers: 8\n  max_text_tokens: 200\n  text_cleaners: [english_cleaners]\ntraining:\n  learning_rate: 1.0e-4\n  epochs: 3\n"
CLASS = """\
from dataclasses import dataclass, field
from typing import List, Optional


@dataclass
class Model:
    text_encoder_dim: int = 256
    decoder_dim: int = 512


@dataclass
class Data:
    batch_size: int = 8
    num_workers: int = 4
    max_text_tokens: Optional[int] = None
    text_cleaners: List[str] = field(default_factory=list)


@dataclass
class Training:
    learning_rate: float = 1.0e-4
    epochs: int = 10


@dataclass
class Whole:
    model: Model
    data: Data
    training: Training
"""


@pytest.fixture
def project(tmp_path, config):
    (tmp_path / ".git").mkdir()
    config(CONFIG, "conf/train.yaml")
    config("services: {web: {image: nginx}}\n", "compose.yaml")
    config("", "src/speech/__init__.py")
    config(CLASS, "src/speech/config.py")
    return tmp_path


def snapshot(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".cache-of-cfgfix" not in path.parts
    }


def test_it_finds_out_what_there_is(cfgfix, project):
    out = cfgfix("init", "--dry-run").out
    assert "training configs: conf/train.yaml" in out
    assert "dialect: myxtts" in out
    assert "source root: src" in out
    assert "config class: src/speech/config.py:Whole" in out


def test_a_dry_run_and_a_run_without_an_answer_write_nothing(cfgfix, project):
    before = snapshot(project)
    assert cfgfix("init", "--dry-run").code == 0
    refused = cfgfix("init", stdin=b"")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert snapshot(project) == before


def test_what_is_shown_is_what_is_written_and_it_works(cfgfix, project, config):
    shown = cfgfix("init", "--dry-run").out
    assert cfgfix("init", "--yes").code == 0
    settings = (project / "cfgfix.toml").read_text()
    for line in settings.splitlines():
        assert f"+{line}" in shown
    table = tomllib.loads(settings)
    assert table["include"] == ["conf/*.yaml"]
    assert table["dialect"] == "myxtts"
    assert table["source-roots"] == ["src"]
    assert (
        project / "conf" / "train.yaml"
    ).read_text() == "# yaml-language-server: $schema=../.cfgfix/Whole.schema.json\n" + CONFIG
    written = json.loads((project / ".cfgfix" / "Whole.schema.json").read_text())
    assert "max_text_tokens" in json.dumps(written)
    assert "epochs" in json.dumps(written)
    assert "id: cfgfix" in (project / ".pre-commit-config.yaml").read_text()
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "validate-config"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert table["schema"] == "src/speech/config.py:Whole"
    assert cfgfix("check", "--select", "YML,SCH").code == 0
    config(CONFIG.replace("epochs: 3", "epchs: 3"), "conf/other.yaml")
    assert "did you mean" in cfgfix("check", "--select", "SCH").out


def test_without_a_class_the_schema_is_the_dialects(cfgfix, project):
    (project / "src" / "speech" / "config.py").unlink()
    assert cfgfix("init", "--yes").code == 0
    assert "$schema=../.cfgfix/myxtts.schema.json" in (project / "conf" / "train.yaml").read_text()
    assert json.loads((project / ".cfgfix" / "myxtts.schema.json").read_text())["type"] == "object"


def test_a_second_run_brings_the_schema_up_to_date_with_the_class(cfgfix, project):
    cfgfix("init", "--yes")
    path = project / "src" / "speech" / "config.py"
    path.write_text(
        path.read_text().replace("    epochs: int = 10\n", "    epochs: int = 10\n    warmup: int = 0\n")
    )
    again = cfgfix("init", "--yes")
    assert "brought up to date" in again.out
    assert "warmup" in (project / ".cfgfix" / "Whole.schema.json").read_text()
    assert "nothing to write" in cfgfix("init", "--yes").out


def test_a_second_run_changes_nothing(cfgfix, project):
    cfgfix("init", "--yes")
    before = snapshot(project)
    again = cfgfix("init", "--yes")
    assert again.code == 0
    assert "nothing to write" in again.out
    assert snapshot(project) == before


def test_files_that_are_there_keep_all_they_hold(cfgfix, project):
    project_file = '# mine\n[project]\nname = "x"   # name\n[tool.black]\nline-length = 90'
    (project / "pyproject.toml").write_text(project_file)
    hooks = "repos:\n    - repo: https://example.org/x\n      rev: v1   # pinned\n      hooks:\n        - id: y\n\n# the end\nfail_fast: true\n"
    (project / ".pre-commit-config.yaml").write_text(hooks)
    assert cfgfix("init", "--yes").code == 0
    text = (project / "pyproject.toml").read_text()
    assert text.startswith(project_file + "\n\n[tool.cfgfix]\n")
    assert not (project / "cfgfix.toml").exists()
    after = (project / ".pre-commit-config.yaml").read_text()
    head, _, tail = after.partition("    - repo: local\n")
    assert hooks.startswith(head)
    assert tail.endswith("# the end\nfail_fast: true\n")


@pytest.mark.parametrize(
    "hooks", ["repos: []\n", "repos: [{repo: local, hooks: []}]\n", "a: [\n", "other: 1\n"]
)
def test_a_hooks_file_it_cannot_add_to_is_left(cfgfix, project, hooks):
    (project / ".pre-commit-config.yaml").write_text(hooks)
    result = cfgfix("init", "--yes")
    assert result.code == 0
    assert "add by hand" in result.out
    assert (project / ".pre-commit-config.yaml").read_text() == hooks


def test_a_hook_repository_can_be_named(cfgfix, project):
    cfgfix("init", "--yes", "--hook-repository", "https://example.org/cfgfix")
    text = (project / ".pre-commit-config.yaml").read_text()
    assert "repo: https://example.org/cfgfix\n    rev: v" in text


def test_configs_among_other_files_name_no_dialect(cfgfix, project, config):
    config("services: {web: {image: nginx}}\n", "conf/compose.yaml")
    cfgfix("init", "--yes", "--no-hook", "--no-editor")
    table = tomllib.loads((project / "cfgfix.toml").read_text())
    assert "dialect" not in table
    assert not (project / ".pre-commit-config.yaml").exists()
    assert (project / "conf" / "train.yaml").read_text() == CONFIG
    assert "1 other file passed over" in cfgfix("check").out


def test_an_empty_folder(cfgfix, tmp_path):
    result = cfgfix("init", "--yes")
    assert result.code == 0
    assert "none that cfgfix knows" in result.out
    tomllib.loads((tmp_path / "cfgfix.toml").read_text())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(cfgfix, shell):
    script = cfgfix("completion", shell)
    assert script.code == 0
    assert "_CFGFIX_COMPLETE" in script.out
    if shell == "fish":
        env = {"COMP_WORDS": "cfgfix explain", "COMP_CWORD": "", "_CFGFIX_COMPLETE": "fish_complete"}
    else:
        env = {
            "COMP_WORDS": "cfgfix check --select HWR00",
            "COMP_CWORD": "3",
            "_CFGFIX_COMPLETE": f"{shell}_complete",
        }
        assert "HWR001" in cfgfix(env=env).out
        env = {"COMP_WORDS": "cfgfix ini", "COMP_CWORD": "1", "_CFGFIX_COMPLETE": f"{shell}_complete"}
        assert "init" in cfgfix(env=env).out


def test_the_bash_script_is_bash(cfgfix, tmp_path):
    (tmp_path / "c.sh").write_text(cfgfix("completion", "bash").out)
    assert subprocess.run(["bash", "-n", str(tmp_path / "c.sh")], check=False).returncode == 0
