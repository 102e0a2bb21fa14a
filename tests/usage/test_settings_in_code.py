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
    "constants that others are made of": """
import os

import tensorflow as tf


class Config:
    FOLDER = os.path.dirname(__file__)
    UNITS = 4
    WIDTH = 2 * UNITS
    LOGS = os.path.join(FOLDER, "logs")


tf.keras.layers.Dense(Config.WIDTH, name=Config.LOGS)
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


REFUSED = {
    "a field of an object that is handed on": (
        """
from dataclasses import dataclass, field


@dataclass
class Glaze:
    coats: int = 3
    look: str = "shiney"


@dataclass
class Pot:
    glaze: Glaze = field(default_factory=Glaze)


def paint(pot):
    return tf.keras.layers.Dense(pot.glaze.coats, activation=pot.glaze.look)


paint(Pot())
""",
        [("look", 18)],
    ),
    "a dictionary spread into the call of another function": (
        """
RISE = {"mode": "fan_inn", "scale": 2.0}


def start(**how):
    return tf.keras.initializers.VarianceScaling(**how)


start(**RISE)
""",
        [("mode", 3)],
    ),
    "an attribute that the constructor sets, in a namespace": (
        """
from types import SimpleNamespace


class Kiln:
    def __init__(self, opts):
        self.opts = opts

    def dry(self, x):
        return tf.keras.layers.Conv1D(4, 3, padding=self.opts.border)(x)


Kiln(SimpleNamespace(border="smae", turns=2)).dry(tf.zeros([1, 9, 2]))
""",
        [("border", 11)],
    ),
}
TAKEN = {
    "a word of another release and a name in another case": """
OPTS = {"border": "SAME", "look": "silu"}
tf.keras.layers.Conv1D(4, 3, padding=OPTS["border"], activation=OPTS["look"])
""",
    "made right on the way": """
OPTS = {"units": "4", "look": "Re-Lu"}
tf.keras.layers.Dense(int(OPTS["units"]), activation=OPTS["look"].lower().replace("-", ""))
""",
    "on a way that is not taken for sure": """
import sys

OPTS = {"look": "shiney", "units": 4}
if len(sys.argv) > 2:
    tf.keras.layers.Dense(OPTS["units"], activation=OPTS["look"])
""",
    "a place for what is known later": """
class Config:
    units = None
    look = "relu"


tf.keras.layers.Dense(Config.units, activation=Config.look)
""",
    "set by code that this program does not run": """
class Config:
    units = -1
    look = "relu"


def measured():
    Config.units = 3


tf.keras.layers.Dense(Config.units, activation=Config.look)
""",
    "ready for it": """
OPTS = {"look": "shiney", "units": 4}
try:
    layer = tf.keras.layers.Dense(OPTS["units"], activation=OPTS["look"])
except ValueError:
    layer = tf.keras.layers.Dense(OPTS["units"])
""",
}


@pytest.mark.parametrize(("text", "expected"), REFUSED.values(), ids=REFUSED)
def test_a_setting_that_a_call_refuses(tmp_path: Path, text: str, expected: list[tuple[str, int]]) -> None:
    (tmp_path / "train.py").write_text(f"import tensorflow as tf\n{text}", encoding="utf-8")
    code = ProjectCode(str(tmp_path), lambda _path: False, keep=False)
    source = read_source(str(tmp_path / "train.py")).text
    assert [
        (hit.values["name"], source.count("\n", 0, span_of(hit).start) + 1)
        for _, check, hit in code.options()
        if check == "refused-setting"
    ] == expected


@pytest.mark.parametrize("text", TAKEN.values(), ids=TAKEN)
def test_a_setting_that_a_call_takes(tmp_path: Path, text: str) -> None:
    (tmp_path / "train.py").write_text(f"import tensorflow as tf\n{text}", encoding="utf-8")
    code = ProjectCode(str(tmp_path), lambda _path: False, keep=False)
    assert [item for item in code.options() if item[1] == "refused-setting"] == []


VARIABLES = """\
RATE = 0.1
TURNS = 3
SHELVES = 4
FLUE_WIDTH = 7
"""
READS = {
    "a module by another name": (
        "import kiln_config as K",
        "tf.keras.layers.Dense(K.SHELVES, name=str(K.TURNS))\ntf.keras.optimizers.SGD(K.RATE)",
    ),
    "a module of a package": (
        "from kiln import settings",
        "tf.keras.layers.Dense(settings.SHELVES, name=str(settings.TURNS))\ntf.keras.optimizers.SGD(settings.RATE)",
    ),
    "its variables": (
        "from hparams import RATE, SHELVES, TURNS",
        "tf.keras.layers.Dense(SHELVES, name=str(TURNS))\ntf.keras.optimizers.SGD(RATE)",
    ),
}
ALL_READ = {
    "all of them by a star": (
        "from params import *",
        "tf.keras.layers.Dense(SHELVES * FLUE_WIDTH * TURNS * RATE)",
    ),
    "gone through": (
        "import settings",
        "print({name: value for name, value in vars(settings).items()})\ntf.keras.layers.Dense(settings.SHELVES)",
    ),
    "by a name that is worked out": (
        "import config",
        "def of(name):\n    return getattr(config, name.upper())\n\n\ntf.keras.layers.Dense(config.SHELVES + of(input()))",
    ),
    "given to code that is not known": (
        "import config\nimport elsewhere",
        "elsewhere.note(config)\ntf.keras.layers.Dense(config.SHELVES)",
    ),
    "set by the program": (
        "import config",
        "config.FLUE_WIDTH = 3\ntf.keras.layers.Dense(config.SHELVES * config.RATE * config.TURNS)",
    ),
}


def kiln_module(folder: Path, imports: str, code: str) -> list[tuple[str, str, str]]:
    """What is told of a module of settings and a program that imports it: file, check and name."""
    first = imports.split()
    name = {"import": first[1], "from": ".".join(first[1::2][:2]) if first[1] == "kiln" else first[1]}[
        first[0]
    ]
    path = folder.joinpath(*name.split(".")).with_suffix(".py")
    path.parent.mkdir(exist_ok=True)
    path.write_text(VARIABLES, encoding="utf-8")
    (folder / "train.py").write_text(f"import tensorflow as tf\n{imports}\n\n{code}\n", encoding="utf-8")
    found = ProjectCode(str(folder), lambda _path: False, keep=False).options()
    return [(file, check, str(hit.values["name"])) for file, check, hit in found]


@pytest.mark.parametrize(("imports", "code"), READS.values(), ids=READS)
def test_a_variable_of_a_module_that_nothing_reads(tmp_path: Path, imports: str, code: str) -> None:
    told = kiln_module(tmp_path, imports, code)
    assert [(check, name) for _, check, name in told] == [("dead-setting", "FLUE_WIDTH")]


@pytest.mark.parametrize(("imports", "code"), ALL_READ.values(), ids=ALL_READ)
def test_variables_of_a_module_that_may_all_be_read(tmp_path: Path, imports: str, code: str) -> None:
    assert kiln_module(tmp_path, imports, code) == []


@pytest.mark.parametrize("name", ["FLUE_WITH", "FLUE_HEIGHT"])
def test_a_variable_that_a_module_lacks(tmp_path: Path, name: str) -> None:
    """It is told where it is asked for, and not of the variable that is meant."""
    code = f"tf.keras.layers.Dense(config.SHELVES * config.TURNS * config.RATE)\ntf.keras.layers.Dense(config.{name})"
    assert kiln_module(tmp_path, "import config", code) == [("train.py", "absent-setting", name)]


def test_a_variable_that_a_module_may_have(tmp_path: Path) -> None:
    code = "config.DOOR = 3\nif hasattr(config, 'LID'):\n    tf.keras.layers.Dense(config.LID)\ntf.keras.layers.Dense(config.SHELVES + config.DOOR)\nprint(vars(config))"
    assert kiln_module(tmp_path, "import config", code) == []


MODELS = {
    "settings of the environment": "from pydantic_settings import BaseSettings, SettingsConfigDict\n\n\nclass Settings(BaseSettings):\n    model_config = SettingsConfigDict(env_prefix='KILN_')\n",
    "a model": "from pydantic import BaseModel\n\n\nclass Plan(BaseModel):\n",
    "a model of the first release": "from pydantic.v1 import BaseSettings\n\n\nclass Base(BaseSettings):\n    pass\n\n\nclass Knobs(Base):\n",
}


@pytest.mark.parametrize("head", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize(
    ("read", "expected"),
    [
        ("plan.turn", ["absent-setting"]),
        ("plan.model_dump()['turns']", []),
        ("plan.copy().turns", []),
        ("getattr(plan, 'door', 3) + plan.turns", []),
    ],
)
def test_a_field_that_a_model_of_pydantic_lacks(
    tmp_path: Path, head: str, read: str, expected: list[str]
) -> None:
    name = head.rpartition("class ")[2].partition("(")[0]
    (tmp_path / "train.py").write_text(
        f"import tensorflow as tf\n{head}    shelves: int = 4\n    turns: int = 3\n\n\nplan = {name}()\n"
        f"tf.keras.layers.Dense(plan.shelves)\ntf.data.Dataset.range({read})\n",
        encoding="utf-8",
    )
    found = ProjectCode(str(tmp_path), lambda _path: False, keep=False).options()
    assert [check for _, check, _ in found] == expected


def test_a_model_of_pydantic_that_takes_any_field(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\nfrom pydantic import BaseModel, ConfigDict\n\n\nclass Plan(BaseModel):\n"
        "    model_config = ConfigDict(extra='allow')\n    shelves: int = 4\n\n\nplan = Plan(door=3)\n"
        "tf.keras.layers.Dense(plan.shelves + plan.door)\n",
        encoding="utf-8",
    )
    assert list(ProjectCode(str(tmp_path), lambda _path: False, keep=False).options()) == []
