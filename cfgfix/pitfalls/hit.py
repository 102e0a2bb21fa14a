"""What a check yields and what it may ask about the document."""

from __future__ import annotations

from collections.abc import Callable

from cfgfix.documents.compose import Document
from cfgfix.documents.resolve import Loader
from cfgfix.edits import Change
from cfgfix.findings import KeyPath, Location
from cfgfix.records import dataclass


@dataclass(frozen=True, slots=True)
class Hit:
    """One place where a check found its problem; what is None is taken from the rule file."""

    start: int
    """Offset of the first code point concerned, in the decoded text."""
    end: int
    """Offset after the last one."""
    path: KeyPath | None
    """Where the value stands; None in a file that does not load."""
    values: dict[str, object]
    """Operands of the rule's message template."""
    changes: tuple[Change, ...] = ()
    related: tuple[tuple[int, int, str], ...] = ()
    """Further places: start, end, label."""
    severity: str | None = None
    confidence: str | None = None
    safety: str | None = None
    title: str | None = None
    no_fix: str | None = None
    notes: tuple[str, ...] = ()
    elsewhere: tuple[Location, ...] = ()
    """Further places in other files."""


@dataclass(frozen=True, slots=True)
class Context:
    """A document, the loader that its program uses, and what is known of each place in it."""

    document: Document
    loader: Loader
    dialect_name: str
    expected: Callable[[KeyPath], frozenset[str] | None]
    """JSON Schema type names that the schema allows at a path; None where it says nothing."""
    coerces: Callable[[KeyPath], bool]
    """Whether the program converts the value itself, such as `float(config["lr"])`."""
    concept_of: Callable[[KeyPath], str | None]
    """The concept that the dialect finds at a path."""
    enum: Callable[[KeyPath], tuple[object, ...]]
    """The values that the schema lists for a path; empty where it lists none."""
    tails: frozenset[str] | None = None
    """The last steps of all places that the dialect knows; None where a schema knows others, or any key may be one."""
    ruamel: bool = False
    """Whether the code around uses ruamel.yaml too."""
