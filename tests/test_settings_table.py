"""Every setting of the table is read, shown, documented and has an effect; no other name is accepted."""

from __future__ import annotations

import sys

import pytest

from cfgfix.cli.check import show
from cfgfix.cli.options import TABLE
from cfgfix.core.errors import CfgfixError
from cfgfix.lint.request import Request
from cfgfix.lint.runner import check
from cfgfix.output import json as json_report
from cfgfix.output import text as text_report
from cfgfix.output.formats import Style
from cfgfix.settings.reader import Settings, build
from cfgfix.settings.table import NAMES, SETTINGS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BESIDE = {"root", "origin", "profiles", "command_hardware"}
"""Fields that are no settings of their own: where the settings come from, and the parts of `hardware`."""


def test_the_fields_are_those_of_the_table():
    assert {setting.attribute for setting in SETTINGS} == set(Settings.__slots__) - BESIDE
    plain = Settings()
    assert all(getattr(plain, setting.attribute) == setting.default for setting in SETTINGS)


def test_a_name_stands_in_the_table_once():
    assert len(NAMES) == len(SETTINGS)


@pytest.mark.parametrize("name", [name for name in NAMES if "-" in name])
def test_a_name_has_one_spelling(name):
    value = VALUES[name][0]
    build({name: value}, "cfgfix.toml")
    with pytest.raises(CfgfixError) as caught:
        build({name.replace("-", "_"): value}, "cfgfix.toml")
    assert f"did you mean {name!r}?" in str(caught.value)


def test_an_option_is_named_by_one_setting():
    flags = [setting.flag for setting in SETTINGS if setting.flag is not None]
    assert len(set(flags)) == len(flags)
    told = {flag: text for _, options, _, _, text in TABLE for flag in options}
    assert all(told[setting.flag] == setting.flag_help for setting in SETTINGS if setting.flag is not None)


CONFIG = "model: {decoder_dim: 1024}\ndata:\n  batch_size: 8\n  num_workers: 64\ntraining:\n  learning_rate: 1e-4\n  epochs: 3\n"
OTHER = "opts:\n  lr_of_ours: 1e-4\n  rows: 0\n"
CODE = "import tensorflow as tf\n\n\ndef make(files):\n    return tf.data.Dataset.from_tensor_slices(files).map(len, num_parallel_calls=min(4, tf.data.AUTOTUNE))\n\n\nd = tf.data.experimental.choose_from_datasets\n"
CLASSES = "from dataclasses import dataclass\n\n\n@dataclass\nclass Opts:\n    learning: float = 1.0\n\n\n@dataclass\nclass Config:\n    opts: Opts\n"
RULE = """\
id: OWN001
name: three-epochs
summary: Three epochs
severity: warning
preview: true
at: epochs
when: epochs == 3
message: "{key} is 3"
no_fix: "nobody knows"
why: "x"
evidence: [{source: "x", says: "x"}]
cases:
  - {name: a, config: "training: {epochs: 3}", finds: [training.epochs]}
  - {name: b, config: "training: {epochs: 4}", finds: []}
"""
OWN_DIALECT = """\
name: ours
title: Our own
loader: pyyaml
detect: {any: [opts.lr_of_ours, opts.rows], min_any: 2}
concepts: {learning_rate: opts.lr_of_ours, batch_size: opts.rows}
"""

VALUES = {
    "include": (["*.cfg"], {}),
    "exclude": (["deep"], {}),
    "source-roots": (["src"], {}),
    "schema": ("code/own.py:Config", {}),
    "dialect": ("keras-flat", {}),
    "dialects": (["dialects"], {}),
    "loader": ("ruamel", {}),
    "unknown-keys": ("ignored", {"schema": "code/own.py:Config"}),
    "keys": ({"batch_size": "opts.rows"}, {}),
    "tensorflow": ("2.4", {}),
    "hardware": ("rtx4090,cpus=8,ram=64", {}),
    "select": (["YML001"], {}),
    "ignore": (["YML001"], {}),
    "extend-select": (["OWN001"], {"rules": ["rules"], "select": ["YML"]}),
    "per-file-ignores": ({"speech.yaml": ["YML001"]}, {}),
    "severity": ({"YML001": "info"}, {}),
    "fail-on": ("never", {}),
    "min-severity": ("error", {}),
    "preview": (True, {"rules": ["rules"]}),
    "rules": (["rules"], {"preview": True}),
    "show-skipped": (True, {}),
    "force-exclude": (True, {"exclude": ["old"]}),
}
"""By setting: a value that changes what a check says, and what else must be set for that."""


@pytest.fixture
def project(tmp_path, monkeypatch):
    for name, text in {
        "speech.yaml": CONFIG,
        "more.cfg": CONFIG,
        "old/x.yaml": CONFIG,
        "deep/y.yaml": CONFIG,
        "other.yaml": OTHER,
        "src/make.py": CODE,
        "code/own.py": CLASSES,
        "rules/OWN001-three-epochs.yaml": RULE,
        "dialects/ours/dialect.yaml": OWN_DIALECT,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CFGFIX_CACHE_DIR", str(tmp_path / ".cache"))
    return tmp_path


def test_every_setting_has_its_example():
    assert list(VALUES) == list(NAMES)


def said(project, table):
    """Return what a check says under a table of settings."""
    settings = build({"hardware": "none", **table}, str(project / "cfgfix.toml"))
    report = check(Request(paths=("old/x.yaml", "."), settings=settings))
    shown = text_report.render(report, Style(show_skipped=settings.show_skipped))
    return json_report.render(report), shown, report.exit_code()


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_has_an_effect(project, name):
    value, besides = VALUES[name]
    assert said(project, {**besides, name: value}) != said(project, besides)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_shown_is_read_again(project, name):
    value, besides = VALUES[name]
    settings = build({**besides, name: value}, str(project / "cfgfix.toml"))
    assert build(tomllib.loads(show(settings)), str(project / "cfgfix.toml")) == settings
