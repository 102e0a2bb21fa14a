"""Schemas of configs: what is valid, what a key is, and what is wrong in a document, with its place.

A clean document costs no import: `accept` says yes over plain data. Only when it does not, `failures` says what is
wrong, or jsonschema where that does not know, and `explain` puts it into words and on lines.

Annotations understood beside JSON Schema 2020-12:

- `x-unit`: the unit of a number, shown in messages.
- `x-unknown`: on an object that allows no further keys, `fatal` (the program stops on one) or `ignored` (it never
  looks at them). Without it a key that is not allowed counts as fatal.
- `x-renamed`: on an object, keys that older versions of the program read, with the names they have now.
- `x-former`: on an object, keys that older versions of the program read and that have no other name now.
- `x-otherwise`: beside `enum`, what the program takes any other value for without a word; such a value does not stop it.
- `x-source`: file and class that a section describes.
- `x-unread`: no code reads the key.
"""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.config.document.compose import DataError, Document, Node, value_of
from cfgfix.config.loaders.scalars import Loader
from cfgfix.config.schema.accept import Accept, compile_schema
from cfgfix.config.schema.load import FORBIDDEN, Loaded, load
from cfgfix.config.schema.load import Node as SchemaNode
from cfgfix.config.schema.problem import CODES, SchemaProblem
from cfgfix.core.findings import KeyPath
from cfgfix.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing `typing` costs more than checking a small file
    from typing import Any

    from cfgfix.config.schema.failures import Failure

__all__ = ["CODES", "MISSING", "Description", "Missing", "Schema", "SchemaProblem"]

MAX_PROBLEMS = 1_000
"""Problems reported for one document; a note says when there are more."""

_MEMO = 4_096
"""Key paths whose types are remembered; a hostile file cannot fill the memory with its keys."""


class Missing:
    """The type of `MISSING`, which stands for no default (None may be a default)."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class Description:
    """The facts that a schema states about one key."""

    path: KeyPath
    title: str | None
    text: str | None
    """The description, for people."""
    types: frozenset[str] | None
    unit: str | None
    expected: str | None
    """Types, range, list of values and unit in words."""
    enum: tuple[object, ...]
    examples: tuple[object, ...]
    default: object
    """`MISSING` where there is none."""
    source: str | None
    """File and class that the surrounding section describes (`x-source`)."""
    deprecated: bool
    unread: bool
    """No code reads it (`x-unread`)."""


class Schema:
    """A compiled schema, made with `load`.

    A plain class, since it holds what it has compiled.
    """

    __slots__ = ("_accept", "_index", "_keys", "_names", "_types", "loaded", "machinery")

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self.machinery: object = None
        """What `explain` keeps between documents."""
        self._accept: Accept = compile_schema(loaded)
        self._types: dict[KeyPath, frozenset[str] | None] = {}
        self._keys: dict[KeyPath, tuple[str, ...]] = {}
        self._index: dict[str, list[KeyPath]] | None = None
        self._names: tuple[str, ...] | None = None

    @classmethod
    def load(cls, data: object, origin: str, base_dir: str | None = None) -> Schema:
        """Return the compiled schema of some JSON Schema data.

        Args:
            data: The parsed schema.
            origin: A path or name for messages.
            base_dir: The folder that references to other files are relative to; they must lie inside it.

        Raises:
            CfgfixError: The schema is invalid, or refers to something that is not there or may not be read.
        """
        return cls(load(data, origin, base_dir))

    def problems(
        self, document: Document, root: Node, loader: Loader, *, limit: int = MAX_PROBLEMS
    ) -> list[SchemaProblem]:
        """Return the places where one YAML document breaks the schema, in text order.

        The document is judged as `loader` reads it. One that the loader refuses as a whole gives no problems here:
        what the loader trips over is told elsewhere.
        """
        try:
            data = value_of(root, loader, document)
        except DataError:
            return []
        if self._accept.verdict(data) is True and not self.loaded.unchecked:
            return []
        from cfgfix.config.schema.explain import explain

        return explain(self, document, root, loader, limit)

    def accepts(self, node: SchemaNode, value: object) -> bool | None:
        """Return whether a subschema of this schema takes a plain value.

        None where only jsonschema can tell.
        """
        return self._accept.verdict_at(node, value)

    def failures(self, instance: object) -> list[Failure] | None:
        """Return the keywords that plain data breaks; None where only jsonschema can tell."""
        from cfgfix.config.schema.failures import failures

        return failures(self.loaded, self._accept, instance)

    def expected_types(self, path: KeyPath) -> frozenset[str] | None:
        """Return the JSON Schema types allowed at a key path.

        None where the schema does not know the path or allows any type. `number` covers whole numbers, `integer` is listed where
        only they are allowed.
        """
        found = self._types.get(path, MISSING)
        if isinstance(found, Missing):
            found = self._types_at(self.loaded.root, path, 0, {})
            if len(self._types) < _MEMO:
                self._types[path] = found
        return found

    def default(self, path: KeyPath) -> object:
        """Return the default of a key, or `MISSING`."""
        for node in self.nodes(path):
            if "default" in node:
                return node["default"]
        if path:
            outer = self.default(path[:-1])
            if isinstance(outer, dict) and path[-1] in outer:
                return outer[path[-1]]
        return MISSING

    def enum(self, path: KeyPath) -> tuple[object, ...]:
        """Return the values that the schema lists for a key, empty where it lists none."""
        for node in self.nodes(path):
            listed = node.get("enum")
            if isinstance(listed, list):
                return tuple(listed)
            if "const" in node:
                return (node["const"],)
        return ()

    def keys(self, path: KeyPath) -> tuple[str, ...]:
        """Return the names of the keys known below a key path, in the schema's order."""
        known = self._keys.get(path)
        if known is not None:
            return known
        found = _names_in(self.nodes(path))
        if len(self._keys) < _MEMO:
            self._keys[path] = found
        return found

    def places(self, name: str) -> list[KeyPath]:
        """Return the paths of all keys with one name in the schema, outermost first."""
        if self._index is None:
            self._index = self._build_index()
        return self._index.get(name, [])

    def names(self) -> tuple[str, ...]:
        """Return every key name that the schema knows, each once, outermost first."""
        if self._names is None:
            if self._index is None:
                self._index = self._build_index()
            self._names = tuple(self._index)
        return self._names

    def describe(self, path: KeyPath) -> Description | None:
        """Return the description of a key, or None for a key unknown to the schema."""
        nodes = self.nodes(path)
        if not nodes:
            return None
        from cfgfix.config.schema.descriptions import describe

        def first(keyword: str) -> Any:
            return next((node[keyword] for node in nodes if keyword in node), None)

        source = None
        for length in range(len(path), -1, -1):
            source = next(
                (str(node["x-source"]) for node in self.nodes(path[:length]) if "x-source" in node), None
            )
            if source:
                break
        return Description(
            path=path,
            title=first("title"),
            text=first("description"),
            types=self.expected_types(path),
            unit=_text_of_value(first("x-unit")),
            expected=describe(self.loaded, nodes[0]),
            enum=self.enum(path),
            examples=tuple(first("examples") or ()),
            default=self.default(path),
            source=source,
            deprecated=bool(first("deprecated")),
            unread=bool(first("x-unread")),
        )

    def nodes(self, path: KeyPath) -> list[dict[str, Any]]:
        """Return the subschemas that apply at a key path, the plainest first.

        Alternatives are all included.
        """
        current = self._expanded_schemas([self.loaded.root])
        for step in path:
            current = self._subschemas_below(current, step)
            if not current:
                break
        return current

    def _subschemas_below(self, nodes: list[dict[str, Any]], step: str | int) -> list[dict[str, Any]]:
        """Return the subschemas one step below those of a place."""
        following: list[SchemaNode] = []
        for node in nodes:
            following += self._child_schemas(node, step)
        return self._expanded_schemas(following)

    def _expanded_schemas(self, nodes: list[SchemaNode]) -> list[dict[str, Any]]:
        """Return subschemas with all others that apply to the same value.

        Those are references and combinations.
        """
        result: list[dict[str, Any]] = []
        seen: set[int] = set()
        waiting = list(reversed(nodes))
        while waiting:
            node = waiting.pop()
            if isinstance(node, bool) or id(node) in seen:
                continue
            seen.add(id(node))
            result.append(node)
            more: list[SchemaNode] = []
            target = self.loaded.targets.get(id(node))
            if target is not None:
                more.append(target)
            for keyword in ("allOf", "anyOf", "oneOf"):
                branches: Any = node.get(keyword, ())
                more += branches
            for keyword in ("then", "else"):
                branch: Any = node.get(keyword)
                if branch is not None:
                    more.append(branch)
            waiting += reversed(more)
        return result

    def _child_schemas(self, node: dict[str, Any], step: str | int) -> Iterator[SchemaNode]:
        """Yield the subschemas that one node states for a step, without references."""
        if isinstance(step, int):
            prefix = node.get("prefixItems", ())
            if step < len(prefix):
                yield prefix[step]
            elif "items" in node:
                yield node["items"]
            return
        matched = False
        named = node.get("properties", {})
        if step in named:
            matched = True
            yield named[step]
        for text, sub in node.get("patternProperties", {}).items():
            if self.loaded.patterns[text].search(step):
                matched = True
                yield sub
        if not matched and "additionalProperties" in node:
            yield node["additionalProperties"]

    def _types_at(
        self,
        node: SchemaNode,
        path: KeyPath,
        depth: int,
        done: dict[tuple[int, int], frozenset[str] | None],
    ) -> frozenset[str] | None:
        """Return the types that one subschema allows at a path, or None for any.

        `done` has the answers of this call by subschema and steps left: forty definitions that refer to the next one
        twice are reached in two to the power of forty ways.
        """
        if isinstance(node, bool) or depth > 200:
            return None
        place = (id(node), len(path))
        if place not in done:
            done[place] = self._types_of(node, path, depth, done)
        return done[place]

    def _types_of(
        self,
        node: dict[str, Any],
        path: KeyPath,
        depth: int,
        done: dict[tuple[int, int], frozenset[str] | None],
    ) -> frozenset[str] | None:
        found: frozenset[str] | None = None
        if path:
            for child in self._child_schemas(node, path[0]):
                found = _common_types(found, self._types_at(child, path[1:], depth + 1, done))
        else:
            found = _own_types(node)
        target = self.loaded.targets.get(id(node))
        if target is not None:
            found = _common_types(found, self._types_at(target, path, depth + 1, done))
        every: Any = node.get("allOf", ())
        for branch in every:
            found = _common_types(found, self._types_at(branch, path, depth + 1, done))
        for keyword in ("anyOf", "oneOf"):
            branches: Any = node.get(keyword, ())
            either: frozenset[str] = frozenset()
            for branch in branches:
                types = self._types_at(branch, path, depth + 1, done)
                if types is None:
                    if not path:
                        either = frozenset()  # this branch takes anything
                        break
                    continue  # this branch does not know the key
                either |= types
            if either:
                found = _common_types(found, either)
        return found

    def _build_index(self) -> dict[str, list[KeyPath]]:
        index: dict[str, list[KeyPath]] = {}
        waiting: list[tuple[KeyPath, list[dict[str, Any]]]] = [
            ((), self._expanded_schemas([self.loaded.root]))
        ]
        count = 0
        for path, nodes in waiting:  # grows while it is read: breadth first
            for name in _names_in(nodes):
                count += 1
                if count > 20_000:
                    return index
                here = (*path, name)
                index.setdefault(name, []).append(here)
                if len(path) < 6:
                    below = self._subschemas_below(nodes, name)
                    if any("properties" in node for node in below):
                        waiting.append((here, below))
        return index


def _names_in(nodes: list[dict[str, Any]]) -> tuple[str, ...]:
    """Return the key names in the `properties` of some subschemas, in order."""
    names: dict[str, None] = {}
    for node in nodes:
        named = node.get("properties")
        if isinstance(named, dict):
            names.update(
                dict.fromkeys(name for name, sub in named.items() if sub is True or FORBIDDEN not in sub)
            )
    return tuple(names)


def _text_of_value(value: object) -> str | None:
    return value if isinstance(value, str) else None


_JSON_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
)


def _own_types(node: dict[str, Any]) -> frozenset[str] | None:
    kinds = node.get("type")
    if kinds is not None:
        return frozenset([kinds] if isinstance(kinds, str) else kinds)
    values = node.get("enum")
    if values is None and "const" in node:
        values = [node["const"]]
    if not isinstance(values, list):
        return None
    return frozenset(
        next((name for kind, name in _JSON_TYPES if isinstance(value, kind)), "null") for value in values
    )


def _common_types(first: frozenset[str] | None, second: frozenset[str] | None) -> frozenset[str] | None:
    if first is None or second is None:
        return second if first is None else first
    both = first & second
    if "integer" not in both and (
        ("integer" in first and "number" in second) or ("number" in first and "integer" in second)
    ):
        both |= {"integer"}
    return both
