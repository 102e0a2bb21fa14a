"""Hold the configs against the code that reads them."""

from __future__ import annotations

import os
from collections.abc import Iterator

from cfgfix.core.errors import UnreadableError
from cfgfix.core.records import replace
from cfgfix.core.source_file import SourceFile, read_source
from cfgfix.lint.project import FORMS, Checker, JudgedConfig, Project
from cfgfix.lint.targets import dialect_of, usage_for
from cfgfix.rules.checks import by_check
from cfgfix.rules.hit import Hit, span_of
from cfgfix.rules.rule import Rule


class UsageChecker(Checker):
    """Carries out the rules about how code uses config keys and the config class."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self._code = by_check(project.rule_set.rules, "code")

    def hits_in_config(self, config: JudgedConfig) -> Iterator[tuple[Rule, Hit]]:
        """Yield the keys of a config that the code does not read as they are written."""
        target = config.target
        if target.usage is None or not self._code:
            return
        from cfgfix.usage.checks import hits_in_config

        wanted = frozenset(self._code)
        for index in config.mappings():
            for name, hit in hits_in_config(config.document, index, target.usage, target.loader, wanted):
                yield self._code[name], hit

    def hits_in_project(self) -> Iterator[tuple[Rule, Hit]]:
        """Yield faults of the code, such as reads of fields that the config class lacks."""
        usage = usage_for(self.project)
        if usage is None:
            return
        from cfgfix.usage.checks import hits_in_code

        first = self.project.configs.items[:1]
        dialect = next(
            (found for document, _ in first if (found := dialect_of(document, self.project)) is not None),
            None,
        )
        for name, hit in hits_in_code(usage, self._code.keys(), dialect, self.project.inferred):
            yield self._code[name], hit


class RunsChecker(Checker):
    """Carries out the rules about what programs do with configs and their options."""

    forms = FORMS
    follows_programs = True

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self._code = by_check(project.rule_set.rules, "code")

    def hits_in_config(self, config: JudgedConfig) -> Iterator[tuple[Rule, Hit]]:
        """Yield the hits in a config that come from following the programs that open it."""
        for name, hit in config.code_facts.hits if config.code_facts is not None else ():
            rule = self._code.get(name)
            if rule is not None:
                yield rule, hit

    def hits_in_project(self) -> Iterator[tuple[Rule, Hit]]:
        """Yield hits about the options that the project's programs declare."""
        if not self._code:
            return
        from cfgfix.usage.training_memory import with_machine_limits

        shown = {os.path.abspath(path): path for path in self.project.scanned}
        for code in self.project.codes():
            for inside, name, hit in code.options():
                path = shown.get(os.path.join(code.root, inside))
                rule = self._code.get(name)
                if path is None or rule is None:
                    continue
                try:
                    source = read_source(path)
                except UnreadableError:
                    continue
                for machine in self.project.machines:
                    judged = with_machine_limits(hit, machine.lookup)
                    if judged is not None:
                        yield rule, _located_hit(judged, source)
                        break


def _located_hit(hit: Hit, source: SourceFile) -> Hit:
    """Return a hit with its span of the text turned into a location in the file."""
    span = span_of(hit)
    raw = source.text[span.start : span.end]
    return replace(
        hit,
        at=source.location(span.start, span.end, span.label or None),
        values={"raw": raw, **hit.values},
        context=raw[:200] if hit.context is None else hit.context,
    )
