"""What code makes of a value of a config is told once: at the config, where a rule about it speaks of the same call."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.lint.request import Request
from cfgfix.lint.runner import check
from cfgfix.settings.reader import Settings

PROGRAM = """\
import numpy as np
import tensorflow as tf
import yaml

with open("loom.yaml") as stream:
    loom = yaml.safe_load(stream)
net = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
net.compile("adam", "mse")
{calls}
net.fit(np.zeros((9, 3)), np.zeros((9, 1)), epochs=loom["rounds"], callbacks=[keep])
{after}
"""
CALLS = {
    "by position": 'keep = tf.keras.callbacks.ModelCheckpoint(loom["keep"]["cloth"])',
    "by name": 'keep = tf.keras.callbacks.ModelCheckpoint(filepath=loom["keep"]["cloth"], verbose=1)',
    "through a function": 'def made(name):\n    return tf.keras.callbacks.ModelCheckpoint(name)\n\nkeep = made(loom["keep"]["cloth"])',
}


def told(
    folder: Path, calls: str, *, after: str = "", select: tuple[str, ...] = (), keep: str = "out/cloth.ckpt"
) -> list[tuple[str, str]]:
    """The rules about names of files that find something, with the file."""
    (folder / "requirements.txt").write_text("tensorflow==2.18.0\n")
    (folder / "weave.py").write_text(PROGRAM.format(calls=calls, after=after))
    (folder / "loom.yaml").write_text(f"rounds: 2\nkeep:\n  cloth: {keep}\n")
    settings = Settings(root=str(folder), select=select or ("ALL",))
    report = check(Request(paths=(str(folder),), settings=settings))
    return [
        (finding.rule, Path(file.path).name)
        for file in report.files
        for finding in file.findings
        if finding.rule in ("DEP024", "REF049")
    ]


@pytest.mark.parametrize("case", CALLS)
def test_a_name_from_a_config_is_told_at_the_config_alone(tmp_path: Path, case: str) -> None:
    assert told(tmp_path, CALLS[case]) == [("REF049", "loom.yaml")]


def test_the_rule_about_code_tells_it_where_it_is_asked_alone(tmp_path: Path) -> None:
    assert told(tmp_path, CALLS["by position"], select=("DEP024",)) == [("DEP024", "weave.py")]


def test_another_call_with_the_same_value_is_told_in_the_code(tmp_path: Path) -> None:
    found = told(tmp_path, CALLS["by position"], after='net.save(loom["keep"]["cloth"])')
    assert found == [("REF049", "loom.yaml"), ("DEP024", "weave.py")]


def test_a_name_of_the_code_itself_is_told_there(tmp_path: Path) -> None:
    calls = 'keep = tf.keras.callbacks.ModelCheckpoint("out/cloth.ckpt")'
    assert told(tmp_path, calls) == [("DEP024", "weave.py")]


def test_a_name_that_keras_takes_is_told_nowhere(tmp_path: Path) -> None:
    assert told(tmp_path, CALLS["by name"], keep="out/cloth.keras") == []
