"""What a rule is once its file has been read: pure data and compiled expressions."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from cfgfix.core.edits import Safety
from cfgfix.core.findings import Confidence, Severity
from cfgfix.core.records import dataclass
from cfgfix.rules.expression import Code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True, slots=True)
class Each:
    """The places that a rule is run for: those of some concepts, or of some key names."""

    concepts: tuple[str, ...]
    keys: frozenset[str]
    under: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FixSpec:
    """A way to repair the findings of a rule.

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


class About(Enum):
    """What the findings of a rule are about; decides where they hold."""

    RUN = "run"
    """What happens while the program runs: where the place is not reached, it does not happen."""
    RELEASE = "release"
    """What a release of the library lacks or refuses: it does so in a test as well."""
    TEXT = "text"
    """The text of a file, whatever reads it."""


class Notebooks(Enum):
    """The severity of a rule's findings in notebooks."""

    SAME = "same"
    ERRORS_ONLY = "errors-only"
    """A warning is information: about speed, debugging, style, or a name that the release of its day had."""
    INFO = "info"
    """All is information: what a guide shows on purpose, or the order of cells, which a reader runs one by one."""


class InTry(Enum):
    """What is done with a finding inside a `try` that catches the error."""

    SKIP = "skip"
    """It is not told: the program is ready for it."""
    SAME = "same"
    """It is told as elsewhere: what is caught is a fault all the same, or the check has looked."""


class InGuard(Enum):
    """What is done with a finding inside a guard on a release or a name."""

    SKIP = "skip"
    """It is not told: the other way is for the releases at hand."""
    SAME = "same"
    """It is told as elsewhere, or the check asks in a way of its own."""


class InTests(Enum):
    """The highest severity of a rule's findings in tests."""

    SKIP = "skip"
    """It is not told."""
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    @property
    def highest(self) -> Severity | None:
        """The highest severity, or None for no finding."""
        return None if self is InTests.SKIP else Severity[self.name]


class YieldsTo(Enum):
    """Which other findings make a finding of the rule an echo, which is not shown."""

    NOTHING = "nothing"
    SAME_PLACE = "same-place"
    """Any finding at the same place of a rule that does not yield to it too."""
    SAME_KEY = "same-key"
    """A finding about the YAML or the schema of the same key."""
    RENAME = "rename"
    """A finding whose fix gives a key the name that this one misses."""
    CONFIG = "config"
    """A finding at the value of a config that this one comes from, about the same call."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What the runner does with the findings of a rule; checks do not know it."""

    about: About = About.RUN
    notebooks: Notebooks = Notebooks.SAME
    in_tests: InTests | None = None
    """What becomes of a finding in a config or module of the project's tests.

    None for the usual: in a config it is told as elsewhere, in a module not where it is about a run.
    """

    in_guard: InGuard | None = None
    """What becomes of a finding behind a question for a release or a name.

    None for the usual: it is told, but where it is about a release.
    """
    in_try: InTry = InTry.SKIP
    named: Severity | None = None
    """The severity in a Python file that a person names, wherever it lies; None for the same as elsewhere."""
    depends_on: frozenset[str] = frozenset()
    """What else decides whether a finding about a config holds: of `DEPENDS_ON`."""
    refuses_key: bool = False
    """Whether its errors say that the program does not take a key: then nothing else is told of that key."""
    yields_to: YieldsTo = YieldsTo.NOTHING
    told_at_config: bool = False
    """Whether a value that a call gets from a config as it stands there is left to the rules about that config."""
    unneeded: bool = False
    """Whether what the finding points at does nothing, so that an editor shows it faded."""
    explains: frozenset[str] = frozenset()
    """What measuring or advising names that the rule is about: values of `Fault`."""

    @property
    def skips_guards(self) -> bool:
        """Whether findings inside a guard on a release or a name are left out."""
        if self.in_guard is not None:
            return self.in_guard is InGuard.SKIP
        return self.about is About.RELEASE

    @property
    def in_test_modules(self) -> InTests:
        """The highest severity of the rule's findings in a test module."""
        if self.in_tests is not None:
            return self.in_tests
        return InTests.SKIP if self.about is About.RUN else InTests.ERROR


DEPENDS_ON = ("loader", "framework", "other-readers")
"""The loader that reads a config, the framework that takes its values, and which other programs read it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the catalogue."""

    id: str
    name: str
    summary: str
    severity: Severity
    confidence: Confidence
    confidence_by_code: Confidence
    """The same where the code shows what the keys are."""
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
    policy: Policy = Policy()

    @property
    def family(self) -> str:
        """The letters of the id."""
        return self.id.rstrip("0123456789")

    @property
    def needs_hardware(self) -> bool:
        """Whether the condition names a fact of the machine."""
        return any(name.startswith("hardware.") for name in self.operands)

    def states(self, safety: Safety) -> bool:
        """Tell whether the rule file declares fixes of a safety.

        A fix that is only shown needs no declaration.
        """
        return safety is Safety.DISPLAY or any(safety.label in fix.safeties for fix in self.fixes)
