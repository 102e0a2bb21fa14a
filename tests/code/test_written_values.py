"""Constants behind names: told like those that a call has itself, and silent where anything else may come there."""

from __future__ import annotations

import pytest
from marked import check_marked

HEAD = "import sys\nimport tensorflow as tf\n"
USES = """\
def main():
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dropout({drop})])  # found
    model.compile(optimizer={opt}, loss="mse")  # found
    model.fit(tf.data.Dataset.from_tensor_slices(tf.zeros((8, 4))).batch({batch}))  # found


main()
"""
VALUES = {"drop": "20", "opt": "'adamm'", "batch": "0"}
PLACES = {
    "module": ("".join(f"{name} = {value}\n" for name, value in VALUES.items()), "{}"),
    "class": ("class C:\n" + "".join(f"    {name} = {value}\n" for name, value in VALUES.items()), "C.{}"),
    "base": (
        "class B:\n"
        + "".join(f"    {name} = {value}\n" for name, value in VALUES.items())
        + "class C(B): pass\n",
        "C().{}",
    ),
    "object": (
        "class C:\n" + "".join(f"    {name} = {value}\n" for name, value in VALUES.items()) + "cfg = C()\n",
        "cfg.{}",
    ),
    "init": (
        "class C:\n    def __init__(self):\n"
        + "".join(f"        self.{name} = {value}\n" for name, value in VALUES.items())
        + "cfg = C()\n",
        "cfg.{}",
    ),
    "property": (
        "class C:\n    def __init__(self, where):\n        self.where = where\n"
        + "".join(
            f"    @property\n    def {name}(self):\n        return {value}\n"
            for name, value in VALUES.items()
        )
        + "cfg = C('here')\n",
        "cfg.{}",
    ),
    "cached property": (
        "import functools\nclass B:\n"
        + "".join(
            f"    @functools.cached_property\n    def {name}(self):\n        return {value}\n"
            for name, value in VALUES.items()
        )
        + "class C(B): pass\n",
        "C().{}",
    ),
    "dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass C:\n"
        + "".join(f"    {name}: object = {value}\n" for name, value in VALUES.items())
        + "cfg = C()\n",
        "cfg.{}",
    ),
    "mapping": (
        "CFG = {" + ", ".join(f"'{name}': {value}" for name, value in VALUES.items()) + "}\n",
        "CFG['{}']",
    ),
    "nested": (
        "CFG = {'a': {" + ", ".join(f"'{name}': {value}" for name, value in VALUES.items()) + "}}\n",
        "CFG['a']['{}']",
    ),
    "namespace": (
        "from types import SimpleNamespace\ncfg = SimpleNamespace("
        + ", ".join(f"{name}={value}" for name, value in VALUES.items())
        + ")\n",
        "cfg.{}",
    ),
}


def _uses(way: str) -> str:
    return USES.format(**{name: way.format(name) for name in VALUES})


@pytest.mark.parametrize("place", PLACES)
def test_constants_are_followed_to_where_they_are_written(tmp_path, monkeypatch, place):
    written, way = PLACES[place]
    check_marked(tmp_path, monkeypatch, "DEP038", HEAD + written + _uses(way), severity="error")


@pytest.mark.parametrize("place", PLACES)
def test_and_to_another_module(tmp_path, monkeypatch, place):
    written, way = PLACES[place]
    check_marked(
        tmp_path, monkeypatch, "DEP038", HEAD + "from b import *\n" + _uses(way), written, severity="error"
    )


def test_what_each_call_of_a_function_gives_is_known(tmp_path, monkeypatch):
    text = USES.format(**{name: name for name in VALUES}).replace("main():", "main(drop, opt, batch):")
    given = text.replace("main()\n", "main(20, opt='adamm', batch=0)\n")
    check_marked(tmp_path, monkeypatch, "DEP038", HEAD + given, severity="error")


SILENT = {
    "changed from outside": "import c\nc.batch = int(sys.argv[1])\nsize = c.batch\n",
    "given by name": "class C:\n    batch = 0\nfor k in sys.argv:\n    setattr(C, k, 1)\nsize = C.batch\n",
    "updated": "CFG = {'batch': 0}\nCFG.update(x=1)\nsize = CFG['batch']\n",
    "set later": "CFG = {'batch': 0}\nCFG['batch'] = 2\nsize = CFG['batch']\n",
    "changed as a parameter": "CFG = {'a': {'batch': 0}}\ndef put(c, k):\n    c[k] = 2\nput(CFG['a'], 'batch')\nsize = CFG['a']['batch']\n",
    "an enumeration": "import enum\nclass C(enum.Enum):\n    batch = 0\nsize = C.batch\n",
    "a class of another package": "from pydantic_settings import BaseSettings\nclass C(BaseSettings):\n    batch: int = 0\nsize = C().batch\n",
    "given where it is made": "from dataclasses import dataclass\n@dataclass\nclass C:\n    batch: int = 0\nsize = C(batch=3).batch\n",
    "given by position": "from dataclasses import dataclass\n@dataclass\nclass C:\n    batch: int = 0\ncfg = C(3)\nsize = cfg.batch\n",
    "there to be replaced": "size = None\n",
    "one of two that a property gives": "class C:\n    @property\n    def batch(self):\n        if sys.argv:\n            return 4\n        return 0\nsize = C().batch\n",
    "a property that can be set": "class C:\n    @property\n    def batch(self):\n        return 0\ncfg = C()\ncfg.batch = 4\nsize = cfg.batch\n",
    "what a method gives": "class C:\n    def batch(self):\n        return 0\nsize = C().batch\n",
    "a property of another decorator": "class C:\n    @classmethod\n    def batch(cls):\n        return 0\nsize = C.batch\n",
    "two ways": "size = 0\nif len(sys.argv) > 1:\n    size = 4\n",
    "a global": "size = 0\ndef start():\n    global size\n    size = 3\nstart()\n",
}


@pytest.mark.parametrize("how", SILENT)
def test_what_may_be_another_value_is_not_told(tmp_path, monkeypatch, how):
    use = "data = tf.data.Dataset.range(9).batch(size)\nprint(data)\n"
    direct = SILENT[how].rpartition("size = ")[2].strip() if "size = " in SILENT[how] else ""
    text = HEAD + SILENT[how] + use
    if direct and "\n" not in direct and not direct[0].isdigit() and direct != "None":
        text += f"more = tf.data.Dataset.range(9).batch({direct})\nprint(more)\n"
    check_marked(tmp_path, monkeypatch, "DEP038", text, "x = 1\n", "batch = 0\n", severity="info")


def test_a_class_below_may_have_it_otherwise(tmp_path, monkeypatch):
    text = (
        HEAD
        + """\
class Base:
    batch = 0

    def data(self):
        return tf.data.Dataset.range(9).batch(self.batch)


class One(Base):
    batch = 3


print(One().data())
"""
    )
    check_marked(tmp_path, monkeypatch, "DEP038", text, severity="info")


def test_a_condition_that_asks_for_it_keeps_it_silent(tmp_path, monkeypatch):
    text = (
        HEAD
        + """\
SIZE = 0
data = tf.data.Dataset.range(9)
if SIZE:
    data = data.batch(SIZE)
print(data)
"""
    )
    check_marked(tmp_path, monkeypatch, "DEP038", text, severity="info")


@pytest.mark.parametrize("place", ["class", "mapping", "init", "namespace"])
def test_monitors_and_names_of_files_are_followed_as_well(tmp_path, monkeypatch, place):
    written, way = PLACES[place]
    written = written.replace("'adamm'", "'best.h5'")
    text = f"""\
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.save_weights({way.format("opt")})  # found
"""
    check_marked(tmp_path, monkeypatch, "DEP024", HEAD + written + text, severity="error")


NAMES = {
    "a property that joins a path": """\
import pathlib
class Places:
    def __init__(self, root):
        self.root = pathlib.Path(root)

    @property
    def best(self):
        return self.root / "best.ckpt"

    @property
    def good(self):
        return self.root / "best.keras"
places = Places("out")
BEST, GOOD = places.best, places.good
tf.keras.callbacks.ModelCheckpoint(places.best)  # found
tf.keras.callbacks.ModelCheckpoint(places.good)
""",
    "a function of the project": """\
import os
def target(folder, name="weights"):
    return os.path.join(folder, name + ".tf")
def good(folder):
    return os.path.join(folder, "net.keras")
def either(folder):
    if os.path.isdir(folder):
        return folder + "/a.tf"
    return folder + "/a.keras"
tf.keras.callbacks.ModelCheckpoint(filepath=target("out"))  # found
tf.keras.callbacks.ModelCheckpoint(good("out"))
tf.keras.callbacks.ModelCheckpoint(either("out"))
""",
    "a property of the object itself": """\
class Trainer:
    def __init__(self):
        self.net = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])

    @property
    def out(self):
        return f"runs/{self.net.name}/model"

    @property
    def fine(self):
        return f"runs/{self.net.name}.keras"

    def save(self):
        self.net.save(self.out)  # found
        self.net.save(self.fine)
Trainer().save()
""",
}


@pytest.mark.parametrize("case", NAMES)
def test_names_of_files_are_followed_through_functions(tmp_path, monkeypatch, case):
    check_marked(tmp_path, monkeypatch, "DEP024", HEAD + NAMES[case], severity="error")


def test_a_property_that_a_class_below_has_otherwise_is_left_alone(tmp_path, monkeypatch):
    text = """\
class Trainer:
    def __init__(self):
        self.net = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])

    @property
    def out(self):
        return "runs/model"

    def save(self):
        self.net.save(self.out)


class Better(Trainer):
    @property
    def out(self):
        return "runs/model.keras"


Better().save()
"""
    check_marked(tmp_path, monkeypatch, "DEP024", HEAD + text, severity="error")


IN_TWO_CALLS = """\
MODEL = {"drop": 20, "act": "rleu", "shown": "gelu"}


def tower(size, opts):
    return [tf.keras.layers.Dense(size, activation=opts["act"]), tf.keras.layers.Dropout(opts["drop"])]  # found


def build(opts):
    return tower(3, opts), tower(4, opts)


build(MODEL)
"""


def test_a_mapping_is_followed_through_the_functions_that_it_is_handed_to(tmp_path, monkeypatch):
    check_marked(tmp_path, monkeypatch, "DEP038", HEAD + IN_TWO_CALLS, severity="error")


@pytest.mark.parametrize(
    "change",
    [
        "tower(3, {'act': 'relu', 'drop': 0.1})",
        "MODEL.update(read())",
        "def more(opts):\n    opts[sys.argv[1]] = 3\nmore(MODEL)",
        "def more(opts):\n    opts.update(act='relu', drop=0.1)\nmore(MODEL)",
        "def more(opts):\n    sys.stdin.fill(opts)\nmore(MODEL)",
    ],
)
def test_one_that_a_function_may_change_is_not(tmp_path, monkeypatch, change):
    code = (
        (HEAD + IN_TWO_CALLS).replace("  # found", "").replace("build(MODEL)\n", f"{change}\nbuild(MODEL)\n")
    )
    check_marked(tmp_path, monkeypatch, "DEP038", code)
