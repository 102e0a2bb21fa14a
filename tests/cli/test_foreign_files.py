"""Files of other tools: passed over whatever the settings, the command line or a hook name, and never changed."""

from __future__ import annotations

import pytest
import yaml
from foreign_samples import FOREIGN, compose_problems, held, lay, published_compose_problems

from cfgfix.cli.start import run

TRAINING = "batch_size: 32\nlearning_rate: 1.0e-3\nepochs: 3\n"
LOOSE = TRAINING.replace("1.0e-3", "1e-3")
"""The same, with the text where a number is meant."""

NAMED = {
    "nothing": "",
    "a dialect": 'dialect = "generic"\n',
    "a dialect with a program": 'dialect = "myxtts"\n',
    "places": 'include = ["*.y*ml", ".github/*.yml", "*/*.y*ml"]\ndialect = "keras-flat"\n',
    "keys": '[keys]\nlearning_rate = ["env.LR", "extra.learning_rate", "variables.LR", "data.learning_rate"]\n',
    "a class": 'schema = "settings.py:Config"\nignore = ["REF"]\n',
}
CLASS = """\
from dataclasses import dataclass


@dataclass
class Config:
    name: str = "a"
    version: str = "1"
    data: dict = None
    batch_size: int = 32
    learning_rate: float = 1e-3
    epochs: int = 3
"""


@pytest.fixture
def inside(monkeypatch, capsys, tmp_path):
    """Run a command in this process, which is faster than one of its own for each file."""
    monkeypatch.setenv("CFGFIX_CACHE_DIR", str(tmp_path / ".cache-of-cfgfix"))

    def call(folder, *arguments):
        monkeypatch.chdir(folder)
        code = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture(params=sorted(NAMED))
def project(request, tmp_path):
    """A project whose settings name something."""
    (tmp_path / ".git").mkdir()
    lay(tmp_path)
    (tmp_path / "settings.py").write_text(CLASS)
    (tmp_path / "train.yaml").write_text(TRAINING)
    (tmp_path / "cfgfix.toml").write_text(NAMED[request.param])
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["fix", "."],
        ["--fix", "."],
        ["fix", "--force-exclude", *FOREIGN],
        ["fix", "--unsafe-fixes", ".", *FOREIGN],
        ["fix", ".", "--dialect", "generic"],
        ["fix", "--dialect", "generic", *FOREIGN],
        ["check", "--add-ignores", "."],
    ],
)
def test_no_byte_changes_and_nothing_is_said(inside, project, arguments):
    before = held(project)
    code, out, err = inside(project, *arguments)
    assert held(project) == before
    assert code in (0, 1), out + err
    assert not [name for name in FOREIGN if name in out]


@pytest.mark.parametrize("force_exclude", [True, False])
def test_each_alone_as_a_hook_names_it(inside, project, force_exclude):
    """Hooks of other people's making leave `--force-exclude` out, or name a dialect."""
    before = held(project)
    for name in FOREIGN:
        for command in ("check", "fix"):
            for dialect in ([], ["--dialect", "generic"]):
                more = [*dialect, *(["--force-exclude"] if force_exclude else [])]
                code, out, err = inside(project, command, "--output-format", "concise", *more, name)
                assert (code, err) == (0, "")
                assert not force_exclude or name not in out
    assert held(project) == before


UNTOLD = {"locale/nb.yml", "docs/_data/navigation.yml", "docs/_config.yml", "chart/values.yaml"}
"""Files that no tool asks much of: passed over as well, but not called by the tool's name."""
TOLD = sorted(set(FOREIGN) - UNTOLD)


@pytest.mark.parametrize("name", TOLD)
def test_a_person_who_names_it_is_told_once_and_can_force_it(inside, tmp_path, name):
    lay(tmp_path)
    before = held(tmp_path)
    for arguments in (
        ["fix", name],
        ["fix", name, "--dialect", "generic"],
        ["check", name, "--dialect", "generic"],
    ):
        code, out, _ = inside(tmp_path, *arguments)
        assert code == 0
        (line,) = out.splitlines()
        assert line.startswith(f"passed over {name}: a")
        assert "--force-dialect" in line
    assert held(tmp_path) == before
    _, out, _ = inside(tmp_path, "check", name, "--dialect", "generic", "--force-dialect")
    assert "passed over" not in out
    assert "1 config" in out


def test_force_without_a_dialect_is_a_mistake(cfgfix, tmp_path):
    lay(tmp_path)
    result = cfgfix("check", "mkdocs.yml", "--force-dialect", cwd=tmp_path)
    assert result.code == 2
    assert "--dialect" in result.err


def test_a_name_alone_makes_no_config_of_a_file(cfgfix, tmp_path):
    (tmp_path / "a.yaml").write_text("rate: 1e-3\n")
    for arguments in (["a.yaml"], ["."]):
        assert "no training config" in cfgfix("check", *arguments, "--dialect", "generic", cwd=tmp_path).out
    assert "YML001" in cfgfix("check", "a.yaml", "--dialect", "generic", "--force-dialect", cwd=tmp_path).out
    for arguments in (["."], ["--force-exclude", "a.yaml"], ["a.yaml", "a.yaml"]):
        told = cfgfix("check", *arguments, "--dialect", "generic", "--force-dialect", cwd=tmp_path)
        assert "no training config" in told.out


def test_a_small_config_with_a_training_key_needs_no_naming(cfgfix, tmp_path):
    (tmp_path / "cfgfix.toml").write_text('dialect = "generic"\n')
    (tmp_path / "a.yaml").write_text("train:\n  learning_rate: 1e-3\n")
    (tmp_path / "workers.yaml").write_text("workers: 4\nbind: 0.0.0.0\n")
    result = cfgfix("check", cwd=tmp_path)
    assert "a.yaml:2:18" in result.out
    assert "1 other file passed over" in result.out


@pytest.mark.parametrize("name", FOREIGN)
def test_what_comes_from_an_editor_goes_back_as_it_came(cfgfix, tmp_path, name):
    (tmp_path / "cfgfix.toml").write_text('dialect = "generic"\n')
    text = FOREIGN[name].encode()
    result = cfgfix("fix", "-", "--stdin-filename", name, stdin=text, cwd=tmp_path)
    assert result.out.encode() == text


PARSED_ONLY = {"ansible/site.yml", "chart/Chart.yaml"}


@pytest.mark.parametrize("name", sorted(set(TOLD) - PARSED_ONLY))
def test_a_file_of_another_tool_that_does_not_parse_is_left_too(inside, tmp_path, name):
    (tmp_path / ".git").mkdir()
    (tmp_path / "cfgfix.toml").write_text('dialect = "generic"\n')
    lay(tmp_path, {name: FOREIGN[name] + "learning_rate: [1e-3\n\tepochs: 3\nbatch_size: 2\n"})
    before = held(tmp_path, [name])
    code, out, _ = inside(tmp_path, "fix", ".")
    assert held(tmp_path, [name]) == before
    assert (code, name in out) == (0, False), out


def test_a_training_config_with_words_of_other_tools_is_still_one(cfgfix, tmp_path):
    """What a tool demands of its files tells them, not a word that happens to stand in one."""
    (tmp_path / "train.yaml").write_text(
        "model:\n  text_encoder_dim: 512\n  decoder_dim: 1024\nservices: {board: 6006}\nkind: speech\nname: a\n"
        "data:\n  batch_size: 8\n  max_text_tokens: 200\ntraining:\n  learning_rate: 1e-4\n  epochs: 3\n"
    )
    assert "YML001" in cfgfix("check", cwd=tmp_path).out


def test_a_fix_of_a_named_file_leaves_the_code_of_the_source_roots(cfgfix, tmp_path):
    (tmp_path / "cfgfix.toml").write_text('source-roots = ["."]\n')
    code = "import tensorflow as tf\n\n\ndef workers(n):\n    return min(n, tf.data.AUTOTUNE)\n"
    (tmp_path / "data.py").write_text(code)
    (tmp_path / "train.yaml").write_text(LOOSE)
    lay(tmp_path)
    cfgfix("fix", "docker-compose.yml", cwd=tmp_path)
    assert cfgfix("fix", "train.yaml", "--select", "YML001", cwd=tmp_path).code == 0
    assert (tmp_path / "train.yaml").read_text() == TRAINING
    assert (tmp_path / "data.py").read_text() == code
    cfgfix("fix", "data.py", cwd=tmp_path)
    assert (tmp_path / "data.py").read_text() != code


def test_restart_stays_a_text_for_compose(cfgfix, tmp_path):
    """Compose reads YAML 1.2, where `no` is the text that its schema asks for; `false` would be refused."""
    (tmp_path / "cfgfix.toml").write_text('dialect = "generic"\n')
    lay(tmp_path)
    assert compose_problems((tmp_path / "docker-compose.yml").read_text()) == []
    assert compose_problems(FOREIGN["docker-compose.yml"].replace("restart: no", "restart: false"))
    cfgfix("fix", ".", "--unsafe-fixes", cwd=tmp_path)
    assert (tmp_path / "docker-compose.yml").read_text() == FOREIGN["docker-compose.yml"]
    assert compose_problems((tmp_path / "docker-compose.yml").read_text()) == []


@pytest.mark.parametrize("changed", [("restart: no", "restart: false"), ("- yes\n", "- true\n")])
def test_the_compose_sample_is_valid_by_the_published_schema(changed):
    pytest.importorskip("check_jsonschema")
    text = FOREIGN["docker-compose.yml"]
    assert published_compose_problems(text) == []
    assert published_compose_problems(text.replace(*changed))
    assert compose_problems(text.replace(*changed))


def test_the_samples_are_what_they_say():
    assert yaml.safe_load(FOREIGN["docker-compose.yml"])["services"]["trainer"]["restart"] is False
