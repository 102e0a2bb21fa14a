"""The cases of the rules about Python code, and that files and checks name each other."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from cfgfix.code.scan import check_function, source_rules
from cfgfix.lint.rule_cases import run_case
from cfgfix.rules.catalogue import read_folder
from cfgfix.rules.reader import load_yaml
from cfgfix.rules.rule import Rule

RULES = Path(__file__).resolve().parents[2] / "rules"
ALL = [
    rule
    for folder in sorted(RULES.iterdir())
    if folder.is_dir()
    for rule in source_rules(read_folder(str(folder)))
]
CASES = [(rule, case) for rule in ALL for case in load_yaml(rule.path)["cases"]]


@pytest.mark.parametrize(("rule", "case"), CASES, ids=[f"{rule.id}-{case['name']}" for rule, case in CASES])
def test_case(rule: Rule, case: dict[str, Any]) -> None:
    assert run_case(rule, case).problems == ()


@pytest.mark.parametrize("rule", ALL, ids=[rule.id for rule in ALL])
def test_rule_names_a_check(rule: Rule) -> None:
    assert callable(check_function(rule).function)


@pytest.mark.parametrize("rule", ALL, ids=[rule.id for rule in ALL])
def test_rule_has_a_case_that_finds_and_one_that_does_not(rule: Rule) -> None:
    cases = load_yaml(rule.path)["cases"]
    assert any(case["finds"] for case in cases)
    assert any(not case["finds"] for case in cases)


def test_every_check_is_named_by_a_rule() -> None:
    named: dict[str, set[str]] = {}
    for rule in ALL:
        assert rule.check is not None
        _, module, function = (*rule.check.split("."), "check")[:3]
        named.setdefault(module, set()).add(function)
    for module, functions in named.items():
        assert functions <= set(dir(importlib.import_module(f"cfgfix.code.checks.{module}")))
    unnamed = [
        path.stem
        for path in (RULES.parent / "cfgfix" / "code" / "checks").glob("*.py")
        if "\ndef check(program: Program)" in path.read_text(encoding="utf-8")
        and "check" not in named.get(path.stem, ())
    ]
    assert unnamed == []
