"""What the runner does with findings stands in the rule files."""

import ast
import re
from pathlib import Path

import pytest

from cfgfix.core.errors import CfgfixError
from cfgfix.core.records import replace
from cfgfix.lint.runner import Request, check
from cfgfix.rules.catalogue import builtin, named, read_folder
from cfgfix.rules.faults import Fault
from cfgfix.rules.rule import About, InTests, Notebooks, YieldsTo
from cfgfix.settings.reader import Settings

PACKAGE = Path(__file__).resolve().parents[2] / "cfgfix"

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
    assert not policy.explains
    assert not policy.unneeded
    assert not policy.refuses_key


def test_a_policy_is_read(tmp_path):
    policy = written(
        tmp_path,
        "{about: release, notebooks: info, in-tests: info, depends-on: [loader, framework], refuses-key: true,"
        " unneeded: true, explains: [idle-cpus, serial-map]}",
    )
    assert policy.about is About.RELEASE
    assert policy.notebooks is Notebooks.INFO
    assert policy.in_tests is InTests.INFO
    assert policy.depends_on == {"loader", "framework"}
    assert policy.refuses_key
    assert policy.unneeded
    assert policy.explains == {"idle-cpus", "serial-map"}


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("{notebook: info}", "unknown key 'notebook'"),
        ("{notebooks: quiet}", "'quiet' is not one of same, errors-only, info"),
        ("{depends-on: [weather]}", "'weather' is not one of loader, framework, other-readers"),
        ("{explains: a-hunch}", "'a-hunch' is not one of serial-map"),
        ("{unneeded: perhaps}", "'perhaps' is not one of true, false"),
        ("{refuses-key: maybe}", "'maybe' is not one of true, false"),
        ("[about]", "is not a mapping"),
        ("{about: [run]}", "is not one of run, release, text"),
    ],
)
def test_a_wrong_policy_is_refused(tmp_path, policy, said):
    with pytest.raises(CfgfixError, match=re.escape(said)):
        written(tmp_path, policy)


@pytest.mark.parametrize(
    ("policy", "told"), [("{}", "warning"), ("{in-tests: info}", "info"), ("{in-tests: skip}", None)]
)
def test_a_config_of_tests_is_told_as_the_policy_says(tmp_path, monkeypatch, policy, told):
    rules = tmp_path / "rules"
    rules.mkdir()
    written(rules, policy)
    project = tmp_path / "project"
    (project / "tests").mkdir(parents=True)
    (project / ".git").mkdir()
    for path in ("train.yaml", "tests/train.yaml"):
        (project / path).write_text("batch_size: 8\nlearning_rate: 0.1\nepochs: 3\n")
    monkeypatch.chdir(project)
    settings = replace(Settings(), select=("XYZ001",), rules=(str(rules),))
    found = {
        report.path: finding.severity.label
        for report in check(Request(paths=(".",), settings=settings)).files
        for finding in report.findings
    }
    expected = {"train.yaml": "warning", "tests/train.yaml": told}
    assert found == {path: severity for path, severity in expected.items() if severity is not None}


def constants(path):
    return [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def test_no_module_names_a_rule():
    families = sorted({rule.family for rule in builtin().rules})
    of_a_rule = re.compile(rf"\b(?:{'|'.join(families)})[0-9]{{3}}\b")
    assert of_a_rule.search(f"as {builtin().rules[0].id}: told")
    named = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.value[:60]}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in constants(path)
        if of_a_rule.search(node.value)
    ]
    assert not named


def test_every_fault_is_named_by_the_code_and_explained_by_a_rule():
    told = {
        node.attr
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Fault"
    }
    assert told == {fault.name for fault in Fault}
    explained = {word for rule in builtin().rules for word in rule.policy.explains}
    assert explained == {fault.value for fault in Fault}


def test_rules_are_found_by_what_is_at_fault():
    catalogue = builtin()
    both = catalogue.explaining(Fault.SERIAL_MAP, Fault.IDLE_CPUS)
    assert [sorted(rule.policy.explains) for rule in both] == [["serial-map"], ["idle-cpus"]]
    assert catalogue.explaining(Fault.IDLE_CPUS, Fault.IDLE_CPUS) == both[1:]
    assert catalogue.explaining() == ()
    limits = catalogue.explaining(Fault.LIMIT_ABOVE_CARD)
    assert len(limits) == 2
    assert named(Fault.LIMIT_ABOVE_CARD) == ", ".join(rule.id for rule in limits)
