"""Ways in which programs carry a config that lose its keys easily, each with a neighbour of which nothing is said."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.usage.test_strange_idioms import told

LOAD = "with open('barn.yaml') as file:\n    barn = yaml.safe_load(file)\n"
USE = "tf.keras.layers.Dense({0})\n"
CASES = {
    "a dotted path, step by step": (
        LOAD
        + "def at(path):\n    return functools.reduce(operator.getitem, path.split('.'), barn)\n"
        + USE.format("at('pen.gates')"),
        "pen:\n  gates: 2\n",
        "pen:\n  gate: 2\n  hay: 3\n",
        [("dead-key", "pen.hay"), ("misspelt-key", "pen.gate")],
    ),
    "a dotted path by a lambda": (
        LOAD
        + "at = lambda path: functools.reduce(lambda node, step: node[step], path.split('/'), barn)\n"
        + USE.format("at('pen/gates')"),
        "pen:\n  gates: 2\n",
        "pen:\n  gates: 2\n  hay: 3\n",
        [("dead-key", "pen.hay")],
    ),
    "what a command gives, before the file and the defaults": (
        "parser = argparse.ArgumentParser()\nparser.add_argument('--cows', type=int)\n"
        "given = {name: value for name, value in vars(parser.parse_args()).items() if value is not None}\n"
        + LOAD
        + "barn = collections.ChainMap(given, barn, {'gates': 1})\n"
        + USE.format("barn['cows']")
        + USE.format("barn['gates']")
        + USE.format("barn['straw']"),
        "cows: 4\ngates: 2\nstraw: 3\n",
        "cows: 4\ngate: 2\n",
        [("dead-key", "gate"), ("missing-key", "straw")],
    ),
    "only what a class has": (
        "@dataclasses.dataclass\nclass Pen:\n    gates: int = 1\n    hay: int = 2\n"
        + LOAD
        + "names = {field.name for field in dataclasses.fields(Pen)}\n"
        + "pen = Pen(**{name: value for name, value in barn.items() if name in names})\n"
        + USE.format("pen.gates"),
        "gates: 2\n",
        "gates: 2\nhay: 1\n",
        [("dead-key", "hay")],
    ),
    "classes of fields, built one in another": (
        """
        @dataclasses.dataclass
        class Pen:
            gates: int = 1

        @dataclasses.dataclass
        class Barn:
            pen: Pen = dataclasses.field(default_factory=Pen)

        def build(cls, data):
            given = {}
            for field in dataclasses.fields(cls):
                if field.name in data:
                    value = data[field.name]
                    if field.default_factory is not dataclasses.MISSING:
                        value = build(field.default_factory, value)
                    given[field.name] = value
            return cls(**given)

        barn = build(Barn, yaml.safe_load(open("barn.yaml")))
        tf.keras.layers.Dense(barn.pen.gates)
        """,
        "pen:\n  gates: 2\n",
        "pen:\n  gates: 2\n  hay: 3\n",
        [("dead-key", "pen.hay")],
    ),
    "a class of fields or a plain section": (
        """
        @dataclasses.dataclass
        class Pen:
            gates: int = 1

        def build(value, kind):
            return Pen(**value) if kind() else value

        barn = yaml.safe_load(open("barn.yaml"))
        tf.keras.layers.Dense(build(barn["pen"], farm.kind).gates)
        """,
        "pen:\n  gates: 2\n",
        "pen:\n  gates: 2\n",
        [],
    ),
    "one of several sections, laid over another": (
        LOAD
        + "def kind(name):\n    base = barn['common']\n    base.update(barn[name])\n    return base\n"
        + "chosen = kind(sys.argv[1])\n"
        + USE.format("chosen['gates']"),
        "common:\n  gates: 1\nsmall:\n  gates: 2\nlarge:\n  gates: 3\n",
        "common:\n  gates: 1\n  hay: 4\nsmall:\n  gates: 2\nlarge:\n  gates: 3\n  rail: 3\n",
        [("dead-key", "common.hay"), ("dead-key", "large.rail")],
    ),
    "a section or one of its keys, by one function": (
        LOAD
        + "def get(section, key=None, default=None):\n    part = barn[section]\n"
        + "    return part if key is None else part.get(key, default)\n"
        + USE.format("get('pen', 'gates')")
        + USE.format("get('cows')['count']"),
        "pen:\n  gates: 2\ncows:\n  count: 3\n",
        "pen:\n  gates: 2\ncows:\n  count: 3\n  hay: 3\n",
        [("dead-key", "cows.hay")],
    ),
    "an exception that says what it got": (
        LOAD
        + "match barn['pen']:\n    case {'gates': count}:\n        tf.keras.layers.Dense(count)\n"
        + "    case other:\n        raise ValueError(other)\n",
        "pen:\n  gates: 2\n",
        "pen:\n  gates: 2\n  hay: 3\n",
        [("dead-key", "pen.hay")],
    ),
    "arguments of a command, laid over by OmegaConf": (
        "barn = OmegaConf.merge(OmegaConf.load('barn.yaml'), OmegaConf.from_dotlist(sys.argv[1:]))\n"
        "OmegaConf.set_struct(barn, True)\nOmegaConf.set_readonly(barn, True)\n"
        + USE.format("barn.pen.gates"),
        "pen:\n  gates: 2\n",
        "pen:\n  gates: 2\n  hay: 3\n",
        [("dead-key", "pen.hay")],
    ),
    "the context of commands": (
        """
        @click.group()
        @click.option("--config", default="barn.yaml")
        @click.pass_context
        def farm(ctx, config):
            ctx.ensure_object(dict)
            with open(config) as file:
                ctx.obj["barn"] = yaml.safe_load(file)

        @farm.command()
        @click.option("--turns", type=int, default=1)
        @click.pass_obj
        def feed(obj, turns):
            tf.keras.layers.Dense(obj["barn"]["gates"])

        if __name__ == "__main__":
            farm()
        """,
        "gates: 2\n",
        "gate: 2\nhay: 3\n",
        [("dead-key", "hay"), ("misspelt-key", "gate")],
    ),
    "defaults of commands": (
        """
        @click.group()
        @click.pass_context
        def farm(ctx):
            with open("barn.yaml") as file:
                ctx.default_map = yaml.safe_load(file)

        @farm.command()
        @click.option("--gates", type=int, default=1)
        def feed(gates):
            tf.keras.layers.Dense(gates)

        if __name__ == "__main__":
            farm()
        """,
        "feed:\n  gates: 2\n",
        "feed:\n  gates: 2\n  hay: 3\n",
        [("dead-key", "feed.hay")],
    ),
    "defaults of commands, from a callback": (
        """
        def defaults(ctx, param, value):
            with open(value) as file:
                ctx.default_map = yaml.safe_load(file)
            return value

        @click.group()
        @click.option("--config", default="barn.yaml", callback=defaults, is_eager=True)
        @click.option("--cows", default=3, type=int)
        @click.pass_context
        def farm(ctx, config, cows):
            ctx.obj = cows

        @farm.command()
        @click.option("--gates", type=int, default=1)
        @click.option("--rails", type=int, default=1)
        @click.pass_obj
        def feed(cows, gates, rails):
            tf.keras.layers.Dense(gates * rails * cows)

        if __name__ == "__main__":
            farm()
        """,
        "cows: 4\nfeed:\n  gates: '2'\n  rails: 3\n",
        "cows: 4\nfeed:\n  gates: two\n  rail: 3\n",
        [("misspelt-key", "feed.rail"), ("refused-value", "feed.gates")],
    ),
    "an object that a decorator of click makes": (
        """
        class Store:
            def __init__(self):
                with open("barn.yaml") as file:
                    self.barn = yaml.safe_load(file)

        pass_store = click.make_pass_decorator(Store, ensure=True)

        @click.command()
        @pass_store
        def feed(store):
            tf.keras.layers.Dense(store.barn["gates"])

        if __name__ == "__main__":
            feed()
        """,
        "gates: 2\n",
        "gates: 2\nhay: 3\n",
        [("dead-key", "hay")],
    ),
}
HEAD = "import argparse, collections, dataclasses, functools, operator, sys\nimport click, farm, yaml\nimport tensorflow as tf\nfrom omegaconf import OmegaConf\n"


def of_barn(folder: Path, code: str, config: str) -> list[tuple[str, str]]:
    return sorted(
        told(folder, {"train.py": HEAD + textwrap.dedent(code), "barn.yaml": config}).get("barn.yaml", [])
    )


@pytest.mark.parametrize("way", CASES)
def test_what_is_lacking_and_what_is_not_read(tmp_path: Path, way: str) -> None:
    code, _, wrong, expected = CASES[way]
    assert of_barn(tmp_path, code, wrong) == expected


@pytest.mark.parametrize("way", CASES)
def test_nothing_is_said_of_a_config_that_is_right(tmp_path: Path, way: str) -> None:
    code, right, _, _ = CASES[way]
    assert of_barn(tmp_path, code, right) == []


BASES = """
import sys
import tensorflow as tf
import yaml


def lay(target, source):
    for name, value in source.items():
        if isinstance(value, dict):
            target[name] = lay(target.get(name, {}), value)
        else:
            target[name] = value
    return target


def load(path):
    with open(path) as file:
        barn = yaml.safe_load(file)
    base = barn.pop("base", None)
    return barn if base is None else lay(load(base), barn)


barn = load("barn.yaml")
tf.keras.layers.Dense(barn["pen"]["gates"])
tf.keras.layers.Dense(barn["pen"]["rails"])
"""


def test_a_file_over_the_one_that_it_names(tmp_path: Path) -> None:
    base = "pen:\n  gates: 2\n  rails: 4\n"
    wrong = {
        "train.py": BASES,
        "base.yaml": base,
        "barn.yaml": "base: base.yaml\npen:\n  gates: 3\n  hay: 4\n",
    }
    assert told(tmp_path / "wrong", wrong)["barn.yaml"] == [("dead-key", "pen.hay")]
    right = {"train.py": BASES, "base.yaml": base, "barn.yaml": "base: base.yaml\npen:\n  gates: 3\n"}
    found = told(tmp_path / "right", right)
    assert (found["barn.yaml"], found["base.yaml"]) == ([], [])


NAMED = """
import os
import tensorflow as tf
import yaml

farm = yaml.safe_load(open("farm.yaml"))
barn = yaml.safe_load(open(os.path.join("barns", farm["barn"] + ".yaml")))
tf.keras.layers.Dense(barn["gates"])
tf.keras.layers.Dense(barn.get("rails", 3))
"""


def test_another_file_that_a_config_may_name(tmp_path: Path) -> None:
    files = {
        "train.py": NAMED,
        "farm.yaml": "barn: small\n",
        "barns/small.yaml": "gates: 2\nrails: 3\n",
        "barns/large.yaml": "gates: 9\nrail: 3\n",
        "herd/large.yaml": "gates: 9\nrail: 3\n",
    }
    found = told(tmp_path, files)
    assert found["barns/large.yaml"] == [("misspelt-key", "rail")]
    assert found["barns/small.yaml"] == []
    assert "herd/large.yaml" not in found


BOXED = """
import tensorflow as tf
from box import Box


def load(path="barn.yaml"):
    return Box.from_yaml(filename=path, default_box=True, box_dots=True)


barn = load()
tf.keras.layers.Dense(barn["pen.gates"])
tf.keras.layers.Dense(barn.pen.rails or 3)
"""


def test_a_program_that_only_a_container_loads_a_file_for(tmp_path: Path) -> None:
    wrong = {"train.py": BOXED, "barn.yaml": "pen:\n  gates: 2\n  rail: 3\n  hay: 4\n"}
    assert told(tmp_path / "wrong", wrong)["barn.yaml"] == [
        ("misspelt-key", "pen.rail"),
        ("dead-key", "pen.hay"),
    ]
    right = {"train.py": BOXED, "barn.yaml": "pen:\n  gates: 2\n  rails: 3\n"}
    assert told(tmp_path / "right", right)["barn.yaml"] == []


UNKNOWN_PACKAGE = """
import tensorflow as tf
import stable

FILE = "barn.yaml"
barn = stable.Config(FILE)
tf.keras.layers.Dense(barn.gates)
"""


def test_a_program_that_only_a_package_loads_a_file_for(tmp_path: Path) -> None:
    files = {"train.py": UNKNOWN_PACKAGE, "barn.yaml": "gates: 2\nhay: 4\n"}
    assert told(tmp_path, files)["barn.yaml"] == [("dead-key", "hay")]
