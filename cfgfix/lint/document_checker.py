"""Apply the rules to one document: operands in, findings out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from cfgfix.config.dialects.dialect import Dialect, matches
from cfgfix.config.dialects.signatures import Pattern
from cfgfix.config.dialects.view import Binding, RuleScope, View
from cfgfix.config.document.compose import Document, Kind
from cfgfix.config.loaders.scalars import Loader
from cfgfix.config.schema.validate import MISSING, Schema, SchemaProblem
from cfgfix.config.values import Context, scan
from cfgfix.core.edits import RenameKey
from cfgfix.core.findings import Confidence, Finding, KeyPath, Location, Severity, format_key_path
from cfgfix.core.records import dataclass, replace
from cfgfix.core.source_file import SourceFile
from cfgfix.core.suppressions import Suppression, read_suppressions
from cfgfix.lint.rule_fixes import as_far_as_code_allows, first_fix, is_true
from cfgfix.lint.rule_places import can_bind, comment_beside, heads_of, place_names, place_of, places_of
from cfgfix.lint.suppressing import about_suppressions, apply_suppressions
from cfgfix.rules.catalogue import Catalogue
from cfgfix.rules.expression import Missing, evaluate
from cfgfix.rules.hit import Hit, Span
from cfgfix.rules.report import TextFile, make_finding, severity_of
from cfgfix.rules.rule import DEPENDS_ON, About, Policy, Rule, YieldsTo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfgfix.config.dialects.parameters import KeyMeanings, Reached
    from cfgfix.usage.code_beside import Around
    from cfgfix.usage.code_says import CodeSays
    from cfgfix.usage.key_uses import Usage


MAX_FINDINGS = 1_000
"""Most findings of one rule in one file: a hostile file must not fill the memory."""


MAX_FIXED = 25_000
"""Most findings of one rule in a file that is repaired; all must be known to tell which ones a fix brings."""


_CODES = {"not-checked": "violation"}
"""What the schema says under a code of its own, told by the rule for anything else."""


_NO_POLICY = Policy()


@dataclass(frozen=True, slots=True)
class Skip:
    """A rule that could not be judged, and why."""

    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class DocumentResult:
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
    meanings: KeyMeanings | None = None
    """What the code that opens the file says of its keys; the dialect has those keys already."""
    around: Around | None = None
    """What the text of the code around a config says of it, where a finding depends on it."""

    def view(self, document: Document, index: int) -> View:
        """Return one document of a file as the rules see it."""
        return View(
            document,
            index,
            self.dialect,
            self.loader,
            default=self.schema.default
            if self.schema is not None and self.dialect.defaults == "schema"
            else None,
            missing=MISSING,
            hardware=self.hardware,
            meanings=self.meanings,
        )


class DocumentChecker:
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
    ) -> DocumentResult:
        """Return what the rules find in a document, and what could not be judged.

        With it comes what comments suppress.

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
                view = target.view(document, index)
                present = view.top.keys()
                for rule, heads in self._applicable(target.dialect):
                    if heads is not None and heads.isdisjoint(present) and not view.has_defaults:
                        continue
                    places = places_of(rule, view, self._names)
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
        suppressions = _suppressions(document)
        hidden: list[Finding] = []
        if suppressions:
            judged = {rule.id for rule in self.rules} - {skip.rule for skip in told_skips}
            result = apply_suppressions(findings, suppressions)
            about = about_suppressions(document.source, result, self.catalogue, judged, self._about)
            findings, hidden = result.shown + about, result.hidden
        findings.sort(key=lambda finding: (finding.location.start, finding.rule, finding.location.end))
        return DocumentResult(findings, hidden, told_skips, frozenset(room.cut))

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
                (rule, heads_of(rule, dialect))
                for rule in self._declarative
                if (not rule.dialects or dialect.name in rule.dialects) and can_bind(rule, dialect)
            ]
            found = self._rules_of[id(dialect)] = (dialect, rules)
        return found[1]

    def policy(self, finding: Finding) -> Policy:
        """Return the policy of the rule of a finding."""
        rule = self.catalogue.find(finding.rule)
        return rule.policy if rule is not None else _NO_POLICY

    def depending_on(self, *facts: str) -> frozenset[str]:
        """Return the rules whose findings hold or not by one of some facts.

        The facts are those of `DEPENDS_ON`.
        """
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
        """Leave out refused values that a rule about the setting tells as well.

        That rule knows what to write.
        """
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
                yield self.finding(rule, hit, document.source)
        if self._cluster and may_hold_cluster(document):
            from cfgfix.config.values import cluster

            for name, hits in cluster.scan(context, frozenset(self._cluster)).items():
                rule = self._cluster[name]
                for hit in hits:
                    if not room.take(rule.id):
                        break
                    yield self.finding(rule, hit, document.source)

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
        hit = Hit(
            Span(min(problem.offset, end), end),
            {"message": problem.message},
            notes=(problem.hint,) if problem.hint else (),
            context=problem.message,
        )
        yield self.finding(rule, hit, source)

    def by_runs(self, found: Iterable[tuple[str, Hit]], source: SourceFile) -> list[Finding]:
        """Return the findings of what the runs of the project's programs show."""
        return [
            self.finding(rule, hit, source)
            for name, hit in found
            if (rule := self.code.get(name)) is not None
        ]

    def in_code(self, found: Iterable[tuple[str, str, Hit]]) -> dict[str, list[Finding]]:
        """Return the findings of hits in Python files that are located already, by file."""
        findings: dict[str, list[Finding]] = {}
        nothing = SourceFile.from_text("")
        for path, name, hit in found:
            findings.setdefault(path, []).append(self.finding(self.code[name], hit, nothing))
        for items in findings.values():
            items.sort(key=lambda item: (item.location.start, item.rule))
        return findings

    def finding(self, rule: Rule, hit: Hit, source: SourceFile) -> Finding:
        """Return the finding that a hit in a text is, as severe as the settings want it."""
        severity = self.severity(rule, severity_of(rule, hit))
        return make_finding(rule, hit, TextFile(source), severity=severity)

    def _by_schema(self, document: Document, index: int, target: Target, room: _Room) -> Iterator[Finding]:
        if target.schema is None or not (self._schema or self.code):
            return
        for problem in target.schema.problems(document, document.roots[index], target.loader):
            if _read_by_code(problem, target):
                continue
            told = self._rule_about_class(problem, target)
            if told is not None:
                if room.take(told[0].id):
                    yield self._from_problem(told[0], problem, document, told[1])
                continue
            rule = self._schema.get(_CODES.get(problem.code, problem.code))
            if rule is not None and room.take(rule.id):
                yield self._from_problem(rule, problem, document)

    def _rule_about_class(self, problem: SchemaProblem, target: Target) -> tuple[Rule, dict[str, Any]] | None:
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
                yield self.finding(self.code[name], hit, document.source)

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
        severity = rule.severity if problem.fatal else min(rule.severity, Severity.WARNING)
        if problem.code == "not-checked" or problem.mild:
            severity = Severity.INFO
        hit = Hit(
            Span(problem.start, problem.end, problem.path),
            own,
            problem.changes if rule.fixes else (),
            tuple(Span(start, end, label=label) for start, end, label in problem.related),
            severity=severity.label,
            no_fix=problem.no_fix,
            context="pitfall" if problem.pitfall else "",
        )
        return self.finding(rule, hit, document.source)

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
                own["comment"] = comment_beside(view, binding)
            own["own_schema"] = target.own_schema
            reached = _reached_by(rule, view, concept, binding)
            own["by_code"] = reached is not None
            if concept is not None:
                own[concept] = binding.value
                own["concept"] = concept
            scope = RuleScope(view, own, rule.lets, rule.tables, partial(place_names, view, binding))
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
        hit = Hit(
            Span(own_place.start, own_place.end, binding.path),
            related=tuple(related),
            severity=severity.label,
            confidence=rule.confidence_by_code.label if reached is not None else None,
            no_fix=reason,
            notes=tuple(str(note(scope)) for note in rule.notes),
            operands=scope,
            fix=fix,
            context=format_key_path(binding.path) if binding.path else "",
        )
        return self.finding(rule, hit, view.document.source)


def _suppressions(document: Document) -> list[Suppression]:
    """Return the suppression comments of a document."""

    def found() -> list[tuple[int, str]]:
        from cfgfix.config.document.comments import comments

        return comments(document)

    return read_suppressions(document.source, found if document.problem is None else None)


def _reached_by(rule: Rule, view: View, concept: str | None, binding: Binding) -> Reached | None:
    """Return what in the code says that the key a rule is judged at is the concept it is about, or None."""
    if view.meanings is None or binding.path is None:
        return None
    concepts = (concept,) if concept is not None else rule.at
    found = (view.meanings.keys.get((name, binding.path)) for name in concepts)
    return next((reached for reached in found if reached is not None), None)


def _read_by_code(problem: SchemaProblem, target: Target) -> bool:
    """Tell whether the project's code reads a key that a dialect's schema does not have: the code at hand decides.

    Only of keys that a program ignores; one that stops it is not read because code somewhere has its name.
    """
    if target.usage is None or target.own_schema or problem.fatal or problem.code != "unknown-key":
        return False
    from cfgfix.usage.key_uses import DEAD

    use = target.usage.keys.get(tuple("[]" if isinstance(step, int) else step for step in problem.path))
    return use is not None and use.status not in DEAD


def may_hold_cluster(document: Document) -> bool:
    """Tell whether a file may describe a TensorFlow cluster.

    It is only looked through for a few words.
    """
    text = document.source.text
    return "TF_CONFIG" in text or "worker_hosts" in text or ("cluster" in text and "task" in text)


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
