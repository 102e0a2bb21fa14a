"""One scalar in its surroundings: what the schema, the dialect or its name say that it should be."""

from __future__ import annotations

from functools import lru_cache

from cfgfix.config.document.compose import Node
from cfgfix.config.values import setting_names as names
from cfgfix.config.values.context import Context
from cfgfix.core.findings import KeyPath
from cfgfix.core.records import dataclass

_NUMBERS = frozenset({names.INTEGER, names.NUMBER})


class _UnaskedType:
    """The type of `_UNASKED`, the mark of an answer not asked for yet.

    None is an answer.
    """

    __slots__ = ()


_UNASKED = _UnaskedType()


@dataclass(frozen=True, slots=True)
class Need:
    """The types of value that a place takes, and who says so."""

    types: frozenset[str]
    """JSON Schema type names; empty where nothing is known."""
    source: str
    """Who says so: `schema`, `concept` (the dialect), `name` (the key's name alone) or nothing."""

    @property
    def number(self) -> bool:
        """Whether a number is taken."""
        return not _NUMBERS.isdisjoint(self.types)

    @property
    def integer(self) -> bool:
        """Whether only a whole number is taken."""
        return names.INTEGER in self.types and names.NUMBER not in self.types

    @property
    def text(self) -> bool:
        """Whether text is taken."""
        return names.TEXT in self.types

    @property
    def sure(self) -> bool:
        """Whether the schema or the dialect says so, not only the name of the key."""
        return self.source in ("schema", "concept")


_need = lru_cache(256)(Need)
_NO_NEED = Need(frozenset(), "")
_KINDS = {
    (kind, source): Need(frozenset({kind}), source)
    for kind in (names.INTEGER, names.NUMBER, names.BOOLEAN, names.TEXT)
    for source in ("name", "concept")
}


class Place:
    """A special scalar and its surroundings, looked up as they are asked for.

    A plain class, made only for scalars that are special.
    """

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
        self._types: _UnaskedType | frozenset[str] | None = _UNASKED
        self._concept: _UnaskedType | str | None = _UNASKED

    @property
    def key(self) -> str:
        """The name of the nearest key; an item of a list belongs to the key of the list."""
        if self._key is None:
            last = self.path[-1] if self.path else ""
            if not isinstance(last, str):
                last = next((step for step in reversed(self.path) if isinstance(step, str)), "")
            self._key = last
        return self._key

    @property
    def types(self) -> frozenset[str] | None:
        """The types that the schema takes; None where the schema says nothing."""
        if isinstance(self._types, _UnaskedType):
            self._types = self.context.expected(self.path)
        return self._types

    @property
    def concept(self) -> str | None:
        """The concept that the dialect keeps here, or at the list that the scalar is in."""
        if isinstance(self._concept, _UnaskedType):
            found = self.context.concept_of(self.path)
            if found is None and self.path and isinstance(self.path[-1], int):
                found = self.context.concept_of(self.path[:-1])
            self._concept = found
        return self._concept

    @property
    def start(self) -> int:
        """The offset of the value, behind its anchor."""
        return self.node.value_start

    @property
    def end(self) -> int:
        """The offset behind the value."""
        return self.node.end

    @property
    def need(self) -> Need:
        """The types that the place takes, by the surest source that knows any."""
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
        """Whether the program converts the value."""
        return self.context.coerces(self.path)

    @property
    def in_list(self) -> bool:
        """Whether the scalar is an item of a list."""
        return bool(self.path) and isinstance(self.path[-1], int)

    @property
    def loader(self) -> str:
        """The name of the loader for messages."""
        return self.context.loader.title

    def takes(self) -> str:
        """Return the end of a sentence that says which types the place takes.

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
