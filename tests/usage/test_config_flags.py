"""Configs of ml_collections that a flag names: what nothing reads, what is not there, what a command gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.usage.project_code import ProjectCode

CONFIG = """\
import ml_collections


def get_config():
    kiln = ml_collections.ConfigDict()
    kiln.shelves = 4
    kiln.fire = ml_collections.ConfigDict()
    kiln.fire.heat = 0.1
    kiln.fire.soak = 3
    kiln.tag = "may"
    return kiln
"""
USES = "tf.keras.layers.Dense(kiln.shelves, name=kiln.tag)\n    tf.keras.optimizers.SGD(kiln.fire.heat)"
WAYS = {
    "a flag": """\
from ml_collections import config_flags

config_flags.DEFINE_config_file("kiln", "plans/base.py")


def main(_):
    bake(flags.FLAGS.kiln)
""",
    "the flag as an object": """\
from ml_collections.config_flags import config_flags

KILN = config_flags.DEFINE_config_file("kiln", default="plans/base.py", help_string="the kiln")


def main(_):
    bake(KILN.value)
""",
    "a config that the program makes": """\
from ml_collections import config_flags

from plans import base

config_flags.DEFINE_config_dict("kiln", base.get_config())


def main(argv):
    del argv
    bake(flags.FLAGS.kiln)
""",
}


def told(folder: Path, way: str, uses: str = USES, command: str = "") -> list[tuple[str, str, str]]:
    """What is told of the settings: file, check and name."""
    (folder / "plans").mkdir()
    (folder / "plans" / "__init__.py").touch()
    (folder / "plans" / "base.py").write_text(CONFIG, encoding="utf-8")
    if command:
        (folder / "go.sh").write_text(f"python bake.py {command}\n", encoding="utf-8")
    (folder / "bake.py").write_text(
        f"import tensorflow as tf\nfrom absl import app, flags\n{way}\n\ndef bake(kiln):\n    {uses}\n\n\napp.run(main)\n",
        encoding="utf-8",
    )
    found = ProjectCode(str(folder), lambda _path: False, keep=False).options()
    return [(path, check, str(hit.values["name"])) for path, check, hit in found]


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_keys_of_a_config_that_a_flag_names(tmp_path: Path, way: str) -> None:
    uses = f"{USES}\n    tf.data.Dataset.range(kiln.fire.turns)"
    assert told(tmp_path, way, uses) == [
        ("bake.py", "absent-setting", "turns"),
        ("plans/base.py", "dead-setting", "fire.soak"),
    ]


GIVEN = {
    "--kiln.fire.hot=0.3": [("plans/base.py", "unknown-override", "hot")],
    "--kiln.shelfs 3": [("plans/base.py", "unknown-override", "shelfs")],
    "--kiln=plans/base.py --kiln.doors=2": [("plans/base.py", "unknown-override", "doors")],
    "--kiln.fire.heat=0.3": [],
    "--kiln=plans/base.py:night --kiln.shelves 3": [],
    "--kiln=elsewhere/base.py --kiln.doors=2": [],
}


@pytest.mark.parametrize(("command", "expected"), GIVEN.items(), ids=GIVEN)
def test_keys_that_a_command_gives(
    tmp_path: Path, command: str, expected: list[tuple[str, str, str]]
) -> None:
    uses = f"{USES}\n    tf.data.Dataset.range(kiln.fire.soak)"
    assert told(tmp_path, WAYS["a flag"], uses, command) == expected


ALL_READ = {
    "a section spread": f"{USES}\n    oven(**kiln.fire)",
    "gone through": f"{USES}\n    for name, value in kiln.fire.items():\n        tf.summary.scalar(name, value, 1)",
    "set by the program": f"{USES}\n    kiln.fire.total = kiln.fire.soak * 2\n    tf.data.Dataset.range(kiln.fire.total)",
    "with a default": f"{USES}\n    tf.data.Dataset.range(kiln.fire.get('doors', kiln.fire.soak))",
}


@pytest.mark.parametrize("uses", ALL_READ.values(), ids=ALL_READ)
def test_keys_that_are_all_read(tmp_path: Path, uses: str) -> None:
    assert told(tmp_path, f"from oven import oven\n{WAYS['a flag']}", uses) == []
