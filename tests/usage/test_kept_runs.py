"""After a config has changed, only the runs are made again that depend on its text, and what they show is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.usage import program_runs
from cfgfix.usage.code_facts import KnownCode
from cfgfix.usage.project_code import ProjectCode

PROGRAM = """\
import argparse
import tensorflow as tf
import yaml

parser = argparse.ArgumentParser()
parser.add_argument("--config", default="{config}")
options = parser.parse_args()
with open(options.config) as stream:
    config = yaml.safe_load(stream)
if config.get("base"):
    with open(config["base"]) as stream:
        base = yaml.safe_load(stream)
    print(base["depth"])
data = tf.data.Dataset.range(100).batch(config["batch"])
model = tf.keras.Sequential([tf.keras.layers.Dense(config["units"]) for _ in range(config.get("layers", 2))])
model.compile(tf.keras.optimizers.Adam(config["rate"]))
model.fit(data, epochs=config["epochs"])
"""
CONFIG = "batch: 8\nunits: 4\nrate: 0.1\nepochs: 3\n"
FILES = {
    "first.py": PROGRAM.format(config="first.yaml"),
    "second.py": PROGRAM.format(config="second.yaml"),
    "third.py": PROGRAM.format(config="third.yaml"),
    "first.yaml": CONFIG,
    "second.yaml": CONFIG + "unused: 3\n",
    "third.yaml": CONFIG,
    "base.yaml": "depth: 2\n",
    "pod.yaml": "kind: Pod\n",
    "site.yaml": "title: A page\nplugins: [search]\n",
    "pyproject.toml": '[project]\nname = "drills"\n',
}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The programs that are run, in order; the project is in the working folder, with a cache of its own."""
    names: list[str] = []
    real = program_runs.ProjectRuns.one

    def one(self, entrance, *rest, **options):
        names.append(entrance.module.path)
        return real(self, entrance, *rest, **options)

    monkeypatch.setattr(program_runs.ProjectRuns, "one", one)
    monkeypatch.setenv("CFGFIX_CACHE_DIR", str(tmp_path / "cache"))
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    assert known().configs.keys() >= {"first.yaml", "second.yaml", "third.yaml"}
    assert {"first.py", "second.py", "third.py"} <= set(names)
    names.clear()
    return names


def known(*, keep: bool = True) -> KnownCode:
    return ProjectCode(".", lambda _path: False, keep=keep).known()


def change(name: str, before: str, after: str) -> None:
    text = Path(name).read_text(encoding="utf-8")
    assert before in text
    Path(name).write_text(text.replace(before, after), encoding="utf-8")


def agrees(made: list[str]) -> list[str]:
    """The programs that are run for an answer, which is the one that is worked out from nothing."""
    found = known()
    programs = sorted(set(made))
    anew = known(keep=False)
    assert found.configs == anew.configs
    assert found.followed == anew.followed
    assert found.options is None or found.options == anew.options
    return programs


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("batch: 8", "batch: 16"),
        ("unused: 3", "unused: three"),
        ("units: 4\n", ""),
        ("rate: 0.1", "rate: 1e-1"),
        ("epochs: 3\n", "epochs: 3\nwidth: 4\n"),
        ("batch", "batches"),
        ("batch: 8", "# more\nbatch: 16"),
    ],
)
def test_only_the_runs_are_made_that_open_the_changed_config(made, before, after):
    change("second.yaml", before, after)
    assert agrees(made) == ["second.py"]


def test_a_file_that_no_run_touches_and_no_load_site_fits_costs_no_run(made):
    change("site.yaml", "A page", "Another page")
    assert agrees(made) == []


def test_the_answer_after_a_change_is_kept_too(made):
    change("second.yaml", "batch: 8", "batch: 16")
    known()
    made.clear()
    known()
    assert made == []


def test_a_second_change_is_held_against_what_was_kept_first(made):
    change("second.yaml", "batch: 8", "batch: 16")
    known()
    change("first.yaml", "rate: 0.1", "rates: 0.1")
    made.clear()
    assert agrees(made) == ["first.py", "second.py"]


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("second.yaml", "batch: 8", "base: base.yaml\nbatch: 8"),
        ("pod.yaml", "kind: Pod\n", "kind: Pod\nspec:\n  containers:\n  - resources: {limits: {cpu: 2}}\n"),
        ("pyproject.toml", "drills", "drill"),
        ("site.yaml", FILES["site.yaml"], CONFIG),
        ("second.yaml", "epochs: 3", "epochs: [3"),
        ("first.py", "Adam", "SGD"),
    ],
    ids=["opens another file", "a job", "how it is built", "fits a load site", "cannot be read", "the code"],
)
def test_everything_is_run_where_more_may_be_another(made, name, before, after):
    change(name, before, after)
    assert agrees(made) == ["first.py", "second.py", "third.py"]


def test_the_options_are_worked_out_where_they_are_asked_for(made):
    change("second.yaml", "batch: 8", "batch: 16")
    code = ProjectCode(".", lambda _path: False)
    assert code.known().options is None
    assert code.options() == ProjectCode(".", lambda _path: False, keep=False).options()


def test_a_text_that_is_being_edited_needs_the_runs_of_its_config_alone(made):
    from cfgfix.core.source_file import SourceFile

    source = SourceFile.from_text(CONFIG.replace("units", "unit"), "second.yaml")
    says = ProjectCode(".", lambda _path: False).facts_about("second.yaml", source)
    assert set(made) == {"second.py"}
    anew = ProjectCode(".", lambda _path: False, keep=False).facts_about("second.yaml", source)
    assert says == anew
    assert says is not None
    assert any(hit.at.key_path and hit.at.key_path[-1] == "unit" for _, hit in says.hits)
