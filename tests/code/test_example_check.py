"""The check and the rule that the documentation shows, and nothing else: they are right wherever a call may stand."""

from __future__ import annotations

import json
import re
import sys
import types
from pathlib import Path

import pytest

from cfgfix.core.records import replace
from cfgfix.lint.rule_cases import run_case
from cfgfix.lint.runner import Request, check
from cfgfix.rules import catalogue
from cfgfix.rules.reader import load_yaml
from cfgfix.settings.reader import Settings

PAGE = Path(__file__).resolve().parents[2] / "docs" / "source-checks.md"
PROGRAM = """\
import tensorflow as tf


def wanted(path):
    return tf.numpy_function(len, [path], tf.int64)  # plain


def ready(path):
    try:
        return tf.numpy_function(len, [path], tf.int64)  # try
    except Exception:
        return tf.numpy_function(len, [path], tf.int64)  # except


def stopped(path):
    try:
        return tf.numpy_function(len, [path], tf.int64)  # interrupt
    except KeyboardInterrupt:
        raise SystemExit from None


def late(path):
    return path
    tf.numpy_function(len, [path], tf.int64)  # behind a return


def asked(path):
    if hasattr(tf, "numpy_function"):
        return tf.numpy_function(len, [path], tf.int64)  # guard
    return hasattr(tf, "py_function") and tf.numpy_function(len, [path], tf.int64)  # operand


def _forgotten(path):
    return tf.numpy_function(len, [path], tf.int64)  # never called


if __name__ == "__main__":
    print(wanted("a"), ready("b"), stopped("c"), late("d"), asked("e"))
"""
TEST = """\
import pytest
import tensorflow as tf
from train import wanted


def test_it(path):
    with pytest.raises(ValueError, match="no"):
        tf.numpy_function(len, [path], tf.int64)  # raises
    assert wanted(path) == 1


print(tf.numpy_function(len, ["a"], tf.int64))  # test
"""


def block(language: str) -> str:
    """Return the first block of code in a language on the page."""
    found = re.search(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def told(folder: Path, monkeypatch: pytest.MonkeyPatch, severity: str, policy: str) -> dict[str, str]:
    """Return the severity of what is told at each remark of the programs."""
    text = block("yaml").replace("severity: warning\n", f"severity: {severity}\npolicy: {{{policy}}}\n", 1)
    rules = folder / "rules"
    rules.mkdir(parents=True)
    (rules / "TFD900-python-in-the-graph.yaml").write_text(text, encoding="utf-8")
    project = folder / "project"
    (project / "tests").mkdir(parents=True)
    (project / ".git").mkdir()
    (project / "train.py").write_text(PROGRAM, encoding="utf-8")
    (project / "tests" / "test_train.py").write_text(TEST, encoding="utf-8")
    cell = {"cell_type": "code", "source": [*(line + "\n" for line in PROGRAM.split("\n")[:6])]}
    (project / "note.ipynb").write_text(
        json.dumps({"cells": [cell], "nbformat": 4, "metadata": {}}), encoding="utf-8"
    )
    monkeypatch.chdir(project)
    settings = replace(Settings(), select=("TFD900",), rules=(str(rules),))
    found = {}
    for report in check(Request(paths=(".",), settings=settings)).files:
        for finding in report.findings:
            line = (report.text or "").split("\n")[finding.location.line - 1]
            remark = "notebook" if report.path.endswith(".ipynb") else line.rpartition("# ")[2]
            found[remark] = finding.severity.label
    return found


@pytest.fixture(autouse=True)
def example(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = types.ModuleType("cfgfix.code.checks.example")
    exec(compile(block("python"), str(PAGE), "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    # A folder of rules may name only checks that ship: this one does for the test.
    rules = catalogue.builtin().rules
    shipped = replace(rules[0], id="TFD899", name="shipped", check="source.example")
    monkeypatch.setattr(catalogue, "_LOADED", catalogue.Catalogue([*rules, shipped]))
    monkeypatch.setenv("CFGFIX_CACHE_DIR", str(tmp_path / "cache"))


def test_its_cases_hold(tmp_path):
    (tmp_path / "TFD900-python-in-the-graph.yaml").write_text(block("yaml"), encoding="utf-8")
    (rule,) = catalogue.read_folder(str(tmp_path))
    for case in load_yaml(rule.path)["cases"]:
        assert run_case(rule, case).problems == ()


def test_what_would_only_be_slow_is_told_in_a_try_and_not_in_tests(tmp_path, monkeypatch):
    assert told(tmp_path, monkeypatch, "warning", "") == {
        "plain": "warning",
        "try": "warning",
        "except": "info",
        "interrupt": "warning",
        "guard": "warning",
        "operand": "warning",
        "never called": "info",
        "notebook": "warning",
    }


def test_what_would_fail_is_not_told_where_it_is_caught_or_wanted(tmp_path, monkeypatch):
    assert told(tmp_path, monkeypatch, "error", "notebooks: info") == {
        "plain": "error",
        "except": "info",
        "interrupt": "error",
        "guard": "error",
        "operand": "error",
        "never called": "info",
        "notebook": "info",
    }


def test_a_policy_says_otherwise(tmp_path, monkeypatch):
    found = told(tmp_path, monkeypatch, "error", "in-try: same, in-tests: warning")
    assert found["try"] == "error"
    assert found["test"] == "warning"
    assert "raises" not in found


def test_code_that_asks_for_a_release_is_told_as_the_policy_says(tmp_path, monkeypatch):
    found = told(tmp_path / "a", monkeypatch, "error", "about: release")
    assert found["plain"] == "error"
    assert not {"try", "except", "guard", "operand"} & found.keys()
    found = told(tmp_path / "b", monkeypatch, "warning", "in-guard: skip")
    assert found["plain"] == "warning"
    assert not {"guard", "operand"} & found.keys()
    assert told(tmp_path / "c", monkeypatch, "error", "about: release, in-guard: same")["guard"] == "error"


def test_tests_are_told_as_the_policy_says(tmp_path, monkeypatch):
    assert told(tmp_path / "a", monkeypatch, "error", "in-tests: info")["test"] == "info"
    assert told(tmp_path / "b", monkeypatch, "error", "about: release")["test"] == "error"
    assert "test" not in told(tmp_path / "c", monkeypatch, "error", "about: release, in-tests: skip")
