"""Hold a config against its schema; what the schema comes from may know better words for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cfgfix.config.schema.validate import SchemaProblem
from cfgfix.core.findings import Severity, format_key_path
from cfgfix.lint.project import Checker, JudgedConfig, Project, Target
from cfgfix.rules.checks import by_check
from cfgfix.rules.hit import Hit, Span
from cfgfix.rules.rule import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CODES = {"not-checked": "violation"}
"""What the schema says under a code of its own, told by the rule for anything else."""


class SchemaChecker(Checker):
    """Carries out the rules about schemas."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        rules = project.rule_set.rules
        self._schema = by_check(rules, "schema")
        self._code = by_check(rules, "code")
        """Rules about the class that a schema is read from."""

    def hits_in_config(self, config: JudgedConfig) -> Iterator[tuple[Rule, Hit]]:
        """Yield the places where a config does not fit its schema."""
        document, target = config.document, config.target
        if target.schema is None or not (self._schema or self._code):
            return
        for index in config.mappings():
            for problem in target.schema.problems(document, document.roots[index], target.loader):
                if _read_by_code(problem, target):
                    continue
                told = self._rule_about_class(problem, target)
                rule = self._schema.get(_CODES.get(problem.code, problem.code)) if told is None else told[0]
                if rule is not None:
                    yield rule, _hit_of_problem(rule, problem, told[1] if told is not None else {})

    def _rule_about_class(self, problem: SchemaProblem, target: Target) -> tuple[Rule, dict[str, Any]] | None:
        """Return the rule about config classes that tells a problem better, with operands.

        None where no such rule is selected or no class takes the key: a rule about schemas then tells the problem.
        """
        usage = target.usage
        if usage is None or problem.code not in ("unknown-key", "missing-key"):
            return None
        from cfgfix.usage.checks import class_of, section_of

        name = str(problem.path[-1]) if problem.path else ""
        own: dict[str, Any] = {"name": name, "owner": class_of(usage, problem.path)}
        if own["owner"] is None:
            return None
        if problem.code == "missing-key":
            rule = self._code.get("missing-field")
            return (rule, own) if rule is not None else None
        own["effect"] = (
            "loading the file stops with TypeError" if problem.fatal else "it is dropped without a word"
        )
        own["place"] = section_of(usage, problem.path, name)
        rule = self._code.get("key-elsewhere" if own["place"] else "key-not-in-class")
        return (rule, own) if rule is not None else None


def _hit_of_problem(rule: Rule, problem: SchemaProblem, further: Mapping[str, Any]) -> Hit:
    own: dict[str, Any] = {
        "message": problem.message,
        "expected": problem.expected,
        "suggestion": problem.suggestion,
        "key": format_key_path(problem.path),
        **further,
    }
    severity = rule.severity if problem.fatal else min(rule.severity, Severity.WARNING)
    if problem.code == "not-checked" or problem.mild:
        severity = Severity.INFO
    return Hit(
        Span(problem.start, problem.end, problem.path),
        own,
        problem.changes if rule.fixes else (),
        tuple(Span(start, end, label=label) for start, end, label in problem.related),
        severity=severity.label,
        no_fix=problem.no_fix,
        context="pitfall" if problem.pitfall else "",
    )


def _read_by_code(problem: SchemaProblem, target: Target) -> bool:
    """Tell whether code reads a key that is unknown to the dialect's own schema.

    False for a key that stops the program: code that reads the same name elsewhere does not help there.
    """
    if target.usage is None or target.own_schema or problem.fatal or problem.code != "unknown-key":
        return False
    from cfgfix.usage.key_uses import DEAD

    use = target.usage.keys.get(tuple("[]" if isinstance(step, int) else step for step in problem.path))
    return use is not None and use.status not in DEAD
