"""Configs that an object keeps of which a class makes only one."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.usage.test_strange_idioms import told

USE = """
import tensorflow as tf
from store import Store

if __name__ == "__main__":
    Store().load("barn.yaml")
    tf.keras.layers.Dense(Store().get("pen")["gates"])
"""
CONFIG = "pen:\n  gates: 2\n  hay: 3\n"
METHODS = """
    def load(self, path):
        with open(path) as file:
            self.values.update(yaml.safe_load(file))

    def get(self, name):
        return self.values[name]
"""
WAYS = {
    "by its `__new__`": (
        """
class Store:
    _one = None

    def __new__(cls):
        if cls._one is None:
            cls._one = super().__new__(cls)
            cls._one.values = {}
        return cls._one
"""
        + METHODS
    ),
    "by `object.__new__`, with arguments": (
        """
class Store:
    def __new__(cls, *args, **kwargs):
        if not hasattr(cls, "one"):
            cls.one = object.__new__(cls)
            cls.one.values = dict()
        return cls.one
"""
        + METHODS
    ),
    "by a metaclass": (
        """
class Single(type):
    _made = {}

    def __call__(cls, *args, **kwargs):
        if cls not in cls._made:
            cls._made[cls] = super().__call__(*args, **kwargs)
        return cls._made[cls]


class Store(metaclass=Single):
    def __init__(self):
        self.values = {}
"""
        + METHODS
    ),
    "by a metaclass that several classes have": (
        """
class Single(type):
    _made = {}

    def __call__(cls, *args, **kwargs):
        if cls not in cls._made:
            cls._made[cls] = super(Single, cls).__call__(*args, **kwargs)
        return cls._made[cls]


class Other(metaclass=Single):
    def __init__(self):
        self.values = {"pen": {}}


class Store(metaclass=Single):
    def __init__(self):
        self.other = Other()
        self.values = {}
"""
        + METHODS
    ),
    "by a decorator": (
        """
def single(cls):
    made = {}

    def make(*args, **kwargs):
        if cls not in made:
            made[cls] = cls(*args, **kwargs)
        return made[cls]

    return make


@single
class Store:
    def __init__(self):
        self.values = {}
"""
        + METHODS
    ),
}


def files(store: str, config: str) -> dict[str, str]:
    return {
        "store.py": "import yaml\n" + textwrap.dedent(store),
        "train.py": USE,
        "barn.yaml": config,
    }


@pytest.mark.parametrize("way", WAYS)
def test_what_the_only_object_lacks_and_does_not_read_is_told(tmp_path: Path, way: str) -> None:
    found = told(tmp_path, files(WAYS[way], CONFIG.replace("gates", "gate")))
    assert sorted(found["barn.yaml"]) == [("dead-key", "pen.hay"), ("misspelt-key", "pen.gate")]


@pytest.mark.parametrize("way", WAYS)
def test_what_the_only_object_has_is_right(tmp_path: Path, way: str) -> None:
    assert told(tmp_path, files(WAYS[way], "pen:\n  gates: 2\n"))["barn.yaml"] == []


def test_an_object_of_each_call_does_not_share_what_it_has(tmp_path: Path) -> None:
    store = "class Store:\n    def __init__(self):\n        self.values = {}\n" + METHODS
    assert told(tmp_path, files(store, "pen:\n  gates: 2\n"))["barn.yaml"] == [("unused-file", "pen")]
