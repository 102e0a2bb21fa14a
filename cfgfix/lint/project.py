"""The project that a session judges, the config of it that is judged now, and what a checker is.

A project comes to judgement in parts: each config alone, since a fix judges its text again and again and no more than one need be held, and
the code as a whole, since it is linked and kept as a whole. A checker answers for the parts that it knows of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from cfgfix.config.dialects.dialect import Dialect
from cfgfix.config.dialects.view import View
from cfgfix.config.document.compose import Document, Kind
from cfgfix.config.loaders.scalars import Loader
from cfgfix.config.schema.validate import MISSING, Schema
from cfgfix.core.baseline import Baseline, Key
from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import KeyPath
from cfgfix.core.records import dataclass, field
from cfgfix.lint.rule_set import RuleSet
from cfgfix.rules.hit import Hit
from cfgfix.rules.rule import Rule
from cfgfix.settings.reader import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfgfix.code.model.program import Program
    from cfgfix.config.dialects.parameters import KeyMeanings
    from cfgfix.config.schema.infer import Inferred
    from cfgfix.usage.code_facts import CodeFacts
    from cfgfix.usage.key_uses import Usage
    from cfgfix.usage.nearby_code import NearbyCode, NearbyCodeReader
    from cfgfix.usage.project_code import ProjectCode


YAML_FORM = "yaml"
FORMS = frozenset({YAML_FORM, "json", "toml", "ini"})
"""What a config is read as. All but YAML is judged only by what programs do with it, and is never written."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine to judge by; `profile` is its name where several are checked."""

    lookup: Callable[[str], Any] | None
    label: str | None
    profile: str | None = None
    live: bool = False
    """Whether it is the machine this runs on, as it is now."""


@dataclass(frozen=True, slots=True)
class Target:
    """What the configs of one dialect are judged against on one machine.

    What the code around says may differ from config to config.
    """

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
    nearby_code: NearbyCode | None = None
    """What the text of the code around a config says of it, where a finding depends on it."""

    def view(self, document: Document, index: int) -> View:
        """Return one YAML document of a file as a view through the target's dialect."""
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


class KeptConfigs:
    """The first configs of a session, overrides applied, kept for the guards in code.

    Nothing is kept where no code is scanned.
    """

    __slots__ = ("items", "most")

    def __init__(self) -> None:
        self.items: list[tuple[Document, Loader]] = []
        self.most = 0

    def full(self) -> bool:
        """Tell whether as many configs are kept as are wanted."""
        return len(self.items) >= self.most


@dataclass(slots=True)
class Project:
    """The files under the same settings, with all that they are judged by.

    That is their rules, machines, dialects and configs, and the code around them.
    """

    settings: Settings
    rule_set: RuleSet
    checkers: tuple[Checker, ...] = ()
    """What carries out the selected rules."""
    hardware: str = ""
    """One line: which machine is judged by."""
    dialects: dict[str, Dialect] = field(default_factory=dict)
    machines: list[Machine] = field(default_factory=list)
    schemas: dict[str, Schema | None] = field(default_factory=dict)
    targets: dict[tuple[str, str | None], Target] = field(default_factory=dict)
    baseline: Baseline | None = None
    left: dict[Key, int] = field(default_factory=dict)
    configs: KeptConfigs = field(default_factory=KeptConfigs)
    files: list[str] = field(default_factory=list)
    """The configs that are checked, whose keys are asked for where no class is known."""
    scanned: list[str] = field(default_factory=list)
    """The Python files that are checked."""
    codes: Callable[[], Iterable[ProjectCode]] = tuple
    """Gives the code of the repositories that was asked for."""
    inferred: Inferred | None = None
    """The schema read from a class, where the settings name one."""
    usage: Usage | None = None
    usage_known: bool = False
    usages_by_class: dict[str, tuple[Inferred, Usage] | None] = field(default_factory=dict)
    """What the code does with the configs of classes that it was found to load files into."""
    sources: tuple[str, ...] = ()
    """The Python files that the usage rests on."""
    nearby_code: NearbyCodeReader | None = None
    """The code around the configs, once a finding depended on it."""
    failures: list[CfgfixError] = field(default_factory=list)
    """Faults of cfgfix that cost what the code says."""


@dataclass(slots=True)
class JudgedConfig:
    """A config as a checker gets it: document, target and the facts from the code."""

    document: Document
    target: Target
    code_facts: CodeFacts | None
    limit: HitLimit
    skips: dict[str, str] = field(default_factory=dict)
    """Rules that could not be judged, and why; checkers add to it."""
    form: str = YAML_FORM
    """What the file is read as, one of `FORMS`."""

    def paths_by_code(self) -> frozenset[KeyPath]:
        """Return the key paths whose meaning the code that opens the file shows."""
        meanings = self.target.meanings
        return frozenset(path for _, path in meanings.keys) if meanings is not None else frozenset()

    def mappings(self) -> Iterator[int]:
        """Yield the indices of the file's YAML documents that hold keys.

        Nothing is yielded for a file that does not parse.
        """
        if self.document.problem is None:
            for index, root in enumerate(self.document.roots):
                if root.kind == Kind.MAPPING:
                    yield index


class HitLimit:
    """Counts the hits of each rule in one file, up to the number that is listed."""

    __slots__ = ("_counts", "_most", "cut")

    def __init__(self, most: int) -> None:
        self._most = most
        self._counts: dict[str, int] = {}
        self.cut: set[str] = set()
        """Rules that had more."""

    def allows(self, rule: str) -> bool:
        """Count a hit of a rule, and tell whether the hit is among those listed."""
        count = self._counts[rule] = self._counts.get(rule, 0) + 1
        if count > self._most:
            self.cut.add(rule)
            return False
        return True


class Checker:
    """Carries out the rules of one kind in a project, without regard to policy.

    Args:
        project: The project, with its rules.
    """

    forms = frozenset({YAML_FORM})
    """The forms of configs that it has something to say of, of `FORMS`."""
    follows_programs = False
    """Whether its hits are what runs of the project's programs show: they are all told, and others yield at their place."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def hits_in_config(self, config: JudgedConfig) -> Iterable[tuple[Rule, Hit]]:
        """Yield the hits in one config, with spans in its text."""
        del config
        return ()

    def hits_in_program(self, program: Program) -> Iterable[tuple[Rule, Hit]]:
        """Yield the hits in the linked code, at places of the program."""
        del program
        return ()

    def hits_in_project(self) -> Iterable[tuple[Rule, Hit]]:
        """Yield the hits that rest on configs and code together, at locations in any file."""
        return ()
