"""Settings in dictionaries, classes and namespaces of the code: what nothing reads of them, and what they lack."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.core.source_file import read_source
from cfgfix.rules.hit import span_of
from cfgfix.usage.project_code import ProjectCode

PROJECT = {
    "kiln/knobs.py": """\
from types import SimpleNamespace

GLAZE = dict(
    coats=3,
    shine=0.5,
    crackle=True,
)
FIRE = SimpleNamespace(heat=0.01, hours=2, soak=4)


class KilnConfig:
    def __init__(self, shelves=4):
        self.shelves = shelves
        self.bricks = 9
        self.flue = "open"

    def volume(self):
        return self.shelves * self.bricks


def clay_params(size):
    params = {"grains": 8, "size": size, "wetness": 0.3}
    if size > 4:
        params.update(grains=16)
    return params
""",
    "fire.py": """\
import tensorflow as tf

from kiln import knobs
from kiln.knobs import FIRE, KilnConfig, clay_params


def model_of(glaze, kiln, clay):
    layers = [tf.keras.layers.Dense(kiln.volume()) for _ in range(glaze["coats"])]
    if glaze.get("shine"):
        layers.append(tf.keras.layers.Dropout(glaze["shine"]))
    if glaze.get("crackles", False):
        layers.append(tf.keras.layers.BatchNormalization())
    layers.append(tf.keras.layers.Dense(clay["grains"] + clay["size"]))
    return tf.keras.Sequential(layers)


def main():
    kiln = KilnConfig(shelves=2)
    model = model_of(knobs.GLAZE, kiln, clay_params(3))
    model.compile(tf.keras.optimizers.SGD(FIRE.heat))
    data = tf.data.Dataset.range(8).batch(kiln.brick)
    model.fit(data, epochs=FIRE.hours)


if __name__ == "__main__":
    main()
""",
    "right.py": """\
import dataclasses

import tensorflow as tf

BASE = {"units": 3, "rate": 0.1, "note": "first"}
OTHER = {**BASE, "depth": 2}


@dataclasses.dataclass
class Plan:
    epochs: int = 2
    folder: str = "out"
    tag: str = "a"


def say(plan):
    for name, value in dataclasses.asdict(plan).items():
        tf.summary.scalar(name, value, step=0)


def main():
    say(Plan())
    width = {name: OTHER[name] for name in ("units", "rate", "depth", "note")}
    tf.keras.layers.Dense(width["units"])
    counts = {"hits": 0, "misses": 0}
    counts["hits"] += 1
    counts["total"] = counts["hits"] + 1
    tf.constant(counts["total"])


main()
""",
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, int, str, str]]:
    """What is told of the settings of the project: file, line, check and name."""
    root = tmp_path_factory.mktemp("kiln")
    for name, text in PROJECT.items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    code = ProjectCode(str(root), lambda _path: False, keep=False)
    found = []
    for path, check, hit in code.options():
        text = read_source(str(Path(root) / path)).text
        found.append((path, text.count("\n", 0, span_of(hit).start) + 1, check, str(hit.values.get("name"))))
    assert not code.failures
    return sorted(found)


def test_settings_that_nothing_reads(told: list[tuple[str, int, str, str]]) -> None:
    dead = [(line, name) for _, line, check, name in told if check == "dead-setting"]
    assert dead == [(8, "soak"), (15, "flue"), (22, "wetness")]


def test_a_setting_that_is_asked_for_under_another_name(told: list[tuple[str, int, str, str]]) -> None:
    assert ("kiln/knobs.py", 6, "misspelt-setting", "crackle") in told


def test_a_setting_that_is_not_there(told: list[tuple[str, int, str, str]]) -> None:
    absent = [(path, line, name) for path, line, check, name in told if check == "absent-setting"]
    assert absent == [("fire.py", 21, "brick")]


def test_settings_that_are_gone_through_or_added_to(told: list[tuple[str, int, str, str]]) -> None:
    assert not [item for item in told if item[0] == "right.py"]


def test_sections_that_a_word_of_the_command_takes(tmp_path: Path) -> None:
    (tmp_path / "ovens.yaml").write_text("small:\n  loaves: 4\nlarge:\n  loafs: 8\n", encoding="utf-8")
    (tmp_path / "bake.sh").write_text("python bake.py small\npython bake.py large\n", encoding="utf-8")
    (tmp_path / "bake.py").write_text(
        "import sys\n\nimport tensorflow as tf\nimport yaml\n\n"
        'with open("ovens.yaml") as f:\n    oven = yaml.safe_load(f)[sys.argv[1]]\n'
        'tf.keras.layers.Dense(oven["loaves"])\n',
        encoding="utf-8",
    )
    says = ProjectCode(str(tmp_path), lambda _path: False, keep=False).all()["ovens.yaml"]
    assert [check for check, _ in says.hits] == ["misspelt-key"]


@pytest.mark.parametrize("form", ["{%s}", "dict(%s)"])
def test_a_dictionary_of_which_only_a_part_is_kept(tmp_path: Path, form: str) -> None:
    entry = "'k{0}': {0}" if form.startswith("{") else "k{0}={0}"
    entries = ", ".join(map(entry.format, range(700)))
    reads = "\n".join(f'tf.keras.layers.Dense(SETTINGS["k{number}"] + 1)' for number in range(700))
    (tmp_path / "train.py").write_text(
        f"import tensorflow as tf\n\nSETTINGS = {form % entries}\n{reads}\n", encoding="utf-8"
    )
    code = ProjectCode(str(tmp_path), lambda _path: False, keep=False)
    assert list(code.options()) == []


@pytest.mark.parametrize("given", ["dict(units=4, **extra())", "{'units': 4, **extra()}"])
def test_a_dictionary_with_more_than_is_known(tmp_path: Path, given: str) -> None:
    (tmp_path / "train.py").write_text(
        "import json\nimport tensorflow as tf\n\n\ndef extra():\n    return json.loads(input())\n\n\n"
        f"CONFIG = {given}\ntf.keras.layers.Dense(CONFIG['units'] + CONFIG['more'])\n",
        encoding="utf-8",
    )
    assert list(ProjectCode(str(tmp_path), lambda _path: False, keep=False).options()) == []


RIGHT = {
    "labels of a run": """\
import wandb
import tensorflow as tf

hp = {"units": 4, "rate": 0.1, "architecture": "CNN", "dataset": "CIFAR"}
wandb.init(config=hp)
tf.keras.layers.Dense(hp["units"])
tf.keras.layers.Dropout(hp["rate"])
""",
    "all that is left, printed": """\
import tensorflow as tf


def build(units, rate, **others):
    print(others)
    return [tf.keras.layers.Dense(units), tf.keras.layers.Dropout(rate)]


hp = {"units": 4, "rate": 0.1, "title": "May"}
build(**hp)
""",
    "a class shown as a whole": """\
import logging
import tensorflow as tf


class Config:
    units = 4
    rate = 0.1
    title = "May"


logging.info("%s", vars(Config))
tf.keras.layers.Dense(Config.units)
tf.keras.layers.Dropout(Config.rate)
""",
    "a name that is asked of the command as well": """\
import sys
from dataclasses import dataclass

import tensorflow as tf
from omegaconf import OmegaConf


@dataclass
class Settings:
    units: int = 4
    rate: float = 0.1
    config: str = "a.yaml"


cli = OmegaConf.from_cli(sys.argv[1:])
print(cli.get("config", "b.yaml"))
c = OmegaConf.merge(OmegaConf.structured(Settings), cli)
tf.keras.layers.Dense(c.units)
tf.keras.layers.Dropout(c.rate)
""",
    "fields that get another value": """\
from dataclasses import dataclass, replace
from typing import NamedTuple

import tensorflow as tf


@dataclass
class TrainConfig:
    units: int = 4
    rate: float = 0.1


class HParams(NamedTuple):
    depth: int = 2
    width: int = 3


class Config:
    SEED = 1
    STEPS = 3


c = replace(TrainConfig(), units=5)
h = HParams()._replace(depth=4)
Config.SEED = 2
tf.keras.layers.Dense(c.units * h.depth * h.width * Config.STEPS)
tf.keras.layers.Dropout(c.rate)
tf.random.set_seed(Config.SEED)
""",
}


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_settings_that_count_for_something_else(tmp_path: Path, text: str) -> None:
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    assert list(ProjectCode(str(tmp_path), lambda _path: False, keep=False).options()) == []
