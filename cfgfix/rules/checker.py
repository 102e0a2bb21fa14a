"""What a checker is: it looks at a project and yields hits at any of its files, and knows no policy."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol, TypeVar

    from cfgfix.rules.hit import Hit
    from cfgfix.rules.rule import Rule

    Project_contra = TypeVar("Project_contra", contravariant=True)

    class Checker(Protocol[Project_contra]):
        """Carries out the rules of one kind."""

        def hits(self, project: Project_contra) -> Iterable[tuple[Rule, Hit]]:
            """Yield what is wrong in a project, with the rule that says so.

            A project is what is known of what is judged at once: a config with its target, or a program.
            """


def by_check(rules: Iterable[Rule], kind: str) -> dict[str, Rule]:
    """Return the rules whose check is of a kind, by the rest of its name."""
    prefix = f"{kind}."
    return {rule.check[len(prefix) :]: rule for rule in rules if rule.check and rule.check.startswith(prefix)}
