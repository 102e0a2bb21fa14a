"""What the runner does with findings stands in the rule files."""

import ast
import re
from pathlib import Path

import pytest

from cfgfix.core.errors import CfgfixError
from cfgfix.rules.catalogue import builtin, read_folder
from cfgfix.rules.rule import About, Notebooks, YieldsTo

PACKAGE = Path(__file__).resolve().parents[2] / "cfgfix"
NAME_RULES_STILL = {"advice", "diagnose", "measure", "tf", "lsp", "cli", "output", "hardware"}
"""Packages whose verdicts still name rules in Python."""

RULE = """\
id: XYZ001
name: a-test
summary: A test
severity: warning
policy: {policy}
at: batch_size
when: batch_size > 1
message: "{{key}}"
no_fix: none
why: a test
evidence: [{{source: none, says: none}}]
cases:
  - {{name: a, config: "x: 1", finds: [x]}}
  - {{name: b, config: "x: 1", finds: []}}
"""


def written(tmp_path, policy):
    (tmp_path / "XYZ001-a-test.yaml").write_text(RULE.format(policy=policy))
    (rule,) = read_folder(str(tmp_path))
    return rule.policy


def test_a_rule_without_a_word_has_the_usual_policy(tmp_path):
    policy = written(tmp_path, "{}")
    assert policy.about is About.RUN
    assert policy.notebooks is Notebooks.SAME
    assert policy.yields_to is YieldsTo.NOTHING
    assert policy.in_tests is None
    assert not policy.depends_on
    assert not policy.refuses_key


def test_a_policy_is_read(tmp_path):
    policy = written(
        tmp_path,
        "{about: release, notebooks: info, in-tests: info, depends-on: [loader, framework], refuses-key: true}",
    )
    assert policy.about is About.RELEASE
    assert policy.notebooks is Notebooks.INFO
    assert policy.in_tests is not None
    assert policy.in_tests.label == "info"
    assert policy.depends_on == {"loader", "framework"}
    assert policy.refuses_key


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("{notebook: info}", "unknown key 'notebook'"),
        ("{notebooks: quiet}", "'quiet' is not one of same, errors-only, info"),
        ("{depends-on: [weather]}", "'weather' is not one of loader, framework, other-readers"),
        ("{refuses-key: maybe}", "'maybe' is not one of true, false"),
        ("[about]", "is not a mapping"),
        ("{about: [run]}", "is not one of run, release, text"),
    ],
)
def test_a_wrong_policy_is_refused(tmp_path, policy, said):
    with pytest.raises(CfgfixError, match=re.escape(said)):
        written(tmp_path, policy)


def test_no_module_between_check_and_finding_names_a_rule():
    ids = {rule.id for rule in builtin().rules}
    named = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] in NAME_RULES_STILL:
            continue
        named += [
            f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.value}"
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in ids
        ]
    assert not named
