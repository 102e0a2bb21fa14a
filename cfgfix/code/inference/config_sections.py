"""The config classes of a project, with what a schema read from them says of their fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cfgfix.code.inference.config_atoms import Path
from cfgfix.code.model.summary import Scope


class Sections:
    """The config classes of a project and the key paths that hold them.

    Args:
        schema: The schema read from the root class.
        classes: For each class scope its key paths, outermost first.
    """

    __slots__ = ("by_class", "fields", "schema")

    def __init__(self, schema: Mapping[str, Any], classes: Mapping[Scope, tuple[Path, ...]]) -> None:
        self.schema = schema
        self.by_class = {id(scope): (scope, paths) for scope, paths in classes.items()}
        self.fields: dict[int, Mapping[str, Any]] = {}
        for scope, paths in classes.items():
            node: Any = schema
            for step in paths[0]:
                node = (
                    node.get("items", node.get("additionalProperties", {}))
                    if step in ("[]", "*")
                    else node.get("properties", {}).get(step, {})
                )
                if isinstance(node, Mapping) and "anyOf" in node:
                    node = next((part for part in node["anyOf"] if "properties" in part), node)
            self.fields[id(scope)] = node.get("properties", {}) if isinstance(node, Mapping) else {}

    def child(self, owner: int, name: str) -> int | None:
        """Return the identity of the config class in a field of a config class, or None."""
        entry = self.by_class.get(owner)
        if entry is None:
            return None
        for path in entry[1]:
            inner = (*path, name)
            for key, (_, paths) in self.by_class.items():
                if any(
                    other == inner or (other[:-1] == inner and other[-1] in ("[]", "*")) for other in paths
                ):
                    return key
        return None

    def paths(self) -> Iterator[tuple[Path, int]]:
        """Yield every key path with the class that holds it."""
        for owner, (_, paths) in self.by_class.items():
            for path in paths:
                for name in self.fields[owner]:
                    yield (*path, name), owner
