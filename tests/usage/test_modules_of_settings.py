"""Python modules that hold the settings of a program: they are its configs."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.lint.runner import Request, check
from cfgfix.output.json import document
from cfgfix.output.text import concise
from cfgfix.settings.reader import Settings
from cfgfix.usage.project_code import ProjectCode

TRAIN = """\
import argparse
import importlib

import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("kiln")
args = parser.parse_args()
kiln = importlib.import_module({name})
tf.keras.layers.Dense(kiln.SHELVES)
tf.keras.optimizers.SGD(kiln.fire["rate"])
"""
ROUND = "SHELVES = 3\nfire = {'rate': 0.1}\n"
SQUARE = "fire = {'rate': 0.2}\n"


def written(folder: Path, files: dict[str, str]) -> ProjectCode:
    """Write the files of a project and return what is known of its code."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return ProjectCode(str(folder), lambda _path: False, keep=False)


NAMES = [
    'f"kilns.{args.kiln}"',
    '"kilns." + args.kiln',
    '"kilns.{}".format(args.kiln)',
    '"kilns.%s" % args.kiln',
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", ["", "python train.py round\n"])
def test_each_module_that_a_program_may_import_is_its_config(tmp_path: Path, name: str, command: str) -> None:
    files = {"train.py": TRAIN.format(name=name), "kilns/round.py": ROUND, "kilns/square.py": SQUARE}
    code = written(tmp_path, files | ({"run.sh": command} if command else {}))
    assert code.modules() == (("kilns/round.py", ("train.py",)), ("kilns/square.py", ("train.py",)))
    assert [(path, check, hit.values["name"]) for path, check, hit in code.options()] == [
        ("kilns/square.py", "absent-setting", "SHELVES")
    ]


def test_a_name_that_a_module_is_given_is_there(tmp_path: Path) -> None:
    text = TRAIN.format(name=NAMES[0]).replace("tf.keras.layers", "kiln.SHELVES = 3\ntf.keras.layers")
    code = written(tmp_path, {"train.py": text, "kilns/round.py": ROUND, "kilns/square.py": SQUARE})
    assert code.options() == ()


def test_a_module_that_is_named_by_nothing_that_is_known(tmp_path: Path) -> None:
    text = TRAIN.format(name="args.kiln")
    code = written(tmp_path, {"train.py": text, "kilns/round.py": ROUND, "kilns/square.py": SQUARE})
    assert (code.modules(), code.options()) == ((), ())


@pytest.mark.parametrize("name", ["config.py", "configs/kiln.py"])
def test_a_module_that_is_called_what_settings_are_called(tmp_path: Path, name: str) -> None:
    folder, _, module = name.removesuffix(".py").rpartition("/")
    imports = f"from {folder} import {module}" if folder else f"import {module}"
    text = f"import tensorflow as tf\n{imports}\ntf.keras.layers.Dense({module}.NET['units'])\n"
    code = written(tmp_path, {"train.py": text, name: "NET = {'units': 3, 'rate': 0.1}\n"})
    assert code.modules() == ((name, ("train.py",)),)


def test_a_module_of_code_is_none(tmp_path: Path) -> None:
    files = {
        "train.py": "import tensorflow as tf\nimport layers\nlayers.dense()\n",
        "layers.py": "import tensorflow as tf\nNET = {'units': 3, 'rate': 0.1, 'width': 4, 'depth': 5}\n\n\n"
        "def dense():\n    tf.keras.layers.Dense(NET['units'] + NET['rate'] + NET['width'] + NET['depth'])\n",
    }
    assert written(tmp_path, files).modules() == ()


def test_a_report_counts_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import tensorflow as tf\nimport config\ntf.keras.layers.Dense(config.UNITS)\n"
    written(tmp_path, {"train.py": text, "config.py": "UNITS = 3\n"})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CFGFIX_CACHE_DIR", "")
    report = check(Request(paths=(".",), settings=Settings(root=str(tmp_path), hardware="none")))
    assert "no findings in 1 config (1 imported by train.py) and 2 Python files" in concise(report)
    found = {item["path"]: item["imported_by"] for item in document(report)["files"]}
    assert found == {"config.py": ["train.py"]}
