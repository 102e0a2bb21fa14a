"""The cases of the rule files, and that files and checks name each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cfgfix.config.values import CHECKS
from cfgfix.lint.rule_cases import run_case
from cfgfix.rules.catalogue import read_folder
from cfgfix.rules.reader import load_yaml
from cfgfix.rules.rule import Rule

RULES = Path(__file__).resolve().parents[3] / "rules"
ALL = [
    (rule, case)
    for folder in ("yaml", "schema")
    for rule in read_folder(str(RULES / folder))
    for case in load_yaml(rule.path)["cases"]
]


@pytest.mark.parametrize(("rule", "case"), ALL, ids=[f"{rule.id}-{case['name']}" for rule, case in ALL])
def test_case(rule: Rule, case: dict[str, Any]) -> None:
    assert run_case(rule, case).problems == ()


def test_every_check_has_its_rule() -> None:
    named = {rule.check for rule in read_folder(str(RULES / "yaml")) if rule.check}
    assert {check[5:] for check in named if check.startswith("yaml.")} == CHECKS
    assert {check for check in named if not check.startswith("yaml.")} == {"engine.not_yaml"}


def test_every_check_is_named_after_its_rule() -> None:
    for rule in read_folder(str(RULES / "yaml")):
        assert rule.check is not None
        assert rule.check.partition(".")[2] == rule.name.replace("-", "_")
