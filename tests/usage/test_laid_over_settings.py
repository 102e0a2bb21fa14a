"""Settings that a program lays over its own: nodes that set themselves, unions of models, options, patterns of classes."""

import textwrap
from pathlib import Path

import pytest
from test_followed_idioms import told

HEAD = "import sys\nimport tensorflow as tf\nimport yaml\n"
NODES = """
class Node(dict):
    def __init__(self, tree=()):
        super().__init__({name: Node(item) if isinstance(item, dict) else item for name, item in dict(tree).items()})
    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)
    def __setattr__(self, name, value):
        self[name] = value
    def merge(self, other):
        for name, value in other.items():
            if name not in self:
                raise KeyError(name)
            if isinstance(self[name], Node):
                self[name].merge(value)
            else:
                self[name] = type(self[name])(value)
mill = Node()
mill.wheel = Node({"spokes": 3})
mill.roof = Node({"rate": 0.1})
mill.merge(yaml.safe_load(open("mill.yaml")))
tf.keras.layers.Dense(mill.wheel.spokes)
tf.keras.optimizers.Adam(mill.roof.rate)
"""
UNION = """
from typing import Annotated, Literal, Union
from pydantic import BaseModel, ConfigDict, Field
class Water(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["water"]
    spokes: int
class Wind(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["wind"]
    blades: int
    width: int = 2
Drive = Annotated[Union[Water, Wind], Field(discriminator="kind")]
class Mill(BaseModel):
    drive: Drive
    stones: int = Field(alias="stoneCount")
mill = Mill.model_validate(yaml.safe_load(open("mill.yaml")))
match mill.drive:
    case Water(spokes=count):
        tf.keras.layers.Dense(count)
    case Wind():
        tf.keras.layers.Dense(mill.drive.blades + mill.drive.width)
tf.keras.layers.Dense(mill.stones)
"""
PROGRAMS = [
    (NODES, "wheel:\n  spokes: 4\nroof:\n  rate: 1e-2\n", []),
    (
        NODES,
        "wheel:\n  spokes: 4\nroof:\n  raet: 0.2\n",
        [("misspelt-key", "roof.raet")],
    ),
    (UNION, "drive: {kind: wind, blades: 3}\nstoneCount: 2\n", []),
    (UNION, "drive: {kind: water, spokes: 3}\nstoneCount: 2\n", []),
    (
        UNION,
        "drive: {kind: water, spokes: 3, blades: 4}\nstone_count: 2\n",
        [("refused-key", "drive.blades"), ("misspelt-key", "stone_count")],
    ),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_what_is_told(tmp_path: Path, program: tuple[str, str, list[tuple[str, str]]]) -> None:
    code, config, expected = program
    files = {"train.py": HEAD + code, "mill.yaml": config, "requirements.txt": "pydantic>=2\n"}
    assert sorted(told(tmp_path, files)["mill.yaml"]) == sorted(expected)


def test_what_a_command_lays_over_a_file_is_no_constant(tmp_path: Path) -> None:
    code = """
        import argparse
        def load(path, given):
            space = argparse.Namespace(**yaml.safe_load(open(path)))
            for item in given:
                name, value = item.split("=", 1)
                setattr(space, name, yaml.safe_load(value))
            return space
        parser = argparse.ArgumentParser()
        parser.add_argument("--set", nargs="*", default=[])
        mill = load("mill.yaml", parser.parse_args().set)
        tf.keras.layers.Dense(mill.spokes)
    """
    files = {
        "train.py": HEAD + textwrap.dedent(code),
        "mill.yaml": "spokes: 3\nroof: 1\n",
        "run.sh": "python train.py --set spokes=4\n",
    }
    assert told(tmp_path, files)["mill.yaml"] == [("dead-key", "roof")]


def test_bounds_that_items_are_set_between(tmp_path: Path) -> None:
    code = """
        import numpy
        mill = yaml.safe_load(open("mill.yaml"))
        start, end = mill["open"]
        wheel = numpy.zeros(24)
        wheel[start:end] = 1
        tf.keras.layers.Dense(3)(wheel)
    """
    files = {"train.py": HEAD + textwrap.dedent(code), "mill.yaml": "open: [8, 10]\nroof: 1\n"}
    assert told(tmp_path, files)["mill.yaml"] == [("dead-key", "roof")]


def test_tags_that_name_a_result(tmp_path: Path) -> None:
    code = """
        mill = yaml.safe_load(open("mill.yaml"))
        label = " ".join(f"{name}={tag}" for name, tag in mill["tags"].items())
        print(label, float(tf.reduce_sum([mill["rate"]])))
    """
    files = {"train.py": HEAD + textwrap.dedent(code), "mill.yaml": "tags: {a: x, b: y}\nrate: 2\nroof: 1\n"}
    assert told(tmp_path, files)["mill.yaml"] == [("dead-key", "roof")]
