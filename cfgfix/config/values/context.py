"""What a check of values may ask about the document."""

from __future__ import annotations

from collections.abc import Callable

from cfgfix.config.document.compose import Document
from cfgfix.config.loaders.scalars import Loader
from cfgfix.core.findings import KeyPath
from cfgfix.core.records import dataclass


@dataclass(frozen=True, slots=True)
class Context:
    """A document, its loader, and what dialect and schema say of each place in it."""

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
    """The values that the schema lists for a path, or the code compares it with; empty where none are known."""
    tails: frozenset[str] | None = None
    """The last steps of all places that the dialect knows; None where a schema knows others, or any key may be one."""
    ruamel: bool = False
    """Whether the code around uses ruamel.yaml too."""
