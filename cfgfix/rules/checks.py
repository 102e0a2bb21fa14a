"""What a rule's `check` names: the kind of its check, and the check."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cfgfix.rules.rule import Rule


def by_check(rules: Iterable[Rule], kind: str) -> dict[str, Rule]:
    """Return the rules with a check of one kind, by the check's name without the kind."""
    prefix = f"{kind}."
    return {rule.check[len(prefix) :]: rule for rule in rules if rule.check and rule.check.startswith(prefix)}
