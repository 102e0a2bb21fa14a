"""Look at the code by itself: what the checks of `cfgfix/code/checks` find in the linked program."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.lint.project import Checker
from cfgfix.rules.hit import Hit
from cfgfix.rules.rule import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.code.model.program import Program


class SourceChecker(Checker):
    """Carries out the rules whose check reads Python source."""

    def hits_in_program(self, program: Program) -> Iterator[tuple[Rule, Hit]]:
        """Yield the hits of rules about source code in a program."""
        from cfgfix.code.scan import source_hits

        return source_hits(self.project.rule_set.rules, program)
