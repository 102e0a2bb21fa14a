"""A config whose path the code does not name is known by its keys also where it is handed on before any of them is read."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from cfgfix.usage.project_code import ProjectCode

HEAD = "import argparse\nimport yaml\nimport tensorflow as tf\n\n"
LOADED = """
parser = argparse.ArgumentParser()
parser.add_argument("settings")
given = parser.parse_args()
with open(given.settings) as stream:
    loaded = yaml.safe_load(stream)
"""
OPTIONS = """
parser = argparse.ArgumentParser()
parser.add_argument("--settings", required=True)
parser.add_argument("--flock", type=int, default=8)
parser.add_argument("--width", type=int, default=4)
parser.add_argument("--laps", type=int, default=3)
c = parser.parse_args()
with open(c.settings) as stream:
    loaded = yaml.safe_load(stream)
"""
USED = """
data = tf.data.Dataset.from_tensor_slices(tf.zeros([64, 4])).batch({flock})
model = tf.keras.Sequential([tf.keras.layers.Dense({width})])
model.compile("sgd", "mse")
model.fit(data, epochs={laps})
"""
ATTRIBUTES, ITEMS = (
    USED.format(**{name: shape % name for name in ("flock", "width", "laps")})
    for shape in ("c.%s", "c['%s']")
)
DEFAULTS = 'DEFAULTS = {"flock": 8, "width": 4, "laps": 3}\n'
CONFIG = 'flock: 8\nwidht: 4\nlaps: "3"\n'
DEAD, MISSPELT, REFUSED = ("dead-key", "warning"), ("misspelt-key", "error"), ("refused-value", "error")
HANDED_ON = {
    "set on the options one by one": (
        OPTIONS + "for k, v in loaded.items():\n    setattr(c, k, v)\n" + ATTRIBUTES,
        {"widht": DEAD, "laps": REFUSED},
    ),
    "laid over the options": (OPTIONS + "vars(c).update(loaded)\n" + ATTRIBUTES, {"widht": DEAD, "laps": REFUSED}),
    "laid over their attributes": (
        OPTIONS + "c.__dict__.update(loaded)\n" + ATTRIBUTES,
        {"widht": DEAD, "laps": REFUSED},
    ),
    "laid over defaults": (
        DEFAULTS + LOADED + "c = dict(DEFAULTS)\nc.update(loaded)\n" + ITEMS,
        {"widht": DEAD, "laps": REFUSED},
    ),
    "spread behind defaults": (
        DEFAULTS + LOADED + "c = {**DEFAULTS, **loaded}\n" + ITEMS,
        {"widht": DEAD, "laps": REFUSED},
    ),
    "merged into defaults, which say what there may be": (
        dedent(
            """
        from easydict import EasyDict as edict
        c = edict()
        c.flock = 8
        c.width = 4
        c.laps = 3


        def merge(a, b):
            if type(a) is not edict:
                return
            for k, v in a.items():
                if k not in b:
                    raise KeyError(f"{k} is not a valid key")
                if type(v) is edict:
                    merge(a[k], b[k])
                else:
                    b[k] = v
        """
        )
        + LOADED
        + "merge(edict(loaded), c)\n"
        + ATTRIBUTES,
        {"widht": MISSPELT, "laps": REFUSED},
    ),
    "set on an object that has defaults": (
        dedent(
            """
        class Settings:
            flock = 8
            width = 4
            laps = 3

            @classmethod
            def load(cls, path):
                made = cls()
                with open(path) as stream:
                    for key, value in yaml.safe_load(stream).items():
                        if not hasattr(made, key):
                            raise AttributeError(key)
                        setattr(made, key, value)
                return made


        parser = argparse.ArgumentParser()
        parser.add_argument("settings")
        c = Settings.load(parser.parse_args().settings)
        """
        )
        + ATTRIBUTES,
        {"widht": MISSPELT, "laps": REFUSED},
    ),
    "the attributes of an object": (
        dedent(
            """
        class Settings:
            def __init__(self, path):
                with open(path) as stream:
                    self.__dict__.update(yaml.safe_load(stream))


        parser = argparse.ArgumentParser()
        parser.add_argument("settings")
        c = Settings(parser.parse_args().settings)
        """
        )
        + ATTRIBUTES,
        {"widht": MISSPELT, "laps": REFUSED},
    ),
    "set on an object by name": (
        dedent(
            """
        class Settings:
            def __init__(self, values):
                for key in values:
                    setattr(self, key, values[key])
        """
        )
        + LOADED
        + "c = Settings(loaded)\n"
        + ATTRIBUTES,
        {"widht": MISSPELT, "laps": REFUSED},
    ),
    "a dictionary whose attributes are its entries": (
        dedent(
            """
        class Settings(dict):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
                self.__dict__ = self
        """
        )
        + LOADED
        + "c = Settings(loaded)\n"
        + ATTRIBUTES,
        {"widht": MISSPELT, "laps": REFUSED},
    ),
    "fields of a class": (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Settings:\n    flock: int = 8\n    width: int = 4\n"
        "    laps: int = 3\n" + LOADED + "c = Settings(**loaded)\n" + ATTRIBUTES,
        {"widht": MISSPELT, "laps": REFUSED},
    ),
    "filled into a dictionary": (
        dedent(
            """
        class Settings(dict):
            def __init__(self, values):
                for key, value in values.items():
                    self[key] = value

            def __getattr__(self, name):
                return self[name]
        """
        )
        + LOADED
        + "c = Settings(loaded)\n"
        + ATTRIBUTES,
        {"widht": MISSPELT, "laps": REFUSED},
    ),
}  # fmt: skip


def told(folder: Path, code: str, config: str) -> dict[str, tuple[str, str]]:
    """What is said of `conf/run.yaml`: check and severity by key; `-` alone where no program opens it."""
    (folder / "conf").mkdir()
    (folder / "train.py").write_text(HEAD + code, encoding="utf-8")
    (folder / "conf" / "run.yaml").write_text(config, encoding="utf-8")
    says = ProjectCode(str(folder), lambda _path: False, keep=False).all().get("conf/run.yaml")
    if says is None:
        return {"-": ("", "")}
    default = {"dead-key": "warning", "unused-here": "info"}
    return {
        ".".join(map(str, hit.at.key_path or ())): (check, hit.severity or default.get(check, "error"))
        for check, hit in says.hits
    }


@pytest.mark.parametrize(("code", "expected"), HANDED_ON.values(), ids=HANDED_ON)
def test_what_is_handed_on_is_followed(
    tmp_path: Path, code: str, expected: dict[str, tuple[str, str]]
) -> None:
    assert told(tmp_path, code, CONFIG) == expected


@pytest.mark.parametrize("code", [code for code, _ in HANDED_ON.values()], ids=HANDED_ON)
@pytest.mark.parametrize(
    "config",
    ["flock: 8\nwidth: 4\nlaps: 3\n"],
    ids=["right"],
)
def test_what_is_right_is_left_alone(tmp_path: Path, code: str, config: str) -> None:
    assert told(tmp_path, code, config) == {}


@pytest.mark.parametrize("code", [code for code, _ in HANDED_ON.values()], ids=HANDED_ON)
@pytest.mark.parametrize(
    "other",
    ["repos:\n- repo: local\n", "nav: []\nsite_name: x\nlaps: 3\n", "flock: 3\n", "- flock\n- width\n"],
    ids=["of another tool", "mostly others", "one name alone", "a list"],
)
def test_other_files_are_left_alone(tmp_path: Path, code: str, other: str) -> None:
    assert told(tmp_path, code, other) in ({}, {"-": ("", "")})


ASKED_FIRST = {
    "a key that is looked up in a table that has it": (
        "NAMES = ('flock', 'width', 'laps')\n"
        + LOADED
        + "for key in loaded:\n    if key not in NAMES:\n        raise KeyError(key)\nc = loaded\n"
        + ITEMS,
        "flock: 8\nwidth: 4\nlaps: 3\n",
        {},
    ),
    "one that it has not": (
        "NAMES = ('flock', 'width', 'laps', 'rest')\n"
        + LOADED
        + "for key in loaded:\n    if key not in NAMES:\n        raise KeyError(key)\nc = loaded\n"
        + ITEMS,
        "flock: 8\nwidth: 4\nlaps: 3\nstale: 2\n",
        {"stale": ("refused-key", "error")},
    ),
    "one that is only passed over": (
        "NAMES = ('flock', 'width', 'laps')\n"
        + LOADED
        + "for key in loaded:\n    if key not in NAMES:\n        print(key)\nc = loaded\n"
        + ITEMS,
        "flock: 8\nwidth: 4\nlaps: 3\nstale: 2\n",
        {"stale": DEAD},
    ),
    "one that is refused where something else catches it": (
        "NAMES = ('flock', 'width', 'laps')\n"
        + LOADED
        + "for key in loaded:\n    try:\n        if key not in NAMES:\n            raise KeyError(key)\n"
        "    except KeyError:\n        print(key)\nc = loaded\n" + ITEMS,
        "flock: 8\nwidth: 4\nlaps: 3\nstale: 2\n",
        {"stale": DEAD},
    ),
    "a type that is asked for": (
        LOADED + "if type(loaded['laps']) is not int:\n    raise TypeError('laps')\nc = loaded\n" + ITEMS,
        "flock: 8\nwidth: 4\nlaps: 3\n",
        {},
    ),
    "what is written down as lists where it is an array": (
        LOADED + "import json\nimport numpy as np\nc = loaded\nkept = c.copy()\nfor key in kept.keys():\n"
        "    if type(kept[key]) == np.ndarray:\n        kept[key] = kept[key].tolist()\n"
        "    if isinstance(kept[key], (np.integer, tf.Tensor)):\n        kept[key] = kept[key].item()\n"
        "with open('kept.json', 'w') as stream:\n    json.dump(kept, stream)\n" + ITEMS,
        "flock: 8\nwidth: 4\nlaps: 3\nstale: 2\nlist: [1, 2]\n",
        {"stale": DEAD, "list": DEAD},
    ),
    "a type that is another": (
        LOADED + "if type(loaded['width']) is not int:\n    raise TypeError('width')\nc = loaded\n" + ITEMS,
        "flock: 8\nwidth: wide\nlaps: 3\n",
        {"width": ("refused-choice", "error")},
    ),
}


@pytest.mark.parametrize(("code", "config", "expected"), ASKED_FIRST.values(), ids=ASKED_FIRST)
def test_what_a_program_asks_of_names_and_types(
    tmp_path: Path, code: str, config: str, expected: dict[str, tuple[str, str]]
) -> None:
    assert told(tmp_path, code, config) == expected


INDEXES = ["[: c['n'], :]", "[c['n']]", "[..., c['n']]", "[:, c['n']]", "[c['n'] :]", ".loc[c['n'], 'name']", ".iloc[[0, c['n']]]"]  # fmt: skip


@pytest.mark.parametrize("index", INDEXES)
@pytest.mark.parametrize("config", ["n: 3\nrest: 1\n", "n: [a, b]\nrest: 1\n"], ids=["a number", "a list"])
@pytest.mark.parametrize("table", ["pd.read_csv('x.csv')", "np.load('x.npy')", "list(range(20))"])
def test_what_takes_rows_and_columns_is_used(tmp_path: Path, index: str, config: str, table: str) -> None:
    code = (
        "import numpy as np\nimport pandas as pd\nwith open('conf/run.yaml') as stream:\n    c = yaml.safe_load(stream)\n"
        f"table = {table}\npart = table{index}\nmodel = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n"
        "model.compile('sgd', 'mse')\nmodel.fit(part, part)\n"
    )
    assert told(tmp_path, code, config) == {"rest": DEAD}
