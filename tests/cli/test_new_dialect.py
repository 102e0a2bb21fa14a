"""A dialect of a project's own: from one of its configs to findings in its own words."""

from __future__ import annotations

import json
import sys

import pytest
import yaml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

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
    assert "in force: cfgfix.toml names dialects now" in made.out
    assert "loader: pyyaml is a guess" in made.out
    data = yaml.safe_load((tmp_path / "dialects" / "mynet" / "dialect.yaml").read_text())
    assert data["name"] == "mynet"
    assert data["concepts"]["batch_size"] == ["solver.batch_size"]
    assert data["concepts"]["workers"] == ["input.num_workers"]

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


CODE = {
    "pyyaml-full": "import yaml\nc = yaml.load(open('train.yaml'), Loader=yaml.FullLoader)\n",
    "ruamel": "from ruamel.yaml import YAML\nc = YAML(typ='safe').load(open('train.yaml'))\n",
    "omegaconf": "from omegaconf import OmegaConf\nc = OmegaConf.load('train.yaml')\n",
    "pyyaml-floats": "import yaml\n\nclass L(yaml.SafeLoader):\n    pass\n\n"
    "L.add_implicit_resolver('tag:yaml.org,2002:float', None, list('-+0123456789.'))\n"
    "c = yaml.load(open('train.yaml'), Loader=L)\n",
}


@pytest.mark.parametrize("loader", CODE)
def test_the_loader_is_the_one_of_the_code(cfgfix, tmp_path, loader) -> None:
    (tmp_path / "train.yaml").write_text(EXAMPLE)
    (tmp_path / "train.py").write_text(CODE[loader] + "print(c['solver']['rate'])\n")
    made = cfgfix("init", "--dialect", "mynet", "--example", "train.yaml", cwd=tmp_path)
    assert f"loader: {loader}, by " in made.out
    assert "train.py:" in made.out
    data = yaml.safe_load((tmp_path / "dialects" / "mynet" / "dialect.yaml").read_text())
    assert data["loader"] == loader


@pytest.mark.parametrize(
    "code",
    [
        "import yaml\n\nclass L(yaml.SafeLoader):\n    pass\n\nc = yaml.load(open('train.yaml'), Loader=L)\n",
        "import yaml\nc = yaml.safe_load(open('train.yaml'))\nd = yaml.full_load(open('x.yaml'))\nprint(d['a'])\n",
    ],
)
def test_a_loader_that_the_code_does_not_tell_is_called_a_guess(cfgfix, tmp_path, code) -> None:
    (tmp_path / "train.yaml").write_text(EXAMPLE)
    (tmp_path / "train.py").write_text(code + "print(c['solver']['rate'])\n")
    made = cfgfix("init", "--dialect", "mynet", "--example", "train.yaml", cwd=tmp_path)
    assert "loader: pyyaml is a guess" in made.out
    assert "train.py:" in made.out


SETTINGS = {
    "no file": (None, "", {"dialects": ["dialects"]}),
    "a file": ("cfgfix.toml", '# mine\nignore = ["REF"]  # why\n[severity]\nYML = "info"\n', None),
    "a list": ("cfgfix.toml", 'dialects = [\n  "other",\n]\n', {"dialects": ["dialects", "other"]}),
    "an empty list": (".cfgfix.toml", "dialects = []\n", {"dialects": ["dialects"]}),
    "a project": ("pyproject.toml", "[project]\nname = 'x'\n", None),
    "a table": ("pyproject.toml", "[tool.cfgfix]\nignore = ['REF']\n\n[tool.other]\ndialects = []\n", None),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_it_puts_itself_in_force_and_keeps_the_settings(cfgfix, tmp_path, case) -> None:
    name, text, expected = SETTINGS[case]
    (tmp_path / "train.yaml").write_text(EXAMPLE)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "dialect.yaml").write_text("name: other\ndetect: {all: [[never]]}\n")
    if name is not None:
        (tmp_path / name).write_text(text)
    made = cfgfix("init", "--dialect", "mynet", "--example", "train.yaml", cwd=tmp_path)
    assert made.code == 0, made.err
    written = (tmp_path / (name or "cfgfix.toml")).read_text()
    for line in text.splitlines():
        assert case in ("a list", "an empty list") or line in written
    if expected is not None:
        assert tomllib.loads(written) == expected
    told = cfgfix("check", "--hardware", "none", "--output-format", "json", "train.yaml", cwd=tmp_path)
    assert {file["dialect"] for file in json.loads(told.out)["files"]} == {"mynet"}
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*ml")}
    again = cfgfix("init", "--dialect", "mynet", "--example", "train.yaml", cwd=tmp_path)
    assert again.code == 0
    assert "already; left as it is" in again.out
    assert "in force: " in again.out
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*ml")} == before


def test_a_folder_that_the_settings_name_already_is_filled(cfgfix, tmp_path) -> None:
    (tmp_path / "cfgfix.toml").write_text('dialects = ["dialects"]\ndialect = "mynet"\n')
    made = cfgfix("init", "--dialect", "mynet", cwd=tmp_path)
    assert made.code == 0, made.err
    assert "in force: cfgfix.toml names dialects" in made.out


def test_settings_that_cannot_be_edited_exactly_are_left(cfgfix, tmp_path) -> None:
    text = "tool.cfgfix.ignore = ['REF']\n"
    (tmp_path / "pyproject.toml").write_text(text)
    made = cfgfix("init", "--dialect", "mynet", cwd=tmp_path)
    assert made.code == 0
    assert 'in pyproject.toml write: dialects = ["dialects"]' in made.out
    assert (tmp_path / "pyproject.toml").read_text() == text


def test_a_second_run_tells_that_the_code_reads_in_another_way(cfgfix, tmp_path) -> None:
    (tmp_path / "train.yaml").write_text(EXAMPLE)
    cfgfix("init", "--dialect", "mynet", "--example", "train.yaml", cwd=tmp_path)
    (tmp_path / "train.py").write_text(CODE["ruamel"] + "print(c['solver']['rate'])\n")
    again = cfgfix("init", "--dialect", "mynet", "--example", "train.yaml", cwd=tmp_path).out
    assert "write: loader: ruamel" in again


def test_another_dialect_for_all_configs_is_told(cfgfix, tmp_path) -> None:
    (tmp_path / "train.yaml").write_text(EXAMPLE)
    (tmp_path / "cfgfix.toml").write_text('dialect = "generic"\n')
    made = cfgfix("init", "--dialect", "mynet", "--example", "train.yaml", cwd=tmp_path).out
    assert "`dialect` in cfgfix.toml names 'generic' for all configs" in made


@pytest.mark.parametrize("link", ["dialects", "cfgfix.toml"])
def test_nothing_is_written_through_a_link_that_leaves_the_project(cfgfix, tmp_path, link) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    (outside / "dialects").mkdir(parents=True)
    (outside / "cfgfix.toml").write_text("ignore = ['REF']\n")
    (inside / ".git").mkdir(parents=True)
    (inside / link).symlink_to(outside / link)
    made = cfgfix("init", "--dialect", "mynet", cwd=inside)
    assert made.code == 2
    assert "leads out of the project" in made.err
    assert not list((outside / "dialects").iterdir())
    assert not (inside / "dialects" / "mynet").exists()
    assert (outside / "cfgfix.toml").read_text() == "ignore = ['REF']\n"


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
