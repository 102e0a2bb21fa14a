"""Repairs of what holds under some configs: in the config or in the code, whichever holds the cause, or refused."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from cfgfix.core.findings import Finding
from cfgfix.lint.request import Report, Request
from cfgfix.lint.runner import check, fix
from cfgfix.settings.reader import Settings

HEAD = """\
import argparse

import tensorflow as tf
import yaml

parser = argparse.ArgumentParser()
parser.add_argument("--recipe", required=True)
with open(parser.parse_args().recipe) as stream:
    recipe = yaml.safe_load(stream)
x, y = tf.ones([64, 6, 4]), tf.ones([64, 1])
"""
WATCHED = """
model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse", metrics=["mae"])
stop = tf.keras.callbacks.EarlyStopping(monitor=recipe["until"])
model.fit(x, y, validation_split=0.5, epochs=2, callbacks=[stop])
"""
STACKED = """
model = tf.keras.Sequential()
model.add(tf.keras.layers.LSTM(4, return_sequences=recipe["oven"]["all_trays"]))
model.add(tf.keras.layers.LSTM(2))
model.add(tf.keras.layers.Dense(1))
model.compile("sgd", "mse")
model.fit(x, y)
"""


def lay_out(folder: Path, code: str, configs: dict[str, str]) -> None:
    (folder / "bake.py").write_text(HEAD + textwrap.dedent(code), encoding="utf-8")
    (folder / "requirements.txt").write_text("tensorflow==2.21.0\npyyaml\n", encoding="utf-8")
    for name, text in configs.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")


def in_code(report: Report, name: str) -> list[Finding]:
    return [
        finding
        for file in report.files
        if file.path.endswith("bake.py")
        for finding in file.findings
        if finding.name == name
    ]


def repaired(folder: Path, *, unsafe: bool = True) -> Report:
    return fix(Request(paths=(str(folder),), settings=Settings(root=str(folder)), unsafe_fixes=unsafe))


def looked_at(folder: Path) -> Report:
    return check(Request(paths=(str(folder),), settings=Settings(root=str(folder))))


IN_CONFIG = {
    "a monitor that the run does not have": (
        WATCHED,
        "unmeasured-monitor",
        {"rye": "until: val_mean_absolute_error # stop\n", "oat": "until: val_mae\n"},
        {"rye": "until: val_mae # stop\n"},
    ),
    "under several configs": (
        WATCHED,
        "unmeasured-monitor",
        {
            "rye": "until: val_mean_absolute_error\n",
            "oat": "hours: 2\nuntil: 'mean_absolute_error'\n",
            "bun": "until: loss\n",
        },
        {"rye": "until: val_mae\n", "oat": "hours: 2\nuntil: 'mae'\n"},
    ),
    "a flag of a layer": (
        STACKED,
        "sequence-lost",
        {"rye": "oven:\n  all_trays: false\n", "oat": "oven: {all_trays: true}\n"},
        {"rye": "oven:\n  all_trays: true\n"},
    ),
}


@pytest.mark.parametrize("case", IN_CONFIG)
def test_a_value_that_is_the_cause_is_set_in_the_configs(tmp_path: Path, case: str) -> None:
    code, name, configs, after = IN_CONFIG[case]
    lay_out(tmp_path, code, configs)
    shown = in_code(looked_at(tmp_path), name)
    assert [item.fix is not None for item in shown] == [True] * len(shown)
    assert shown
    before = (tmp_path / "bake.py").read_text(encoding="utf-8")
    report = repaired(tmp_path)
    assert not in_code(report, name)
    assert (tmp_path / "bake.py").read_text(encoding="utf-8") == before
    for config, text in configs.items():
        assert (tmp_path / f"{config}.yaml").read_text(encoding="utf-8") == after.get(config, text)
    assert not any(file.before for file in repaired(tmp_path).files), "a second fix changes nothing"


REFUSED = {
    "the code needs the value, too": (
        WATCHED + 'if recipe["until"] == "val_mean_absolute_error":\n    model.save("mean.keras")\n',
        "unmeasured-monitor",
        {"rye": "until: val_mean_absolute_error\n", "oat": "until: val_mae\n"},
    ),
    "the code makes another value of it": (
        WATCHED.replace('recipe["until"]', '"val_" + recipe["until"]'),
        "unmeasured-monitor",
        {"rye": "until: mean_absolute_error\n", "oat": "until: mae\n"},
    ),
    "another key shares the value": (
        WATCHED,
        "unmeasured-monitor",
        {"rye": "best: &m val_mean_absolute_error\nuntil: *m\n", "oat": "until: val_mae\n"},
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_something_else_needs_is_left(tmp_path: Path, case: str) -> None:
    code, name, configs = REFUSED[case]
    lay_out(tmp_path, code, configs)
    report = repaired(tmp_path)
    assert in_code(report, name)
    for config, text in configs.items():
        assert (tmp_path / f"{config}.yaml").read_text(encoding="utf-8") == text


LOGITS = """
model = tf.keras.Sequential([tf.keras.layers.Flatten()])
model.add(tf.keras.layers.Dense(3, activation=recipe["crust"]))
model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy())
model.fit(x, y)
"""
CHOSEN = """
if recipe["many"]:
    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(3, activation=recipe["crust"])])
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy())
    model.fit(x, y)
else:
    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(1, activation=recipe["crust"])])
    model.compile("sgd", "mse")
    model.fit(x, y)
"""
IN_CODE = {
    "all configs run it so": (LOGITS, {"rye": "crust: linear\n", "oat": "crust: linear\n"}, True),
    "another config needs it as it is": (
        LOGITS,
        {"rye": "crust: linear\n", "oat": "crust: softmax\n"},
        False,
    ),
    "the other config takes another way": (
        CHOSEN,
        {"rye": "many: true\ncrust: linear\n", "oat": "many: false\ncrust: relu\n"},
        True,
    ),
    "the other config takes the same way": (
        CHOSEN,
        {"rye": "many: true\ncrust: linear\n", "oat": "many: true\ncrust: softmax\n"},
        False,
    ),
}


@pytest.mark.parametrize("case", IN_CODE)
def test_code_is_repaired_where_no_other_config_needs_it(tmp_path: Path, case: str) -> None:
    code, configs, mended = IN_CODE[case]
    lay_out(tmp_path, code, configs)
    report = repaired(tmp_path)
    after = (tmp_path / "bake.py").read_text(encoding="utf-8")
    assert ("from_logits=True" in after) is mended
    shown = in_code(report, "logits-as-probabilities")
    assert bool(shown) is not mended
    if not mended:
        assert shown[0].no_fix_reason is not None
        assert "oat.yaml, which runs it, too" in shown[0].no_fix_reason
    for config, text in configs.items():
        assert (tmp_path / f"{config}.yaml").read_text(encoding="utf-8") == text


def test_an_unsafe_repair_waits_to_be_asked_for(tmp_path: Path) -> None:
    code, name, configs, _ = IN_CONFIG["a monitor that the run does not have"]
    lay_out(tmp_path, code, configs)
    shown = in_code(repaired(tmp_path, unsafe=False), name)
    assert shown
    assert (tmp_path / "rye.yaml").read_text(encoding="utf-8") == configs["rye"]


def test_what_is_found_stays_told_beside_other_repairs_of_its_file(tmp_path: Path) -> None:
    code = WATCHED.replace('"val_" + ', "") + "pace = tf.keras.optimizers.Adam(lr=0.1)\n"
    lay_out(tmp_path, code, {"rye": "until: val_nothing\n"})
    shown = in_code(repaired(tmp_path), "unmeasured-monitor")
    assert "learning_rate=0.1" in (tmp_path / "bake.py").read_text(encoding="utf-8")
    assert len(shown) == 1
