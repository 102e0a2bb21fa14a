"""Make findings and fixes by a rule: the one way from what a check saw to what a user is told."""

from __future__ import annotations

from cfgfix.core.edits import Fix, Safety
from cfgfix.core.findings import Confidence, Finding, State
from cfgfix.rules.expression import Missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from cfgfix.core.edits import Change
    from cfgfix.core.findings import KeyPath, Location, Severity
    from cfgfix.rules.expression import Scope
    from cfgfix.rules.rule import Rule


class Operands:
    """Operands of a message that has only names of its own; one without a value counts as unknown."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def value(self, name: str) -> Any:
        """Return an operand's value or raise `Missing`."""
        found = self._values.get(name)
        if found is None:
            raise Missing(name)
        return found

    def has(self, name: str) -> bool:
        """Tell whether an operand has a known value."""
        return self._values.get(name) is not None

    def given(self, name: str) -> bool:
        """Tell whether an operand has a known value: nothing but the check gives any."""
        return self.has(name)

    def tier(self, table: str, column: str, gib: float) -> Any:
        """Raise `Missing`: a message has no tables."""
        raise Missing(f"{table}.{column} at {gib}")

    def gpu(self, index: int, field: str) -> Any:
        """Raise `Missing`: a message knows no machine."""
        raise Missing(f"{field} of {index}")


def make_finding(
    rule: Rule,
    location: Location,
    *,
    scope: Scope | None = None,
    message: str | None = None,
    severity: Severity | None = None,
    confidence: str | Confidence | None = None,
    key_path: KeyPath | None = None,
    state: State = State.ACTIVE,
    fix: Fix | None = None,
    no_fix: str | None = None,
    related: tuple[Location, ...] = (),
    notes: tuple[str, ...] = (),
    flow: tuple[Location, ...] = (),
    context: str = "",
    unpinned: bool = False,
) -> Finding:
    """Return the finding of a rule at a place.

    What is None is taken from the rule file.

    Args:
        rule: The rule.
        location: The place.
        scope: The operands of the rule's message.
        message: The text in place of the rule's message.
        severity: How bad it is here, as the settings want it.
        confidence: How sure it is here, or the word for it.
        key_path: The key concerned.
        state: Whether it takes effect.
        fix: The fix, if there is one.
        no_fix: Why there is none here.
        related: Further places.
        notes: Further lines for a reader.
        flow: The way to the place.
        context: What identifies the place whatever its line.
        unpinned: Whether it speaks of the newest release because nothing pins one.
    """
    if message is None:
        assert scope is not None
        message = str(rule.message(scope))
    if isinstance(confidence, str):
        confidence = Confidence[confidence.upper()]
    return Finding(
        rule=rule.id,
        name=rule.name,
        severity=rule.severity if severity is None else severity,
        confidence=rule.confidence if confidence is None else confidence,
        message=message,
        location=location,
        related=related,
        key_path=key_path,
        state=state,
        fix=fix,
        no_fix_reason=None if fix is not None else (no_fix or rule.no_fix),
        notes=notes,
        flow=flow,
        context=context,
        unpinned=unpinned,
    )


def make_fix(
    rule: Rule,
    scope: Scope,
    changes: tuple[Change, ...],
    *,
    safety: str | None = None,
    title: str | None = None,
) -> Fix | None:
    """Return the fix that a check makes.

    It has the rule's title and safety where the check gives none of its own.

    Args:
        rule: The rule, whose first fix tells what the check does not.
        scope: The operands of the title.
        changes: What is changed; nothing is no fix.
        safety: The word for how safe it is here.
        title: What it does here.
    """
    if not changes:
        return None
    spec = rule.fixes[0] if rule.fixes else None
    return Fix(
        title or (str(spec.title(scope)) if spec is not None else ""),
        Safety[safety.upper()] if safety else (spec.safety if spec is not None else Safety.DISPLAY),
        changes,
        spec.why if spec is not None else "",
    )
