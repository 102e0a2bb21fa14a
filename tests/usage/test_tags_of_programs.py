"""Tags that a program's own constructors read: other files, the environment, and what nothing is known of."""

import textwrap
from pathlib import Path

import pytest
from test_followed_idioms import told

HEAD = "import os\nimport tensorflow as tf\nimport yaml\n"
INCLUDE = """
class Loader(yaml.SafeLoader):
    def __init__(self, stream):
        self.folder = os.path.dirname(stream.name)
        super().__init__(stream)
def include(loader, node):
    with open(os.path.join(loader.folder, loader.construct_scalar(node))) as file:
        return yaml.load(file, Loader)
def environment(loader, node):
    return yaml.safe_load(os.environ[node.value])
"""
ADDED = {
    "to the class": "Loader.add_constructor('!include', include)\nLoader.add_constructor('!env', environment)\n",
    "by the function": (
        "yaml.add_constructor('!include', include, Loader)\nyaml.add_constructor('!env', environment, Loader=Loader)\n"
    ),
}
USE = """
mill = yaml.load(open("mill.yaml"), Loader)
tf.keras.layers.Dense(mill["wheel"]["spokes"] + mill["wheel"]["width"])
tf.keras.layers.Dense(mill["stones"])
"""
CONFIG = "wheel: !include parts/wheel.yaml\nstones: !env STONES\nroof: 1\n"


@pytest.mark.parametrize("way", ADDED)
def test_a_file_behind_a_tag(tmp_path: Path, way: str) -> None:
    files = {
        "train.py": HEAD + INCLUDE + ADDED[way] + USE,
        "mill.yaml": CONFIG,
        "parts/wheel.yaml": "spokes: 3\nwidht: 2\n",
    }
    found = told(tmp_path, files)
    assert found == {"mill.yaml": [("dead-key", "roof")], "parts/wheel.yaml": [("misspelt-key", "widht")]}


def test_a_file_behind_a_tag_that_has_all(tmp_path: Path) -> None:
    files = {
        "train.py": HEAD + INCLUDE + ADDED["to the class"] + USE,
        "mill.yaml": CONFIG.replace("roof: 1\n", ""),
        "parts/wheel.yaml": "spokes: 3\nwidth: 2\n",
    }
    assert told(tmp_path, files) == {"mill.yaml": [], "parts/wheel.yaml": []}


def test_a_tag_of_which_nothing_is_known(tmp_path: Path) -> None:
    code = """
        from elsewhere import construct
        yaml.add_constructor("!part", construct, yaml.SafeLoader)
        mill = yaml.safe_load(open("mill.yaml"))
        tf.keras.layers.Dense(mill["wheel"]["spokes"] + mill["stones"])
    """
    config = "wheel: !part wheel.yaml\nstones: !part [1, 2]\n"
    files = {"train.py": HEAD + textwrap.dedent(code), "mill.yaml": config, "wheel.yaml": "width: 2\n"}
    assert told(tmp_path, files) == {"mill.yaml": []}
