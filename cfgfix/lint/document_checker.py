"""Apply the rules to one document: operands in, findings out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from cfgfix.config.dialects.dialect import Dialect, matches
from cfgfix.config.dialects.signatures import Pattern
from cfgfix.config.dialects.view import Binding, RuleScope, View, intended
from cfgfix.config.document.compose import MAPPING, SCALAR, SEQUENCE, Document, Kind, Node
from cfgfix.config.loaders.scalars import Loader
from cfgfix.config.schema.validate import MISSING, Schema, SchemaProblem
from cfgfix.config.values import Context, Hit, scan
from cfgfix.core.edits import Change, DeleteKey, Fix, InsertKey, RenameKey, Safety, SetValue
from cfgfix.core.findings import Confidence, Finding, KeyPath, Location, Severity, format_key_path
from cfgfix.core.records import dataclass, replace
from cfgfix.core.source_file import SourceFile
from cfgfix.lint.suppressing import about_suppressions, apply, in_document
from cfgfix.rules.catalogue import Catalogue
from cfgfix.rules.expression import Code, Missing, evaluate
from cfgfix.rules.rule import DEPENDS_ON, About, FixSpec, Policy, Rule, YieldsTo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfgfix.config.dialects.parameters import Reached, Told
    from cfgfix.usage.code_beside import Around
    from cfgfix.usage.project_code import CodeSays
    from cfgfix.usage.reads import Usage

MAX_FINDINGS = 1_000
"""Most findings of one rule in one file: a hostile file must not fill the memory."""
MAX_FIXED = 25_000
"""Most findings of one rule in a file that is repaired; all must be known to tell which ones a fix brings."""
_CODES = {"not-checked": "violation"}
"""What the schema says under a code of its own, told by the rule for anything else."""
MAX_LEVELS = 20
"""Deepest level at which keys are looked for by their name."""
MAX_COMMENT_LINES = 20
"""Most comment lines above a value that are looked at; more is a header and speaks of the whole file."""

_NO_POLICY = Policy()


@dataclass(frozen=True, slots=True)
class Skip:
    """A rule that could not be judged, and why."""

    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class Judged:
    """What the rules say of one document, ordered by place."""

    findings: list[Finding]
    hidden: list[Finding]
    """Findings that a suppression comment silences."""
    skips: list[Skip]
    cut: frozenset[str] = frozenset()
    """Rules with more findings than are listed."""


class _Room:
    """How many findings of each rule one file may still have."""

    __slots__ = ("_counts", "_most", "cut")

    def __init__(self, most: int) -> None:
        self._most = most
        self._counts: dict[str, int] = {}
        self.cut: set[str] = set()

    def take(self, rule: str) -> bool:
        """Tell whether one more finding of a rule is listed."""
        count = self._counts[rule] = self._counts.get(rule, 0) + 1
        if count > self._most:
            self.cut.add(rule)
            return False
        return True


@dataclass(frozen=True, slots=True)
class Target:
    """What a run judges by, the same for all files of one dialect."""

    dialect: Dialect
    loader: Loader
    schema: Schema | None
    hardware: Callable[[str], Any] | None
    hardware_label: str | None
    usage: Usage | None = None
    """What the project's code does with its config, where that is known."""
    own_schema: bool = False
    """Whether the schema is the project's own; a dialect's tells the newest state of its program."""
    told: Told | None = None
    """What the code that opens the file says of its keys; the dialect has those keys already."""
    around: Around | None = None
    """What the text of the code around a config says of it, where a finding depends on it."""


class Judge:
    """The selected rules, ready to be applied to documents."""

    def __init__(
        self, catalogue: Catalogue, rules: Iterable[Rule], severities: Mapping[str, Severity]
    ) -> None:
        self.catalogue = catalogue
        self._severities = severities
        chosen = sorted(rules, key=lambda rule: rule.id)
        self.rules = tuple(chosen)
        self._declarative = [rule for rule in chosen if rule.check is None]
        self._yaml = {
            rule.check[5:]: rule for rule in chosen if rule.check and rule.check.startswith("yaml.")
        }
        self._schema = {
            rule.check[7:]: rule for rule in chosen if rule.check and rule.check.startswith("schema.")
        }
        self._wanted = frozenset(self._yaml)
        self._depending = {
            fact: frozenset(rule.id for rule in chosen if fact in rule.policy.depends_on)
            for fact in DEPENDS_ON
        }
        self._known_skips: dict[tuple[object, ...], list[Skip]] = {}
        self._names = frozenset(
            name
            for rule in self._declarative
            if rule.each is not None and not rule.each.concepts
            for name in rule.each.keys
        )
        """Names of keys that some rule is about."""
        self._rules_of: dict[int, tuple[Dialect, list[tuple[Rule, frozenset[str] | None]]]] = {}
        self._lookups: dict[int, tuple[Dialect, Callable[[KeyPath], str | None], frozenset[str] | None]] = {}
        self._cluster = {
            rule.check[8:]: rule for rule in chosen if rule.check and rule.check.startswith("cluster.")
        }
        self._about = {rule.check: rule for rule in chosen if rule.check and rule.check.startswith("engine.")}
        self._of_document = frozenset(
            rule.id for rule in (*self._yaml.values(), *self._schema.values(), *self._about.values())
        )
        """Rules that judge a document by its YAML or by its schema."""
        self.code = {rule.check[5:]: rule for rule in chosen if rule.check and rule.check.startswith("code.")}

    def document(
        self, document: Document, target: Target, most: int = MAX_FINDINGS, *, says: CodeSays | None = None
    ) -> Judged:
        """Return what the rules find in a document, what comments silence, and the rules that could not be judged.

        Args:
            document: The file.
            target: What it is judged against.
            most: Most findings of one rule that are listed.
            says: What the code that opens it says of it.
        """
        shown = self.by_runs(says.hits, document.source) if says is not None else []
        converted = says.converted if says is not None else frozenset()
        findings: list[Finding] = []
        sure: set[int] = set()
        skips: dict[str, str] = {}
        room = _Room(most)
        findings += self._pitfalls(document, target, converted, room)
        if document.problem is not None and not findings:
            findings += self._unparsed(document)
        if document.problem is None:
            for index in range(len(document.roots)):
                if document.roots[index].kind != Kind.MAPPING:
                    continue
                findings += self._by_schema(document, index, target, room)
                if target.usage is not None and self.code:
                    findings += self._by_code(document, index, target, target.usage, room)
                view = View(
                    document,
                    index,
                    target.dialect,
                    target.loader,
                    default=target.schema.default
                    if target.schema is not None and target.dialect.defaults == "schema"
                    else None,
                    missing=MISSING,
                    hardware=target.hardware,
                    told=target.told,
                )
                present = view.top.keys()
                for rule, heads in self._applicable(target.dialect):
                    if heads is not None and heads.isdisjoint(present) and not view.has_defaults:
                        continue
                    places = _targets(rule, view, self._names)
                    if places:
                        self._declared(rule, places, view, target, skips, findings, sure, room)
        findings = self._without_echoes(findings)
        if shown:
            shown = self.unless_meant(shown, findings)
            told = {(item.location.start, item.location.end) for item in shown}
            findings = [item for item in findings if (item.location.start, item.location.end) not in told]
        if target.dialect.confidence == "low":
            # What YAML itself says of a file does not depend on which program reads it.
            findings = [
                finding
                if self.policy(finding).about is About.TEXT or id(finding) in sure
                else replace(finding, confidence=Confidence.LOW)
                for finding in findings
            ]
        findings += shown
        told_skips = self._skips(skips, coded=target.usage is not None or says is not None)
        suppressions = in_document(document)
        hidden: list[Finding] = []
        if suppressions:
            judged = {rule.id for rule in self.rules} - {skip.rule for skip in told_skips}
            result = apply(findings, suppressions)
            about = about_suppressions(document.source, result, self.catalogue, judged, self._about)
            findings, hidden = result.shown + about, result.hidden
        findings.sort(key=lambda finding: (finding.location.start, finding.rule, finding.location.end))
        return Judged(findings, hidden, told_skips, frozenset(room.cut))

    def _skips(self, found: dict[str, str], *, coded: bool) -> list[Skip]:
        """Return the rules that could not be judged, by id; a run has the same few with every file."""
        key = (coded, *found.items())
        known = self._known_skips.get(key)
        if known is None:
            reasons = dict(found)
            if not coded:
                for rule in self.code.values():
                    reasons.setdefault(rule.id, "no program here is known to open the config")
            known = self._known_skips[key] = [Skip(rule, reason) for rule, reason in sorted(reasons.items())]
        return known

    def _applicable(self, dialect: Dialect) -> list[tuple[Rule, frozenset[str] | None]]:
        """Return the rules that can find anything in a dialect: those of its own or of all, whose concepts it has.

        With each rule come the keys at the top of a file one of which must be there; None where any may do.
        """
        found = self._rules_of.get(id(dialect))
        if found is None or found[0] is not dialect:
            rules = [
                (rule, _heads(rule, dialect))
                for rule in self._declarative
                if (not rule.dialects or dialect.name in rule.dialects) and _can_bind(rule, dialect)
            ]
            found = self._rules_of[id(dialect)] = (dialect, rules)
        return found[1]

    def policy(self, finding: Finding) -> Policy:
        """Return the policy of the rule of a finding."""
        rule = self.catalogue.find(finding.rule)
        return rule.policy if rule is not None else _NO_POLICY

    def depending_on(self, *facts: str) -> frozenset[str]:
        """Return the rules whose findings hold or not by one of some facts, of `DEPENDS_ON`."""
        return frozenset().union(*(self._depending[fact] for fact in facts))

    def _without_echoes(self, findings: list[Finding]) -> list[Finding]:
        """Leave out what says again what another finding tells better: one cause, one finding."""
        if len(findings) < 2:
            return findings
        policies = [self.policy(finding) for finding in findings]
        told_places: set[tuple[int, int]] = set()
        told_keys: set[KeyPath | None] = set()
        refused: set[KeyPath | None] = set()
        renamed: set[KeyPath] = set()
        for finding, policy in zip(findings, policies, strict=True):
            if policy.yields_to is not YieldsTo.SAME_PLACE:
                told_places.add((finding.location.start, finding.location.end))
            if finding.rule in self._of_document:
                told_keys.add(finding.key_path)
            if policy.refuses_key and finding.severity is Severity.ERROR:
                refused.add(finding.key_path)
            for change in finding.fix.changes if policy.refuses_key and finding.fix is not None else ():
                if isinstance(change, RenameKey):
                    renamed.add((*change.path[:-1], change.new))

        def echo(finding: Finding, policy: Policy) -> bool:
            if policy.yields_to is YieldsTo.RENAME and finding.key_path in renamed:
                return True
            if policy.yields_to is YieldsTo.SAME_KEY and finding.key_path in told_keys:
                return True
            place = (finding.location.start, finding.location.end)
            if policy.yields_to is YieldsTo.SAME_PLACE and place in told_places:
                return True
            return bool(finding.key_path) and finding.key_path in refused and not policy.refuses_key

        return [
            finding for finding, policy in zip(findings, policies, strict=True) if not echo(finding, policy)
        ]

    def unless_meant(self, shown: list[Finding], findings: list[Finding]) -> list[Finding]:
        """Leave out that a call refuses a value where a rule about the setting says so too: it knows what to write."""
        settings = {rule.id for rule in self._declarative}
        meant: dict[tuple[int, int], Severity] = {}
        for item in findings:
            if item.rule in settings and item.confidence is Confidence.HIGH:
                place = (item.location.start, item.location.end)
                meant[place] = max(item.severity, meant.get(place, item.severity))
        return [
            item
            for item in shown
            if self.policy(item).yields_to is not YieldsTo.SAME_PLACE
            or meant.get((item.location.start, item.location.end), Severity.INFO) < item.severity
        ]

    def severity(self, rule: Rule, severity: Severity) -> Severity:
        """Return a severity as the settings want it."""
        return self._severities.get(rule.id, severity)

    def severity_is_set(self, rule: str) -> bool:
        """Tell whether the settings give a rule its severity."""
        return rule in self._severities

    def _pitfalls(
        self, document: Document, target: Target, converted: frozenset[str], room: _Room
    ) -> Iterator[Finding]:
        if not self._wanted and not self._cluster:
            return
        schema = target.schema
        dialect = target.dialect
        around = target.around
        wanted = self._wanted
        if around is not None and around.elsewhere:
            wanted = frozenset(
                name for name in wanted if self._yaml[name].id not in self._depending["framework"]
            )
        concept_of, tails = self._lookup(dialect)
        context = Context(
            document=document,
            loader=target.loader,
            dialect_name=dialect.name,
            expected=schema.expected_types if schema is not None else lambda _path: None,
            coerces=lambda path: (
                any(matches(pattern, path) for pattern in dialect.coerces)
                or (bool(path) and str(path[-1]) in converted)
                or (around is not None and bool(path) and around.converts(str(path[-1])))
            ),
            concept_of=concept_of,
            enum=schema.enum if schema is not None else lambda _path: (),
            tails=tails if schema is None else None,
            ruamel=around is not None and around.ruamel,
        )
        for name, hits in scan(context, wanted).items():
            rule = self._yaml[name]
            for hit in hits:
                if not room.take(rule.id):
                    break
                yield self._from_hit(rule, hit, document)
        if self._cluster and may_hold_cluster(document):
            from cfgfix.config.values import cluster

            for name, hits in cluster.scan(context, frozenset(self._cluster)).items():
                rule = self._cluster[name]
                for hit in hits:
                    if not room.take(rule.id):
                        break
                    yield self._from_hit(rule, hit, document)

    def _lookup(self, dialect: Dialect) -> tuple[Callable[[KeyPath], str | None], frozenset[str] | None]:
        """Return what finds the concept of a place, and the last steps of all places; None where any key may be one."""
        found = self._lookups.get(id(dialect))
        if found is None or found[0] is not dialect:
            last = {pattern[-1] for patterns in dialect.concepts.values() for pattern in patterns}
            tails = frozenset(step for step in last if isinstance(step, str))
            found = (dialect, _concept_lookup(dialect), None if None in last else tails)
            self._lookups[id(dialect)] = found
        return found[1], found[2]

    def _unparsed(self, document: Document) -> Iterator[Finding]:
        """Tell why a file does not parse, where no rule with a repair has done so."""
        rule = self._about.get("engine.not_yaml")
        problem = document.problem
        if rule is None or problem is None:
            return
        source = document.source
        end = min(problem.offset + 1, len(source.text))
        yield Finding(
            rule=rule.id,
            name=rule.name,
            severity=self.severity(rule, rule.severity),
            confidence=rule.confidence,
            message=str(rule.message(_PlainScope({"message": problem.message}))),
            location=source.location(min(problem.offset, end), end),
            no_fix_reason=rule.no_fix,
            notes=(problem.hint,) if problem.hint else (),
            context=problem.message,
        )

    def by_runs(self, found: Iterable[tuple[str, Hit]], source: SourceFile) -> list[Finding]:
        """Return the findings of what the runs of the project's programs show."""
        return [
            self._from_hit(rule, hit, source)
            for name, hit in found
            if (rule := self.code.get(name)) is not None
        ]

    def _from_hit(self, rule: Rule, hit: Hit, document: Document | SourceFile) -> Finding:
        if isinstance(document, Document):
            document = document.source
        own: dict[str, Any] = {
            "key": format_key_path(hit.path) if hit.path is not None else "",
            "name": str(hit.path[-1]) if hit.path else "",
            "raw": document.text[hit.start : hit.end],
            **hit.values,
        }
        scope = _PlainScope(own)
        severity = Severity[hit.severity.upper()] if hit.severity else rule.severity
        fix = None
        if hit.changes:
            spec = rule.fixes[0] if rule.fixes else None
            safety = Safety[hit.safety.upper()] if hit.safety else (spec.safety if spec else Safety.DISPLAY)
            title = hit.title or (str(spec.title(scope)) if spec else "")
            fix = Fix(title, safety, hit.changes, spec.why if spec else "")
        return Finding(
            rule=rule.id,
            name=rule.name,
            severity=self.severity(rule, severity),
            confidence=Confidence[hit.confidence.upper()] if hit.confidence else rule.confidence,
            message=str(rule.message(scope)),
            location=document.location(hit.start, hit.end),
            related=(
                *(document.location(start, end, label) for start, end, label in hit.related),
                *hit.elsewhere,
            ),
            key_path=hit.path,
            fix=fix,
            no_fix_reason=None if fix else (hit.no_fix or rule.no_fix),
            notes=hit.notes,
            context=own["raw"][:200],
        )

    def _by_schema(self, document: Document, index: int, target: Target, room: _Room) -> Iterator[Finding]:
        if target.schema is None or not (self._schema or self.code):
            return
        for problem in target.schema.problems(document, document.roots[index], target.loader):
            if _read_by_code(problem, target):
                continue
            told = self._told_by_code(problem, target)
            if told is not None:
                if room.take(told[0].id):
                    yield self._from_problem(told[0], problem, document, told[1])
                continue
            rule = self._schema.get(_CODES.get(problem.code, problem.code))
            if rule is not None and room.take(rule.id):
                yield self._from_problem(rule, problem, document)

    def _told_by_code(self, problem: SchemaProblem, target: Target) -> tuple[Rule, dict[str, Any]] | None:
        """Return the rule about the class that tells a problem better, with further operands; or None."""
        usage = target.usage
        if usage is None or problem.code not in ("unknown-key", "missing-key"):
            return None
        from cfgfix.usage.checks import class_of, section_of

        name = str(problem.path[-1]) if problem.path else ""
        own: dict[str, Any] = {"name": name, "owner": class_of(usage, problem.path)}
        if own["owner"] is None:
            return None
        if problem.code == "missing-key":
            rule = self.code.get("missing-field")
            return (rule, own) if rule is not None else None
        own["effect"] = (
            "loading the file stops with TypeError" if problem.fatal else "it is dropped without a word"
        )
        own["place"] = section_of(usage, problem.path, name)
        rule = self.code.get("key-elsewhere" if own["place"] else "key-not-in-class")
        return (rule, own) if rule is not None else None

    def _by_code(
        self, document: Document, index: int, target: Target, usage: Usage, room: _Room
    ) -> Iterator[Finding]:
        from cfgfix.usage.checks import hits_in

        for name, hit in hits_in(document, index, usage, target.loader, frozenset(self.code)):
            if room.take(self.code[name].id):
                yield self._from_hit(self.code[name], hit, document)

    def _from_problem(
        self, rule: Rule, problem: SchemaProblem, document: Document, further: Mapping[str, Any] | None = None
    ) -> Finding:
        own: dict[str, Any] = {
            "message": problem.message,
            "expected": problem.expected,
            "suggestion": problem.suggestion,
            "key": format_key_path(problem.path),
            **(further or {}),
        }
        scope = _PlainScope(own)
        spec = rule.fixes[0] if rule.fixes else None
        fix = (
            Fix(str(spec.title(scope)), spec.safety, problem.changes, spec.why)
            if problem.changes and spec
            else None
        )
        severity = rule.severity if problem.fatal else min(rule.severity, Severity.WARNING)
        if problem.code == "not-checked" or problem.mild:
            severity = Severity.INFO
        return Finding(
            rule=rule.id,
            name=rule.name,
            severity=self.severity(rule, severity),
            confidence=rule.confidence,
            message=str(rule.message(scope)),
            location=document.source.location(problem.start, problem.end),
            related=tuple(
                document.source.location(start, end, label) for start, end, label in problem.related
            ),
            key_path=problem.path,
            fix=fix,
            no_fix_reason=None if fix else (problem.no_fix or rule.no_fix),
            context="pitfall" if problem.pitfall else "",
        )

    def _declared(
        self,
        rule: Rule,
        places: Sequence[tuple[str | None, Binding]],
        view: View,
        target: Target,
        skips: dict[str, str],
        findings: list[Finding],
        sure: set[int],
        room: _Room,
    ) -> None:
        """Add what a rule finds at its places, to `sure` those of keys of which the code says what they are."""
        assert rule.when is not None
        for concept, binding in places:
            own: dict[str, Any] = {"value": binding.value}
            if "comment" in rule.operands:
                own["comment"] = _comment_beside(view, binding)
            own["own_schema"] = target.own_schema
            reached = _reached_by(rule, view, concept, binding)
            own["by_code"] = reached is not None
            if concept is not None:
                own[concept] = binding.value
                own["concept"] = concept
            scope = RuleScope(view, own, rule.lets, rule.tables, partial(_place_names, view, binding))
            view.facts_asked, view.named_asked = {}, False
            try:
                holds = evaluate(rule.when, scope)
            except Missing as missing:
                if missing.name.startswith("hardware."):
                    reason = f"{missing.name[9:]} of {target.hardware_label} is unknown"
                    skips.setdefault(
                        rule.id, reason if target.hardware is not None else "no target machine is named"
                    )
                continue
            if holds is not True and not holds:
                continue
            if not room.take(rule.id):
                return
            finding = self._finding(rule, view, binding, scope, reached)
            findings.append(finding)
            if reached is not None and not view.named_asked:
                sure.add(id(finding))

    def _finding(
        self, rule: Rule, view: View, binding: Binding, scope: RuleScope, reached: Reached | None
    ) -> Finding:
        severity = rule.severity
        for other, condition in rule.escalate:
            if _true(condition, scope):
                severity = other
                break
        fix, reason = _first_fix(rule, view, binding, scope)
        related: list[Location] = []
        if reached is not None:
            name = format_key_path((binding.path or ("",))[-1:])
            related.append(replace(reached.location, label=f"`{name}` reaches {reached.shown}"))
            if fix is not None:
                fix, reason = _careful(fix, reached, view)
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
        related += [
            replace(said.location, label=f"{concept.replace('_', ' ')}: {said.shown}")
            for concept, said in facts.items()
        ]
        return Finding(
            rule=rule.id,
            name=rule.name,
            severity=self.severity(rule, severity),
            confidence=rule.confidence_by_code if reached is not None else rule.confidence,
            message=str(rule.message(scope)),
            location=own_place,
            related=tuple(related),
            key_path=binding.path,
            fix=fix,
            no_fix_reason=None if fix else reason,
            notes=tuple(str(note(scope)) for note in rule.notes),
            context=format_key_path(binding.path) if binding.path else "",
        )


def _reached_by(rule: Rule, view: View, concept: str | None, binding: Binding) -> Reached | None:
    """Return what in the code says that the key a rule is judged at is the concept it is about, or None."""
    if view.told is None or binding.path is None:
        return None
    concepts = (concept,) if concept is not None else rule.at
    found = (view.told.keys.get((name, binding.path)) for name in concepts)
    return next((reached for reached in found if reached is not None), None)


def _careful(fix: Fix, reached: Reached, view: View) -> tuple[Fix | None, str | None]:
    """Return a fix of a key as far as the code allows it, and why not where it does not.

    What the program also does with the key would change with it.
    """
    assert view.told is not None
    others = [other.shown for other in view.told.also(reached)]
    if others:
        return None, f"the key is also {others[0]}, which a new value would change as well"
    if not reached.alone and fix.safety is Safety.SAFE:
        return replace(fix, safety=Safety.UNSAFE), None
    return fix, None


def _read_by_code(problem: SchemaProblem, target: Target) -> bool:
    """Tell whether the project's code reads a key that a dialect's schema does not have: the code at hand decides.

    Only of keys that a program ignores; one that stops it is not read because code somewhere has its name.
    """
    if target.usage is None or target.own_schema or problem.fatal or problem.code != "unknown-key":
        return False
    from cfgfix.usage.reads import DEAD

    use = target.usage.keys.get(tuple("[]" if isinstance(step, int) else step for step in problem.path))
    return use is not None and use.status not in DEAD


def may_hold_cluster(document: Document) -> bool:
    """Tell whether a file may describe a TensorFlow cluster, at the price of a look for a few words."""
    text = document.source.text
    return "TF_CONFIG" in text or "worker_hosts" in text or ("cluster" in text and "task" in text)


class _PlainScope:
    """Operands of a template that has only its own names."""

    __slots__ = ("_own",)

    def __init__(self, own: Mapping[str, Any]) -> None:
        self._own = own

    def value(self, name: str) -> Any:
        if name in self._own and self._own[name] is not None:
            return self._own[name]
        raise Missing(name)

    def has(self, name: str) -> bool:
        return self._own.get(name) is not None

    def given(self, name: str) -> bool:
        return self.has(name)

    def tier(self, table: str, column: str, gib: float) -> Any:
        raise Missing(f"{table}.{column} at {gib}")

    def gpu(self, index: int, field: str) -> Any:
        raise Missing(f"{field} of {index}")


def _concept_lookup(dialect: Dialect) -> Callable[[KeyPath], str | None]:
    plain: dict[KeyPath, str] = {}
    wild: dict[int, list[tuple[Pattern, str]]] = {}
    for concept, patterns in dialect.concepts.items():
        for pattern in patterns:
            if all(isinstance(step, str) for step in pattern):
                plain.setdefault(tuple(step for step in pattern if isinstance(step, str)), concept)
            else:
                wild.setdefault(len(pattern), []).append((pattern, concept))

    def look(path: KeyPath) -> str | None:
        found = plain.get(path)
        if found is None:
            for pattern, concept in wild.get(len(path), ()):
                # The last step tells most apart.
                if (pattern[-1] == path[-1] or not isinstance(pattern[-1], str)) and matches(pattern, path):
                    return concept
        return found

    return look


def _can_bind(rule: Rule, dialect: Dialect) -> bool:
    """Tell whether a rule can be about any key of a dialect."""
    if rule.each is None:
        return any(concept in dialect.concepts for concept in rule.at)
    return not rule.each.concepts or any(concept in dialect.concepts for concept in rule.each.concepts)


def _heads(rule: Rule, dialect: Dialect) -> frozenset[str] | None:
    """Return the first steps of all places of a rule in a dialect, or None where they cannot be named."""
    concepts = rule.at if rule.each is None else rule.each.concepts
    if not concepts:
        return None
    heads: set[str] = set()
    for concept in concepts:
        for pattern in dialect.concepts.get(concept, ()):
            if not isinstance(pattern[0], str):
                return None
            heads.add(pattern[0])
    return frozenset(heads)


def _targets(rule: Rule, view: View, names: frozenset[str]) -> Sequence[tuple[str | None, Binding]]:
    """Return the places a rule is judged at, with the concept each stands for.

    `names` are those of the keys that any rule is about.
    """
    each = rule.each
    if each is None:
        first: Binding | None = None
        for concept in rule.at:
            bindings = view.bindings(concept)
            if bindings:
                if bindings[0].origin == "file":
                    return ((None, bindings[0]),)
                first = first or bindings[0]
        return () if first is None else ((None, first),)
    if each.concepts:
        return [(concept, binding) for concept in each.concepts for binding in view.all_bindings(concept)]
    entries = view.by_name
    if entries is None:
        entries = view.by_name = {}
        _collect_entries(view.root, names, [], entries)
    if entries.keys().isdisjoint(each.keys):
        return ()
    chosen = [entry for name in each.keys for entry in entries.get(name, ())]
    found: list[tuple[str | None, Binding]] = []
    for path, key, node in sorted(chosen, key=lambda entry: entry[1].start):
        if not each.under or any(step in each.under for step in path[:-1]):
            try:
                value = intended(node, view.loader, view.document)
            except Missing:
                continue
            found.append((None, Binding(path, key, node, value, "file")))
    return found


def _collect_entries(
    node: Node,
    names: frozenset[str],
    path: list[str | int],
    found: dict[str | int, list[tuple[KeyPath, Node, Node]]],
) -> None:
    """Add the entries of a mapping or sequence, and of all below, whose key has one of the names."""
    if len(path) > MAX_LEVELS:
        return
    if node.kind is MAPPING:
        for key, value in node.items:
            if key.kind is SCALAR:
                name = key.text
                if name in names:
                    found.setdefault(name, []).append(((*path, name), key, value))
                if value.items:
                    path.append(name)
                    _collect_entries(value, names, path, found)
                    path.pop()
    elif node.kind is SEQUENCE:
        path.append(0)
        for position, value in enumerate(node.items):
            if value.items:
                path[-1] = position
                _collect_entries(value, names, path, found)
        path.pop()


def _place_names(view: View, binding: Binding) -> dict[str, Any]:
    """Return the operands that say where a rule is judged."""
    path = binding.path or ()
    text = view.document.source.text
    node = binding.node
    raw = text[node.value_start : node.end] if node is not None else ""
    return {
        "key": format_key_path(path),
        "name": str(path[-1]) if path else "",
        "raw": raw.strip()[:200],
        "section": str(path[-2]) if len(path) > 1 else "",
    }


def _comment_beside(view: View, binding: Binding) -> str:
    """Return the comments on the line of a value and on the lines right above it, in lower case."""
    if binding.key_node is None or binding.node is None:
        return ""
    text = view.document.source.text
    start = text.rfind("\n", 0, binding.key_node.start) + 1
    end = text.find("\n", binding.node.end)
    _, mark, after = text[binding.node.end : end if end >= 0 else len(text)].partition("#")
    found = [after] if mark else []
    while start and len(found) < MAX_COMMENT_LINES:
        above = text.rfind("\n", 0, start - 1) + 1
        line = text[above : start - 1].strip()
        if not line.startswith("#"):
            break
        found.append(line.lstrip("# "))
        start = above
    return " ".join(reversed(found)).lower()[:2_000]


def place_of(view: View, binding: Binding) -> Location:
    """Return where a binding stands: its value; for an absent key the section it belongs to."""
    source = view.document.source
    if binding.node is not None:
        node = binding.node
        if node.kind == Kind.SCALAR and node.end > node.value_start:
            return source.location(node.value_start, node.end)
        if binding.key_node is not None:
            return source.location(binding.key_node.start, binding.key_node.end)
        return source.location(node.start, max(node.start, min(node.end, node.start + 80)))
    path = binding.path or ()
    for length in range(len(path) - 1, 0, -1):
        for _, key, _node in view.places(path[:length]):
            if key is not None:
                return source.location(key.start, key.end, f"{path[-1]} is not set here")
    first = view.root.items[0][0] if view.root.kind == Kind.MAPPING and view.root.items else view.root
    return source.location(first.start, first.end)


def _true(code: Code, scope: RuleScope) -> bool:
    try:
        return bool(evaluate(code, scope))
    except Missing:
        return False


def _first_fix(rule: Rule, view: View, binding: Binding, scope: RuleScope) -> tuple[Fix | None, str | None]:
    reason = rule.no_fix
    for spec in rule.fixes:
        if spec.when is not None and not _true(spec.when, scope):
            continue
        try:
            change = _change(spec, view, binding, scope)
        except Missing as missing:
            reason = reason or (f"{missing.name or 'a value it needs'} is unknown")
            continue
        return Fix(str(spec.title(scope)), spec.safety, (change,), spec.why), None
    return None, reason


def _change(spec: FixSpec, view: View, binding: Binding, scope: RuleScope) -> Change:
    """Return what a fix changes.

    Raises:
        Missing: A value it needs is unknown, or the place cannot be named.
    """
    place = binding if spec.target == "value" else next(iter(view.bindings(spec.target)), None)
    path = _first_path(view, spec.target) if place is None or place.path is None else place.path
    present = place is not None and place.node is not None
    if spec.action == "delete":
        if not present:
            raise Missing(spec.target)
        return DeleteKey(path, document=view.index)
    assert spec.to is not None
    value = evaluate(spec.to, scope)
    if spec.action == "rename":
        if not present or not isinstance(value, str):
            raise Missing(spec.target)
        return RenameKey(path, value, document=view.index)
    text = str(spec.text(scope)) if spec.text is not None else None
    if present:
        return SetValue(path, value, text, document=view.index)
    key = path[-1]
    if not isinstance(key, str) or (len(path) > 1 and not any(True for _ in view.places(path[:-1]))):
        raise Missing(f"section {format_key_path(path[:-1])}")
    beside = binding.path if binding.node is not None and binding.path is not None else ()
    after = beside[-1] if beside[:-1] == path[:-1] and beside and isinstance(beside[-1], str) else None
    return InsertKey(path[:-1], key, value, after, view.index)


def _first_path(view: View, concept: str) -> KeyPath:
    for pattern in view.dialect.concepts.get(concept, ()):
        path = tuple(step for step in pattern if isinstance(step, str))
        if len(path) == len(pattern):
            return path
    raise Missing(concept)


def ignored_by_path(
    rule: str, name: str, path: str, root: str, patterns: Mapping[str, tuple[str, ...]]
) -> bool:
    """Tell whether the settings' per-file ignores silence a rule in a file."""
    import fnmatch

    relative = os.path.relpath(path, root).replace(os.sep, "/")
    for pattern, selectors in patterns.items():
        if fnmatch.fnmatch(relative, pattern) or fnmatch.fnmatch(os.path.basename(path), pattern):
            for selector in selectors:
                if selector.upper() == "ALL" or selector in (rule, name) or rule.startswith(selector.upper()):
                    return True
    return False
