"""What a rule is once its file has been read: pure data and compiled expressions."""

from __future__ import annotations

from collections.abc import Mapping

from cfgfix.core.edits import Safety
from cfgfix.core.findings import Confidence, Severity
from cfgfix.core.records import dataclass
from cfgfix.rules.expression import Code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True, slots=True)
class Each:
    """Run a rule once per match: per place of some concepts, or per key with one of some names."""

    concepts: tuple[str, ...]
    keys: frozenset[str]
    under: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FixSpec:
    """One way to repair what a rule finds.

    `action` is `set`, `delete` or `rename`; `target` a concept, or `value` for the place of the finding.
    """

    action: str
    target: str
    to: Code | None
    text: Code | None
    when: Code | None
    safety: Safety
    title: Code
    why: str
    also: Safety | None = None
    """The safety that a check gives some of its fixes instead."""

    @property
    def safeties(self) -> tuple[str, ...]:
        """Return how safe the fix may be, in words."""
        return (self.safety.label,) if self.also is None else (self.safety.label, self.also.label)


@dataclass(frozen=True, slots=True)
class Related:
    """A further place that a finding shows."""

    target: str
    label: Code


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the catalogue."""

    id: str
    name: str
    summary: str
    severity: Severity
    confidence: Confidence
    preview: bool
    together: str
    """What is one line of text: the places of a `file`, of a `project`, or those `unpinned`; empty for one line each."""
    dialects: frozenset[str]
    """Dialects it is for; empty means all."""
    check: str | None
    at: tuple[str, ...]
    each: Each | None
    lets: Mapping[str, Code]
    when: Code | None
    operands: frozenset[str]
    escalate: tuple[tuple[Severity, Code], ...]
    message: Code
    related: tuple[Related, ...]
    fixes: tuple[FixSpec, ...]
    no_fix: str | None
    notes: tuple[Code, ...]
    tables: Mapping[str, Mapping[str, Any]]
    path: str
    """Where the rule file stands."""

    @property
    def family(self) -> str:
        """The letters of the id."""
        return self.id.rstrip("0123456789")

    @property
    def needs_hardware(self) -> bool:
        """Whether the condition names a fact of the machine."""
        return any(name.startswith("hardware.") for name in self.operands)

    def states(self, safety: Safety) -> bool:
        """Tell whether the rule file says that a fix may be so safe; one that is only shown needs no word."""
        return safety is Safety.DISPLAY or any(safety.label in fix.safeties for fix in self.fixes)
