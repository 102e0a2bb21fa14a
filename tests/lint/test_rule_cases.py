"""The runner of rule cases: all kinds of cases are held to the same points."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.lint.rule_cases import run_case
from cfgfix.rules.catalogue import read_folder
from cfgfix.rules.reader import load_yaml

RULES = Path(__file__).resolve().parents[2] / "rules"


def kind_of(rule, case):
    if case.get("opened"):
        return "opened"
    if rule.check is not None and rule.check.startswith("code."):
        return "usage"
    return "code" if "files" in case else "config"


@pytest.fixture(scope="module")
def fixed_cases():
    """The first case of each kind that is repaired."""
    found = {}
    for rule in read_folder(str(RULES)):
        for case in load_yaml(rule.path)["cases"]:
            if "fixed" in case and case["finds"]:
                found.setdefault(kind_of(rule, case), (rule, case))
    return found


KINDS = ["config", "code", "usage", "opened"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, None),
        ({"finds": ["elsewhere"]}, "finds ["),
        ({"severity": "unheard-of"}, "severity is "),
        ({"message": "what no rule says"}, "no message has 'what no rule says'"),
        ({"state": "asleep"}, "states are ['active'"),
        ({"fixed": "something: else\n"}, "the fix gives for "),
        ({"refused": "for no reason"}, "the fix is not refused with 'for no reason'"),
    ],
)
def test_every_kind_of_case_is_held_to_every_point(fixed_cases, kind, change, problem):
    if kind not in fixed_cases:
        pytest.fail(f"no rule file has a case of the kind {kind} with a fix")
    rule, case = fixed_cases[kind]
    problems = run_case(rule, {**case, **change}).problems
    if problem is None:
        assert problems == ()
    else:
        assert any(item.startswith(problem) for item in problems), problems


@pytest.mark.parametrize("kind", ["code", "usage", "opened"])
def test_a_case_may_not_write_outside_of_its_folder(fixed_cases, kind):
    rule, case = fixed_cases[kind]
    problems = run_case(rule, {**case, "files": {"../outside.py": ""}}).problems
    assert problems == ("the case itself is wrong: '../outside.py' leads out of the case's folder",)
