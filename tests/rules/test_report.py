from __future__ import annotations

import ast
from pathlib import Path

import pytest

from cfgfix.core.edits import ReplaceText, Safety
from cfgfix.core.finding_data import pack_finding, unpack_finding
from cfgfix.core.findings import Confidence, Finding, Location, Severity, State
from cfgfix.core.source_file import SourceFile
from cfgfix.rules.catalogue import read_folder
from cfgfix.rules.expression import Missing
from cfgfix.rules.hit import Hit, Span
from cfgfix.rules.report import Operands, TextFile, make_finding, make_fix

PACKAGE = Path(__file__).resolve().parents[2] / "cfgfix"
PLACE = Location("a.yaml", 3, 8, 1, 4, 1, 9)
NOTHING = TextFile(SourceFile.from_text(""))
RULE = """id: USR001
name: many-epochs
summary: More epochs than this team trains
severity: warning
confidence: medium
at: [epochs]
when: epochs > 10
message: "{key} is {value}, more than 10"
fix: {set: epochs, to: "10", safety: unsafe, title: "Train 10 epochs", why: "A run of 10 epochs shows what a long one does."}
no_fix: "nothing can be done"
why: "The team's runs are flat after 10 epochs."
evidence:
  - {source: "team notes", says: "flat after 10"}
cases:
  - {name: many, config: "epochs: 20", finds: [epochs]}
  - {name: few, config: "epochs: 5", finds: []}
"""


@pytest.fixture
def rule(tmp_path):
    (tmp_path / "usr001.yaml").write_text(RULE, encoding="utf-8")
    (found,) = read_folder(str(tmp_path))
    return found


def test_what_a_check_leaves_open_is_taken_from_the_rule(rule):
    found = make_finding(rule, Hit(PLACE, {"key": "epochs", "value": 20}, context=""), NOTHING)
    assert found == Finding(
        "USR001",
        "many-epochs",
        Severity.WARNING,
        Confidence.MEDIUM,
        "epochs is 20, more than 10",
        PLACE,
        no_fix_reason=rule.no_fix,
    )


def test_what_a_check_says_itself_counts(rule):
    hit = Hit(
        PLACE,
        message="as it stands",
        confidence="high",
        no_fix="not here",
        notes=("a note",),
        context="epochs",
    )
    found = make_finding(
        rule, hit, NOTHING, severity=Severity.INFO, state=State.DORMANT, notes=("and another",)
    )
    assert (found.message, found.severity, found.confidence) == (
        "as it stands",
        Severity.INFO,
        Confidence.HIGH,
    )
    assert (found.state, found.no_fix_reason, found.notes, found.context) == (
        State.DORMANT,
        "not here",
        ("a note", "and another"),
        "epochs",
    )


def test_a_fix_has_the_title_and_safety_of_the_rule_where_the_check_has_none(rule):
    change = ReplaceText(3, 8, "10")
    fix = make_fix(rule, Operands({}), (change,))
    assert fix is not None
    assert (fix.title, fix.safety, fix.changes) == ("Train 10 epochs", Safety.UNSAFE, (change,))
    own = make_fix(rule, Operands({}), (change,), safety="safe", title="Stop earlier")
    assert own is not None
    assert (own.title, own.safety, own.why) == ("Stop earlier", Safety.SAFE, fix.why)
    assert make_fix(rule, Operands({}), ()) is None
    found = make_finding(rule, Hit(PLACE, {"key": "epochs", "value": 20}, fix=fix, no_fix="x"), NOTHING)
    assert (found.fix, found.no_fix_reason) == (fix, None)


def test_a_span_is_located_in_the_text_it_is_of(rule):
    file = TextFile(SourceFile.from_text("train:\n  epochs: 20\n", "b.yaml"))
    hit = Hit(Span(17, 19, ("train", "epochs")), {"value": 20}, related=(Span(0, 5, label="here"), PLACE))
    found = make_finding(rule, hit, file)
    assert found.message == "train.epochs is 20, more than 10"
    assert (found.location.path, found.location.line, found.location.column) == ("b.yaml", 2, 11)
    assert [(place.line, place.label) for place in found.related] == [(1, "here"), (1, None)]
    assert (found.key_path, found.context) == (("train", "epochs"), "20")


def test_an_operand_without_a_value_is_missing():
    scope = Operands({"name": "epochs", "value": None, "nothing": 0})
    assert (scope.has("name"), scope.has("value"), scope.has("other"), scope.given("nothing")) == (
        True,
        False,
        False,
        True,
    )
    assert scope.value("nothing") == 0
    for ask in (
        lambda: scope.value("value"),
        lambda: scope.value("other"),
        lambda: scope.tier("tiers", "batch", 8.0),
        lambda: scope.gpu(0, "memory"),
    ):
        with pytest.raises(Missing):
            ask()


def test_findings_come_back_from_the_cache_as_they_were(rule):
    found = make_finding(
        rule,
        Hit(PLACE, {}, (ReplaceText(3, 8, "10"),), (PLACE,), message="text", notes=("a note",)),
        NOTHING,
        flow=(PLACE,),
    )
    assert found.fix is not None
    assert unpack_finding(pack_finding(found)) == found


def test_findings_are_made_in_one_place():
    makers = sorted(
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if any(
            isinstance(node, ast.Call)
            and (
                (isinstance(node.func, ast.Name) and node.func.id == "Finding")
                or (isinstance(node.func, ast.Attribute) and node.func.attr == "Finding")
            )
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        )
    )
    assert makers == ["core/finding_data.py", "rules/report.py"]


def test_hits_have_one_class():
    hits = sorted(
        f"{path.relative_to(PACKAGE).as_posix()}:{node.name}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and node.name.endswith("Hit")
    )
    assert hits == ["rules/hit.py:Hit"]


def test_the_operands_of_a_message_have_one_class():
    scopes = sorted(
        f"{path.relative_to(PACKAGE).as_posix()}:{node.name}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        and {"value", "has", "given", "tier", "gpu"}
        <= {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
    )
    assert scopes == [
        "config/dialects/view.py:RuleScope",
        "rules/expression.py:Scope",
        "rules/report.py:Operands",
    ]
