"""Configs that `configparser` reads, and what is told of their options."""

from pathlib import Path

import pytest
from test_followed_idioms import told

from cfgfix.usage.config_files import ConfigFile

HEAD = "import configparser\nimport tensorflow as tf\nmill = configparser.ConfigParser()\n"
READ = "mill.read('mill.ini')\n"
GOOD = "[wheel]\nspokes = 3\nWidth: 2\n"
BAD = "; a mill\n[DEFAULT]\nroot = /tmp\n[wheel]\nspokes = 3\nwidht = 2\nlog = %(root)s/log\n[roof]\ncolour = red\n"
LOG = "tf.keras.callbacks.CSVLogger(mill['wheel'].get('log', 'x'))\n"
WAYS = {
    "items": f"{READ}tf.keras.layers.Dense(int(mill['wheel']['spokes']) + int(mill['wheel']['width']))\n",
    "methods": f"{READ}tf.keras.layers.Dense(mill.getint('wheel', 'spokes') + mill.getint('wheel', 'width'))\n",
    "a section": f"{READ}wheel = mill['wheel']\ntf.keras.layers.Dense(wheel.getint('SPOKES') + wheel.getint('Width', 2))\n",
    "a fallback": (
        f"{READ}tf.keras.layers.Dense(mill.getint('wheel', 'spokes') + mill.getint('wheel', 'width', fallback=2))\n"
    ),
    "an open file": (
        "with open('mill.ini') as file:\n    mill.read_file(file)\n"
        "tf.keras.layers.Dense(int(mill.get('wheel', 'spokes')) + int(mill.get('wheel', 'width')))\n"
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_told(tmp_path: Path, way: str) -> None:
    found = told(tmp_path, {"train.py": HEAD + WAYS[way] + LOG, "mill.ini": BAD})
    assert found == {"mill.ini": [("misspelt-key", "wheel.widht"), ("dead-key", "roof")]}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_not(tmp_path: Path, way: str) -> None:
    assert told(tmp_path, {"train.py": HEAD + WAYS[way], "mill.ini": GOOD}) == {"mill.ini": []}


TEXTS = {
    "tf.keras.layers.Dense(3, use_bias=mill['wheel'].getboolean('bias'))\n": [],
    "if mill['wheel']['bias']:\n    tf.keras.layers.Dense(3)\n": [("text-truth", "wheel.bias")],
    "tf.keras.layers.Dense(mill.getint('wheel', 'bias'))\n": [("refused-value", "wheel.bias")],
    "for name in mill.sections():\n    tf.print(dict(mill.items(name)))\ntf.constant(mill['wheel']['bias'])\n": [],
}


@pytest.mark.parametrize("code", TEXTS)
def test_values_are_texts(tmp_path: Path, code: str) -> None:
    files = {"train.py": HEAD + READ + code, "mill.ini": "[wheel]\nbias = no\n"}
    assert told(tmp_path, files)["mill.ini"] == TEXTS[code]


def test_names_as_they_are_written(tmp_path: Path) -> None:
    code = "mill.optionxform = str\n" + READ + "tf.keras.layers.Dense(mill.getint('wheel', 'Spokes'))\n"
    files = {"train.py": HEAD + code, "mill.ini": "[wheel]\nSpokes = 3\n"}
    assert told(tmp_path, files)["mill.ini"] == []


def test_a_file_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    code = "mill.read('mill.ini')\nprint(mill.sections())\ntf.keras.layers.Dense(3)\n"
    files = {
        "train.py": HEAD + code,
        "mill.ini": "[wheel]\nspokes = 3\n",
        "setup.cfg": "[metadata]\nname = mill\n",
    }
    assert "setup.cfg" not in told(tmp_path, files)


def test_places_of_options(tmp_path: Path) -> None:
    place = tmp_path / "mill.ini"
    place.write_text(BAD, encoding="utf-8")
    config = ConfigFile.read(str(place))
    assert config is not None
    root, problem = config.tree()
    assert problem is None
    assert root is not None
    entries = {entry.path: entry for entry in root.walk()}
    spokes = entries["wheel", "spokes"]
    assert (BAD[slice(*spokes.key)], BAD[slice(*spokes.value)], spokes.data) == ("spokes", "3", "3")
    place.write_text("[wheel]\na = 1\na = 2\n", encoding="utf-8")
    config = ConfigFile.read(str(place))
    assert config is not None
    assert config.tree()[1] is not None
