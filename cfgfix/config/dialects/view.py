"""A view: one document seen through a dialect, as values by concept.

Rules ask a view for operands. A value comes from the file, else from the default of the class that loads the file,
else it is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from cfgfix.config.dialects.derived import DERIVED
from cfgfix.config.dialects.dialect import Dialect
from cfgfix.config.dialects.signatures import Pattern
from cfgfix.config.document.compose import (
    MAPPING,
    SCALAR,
    SEQUENCE,
    DataError,
    Document,
    Node,
    deref,
    value_of,
)
from cfgfix.config.loaders.scalars import LOADERS, Loader, resolve
from cfgfix.core.findings import KeyPath
from cfgfix.rules.expression import Missing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfgfix.config.dialects.parameters import KeyMeanings, Reached

_ABSENT = object()
NOMINAL_SHARE = 0.92
"""A memory tier counts as reached at this share of its nominal size: cards report 0.92 to 1.0 of it, by driver and error
correction (T4: 15,109 of 16,384 MiB)."""


class Binding:
    """A value of a concept and its place. A plain class: a view makes many of them.

    `origin` is `file`, `default` or `derived`; the nodes are None unless it is `file`.
    """

    __slots__ = ("key_node", "node", "origin", "path", "value")

    def __init__(
        self, path: KeyPath | None, key_node: Node | None, node: Node | None, value: Any, origin: str
    ) -> None:
        self.path = path
        self.key_node = key_node
        self.node = node
        self.value = value
        self.origin = origin


def intended_value(node: Node, loader: Loader, document: Document) -> Any:
    """Return the value that the author of a node means.

    A plain scalar that the loader reads as text and another YAML version as a number is that number.

    Raises:
        Missing: The loader refuses the value.
    """
    node = deref(node)
    if node.kind is not SCALAR or node.tag is not None:
        try:
            return value_of(node, loader, document)
        except DataError as error:
            raise Missing("") from error
    if node.style:
        return node.text
    found = resolve(node.text, loader)
    if found.error is not None:
        raise Missing("")
    if found.tag == "str":
        for other in ("ruamel", "pyyaml"):
            reading = resolve(node.text, LOADERS[other])
            if reading.tag in ("int", "float"):
                return reading.value
    return found.value


class View:
    """One YAML document seen through a dialect, as values by concept.

    Args:
        document: The composed file.
        index: Which of its YAML documents.
        dialect: The dialect.
        loader: How the program reads the file.
        default: Returns the default of an absent key path, or a sentinel; see `Schema.default`.
        missing: That sentinel.
        hardware: Looks up a fact of the target machine, or None where there is no target.
        meanings: What the code that opens the file says of its keys; the dialect has those keys already.
    """

    def __init__(
        self,
        document: Document,
        index: int,
        dialect: Dialect,
        loader: Loader,
        *,
        default: Callable[[KeyPath], Any] | None = None,
        missing: object = None,
        hardware: Callable[[str], Any] | None = None,
        meanings: KeyMeanings | None = None,
    ) -> None:
        self.document = document
        self.index = index
        self.root = document.roots[index]
        root = deref(self.root)
        self.dialect = dialect
        self.loader = loader
        self._default = default
        self._missing = missing
        self._hardware = hardware
        self.meanings = meanings
        self.facts_asked: dict[str, Reached] = {}
        """Facts of the code that were asked for since this was emptied, with what says them."""
        self.named_asked = False
        """Whether since then a key was taken for what its name says alone."""
        self._entries: dict[int, dict[str, tuple[Node, Node]]] = {}
        self.top = self.entries(root) if root.kind is MAPPING else {}
        """The entries at the top of the document."""
        self._bindings: dict[str, list[Binding]] = {}
        self._passed: dict[str, set[KeyPath]] = {}
        self._derived: dict[str, tuple[Any, dict[str, Reached], bool]] = {}
        self._pending: set[str] = set()
        self.unknown_hardware: set[str] = set()
        self.by_name: dict[str | int, list[tuple[KeyPath, Node, Node]]] | None = None
        """Entries by the name of their key, once a rule has asked for them."""

    @property
    def has_defaults(self) -> bool:
        """Whether concepts that the file leaves out may have a default."""
        return self._default is not None

    def entries(self, mapping: Node) -> dict[str, tuple[Node, Node]]:
        """Return a mapping's entries by key text.

        Later equal keys win, and explicit keys win over merged ones.
        """
        found = self._entries.get(id(mapping))
        if found is None:
            found = {}
            self._entries[id(mapping)] = found
            merged: list[Node] = []
            for key, value in mapping.items:
                if key.kind is not SCALAR:
                    continue
                if key.text == "<<" and key.style == "":
                    merged.append(value)
                else:
                    found[key.text] = (key, value)
            for value in merged:
                target = deref(value)
                for source in target.items if target.kind is SEQUENCE else [target]:
                    source_node = deref(source)
                    if source_node.kind is MAPPING and source_node is not mapping:
                        for text, entry in self.entries(source_node).items():
                            found.setdefault(text, entry)
        return found

    def places(self, pattern: Pattern) -> Iterable[tuple[KeyPath, Node | None, Node]]:
        """Return the places that match a pattern: key path, key node and value node."""
        node = self.root
        key: Node | None = None
        path: tuple[str, ...] = ()
        for step in pattern:
            if not isinstance(step, str):
                # Any key, or a position: several places may fit.
                return self._places(node, key, pattern, len(path), path)
            node = deref(node)
            entry = self.entries(node).get(step) if node.kind is MAPPING else None
            if entry is None:
                return ()
            key, node = entry
            path = (*path, step)
        return ((path, key, node),)

    def _places(
        self, node: Node, key: Node | None, pattern: Pattern, start: int, path: KeyPath
    ) -> Iterator[tuple[KeyPath, Node | None, Node]]:
        if start == len(pattern):
            yield path, key, node
            return
        node = deref(node)
        step = pattern[start]
        if isinstance(step, int):
            if node.kind is SEQUENCE:
                for position, child in enumerate(node.items):
                    if step in (-1, position):
                        yield from self._places(child, None, pattern, start + 1, (*path, position))
        elif node.kind is MAPPING:
            entries = self.entries(node)
            if step is not None:
                entry = entries.get(step)
                if entry is not None:
                    yield from self._places(entry[1], entry[0], pattern, start + 1, (*path, step))
            else:
                for text, (child_key, child) in entries.items():
                    yield from self._places(child, child_key, pattern, start + 1, (*path, text))

    def bindings(self, concept: str) -> list[Binding]:
        """Return the places where the file gives a concept, in the dialect's order.

        Where the file gives none, the places with a default are returned.
        """
        found = self._bindings.get(concept)
        if found is not None:
            return found
        found = []
        patterns = self.dialect.concepts.get(concept, ())
        special = self.dialect.own_values(concept)
        passed: set[KeyPath] = set()
        top = self.top
        for pattern in patterns:
            if pattern[0] not in top and isinstance(pattern[0], str):
                continue  # most concepts of a dialect are in no one file
            for path, key, node in self.places(pattern):
                try:
                    value = intended_value(node, self.loader, self.document)
                except Missing:
                    continue
                if special and (type(value).__name__, value) in special:
                    # The program gives this value a meaning of its own: no rule may take it for a number of things.
                    passed.add(path)
                else:
                    found.append(Binding(path, key, node, value, "file"))
        if passed:
            self._passed[concept] = passed
        if not found and self._default is not None:
            for pattern in patterns:
                if all(isinstance(step, str) for step in pattern):
                    path = tuple(step for step in pattern if isinstance(step, str))
                    if path in passed:
                        continue
                    value = self._default(path)
                    if value is not self._missing:
                        found.append(Binding(path, None, None, value, "default"))
        self._bindings[concept] = found
        return found

    def all_bindings(self, concept: str) -> list[Binding]:
        """Return the places of a concept, both those in the file and those with a default.

        A default counts for each place that the file leaves out.
        """
        given = self.bindings(concept)
        if self._default is None:
            return given
        found = list(given)
        present = {binding.path for binding in found} | self._passed.get(concept, set())
        for pattern in self.dialect.concepts.get(concept, ()):
            path = tuple(step for step in pattern if isinstance(step, str))
            if len(path) == len(pattern) and path not in present:
                value = self._default(path)
                if value is not self._missing:
                    found.append(Binding(path, None, None, value, "default"))
        return found

    def value(self, name: str) -> Any:
        """Return an operand's value.

        Raises:
            Missing: It has none.
        """
        if name.startswith("hardware."):
            return self._hardware_value(name[9:])
        bindings = self.bindings(name)
        if bindings:
            if not self.has_meaning(name, bindings[0].path):
                self.named_asked = True
            return bindings[0].value
        if self.meanings is not None and name in self.meanings.facts:
            value, self.facts_asked[name] = self.meanings.facts[name]
            return value
        if name in DERIVED:
            return self._derived_value(name)
        if name in self.dialect.facts:
            return self.dialect.facts[name]
        raise Missing(name)

    def has_meaning(self, concept: str, path: KeyPath | None) -> bool:
        """Tell whether the code shows that a key is a concept."""
        return self.meanings is not None and (concept, path) in self.meanings.keys

    def has(self, name: str) -> bool:
        """Tell whether an operand has a known value."""
        try:
            return self.value(name) is not None
        except Missing:
            return False

    def given(self, name: str) -> bool:
        """Tell whether the file itself gives a value for a concept."""
        bindings = self.bindings(name)
        return bool(bindings) and bindings[0].origin == "file"

    def _hardware_value(self, name: str) -> Any:
        value = self._hardware(name) if self._hardware is not None else None
        if value is None:
            self.unknown_hardware.add(name)
            raise Missing(f"hardware.{name}")
        return value

    def _derived_value(self, name: str) -> Any:
        known = self._derived.get(name)
        if known is None and name not in self._pending:
            before = self.facts_asked, self.named_asked
            self.facts_asked, self.named_asked = {}, False
            self._pending.add(name)
            value = self._computed_value(name)
            self._pending.discard(name)
            known = self._derived[name] = (value, self.facts_asked, self.named_asked)
            self.facts_asked, self.named_asked = before
        if known is None:
            raise Missing(name)
        value, facts, named = known
        self.facts_asked.update(facts)
        self.named_asked = self.named_asked or named
        if value is _ABSENT:
            raise Missing(name)
        return value

    def _computed_value(self, name: str) -> Any:
        derived = DERIVED[name]
        arguments: list[Any] = []
        try:
            for need in derived.needs:
                if need == "batch_components":
                    arguments.append(self._tensor_sizes())
                else:
                    arguments.append(self.value(need))
            value = derived.function(*arguments)
        except (Missing, TypeError, ValueError, ZeroDivisionError, OverflowError):
            return _ABSENT
        return value

    def _tensor_sizes(self) -> list[tuple[str, list[int], str]]:
        """Return name, sizes and dtype of each tensor of a batch element."""
        if not self.dialect.components:
            raise Missing("batch_components")
        rows: list[tuple[str, list[int], str]] = []
        for component in self.dialect.components:
            sizes: list[int] = []
            for size in component.dims:
                value = self.value(size) if isinstance(size, str) else size
                if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                    raise Missing(str(size))
                sizes.append(value)
            rows.append((component.name, sizes, component.dtype))
        return rows


PLACE_NAMES = frozenset({"key", "name", "raw", "section"})
"""Operands that say where a rule is judged."""


class RuleScope:
    """The operands of a rule at one place of a document.

    Args:
        view: The document.
        own: Operands that are known.
        lets: The rule's own names.
        tables: The rule's tables.
        place: Gives the operands `PLACE_NAMES`, which few rules ask for.
    """

    __slots__ = ("_computed", "_lets", "_own", "_place", "_tables", "_view")

    def __init__(
        self,
        view: View,
        own: dict[str, Any],
        lets: Mapping[str, Callable[[Any], Any]],
        tables: Mapping[str, Mapping[str, Any]],
        place: Callable[[], Mapping[str, Any]],
    ) -> None:
        self._view = view
        self._own = own
        self._place = place
        self._lets = lets
        self._tables = tables
        self._computed: dict[str, Any] = {}

    def value(self, name: str) -> Any:
        """Return an operand's value or raise `Missing`."""
        if name in self._own:
            return self._own[name]
        if name in PLACE_NAMES:
            for other, value in self._place().items():
                self._own.setdefault(other, value)
            return self._own[name]
        if name in self._lets:
            if name not in self._computed:
                self._computed[name] = _ABSENT
                try:
                    self._computed[name] = self._lets[name](self)
                except (TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
                    raise Missing(name) from error
            value = self._computed[name]
            if value is _ABSENT:
                raise Missing(name)
            return value
        return self._view.value(name)

    def has(self, name: str) -> bool:
        """Tell whether an operand has a known value."""
        try:
            return self.value(name) is not None
        except Missing:
            return False

    def given(self, name: str) -> bool:
        """Tell whether the file itself gives a value for a concept."""
        return self._view.given(name)

    def tier(self, table: str, column: str, gib: float) -> Any:
        """Return a column of the highest memory tier that `gib` reaches.

        Raises:
            Missing: The table has no such column, or `gib` reaches no tier.
            TypeError: `gib` is no number.
        """
        rows = self._tables.get(table, {}).get("tiers", {})
        if isinstance(gib, bool) or not isinstance(gib, (int, float)):
            raise TypeError("a size in GiB is needed")
        reached = [size for size in rows if isinstance(size, (int, float)) and gib >= NOMINAL_SHARE * size]
        if not reached or column not in rows[max(reached)]:
            raise Missing(f"{table}.{column}")
        return rows[max(reached)][column]

    def gpu(self, index: int, field: str) -> Any:
        """Return a fact of the GPU with an index.

        Raises:
            Missing: There is no such card, or the fact is unknown.
            TypeError: `index` is no whole number.
        """
        if isinstance(index, bool) or not isinstance(index, int):
            raise TypeError("a GPU index is needed")
        return self._view.value(f"hardware.gpus[{index}].{field}")
