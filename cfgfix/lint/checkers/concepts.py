"""Hold the settings of a config against one another and against the machine, by what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from cfgfix.config.dialects.dialect import Dialect
from cfgfix.config.dialects.view import Binding, RuleScope, View
from cfgfix.core.findings import Location, format_key_path
from cfgfix.core.records import replace
from cfgfix.lint.project import YAML_FORM, Checker, JudgedConfig, Project
from cfgfix.lint.rule_fixes import as_far_as_code_allows, first_fix, is_true
from cfgfix.lint.rule_places import can_bind, comment_beside, heads_of, place_of, place_operands, places_of
from cfgfix.rules.expression import Missing, evaluate
from cfgfix.rules.hit import Hit, Span
from cfgfix.rules.rule import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfgfix.config.dialects.parameters import Reached


class ConceptChecker(Checker):
    """Carries out the rules that state a condition (`when`) instead of naming a check.

    In JSON it speaks only of keys whose meaning the code shows.
    """

    forms = frozenset({YAML_FORM, "json"})

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        rules = project.rule_set.rules
        self._rules = [rule for rule in rules if rule.check is None]
        self._names = frozenset(
            name
            for rule in self._rules
            if rule.each is not None and not rule.each.concepts
            for name in rule.each.keys
        )
        """Names of keys that some rule is about."""
        self._rules_of: dict[int, tuple[Dialect, list[tuple[Rule, frozenset[str] | None]]]] = {}

    def hits_in_config(self, config: JudgedConfig) -> Iterator[tuple[Rule, Hit]]:
        """Yield the settings of a config for which the condition of a rule holds."""
        target = config.target
        by_code = config.paths_by_code() if config.form != YAML_FORM else None
        for index in config.mappings():
            view = target.view(config.document, index)
            present = view.top.keys()
            for rule, heads in self._applicable_rules(target.dialect):
                if heads is not None and heads.isdisjoint(present) and not view.has_defaults:
                    continue
                places = places_of(rule, view, self._names)
                if by_code is not None:
                    places = [place for place in places if place[1].path in by_code]
                if places:
                    yield from _hits_at(rule, places, view, config)

    def _applicable_rules(self, dialect: Dialect) -> list[tuple[Rule, frozenset[str] | None]]:
        """Return the rules that can find something in configs of a dialect.

        With each rule come the top-level keys of which a file must have at least one; None means that any key may do.
        """
        found = self._rules_of.get(id(dialect))
        if found is None or found[0] is not dialect:
            rules = [
                (rule, heads_of(rule, dialect))
                for rule in self._rules
                if (not rule.dialects or dialect.name in rule.dialects) and can_bind(rule, dialect)
            ]
            found = self._rules_of[id(dialect)] = (dialect, rules)
        return found[1]


def _hits_at(
    rule: Rule, places: Sequence[tuple[str | None, Binding]], view: View, config: JudgedConfig
) -> Iterator[tuple[Rule, Hit]]:
    """Yield the hits of one rule at the given places of a config."""
    target = config.target
    assert rule.when is not None
    for concept, binding in places:
        own: dict[str, Any] = {"value": binding.value}
        if "comment" in rule.operands:
            own["comment"] = comment_beside(view, binding)
        own["own_schema"] = target.own_schema
        reached = _reached_by(rule, view, concept, binding)
        own["by_code"] = reached is not None
        if concept is not None:
            own[concept] = binding.value
            own["concept"] = concept
        scope = RuleScope(view, own, rule.lets, rule.tables, partial(place_operands, view, binding))
        view.facts_asked, view.named_asked = {}, False
        try:
            holds = evaluate(rule.when, scope)
        except Missing as missing:
            if missing.name.startswith("hardware."):
                reason = f"{missing.name[9:]} of {target.hardware_label} is unknown"
                config.skips.setdefault(
                    rule.id, reason if target.hardware is not None else "no target machine is named"
                )
            continue
        if holds is not True and not holds:
            continue
        yield rule, _hit_of_rule(rule, view, binding, scope, reached)
        if rule.id in config.limit.cut:
            return


def _hit_of_rule(rule: Rule, view: View, binding: Binding, scope: RuleScope, reached: Reached | None) -> Hit:
    severity = rule.severity
    for other, condition in rule.escalate:
        if is_true(condition, scope):
            severity = other
            break
    fix, reason = first_fix(rule, view, binding, scope)
    related: list[Location] = []
    if reached is not None:
        name = format_key_path((binding.path or ("",))[-1:])
        related.append(replace(reached.location, label=f"`{name}` reaches {reached.call_text}"))
        if fix is not None:
            fix, reason = as_far_as_code_allows(fix, reached, view)
    facts = dict(view.facts_asked)
    own_place = place_of(view, binding)
    for item in rule.related:
        for other_binding in view.bindings(item.target)[:3]:
            if other_binding.node is not None and other_binding.node is not binding.node:
                place = place_of(view, other_binding)
                related.append(replace(place, label=str(item.label(scope))))
        if item.target in facts:
            place = facts.pop(item.target).location
            related.append(replace(place, label=str(item.label(scope))))
    told = {(place.path, place.start, place.end) for place in related}
    related += [
        replace(said.location, label=f"{concept.replace('_', ' ')}: {said.call_text}")
        for concept, said in facts.items()
        if (said.location.path, said.location.start, said.location.end) not in told
    ]
    return Hit(
        Span(own_place.start, own_place.end, binding.path, own_place.label or ""),
        related=tuple(related),
        severity=severity.label,
        confidence=rule.confidence_by_code.label if reached is not None else None,
        no_fix=reason,
        notes=tuple(str(note(scope)) for note in rule.notes),
        message=str(rule.message(scope)),
        fix=fix,
        context=format_key_path(binding.path) if binding.path else "",
        by_code=reached is not None and not view.named_asked,
    )


def _reached_by(rule: Rule, view: View, concept: str | None, binding: Binding) -> Reached | None:
    """Return the library parameter by which the code shows what a key means.

    None where the code does not say that the key of the binding is the concept that the rule is about.
    """
    if view.meanings is None or binding.path is None:
        return None
    concepts = (concept,) if concept is not None else rule.at
    found = (view.meanings.keys.get((name, binding.path)) for name in concepts)
    return next((reached for reached in found if reached is not None), None)
