"""Hold a config against the code that reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cfgfix.lint.checkers.project import Project
from cfgfix.rules.checker import by_check
from cfgfix.rules.hit import Hit
from cfgfix.rules.rule import Rule


class UsageChecker:
    """Carries out the rules about keys by what the code does with each."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._code = by_check(rules, "code")

    def hits(self, project: Project) -> Iterator[tuple[Rule, Hit]]:
        """Yield the keys that the code does not read as they are written."""
        target = project.target
        if target.usage is None or not self._code:
            return
        from cfgfix.usage.checks import hits_in

        wanted = frozenset(self._code)
        for index in project.mappings():
            for name, hit in hits_in(project.document, index, target.usage, target.loader, wanted):
                yield self._code[name], hit


class RunsChecker:
    """Carries out the rules about what the runs of programs do with a config."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._code = by_check(rules, "code")

    def hits(self, project: Project) -> Iterator[tuple[Rule, Hit]]:
        """Yield what the runs of the programs that open a config show."""
        for name, hit in project.says.hits if project.says is not None else ():
            rule = self._code.get(name)
            if rule is not None:
                yield rule, hit
