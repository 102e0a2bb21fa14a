"""Values that nothing looks at may change, and what the code says stays the same without a run; all others may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.usage import program_runs
from cfgfix.usage.code_facts import KnownCode
from cfgfix.usage.project_code import ProjectCode

PROGRAM = """\
import dataclasses
import json
import tensorflow as tf
import yaml


@dataclasses.dataclass
class Shape:
    depth: int
    wide: bool = False


def helper():
    return 1


TABLE = {{"adam": tf.keras.optimizers.Adam, "sgd": tf.keras.optimizers.SGD}}
with open("{config}") as stream:
    config = yaml.safe_load(stream)
    folder = config["folder"]
with open(folder + "/extra.json") as stream:
    extra = json.load(stream)
if config["switch"]:
    print(config["note"], extra["seed"])
shape = Shape(**config["shape"])
model = build(config["units"], sizes=config["sizes"])
for _ in range(config["turns"]):
    model.add(tf.keras.layers.Dense(shape.depth))
picked = TABLE[config["optimizer"]](config["rate"])
label = f"run of {{config['label']}}"
handed = [config["first"], config["second"]]
send(handed, label, config.get("kept", 3))
"""
CONFIG = """\
# A run.
folder: more
switch: true
note: some words
shape: {depth: 3, wide: false}
units: 12
sizes: [1, 2]
turns: 2
optimizer: adam
rate: 0.1
label: it
first: 1
second: 2.5
kept: 4
unread: 7
"""
FILES = {
    "train.py": PROGRAM.format(config="run.yaml"),
    "run.yaml": CONFIG,
    "more/extra.json": '{"seed": 1, "other": 2}\n',
    "words.yaml": "title: a page\n",
}


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The programs that are run; the project is in the working folder, with a cache of its own."""
    names: list[str] = []
    real = program_runs.ProjectRuns.one

    def one(self, entrance, *rest, **options):
        names.append(entrance.module.path)
        return real(self, entrance, *rest, **options)

    monkeypatch.setattr(program_runs.ProjectRuns, "one", one)
    monkeypatch.setenv("CFGFIX_CACHE_DIR", str(tmp_path / "cache"))
    for name, text in FILES.items():
        place = tmp_path / "project" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "project")
    assert known().configs.keys() == {"run.yaml", "more/extra.json"}
    names.clear()
    return names


def known(*, keep: bool = True) -> KnownCode:
    return ProjectCode(".", lambda _path: False, keep=keep).known()


def changed(name: str, before: str, after: str) -> KnownCode:
    """What is known after a change, which is what is worked out from nothing."""
    text = Path(name).read_text(encoding="utf-8")
    assert text.count(before) == 1
    Path(name).write_text(text.replace(before, after), encoding="utf-8")
    return known()


def is_worked_out(found: KnownCode) -> bool:
    anew = known(keep=False)
    return (
        found.configs == anew.configs
        and found.followed == anew.followed
        and found.options in (None, anew.options)
    )


OF_NO_WEIGHT = [
    ("units: 12", "units: 4000"),
    ("sizes: [1, 2]", "sizes: [1, 3]"),
    ("first: 1", "first: 9"),
    ("second: 2.5", "second: -1.25"),
    ("kept: 4", "kept: 5"),
    ("unread: 7", "unread: 8  # more"),
    ("note: some words", "note: other words of it"),
    ("# A run.", "# Another run, with other words.\n"),
]
OF_WEIGHT = [
    ("switch: true", "switch: false"),
    ("optimizer: adam", "optimizer: adagrad"),
    ("rate: 0.1", "rate: -0.1"),
    ("units: 12", "units: twelve"),
    ("sizes: [1, 2]", "sizes: [1, 2, 3]"),
    ("unread: 7", "unused: 7"),
    ("first: 1\nsecond: 2.5", "second: 2.5\nfirst: 1"),
    ("unread: 7", "unread: helper"),
]


def test_values_that_nothing_looks_at_cost_no_run(runs):
    for before, after in OF_NO_WEIGHT:
        found = changed("run.yaml", before, after)
        assert runs == [], after
    assert is_worked_out(found)


def test_what_decides_something_is_run_again(runs):
    for before, after in OF_WEIGHT:
        runs.clear()
        changed("run.yaml", before, after)
        assert runs, after
        Path("run.yaml").write_text(CONFIG, encoding="utf-8")
    # A shorter text, and then one in which all of the first kind has changed too.
    found = changed("run.yaml", "turns: 2", "turns: 0")
    assert is_worked_out(found)
    runs.clear()
    for before, after in OF_NO_WEIGHT:
        found = changed("run.yaml", before, after)
        assert runs == [], after
    assert is_worked_out(found)


def test_changes_of_several_files_add_up(runs):
    changed("run.yaml", "units: 12", "units: 13")
    changed("more/extra.json", '"other": 2', '"other": 24')
    found = changed("words.yaml", "a page", "a longer page")
    assert runs == []
    assert is_worked_out(found)
    found = changed("run.yaml", "turns: 2", "turns: 5")
    assert runs
    assert is_worked_out(found)
    runs.clear()
    found = changed("run.yaml", "units: 13", "units: 1")
    assert runs == []
    assert is_worked_out(found)


def test_the_only_text_that_names_a_function_counts(runs):
    found = changed("words.yaml", "a page", "helper")
    assert runs
    assert is_worked_out(found)
