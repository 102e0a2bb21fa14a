"""Look for the traps of YAML in the values of a config, and for faults of a cluster described in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cfgfix.config.dialects.dialect import Dialect, matches
from cfgfix.config.dialects.signatures import Pattern
from cfgfix.config.document.compose import Document
from cfgfix.config.values import Context, scan
from cfgfix.core.findings import KeyPath
from cfgfix.lint.project import Checker, JudgedConfig, Project
from cfgfix.rules.checks import by_check
from cfgfix.rules.hit import Hit, Span
from cfgfix.rules.rule import Rule


class ValueChecker(Checker):
    """Carries out the rules about single values and about the text of a file."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        rules = project.rule_set.rules
        self._yaml = by_check(rules, "yaml")
        self._cluster = by_check(rules, "cluster")
        self._not_yaml = by_check(rules, "engine").get("not_yaml")
        self._lookups: dict[int, tuple[Dialect, Callable[[KeyPath], str | None], frozenset[str] | None]] = {}

    def hits_in_config(self, config: JudgedConfig) -> Iterator[tuple[Rule, Hit]]:
        """Yield the YAML traps in a config, or the reason why the file does not parse."""
        found = False
        for item in self._ambiguous_scalars(config):
            found = True
            yield item
        if not found and config.document.problem is not None:
            yield from self._why_unparsed(config.document)

    def _ambiguous_scalars(self, config: JudgedConfig) -> Iterator[tuple[Rule, Hit]]:
        if not self._yaml and not self._cluster:
            return
        document, target = config.document, config.target
        converted = config.code_facts.converted if config.code_facts is not None else frozenset()
        words = config.code_facts.known_words if config.code_facts is not None else ()
        schema = target.schema
        dialect = target.dialect
        nearby = target.nearby_code
        wanted = frozenset(self._yaml)
        if nearby is not None and nearby.elsewhere:
            wanted = frozenset(
                name for name, rule in self._yaml.items() if "framework" not in rule.policy.depends_on
            )
        concept_of, tails = self._concept_lookup_of(dialect)
        context = Context(
            document=document,
            loader=target.loader,
            dialect_name=dialect.name,
            expected=schema.expected_types if schema is not None else lambda _path: None,
            coerces=lambda path: (
                any(matches(pattern, path) for pattern in dialect.coerces)
                or (bool(path) and str(path[-1]) in converted)
                or (nearby is not None and bool(path) and nearby.converts(str(path[-1])))
            ),
            concept_of=concept_of,
            enum=lambda path: (
                *(schema.enum(path) if schema is not None else ()),
                *(word for name, word in words if path and name == path[-1]),
            ),
            tails=tails if schema is None else None,
            ruamel=nearby is not None and nearby.ruamel,
        )
        for name, hits in scan(context, wanted).items():
            for hit in hits:
                yield self._yaml[name], hit
        if self._cluster and may_hold_cluster(document):
            from cfgfix.config.values import cluster

            for name, hits in cluster.scan(context, frozenset(self._cluster)).items():
                for hit in hits:
                    yield self._cluster[name], hit

    def _concept_lookup_of(
        self, dialect: Dialect
    ) -> tuple[Callable[[KeyPath], str | None], frozenset[str] | None]:
        """Return a function from key path to concept, and the key names that can match.

        The names are None where a key of any name may be a concept.
        """
        found = self._lookups.get(id(dialect))
        if found is None or found[0] is not dialect:
            last = {pattern[-1] for patterns in dialect.concepts.values() for pattern in patterns}
            tails = frozenset(step for step in last if isinstance(step, str))
            found = (dialect, _concept_lookup(dialect), None if None in last else tails)
            self._lookups[id(dialect)] = found
        return found[1], found[2]

    def _why_unparsed(self, document: Document) -> Iterator[tuple[Rule, Hit]]:
        """Yield the reason why a file does not parse."""
        rule = self._not_yaml
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
        yield rule, hit


def may_hold_cluster(document: Document) -> bool:
    """Tell by a few words whether a file may describe a TensorFlow cluster."""
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
