"""A config that nothing opens beside one of the same kind which a program opens."""

from pathlib import Path

import pytest
from test_followed_idioms import HEAD, told

OPENS = {
    "a path in the code": "stove = yaml.safe_load(open('stoves/small.yaml'))\n",
    "a default of an option": "import argparse\nparser = argparse.ArgumentParser()\n"
    "parser.add_argument('--stove', default='stoves/small.yaml')\nstove = yaml.safe_load(open(parser.parse_args().stove))\n",
    "a default of a function": "def light(path='stoves/small.yaml'):\n    with open(path) as stream:\n        return yaml.safe_load(stream)\n"
    "stove = light()\n",
}
USE = """
pipe, fire = stove["pipe"], stove["fire"]
tf.keras.layers.Dense(pipe["width"], activation=pipe["shape"])
tf.keras.optimizers.Adam(fire["heat"], clipnorm=fire["limit"])
tf.data.Dataset.range(9).batch(stove["logs"])
"""
SMALL = "pipe: {width: 3, shape: relu}\nfire: {heat: 0.1, limit: 2.0}\nlogs: 4\n"


@pytest.mark.parametrize("opens", OPENS.values(), ids=list(OPENS))
def test_a_sibling_is_judged_as_the_program_would_read_it(tmp_path: Path, opens: str) -> None:
    large = "pipe: {widht: 3, shape: relu}\nfire: {heat: 1e-2, limit: 2.0, ash: 1}\nlogs: 8\n"
    found = told(
        tmp_path, {"burn.py": HEAD + opens + USE, "stoves/small.yaml": SMALL, "stoves/large.yaml": large}
    )
    assert found["stoves/small.yaml"] == []
    assert sorted(found["stoves/large.yaml"]) == [
        ("dead-key", "fire.ash"),
        ("misspelt-key", "pipe.widht"),
        ("refused-value", "fire.heat"),
    ]


OTHERS = {
    "few keys in common": "pipe: north\nlogs: 4\nowner: ann\nroom: 3\n",
    "the same keys and a section more than half of it": "pipe: {width: 3, shape: relu}\nfire: {heat: 0.1, limit: 2.0}\nlogs: 4\n"
    "house: {rooms: 3, floors: 2, doors: 4, windows: 8}\n",
    "a list": "- pipe: {width: 3, shape: relu}\n- logs: 3\n",
    "sections where the program has numbers": "pipe: 3\nfire: 2\nlogs: {a: 1, b: 2}\n",
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=list(OTHERS))
def test_a_file_of_another_kind_is_left_alone(tmp_path: Path, other: str) -> None:
    files = {
        "burn.py": HEAD + OPENS["a path in the code"] + USE,
        "stoves/small.yaml": SMALL,
        "stoves/other.yaml": other,
    }
    assert "stoves/other.yaml" not in told(tmp_path, files)


def test_what_another_program_opens_is_not_held_against_this_one(tmp_path: Path) -> None:
    files = {
        "burn.py": HEAD + OPENS["a path in the code"] + USE,
        "sweep.py": "import tensorflow as tf\nimport yaml\nstove = yaml.safe_load(open('stoves/sweep.yaml'))\n"
        "tf.keras.layers.Dense(stove['pipe']['width'] + stove['logs'])\ntf.keras.layers.Dense(stove['soot'])\n"
        "tf.keras.optimizers.Adam(stove['fire']['heat'])\nprint(stove['pipe']['shape'])\n",
        "stoves/small.yaml": SMALL,
        "stoves/sweep.yaml": "pipe: {width: 3, shape: round}\nfire: {heat: 0.1}\nlogs: 4\nsoot: 3\n",
    }
    found = told(tmp_path, files)
    assert all("missing" not in check for check, _ in found["stoves/sweep.yaml"])
