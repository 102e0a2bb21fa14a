"""One scalar in its surroundings: what the schema, the dialect or its name say that it should be."""

from __future__ import annotations

from functools import lru_cache

from cfgfix.config.document.compose import Node
from cfgfix.config.values import setting_names as names
from cfgfix.config.values.context import Context
from cfgfix.core.findings import KeyPath
from cfgfix.core.records import dataclass

_NUMBERS = frozenset({names.INTEGER, names.NUMBER})


class _Unasked:
    """The type of `_UNASKED`, which stands for an answer that nobody has asked for (None is one)."""

    __slots__ = ()


_UNASKED = _Unasked()


@dataclass(frozen=True, slots=True)
class Need:
    """What a place takes."""

    types: frozenset[str]
    """JSON Schema type names; empty where nothing is known."""
    source: str
    """Who says so: `schema`, `concept` (the dialect), `name` (the key's name alone) or nothing."""

    @property
    def number(self) -> bool:
        """A number is taken."""
        return not _NUMBERS.isdisjoint(self.types)

    @property
    def integer(self) -> bool:
        """Only a whole number is taken."""
        return names.INTEGER in self.types and names.NUMBER not in self.types

    @property
    def text(self) -> bool:
        """Text is taken."""
        return names.TEXT in self.types

    @property
    def sure(self) -> bool:
        """The schema or the dialect says it, not only the name."""
        return self.source in ("schema", "concept")


_need = lru_cache(256)(Need)
_NO_NEED = Need(frozenset(), "")
_KINDS = {
    (kind, source): Need(frozenset({kind}), source)
    for kind in (names.INTEGER, names.NUMBER, names.BOOLEAN, names.TEXT)
    for source in ("name", "concept")
}


class Place:
    """Where a scalar stands. A plain class with lazy parts, made only for scalars that are special."""

    __slots__ = ("_concept", "_key", "_need", "_types", "context", "document", "node", "parent", "path")

    def __init__(
        self, context: Context, node: Node, path: KeyPath, parent: Node | None, document: int
    ) -> None:
        self.context = context
        self.node = node
        self.path = path
        self.parent = parent
        """The mapping or sequence that holds the scalar."""
        self.document = document
        """Position of the YAML document in the file, counted from 0."""
        self._key: str | None = None
        self._need: Need | None = None
        self._types: _Unasked | frozenset[str] | None = _UNASKED
        self._concept: _Unasked | str | None = _UNASKED

    @property
    def key(self) -> str:
        """The nearest key: a list's items belong to the key that holds the list."""
        if self._key is None:
            last = self.path[-1] if self.path else ""
            if not isinstance(last, str):
                last = next((step for step in reversed(self.path) if isinstance(step, str)), "")
            self._key = last
        return self._key

    @property
    def types(self) -> frozenset[str] | None:
        """What the schema takes; None where it says nothing."""
        if isinstance(self._types, _Unasked):
            self._types = self.context.expected(self.path)
        return self._types

    @property
    def concept(self) -> str | None:
        """The concept that the dialect finds here, or for an item of a list at the list."""
        if isinstance(self._concept, _Unasked):
            found = self.context.concept_of(self.path)
            if found is None and self.path and isinstance(self.path[-1], int):
                found = self.context.concept_of(self.path[:-1])
            self._concept = found
        return self._concept

    @property
    def start(self) -> int:
        """Offset of the value itself, after an anchor."""
        return self.node.value_start

    @property
    def end(self) -> int:
        """Offset after the value."""
        return self.node.end

    @property
    def need(self) -> Need:
        """What is known about the place, from the surest source that knows anything."""
        if self._need is None:
            self._need = self._find_need()
        return self._need

    def _find_need(self) -> Need:
        if self.types is not None:
            return _need(self.types, "schema")
        concept = self.concept
        kind = names.kind_by_name(self.key) if concept is None else names.CONCEPT_KINDS.get(concept)
        if kind is None:
            return _NO_NEED
        return _KINDS[kind, "name" if concept is None else "concept"]

    @property
    def coerced(self) -> bool:
        """The program converts the value itself."""
        return self.context.coerces(self.path)

    @property
    def in_list(self) -> bool:
        """The scalar is an item of a list."""
        return bool(self.path) and isinstance(self.path[-1], int)

    @property
    def loader(self) -> str:
        """The loader's name for messages."""
        return self.context.loader.title

    def takes(self) -> str:
        """Return what the place takes as the end of a sentence.

        Empty where nothing is known.
        """
        need = self.need
        if not need.types or not self.key:
            return ""
        kinds = " or ".join(_ARTICLES[kind] for kind in sorted(need.types) if kind in _ARTICLES)
        if need.source == "schema":
            return f"; the schema takes {kinds} here"
        return f"; `{self.key}` takes {kinds}"


_ARTICLES = {
    "integer": "an integer",
    "number": "a number",
    "string": "text",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
    "object": "a section",
}
