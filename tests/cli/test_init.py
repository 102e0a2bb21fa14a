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
    assert not {"include", "dialect"} & set(table)
    # Nothing of this project reads the class: with it, a check would say more than without.
    assert not {"source-roots", "schema"} & set(table)
    assert '# schema = "src/speech/config.py:Whole"' in settings
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
    assert cfgfix("check").code == 0


PROGRAM = """
import sys, json, yaml
import tensorflow as tf

def main(path):
    with open(path) as stream:
        plan = yaml.safe_load(stream)
    with open("sizes.json") as stream:
        sizes = json.load(stream)
    tf.keras.layers.Dense(plan["units"] + sizes["width"])
    tf.keras.optimizers.Adam(plan["pace"])

if __name__ == "__main__":
    main(sys.argv[1])
"""


def test_what_check_finds_by_itself_is_shown_and_not_written(cfgfix, project, config):
    config(PROGRAM, "train.py")
    config("$ python train.py conf/plan.yaml\n", "README.md")
    config("units: 4\npace: 0.1\nlost: 1\n", "conf/plan.yaml")
    config('{"width": 3}\n', "sizes.json")
    before = cfgfix("check", "--output-format", "concise", "-q").out
    assert "`lost`" in before
    done = cfgfix("init", "--yes", "--no-editor")
    assert "conf/plan.yaml: opened by train.py (train.py:7): the command in README.md:1 gives it" in done.out
    assert "sizes.json: opened by train.py (train.py:9): the code names it" in done.out
    assert tomllib.loads((project / "cfgfix.toml").read_text()) == {}
    assert cfgfix("check", "--output-format", "concise", "-q").out == before


def test_a_class_that_adds_nothing_to_what_a_check_says_is_named(cfgfix, project, config):
    reads = " + ".join(
        f"whole.{section}.{name}"
        for section, names in {
            "model": ("text_encoder_dim", "decoder_dim"),
            "data": ("batch_size", "num_workers", "max_text_tokens", "text_cleaners"),
            "training": ("learning_rate", "epochs"),
        }.items()
        for name in names
    )
    config(
        f"from speech.config import Whole\n\n\ndef use(whole: Whole):\n    return {reads}\n",
        "src/speech/use.py",
    )
    config(
        "from speech.use import use\nfrom speech.config import Whole\n\n\ndef main():\n    print(use(Whole(None, None, None)))\n",
        "src/speech/main.py",
    )
    before = cfgfix("check", "--output-format", "concise", "-q").out
    cfgfix("init", "--yes", "--no-editor")
    assert cfgfix("check", "--output-format", "concise", "-q").out == before


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


def test_configs_among_other_files(cfgfix, project, config):
    config("services: {web: {image: nginx}}\n", "conf/compose.yaml")
    cfgfix("init", "--yes", "--no-hook", "--no-editor")
    table = tomllib.loads((project / "cfgfix.toml").read_text())
    assert not {"include", "dialect"} & set(table)
    assert not (project / ".pre-commit-config.yaml").exists()
    assert (project / "conf" / "train.yaml").read_text() == CONFIG
    assert "2 other files passed over" in cfgfix("check").out


KERAS = "batch_size: 32\nlearning_rate: 1.0e-3\nepochs: 3\n"


def test_a_config_that_comes_later_is_checked(cfgfix, tmp_path, config):
    config(KERAS, "train.yaml")
    assert cfgfix("init", "--yes").code == 0
    assert cfgfix("check").code == 0
    config(KERAS.replace("1.0e-3", "1e-3"), "experiments/later/second.yml")
    assert "second.yml:2:16" in cfgfix("check").out


def test_a_second_run_says_what_is_new(cfgfix, project, config):
    cfgfix("init", "--yes")
    config(CONFIG, "more/second.yaml")
    config("", "lib/other/__init__.py")
    again = cfgfix("init", "--yes").out
    assert "new:" not in again
    assert "more/second.yaml" in again
    assert (project / "more" / "second.yaml").read_text().endswith(CONFIG)
    (project / "cfgfix.toml").write_text('source-roots = ["src"]\ninclude = ["conf/*.yaml"]\n')
    again = cfgfix("init", "--yes").out
    assert 'new: source root lib; in cfgfix.toml write: source-roots = ["src", "lib"]' in again
    assert "new: more/second.yaml, left out by `include` in cfgfix.toml" in again
    (project / "cfgfix.toml").write_text('dialect = "generic"\n')
    again = cfgfix("init", "--yes").out
    assert "new: conf/train.yaml, more/second.yaml, of another dialect than" in again


def test_a_class_that_takes_some_configs_only_is_not_named(cfgfix, project, config):
    config(KERAS, "other/train.yaml")
    config(CONFIG, "conf/second.yaml")
    out = cfgfix("init", "--yes").out
    assert "Whole takes only some of these configs" in out
    assert "schema" not in tomllib.loads((project / "cfgfix.toml").read_text())
    assert "$schema=../.cfgfix/generic.schema.json" in (project / "other" / "train.yaml").read_text()
    assert "$schema=../.cfgfix/myxtts.schema.json" in (project / "conf" / "train.yaml").read_text()
    assert cfgfix("check", "--select", "YML,SCH").code == 0


def test_projects_with_settings_of_their_own_are_left_to_themselves(cfgfix, project, config):
    config(KERAS, "apps/vision/train.yaml")
    config('hardware = "none"\n', "apps/vision/cfgfix.toml")
    out = cfgfix("init", "--yes").out
    assert "configs under settings of their own: apps/vision/train.yaml" in out
    assert (project / "apps" / "vision" / "train.yaml").read_text() == KERAS
    (project / "apps" / "speech").mkdir()
    config(KERAS, "apps/speech/train.yaml")
    inner = cfgfix("init", "--dry-run", cwd=project / "apps" / "speech").out
    assert "settings: those in ../../cfgfix.toml no longer hold here" in inner


LINKS = {"pyproject.toml": "pp.toml", ".cfgfix": "dot", ".pre-commit-config.yaml": "hooks.yaml"}


@pytest.mark.parametrize("link", LINKS)
def test_nothing_is_written_through_a_link_that_leaves_the_project(cfgfix, tmp_path, link):
    outside = tmp_path / "outside"
    (outside / "dot").mkdir(parents=True)
    (outside / "pp.toml").write_text("[project]\nname = 'x'\n")
    (outside / "hooks.yaml").write_text("repos:\n  - repo: local\n    hooks: []\n")
    inside = tmp_path / "inside"
    (inside / ".git").mkdir(parents=True)
    (inside / "train.yaml").write_text(KERAS)
    (inside / link).symlink_to(outside / LINKS[link])
    before = snapshot(tmp_path)
    for arguments in (["--yes"], ["--dry-run"]):
        refused = cfgfix("init", *arguments, cwd=inside)
        assert refused.code == 2
        assert link in refused.err
        assert "leads out of the project" in refused.err
        assert snapshot(tmp_path) == before


def test_a_link_inside_the_project_is_followed(cfgfix, project):
    (project / "tools").mkdir()
    (project / "tools" / "pp.toml").write_text("[project]\nname = 'x'\n")
    (project / "pyproject.toml").symlink_to(project / "tools" / "pp.toml")
    assert cfgfix("init", "--yes").code == 0
    assert (project / "pyproject.toml").is_symlink()
    assert "[tool.cfgfix]" in (project / "tools" / "pp.toml").read_text()


def test_a_link_that_leads_nowhere_inside_the_project_gets_its_file(cfgfix, project):
    (project / "cfgfix.toml").symlink_to(project / "kept.toml")
    assert cfgfix("init", "--yes").code == 0
    assert (project / "cfgfix.toml").is_symlink()
    assert "hardware" in (project / "kept.toml").read_text()


def test_a_link_that_leads_nowhere_outside_the_project_gets_none(cfgfix, tmp_path):
    (tmp_path / "inside" / ".git").mkdir(parents=True)
    (tmp_path / "inside" / "cfgfix.toml").symlink_to(tmp_path / "kept.toml")
    assert cfgfix("init", "--yes", cwd=tmp_path / "inside").code == 2
    assert not (tmp_path / "kept.toml").exists()


def test_a_write_that_fails_leaves_whole_files_and_tells_those_written(tmp_path, monkeypatch):
    from cfgfix.cli import project_setup
    from cfgfix.core import source_file
    from cfgfix.core.errors import UnreadableError

    monkeypatch.chdir(tmp_path)
    planned = [project_setup.Planned(name, None, "a = 1\n") for name in ("one.toml", "two.toml")]

    def full(*_arguments):
        raise OSError(28, "No space left on device")

    project_setup.write(project_setup.Plan((), (planned[0],)))
    monkeypatch.setattr(source_file, "written", [])
    (tmp_path / "one.toml").unlink()
    real = project_setup.write_file

    def put(path, text, source):
        if path == "two.toml":
            monkeypatch.setattr("os.fsync", full)
        real(path, text, source)

    monkeypatch.setattr(project_setup, "write_file", put)
    with pytest.raises(UnreadableError):
        project_setup.write(project_setup.Plan((), tuple(planned)))
    assert source_file.written == ["one.toml"]
    assert [path.name for path in tmp_path.iterdir()] == ["one.toml"]


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
