"""Classes that a program stores for Hydra, beneath its files or in their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.usage.test_strange_idioms import told

HEAD = """
from dataclasses import dataclass, field

import hydra
import tensorflow as tf
from hydra.core.config_store import ConfigStore


@dataclass
class Pen:
    gates: int = 1
    straw: float = 0.5


@dataclass
class Barn:
    pen: Pen = field(default_factory=Pen)
    cows: int = 4


store = ConfigStore.instance()
"""
MAIN = """

@hydra.main(version_base=None, config_path="conf", config_name="farm")
def main(barn: Barn):
    tf.keras.layers.Dense(barn.pen.gates)
    tf.keras.layers.Dropout(barn.pen.straw)
    tf.keras.layers.Dense(barn.cows)


if __name__ == "__main__":
    main()
"""
WHOLE = HEAD + 'store.store(name="schema", node=Barn)\n' + MAIN
OF_GROUP = HEAD + 'store.store(group="pen", name="base_pen", node=Pen)\n' + MAIN
OWN = "defaults:\n  - schema\n  - _self_\n"
GROUP = "defaults:\n  - pen: small\n  - _self_\ncows: 3\n"
SAID = {
    "a key that the class does not have": (
        {"train.py": WHOLE, "conf/farm.yaml": OWN + "pen:\n  gate: 2\n"},
        {"conf/farm.yaml": [("misspelt-key", "pen.gate")]},
    ),
    "a word for a number": (
        {"train.py": WHOLE, "conf/farm.yaml": OWN + "cows: many\n"},
        {"conf/farm.yaml": [("refused-value", "cows")]},
    ),
    "a class for an option of a group": (
        {
            "train.py": OF_GROUP,
            "conf/farm.yaml": GROUP,
            "conf/pen/small.yaml": "defaults:\n  - base_pen\ngates: 2\nstraws: 1.0\n",
        },
        {"conf/pen/small.yaml": [("misspelt-key", "straws")]},
    ),
    "all that the class has": (
        {"train.py": WHOLE, "conf/farm.yaml": OWN + "pen:\n  gates: 2\n  straw: 1\ncows: 3\n"},
        {"conf/farm.yaml": []},
    ),
    "a part of it": ({"train.py": WHOLE, "conf/farm.yaml": OWN + "cows: 3\n"}, {"conf/farm.yaml": []}),
    "keys beside a stored class that the file does not name": (
        {"train.py": WHOLE, "conf/farm.yaml": "pen:\n  gates: 2\n  straw: 0.1\ncows: 3\n"},
        {"conf/farm.yaml": []},
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_a_class_beneath_a_file(tmp_path: Path, case: str) -> None:
    files, expected = SAID[case]
    found = told(tmp_path, files)
    assert {path: sorted(found[path]) for path in expected} == expected
