from __future__ import annotations

import ast
from pathlib import Path

from cfgfix.config.dialects.dialect import Dialect, dialects
from cfgfix.config.document.compose import compose
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.core.findings import Confidence
from cfgfix.core.source_file import SourceFile
from cfgfix.lint.case_trial import trial_project
from cfgfix.lint.checkers.registry import CHECKERS
from cfgfix.lint.checkers.values import ValueChecker
from cfgfix.lint.project import FORMS, Checker, HitLimit, JudgedConfig, Target
from cfgfix.lint.project_findings import findings_in_config
from cfgfix.lint.rule_set import RuleSet
from cfgfix.rules.catalogue import builtin
from cfgfix.rules.checks import by_check
from cfgfix.rules.hit import Hit, Span

PACKAGE = Path(__file__).resolve().parents[2] / "cfgfix"
TEXT = "train:\n  learning_rate: 1e-4\n  epochs: 10\n"


def target(dialect: Dialect | None = None) -> Target:
    return Target(dialect or dialects()["generic"], LOADERS["pyyaml"], None, None, None)


def test_a_checker_yields_hits_with_their_rules_and_knows_no_policy():
    document = compose(SourceFile.from_text(TEXT, "a.yaml"))
    (rule,) = builtin().matching("YML001")
    config = JudgedConfig(document, target(), None, HitLimit(10))
    ((told, hit),) = ValueChecker(trial_project([rule])).hits_in_config(config)
    assert told is rule
    assert isinstance(hit.at, Span)
    assert (hit.at.key_path, TEXT[hit.at.start : hit.at.end]) == (("train", "learning_rate"), "1e-4")
    assert not config.limit.cut


def test_every_checker_is_registered_and_asked_the_same_questions():
    made = {
        cls.name
        for path in (PACKAGE / "lint" / "checkers").glob("*.py")
        for cls in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(cls, ast.ClassDef)
    }
    assert sorted(made) == sorted(checker.__name__ for checker in CHECKERS)
    questions = {name for name in vars(Checker) if name.startswith("hits_in_")}
    for checker in CHECKERS:
        assert questions & vars(checker).keys(), f"{checker.__name__} answers nothing"


def test_checkers_are_made_for_their_project():
    project = trial_project(builtin().rules, builtin())
    assert [type(checker) for checker in project.checkers] == list(CHECKERS)
    assert all(checker.project is project for checker in project.checkers)


def test_no_more_hits_of_a_rule_are_listed_than_there_is_room_for():
    document = compose(SourceFile.from_text("a: 1e-4\nb: 1e-4\nlr: 1e-3\n", "a.yaml"))
    (rule,) = builtin().matching("YML001")
    found = findings_in_config(trial_project([rule], builtin()), document, target(), 2)
    assert (len(found.findings), found.cut) == (2, frozenset({rule.id}))


def test_json_and_toml_go_the_way_of_yaml_with_the_checkers_that_know_them():
    """No YAML trap is told there, and of the conditions only those about keys that code explains."""
    document = compose(SourceFile.from_text('{"lr": 1e-4, "lr": 1e-4}', "a.json"))
    project = trial_project(builtin().rules, builtin())
    names = {form: {type(item).__name__ for item in project.checkers if form in item.forms} for form in FORMS}
    assert names["toml"] == names["ini"] == {"RunsChecker"}
    assert names["json"] == {"RunsChecker", "ConceptChecker"}
    assert len(names["yaml"]) == len(CHECKERS)
    assert findings_in_config(project, document, target()).findings
    for form in FORMS - {"yaml"}:
        assert not findings_in_config(project, document, target(), form=form).findings


def test_rules_are_found_by_the_kind_of_their_check():
    rules = builtin().rules
    kinds = {rule.check.partition(".")[0] for rule in rules if rule.check is not None}
    assert kinds == {"yaml", "cluster", "schema", "code", "source", "engine"}
    for kind in kinds:
        found = by_check(rules, kind)
        assert all(rule.check == f"{kind}.{name}" for name, rule in found.items())
        assert found


def test_hits_become_findings_in_three_places():
    callers = sorted(
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if any(
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "make_finding"
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        )
    )
    assert callers == ["code/finding_maker.py", "lint/rule_set.py", "lint/suppressing.py"]


def test_a_hit_takes_from_its_rule_what_it_leaves_open():
    (rule,) = builtin().matching("YML001")
    source = SourceFile.from_text(TEXT, "a.yaml")
    start = TEXT.index("1e-4")
    hit = Hit(Span(start, start + 4, ("train", "learning_rate")), message="x", confidence="low")
    found = RuleSet(builtin(), [rule], {}).finding(rule, hit, source)
    assert (found.severity, found.confidence, found.key_path) == (
        rule.severity,
        Confidence.LOW,
        ("train", "learning_rate"),
    )
