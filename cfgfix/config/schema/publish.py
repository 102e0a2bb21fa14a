"""The schema of a dialect for editors: its own, or one made of the keys that cfgfix knows the meaning of."""

from __future__ import annotations

from cfgfix.config.dialects.dialect import Dialect, schema_data
from cfgfix.config.dialects.meanings import meaning
from cfgfix.config.dialects.signatures import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DRAFT = "http://json-schema.org/draft-07/schema#"
"""Draft of a schema that is made here: the one that every editor reads."""


def published(dialect: Dialect) -> dict[str, Any]:
    """Return the JSON Schema of a dialect for editors.

    A dialect without a schema of its own gets one that describes the keys whose meaning is known and allows all others.
    """
    own = schema_data(dialect)
    if own is not None:
        return own
    made: dict[str, Any] = {
        "$schema": DRAFT,
        "$id": f"urn:cfgfix:keys:{dialect.name}",
        "title": dialect.title,
        "description": "The keys that cfgfix knows the meaning of; a config may have others.",
        "type": "object",
    }
    for concept, patterns in dialect.concepts.items():
        for pattern in patterns:
            _add_description(made, pattern, meaning(concept) or concept)
    return made


def _add_description(node: dict[str, Any], pattern: Pattern, text: str) -> None:
    """Add a description of the value at a pattern to a schema.

    The objects and lists that lead to the value are added, too.
    """
    if any(isinstance(step, int) and step >= 0 for step in pattern):
        # A single position of a list: a schema of all positions would claim too much.
        return
    for step in pattern:
        if step is None:
            node = node.setdefault("additionalProperties", {})
        elif isinstance(step, int):
            node = node.setdefault("items", {})
        else:
            node = node.setdefault("properties", {}).setdefault(step, {})
    if text not in node.get("description", ""):
        node["description"] = f"{node['description']}; {text}" if "description" in node else text
