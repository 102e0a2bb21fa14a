"""Classes that a config is kept in, and what is told of its keys: Box, Munch, UserDict, named tuples, JSON written and read again."""

import json
from pathlib import Path

import pytest
from test_followed_idioms import told

HEAD = "import json\nimport tensorflow as tf\nimport yaml\n"
KEYS = {"wheel": {"spokes": 3, "width": 2}}
USE = "tf.keras.layers.Dense(mill.wheel.spokes + mill.wheel.width)\n"
ITEMS = "tf.keras.layers.Dense(mill['wheel']['spokes'] + mill['wheel']['width'])\n"
NAMESPACES = "object_hook=lambda pairs: SimpleNamespace(**pairs)"
TEXT = "from types import SimpleNamespace\ntext = json.dumps(yaml.safe_load(open('mill.yaml')))\n"
USER = "from collections import UserDict\nclass Mill(UserDict):\n"
PROGRAMS = {
    "a box of a file": f"from box import Box\nmill = Box.from_yaml(filename='mill.yaml')\n{USE}",
    "a box of a text": f"import box\nmill = box.Box.from_yaml(open('mill.yaml').read(), Loader=yaml.SafeLoader)\n{USE}",
    "a box of JSON": f"from box import Box\nmill = Box.from_json(filename='mill.json')\n{USE}",
    "a box of TOML": f"from box import Box\nmill = Box.from_toml(filename='mill.toml', default_box=False)\n{USE}",
    "a box by the ending": f"from box import box_from_file\nmill = box_from_file('mill.json')\n{USE}",
    "a box that converts": (
        "from box import ConfigBox\nmill = ConfigBox(yaml.safe_load(open('mill.yaml')))\n"
        "tf.keras.layers.Dense(mill.wheel.int('spokes') + mill.wheel.getint('width'))\n"
    ),
    "a munch": f"from munch import Munch\nmill = Munch.fromYAML(open('mill.yaml'))\n{USE}",
    "a munch of JSON": f"from munch import Munch\nmill = Munch.fromJSON(open('mill.json').read())\n{USE}",
    "the data of a dictionary": (
        f"{USER}    def __getattr__(self, name):\n        return self.data[name]\n"
        "wheel = Mill(yaml.safe_load(open('mill.yaml'))).wheel\n"
        "tf.keras.layers.Dense(wheel['spokes'] + wheel['width'])\n"
    ),
    "a dictionary that gets its data": (
        f"{USER}    def __init__(self, path):\n        self.data = yaml.safe_load(open(path))\nmill = Mill('mill.yaml')\n{ITEMS}"
    ),
    "JSON that is read again": f"{TEXT}mill = json.loads(text, {NAMESPACES})\n{USE}",
    "YAML that is read again": (
        f"mill = yaml.safe_load(yaml.dump(yaml.safe_load(open('mill.yaml'))))\n{ITEMS}"
    ),
    "a named tuple of all keys": (
        "from collections import namedtuple\nmill = yaml.safe_load(open('mill.yaml'))['wheel']\n"
        "mill = namedtuple('Wheel', mill.keys())(*mill.values())\ntf.keras.layers.Dense(mill.spokes + mill.width)\n"
    ),
    "named tuples by a hook": (
        "from collections import namedtuple\nmill = json.load(open('mill.json'),"
        f" object_hook=lambda pairs: namedtuple('Mill', pairs.keys())(*pairs.values()))\n{USE}"
    ),
}


def files(code: str, keys: dict[str, dict[str, int]]) -> dict[str, str]:
    """The program and its config, in the format that it opens."""
    ending = next(item for item in ("yaml", "json", "toml") if f"mill.{item}" in code)
    text = json.dumps(keys)
    if ending == "toml":
        text = "".join(
            f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in inner.items())
            for name, inner in keys.items()
        )
    return {"train.py": HEAD + code, f"mill.{ending}": text}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_told(tmp_path: Path, name: str) -> None:
    given = files(PROGRAMS[name], {"wheel": {"spokes": 3, "widht": 2}, "roof": {"colour": 1}})
    found = told(tmp_path, given)
    assert sorted(next(iter(found.values()))) == [("dead-key", "roof"), ("misspelt-key", "wheel.widht")]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_not(tmp_path: Path, name: str) -> None:
    found = told(tmp_path, files(PROGRAMS[name], KEYS))
    assert list(found.values()) == [[]]


def test_a_text_that_nothing_reads_again_is_no_use(tmp_path: Path) -> None:
    code = "mill = yaml.safe_load(open('mill.yaml'))\nprint(json.dumps(mill))\ntf.keras.layers.Dense(mill['a'])\n"
    found = told(tmp_path, {"train.py": HEAD + code, "mill.yaml": "a: 1\nb: 2\n"})
    assert found["mill.yaml"] == [("dead-key", "b")]
