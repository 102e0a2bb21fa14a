"""How safe a fix is, as every table tells it, is how safe the fixes of the check are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from cfgfix.cli.explain import explain
from cfgfix.cli.rules import rules
from cfgfix.core.edits import Safety
from cfgfix.core.errors import CfgfixError
from cfgfix.lint.rule_cases import run_case, run_folder
from cfgfix.rules.catalogue import builtin
from cfgfix.rules.reader import load_yaml, plain_title

RULES = {rule.id: rule for rule in builtin().rules}


def changed(record: Any, **values: Any) -> Any:
    """Return a record with some of its values replaced."""
    names = type(record).__annotations__
    return type(record)(**{name: values.get(name, getattr(record, name)) for name in names})


def test_the_cases_fail_on_a_safety_that_the_rule_does_not_state():
    rule = RULES["YML003"]
    case = next(case for case in load_yaml(rule.path)["cases"] if "schema" in case)
    assert run_case(rule, case).problems == ()
    stated = tuple(changed(fix, also=Safety.UNSAFE) for fix in rule.fixes)
    problems = run_case(changed(rule, fixes=stated), case).problems
    assert problems == ("a fix is safe, which the rule does not state",)


def test_the_table_and_the_list_tell_both():
    row = next(
        item for item in json.loads(CliRunner().invoke(rules, ["--json"]).output) if item["id"] == "YML003"
    )
    assert row["fix_safety"] == ["unsafe", "safe"]
    assert row["fix"] == "safe"
    shown = CliRunner().invoke(rules, []).output
    assert any(line.startswith("YML003 *!") for line in shown.splitlines())
    assert "unsafe or safe: Quote" in CliRunner().invoke(explain, ["YML003"]).output


def test_no_title_is_shown_as_the_expression_that_makes_it():
    assert plain_title("{'Use it' if has(x) else 'Move it'} now") == "Use it, or: Move it now"
    assert "has(" not in CliRunner().invoke(explain, ["SCH001"]).output


RULE = """\
id: TST001
name: some-check
summary: A check
check: yaml.duplicate_key
message: "{key}"
fix: {safety: safe, also: ALSO, title: "Mend", why: "so"}
why: so
evidence: [{source: here, says: so}]
cases: [{name: none, config: "a: 1\\n", finds: []}]
"""


@pytest.mark.parametrize("also", ["safe", "sometimes"])
def test_a_second_safety_is_another_one(tmp_path, also):
    (tmp_path / "TST001-some-check.yaml").write_text(RULE.replace("ALSO", also))
    with pytest.raises(CfgfixError, match="safety"):
        list(run_folder(str(tmp_path)))
