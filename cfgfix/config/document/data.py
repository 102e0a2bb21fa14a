"""What a loader would make of nodes: plain data, without running any constructor."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.config.document.merging import Flattener, Written, order_of, written_in
from cfgfix.config.document.nodes import ALIAS, MAPPING, SCALAR, SEQUENCE, TAG_PREFIX, Node, deref, is_merge
from cfgfix.config.loaders.scalars import Loader, construct_scalar, resolve
from cfgfix.core.errors import CfgfixError, ExitCode
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import SourceFile

TYPE_CHECKING = False
if TYPE_CHECKING:  # see `nodes`
    from typing import Any


class DataError(CfgfixError):
    """The loader would refuse the document, or its data cannot be told.

    `offset` is the place in the text.
    """

    def __init__(self, message: str, node: Node | None, source: SourceFile) -> None:
        self.offset = node.start if node is not None else 0
        line, column = source.position(self.offset)
        super().__init__(message, code=ExitCode.FINDINGS, path=source.path, line=line, column=column)


@dataclass(frozen=True, slots=True)
class Tagged:
    """A value under a tag that is not YAML's own: its data, with no constructor run.

    `value` is the text of a scalar, or the data of a mapping or sequence.
    """

    tag: str
    value: object

    def __hash__(self) -> int:
        # The value may be a list; equal ones still have equal tags.
        return hash(self.tag)


class Builder:
    """Builds plain data of a document as a loader would; aliases share their data."""

    def __init__(self, source: SourceFile, loader: Loader) -> None:
        self.source = source
        self.loader = loader
        self.done: dict[int, Any] = {}
        self._merging: Flattener | None = None

    def build(self, root: Node, recursive: Node | None = None, reused: Node | None = None) -> Any:
        """Return the plain data of a node.

        `recursive` is an alias within its own target and `reused` an anchor with a name that was taken, where the
        document has one.

        Raises:
            DataError: The loader refuses it.
        """
        if recursive is not None:
            raise self._refusal_at(f"*{recursive.anchor} stands inside the value it names", recursive)
        if reused is not None and self.loader.yaml_version == "1.1":
            raise self._refusal_at(f"{self.loader.title} refuses a second anchor &{reused.anchor}", reused)
        return self._node_value(root, 0)

    def _refusal_at(self, message: str, node: Node) -> DataError:
        return DataError(message, node, self.source)

    def _node_value(self, node: Node, depth: int) -> Any:
        kind = node.kind
        if kind is SCALAR:
            return self.scalar(node)
        if kind is ALIAS:
            assert node.target is not None
            node = node.target
            if node.kind is SCALAR:
                return self.scalar(node)
        known = self.done.get(id(node), self)
        if known is not self:
            return known
        if depth > _MAX_BUILD_DEPTH:
            raise self._refusal_at("nested too deep", node)
        result = (
            self._sequence_value(node, depth + 1)
            if node.kind is SEQUENCE
            else self._mapping_value(node, depth + 1)
        )
        if node.anchor is not None:
            self.done[id(node)] = result
        return result

    def scalar(self, node: Node) -> Any:
        """Return the value of a scalar node.

        Raises:
            DataError: The loader refuses it.
        """
        tag = node.tag
        loader = self.loader
        if tag is None or tag == "!":
            # Both loaders resolve a plain scalar under the tag `!`, where the standard says it is text.
            if node.style:
                return node.text
            resolved = resolve(node.text, loader)
            if resolved.error is not None:
                raise self._refusal_at(resolved.error, node)
            if resolved.tag in ("merge", "value"):
                raise self._refusal_at(f"{loader.title} cannot read a plain {node.text} as a value", node)
            return resolved.value
        name = tag[len(TAG_PREFIX) :] if tag.startswith(TAG_PREFIX) else ""
        if name in _SCALAR_TAGS:
            try:
                return construct_scalar(name, node.text, loader)
            except (ValueError, OverflowError, KeyError, IndexError):
                raise self._refusal_at(
                    f"{loader.title} cannot read {node.text!r} as !!{name}", node
                ) from None
        if name == "binary":
            return self._binary_value(node)
        if name in _COLLECTION_TAGS:
            raise self._refusal_at(f"!!{name} on a scalar", node)
        return Tagged(tag, node.text)

    def _binary_value(self, node: Node) -> bytes:
        import base64

        try:
            return base64.decodebytes(node.text.encode("ascii"))
        except ValueError:
            raise self._refusal_at("!!binary is not valid base64", node) from None

    def _sequence_value(self, node: Node, depth: int) -> Any:
        name = self._collection_tag(node, "seq")
        if name in ("omap", "pairs"):
            return self._pair_values(node, depth, name)
        value = [self._node_value(item, depth) for item in node.items]
        return value if name == "seq" else Tagged(str(node.tag), value)

    def _collection_tag(self, node: Node, default: str) -> str:
        """Return the short name of a collection's YAML tag.

        Empty for a tag that is not YAML's own.
        """
        tag = node.tag
        if tag is None or tag == "!":
            return default
        name = tag[len(TAG_PREFIX) :] if tag.startswith(TAG_PREFIX) else ""
        fitting = ("map", "set") if default == "map" else ("seq", "omap", "pairs")
        if name in fitting:
            return name
        if name in _SCALAR_TAGS or name in _COLLECTION_TAGS or name == "binary":
            raise self._refusal_at(f"!!{name} on a {'mapping' if default == 'map' else 'sequence'}", node)
        return ""

    def _pair_values(self, node: Node, depth: int, name: str) -> list[tuple[Any, Any]]:
        result: list[tuple[Any, Any]] = []
        for item in node.items:
            entry = deref(item)
            if entry.kind is not MAPPING or len(entry.items) != 1:
                raise self._refusal_at(f"every entry of !!{name} must be a mapping with one key", item)
            key, value = entry.items[0]
            result.append((self._node_value(key, depth), self._node_value(value, depth)))
        return result

    def _mapping_value(self, node: Node, depth: int) -> Any:
        name = self._collection_tag(node, "map")
        loader = self.loader
        items = node.items
        merged = False
        if any(is_merge(key) for key, _ in items):
            items = [(each.entry.key, each.entry.value) for each in self._flattened_entries(node)]
            merged = True
        result: dict[Any, Any] = {}
        # ruamel.yaml does not look for duplicates where keys are merged in; OmegaConf looks at what is written.
        strict = loader.duplicate_keys == "error" and loader.name != "omegaconf" and not merged
        if loader.name == "omegaconf":
            self._refuse_written_twice(node)
        for key_node, value_node in items:
            key = self._key_value(key_node, depth)
            if strict and key in result:
                raise self._refusal_at(f"{loader.title} refuses the duplicate key {key!r}", key_node)
            result[key] = self._node_value(value_node, depth)
        if name == "map":
            return result
        return set(result) if name == "set" else Tagged(str(node.tag), result)

    def _refuse_written_twice(self, node: Node) -> None:
        seen: set[str] = set()
        for key, _ in node.items:
            scalar = deref(key)
            if scalar.kind is not SCALAR or (
                not scalar.style and resolve(scalar.text, self.loader).tag != "str"
            ):
                continue
            if scalar.tag not in (None, "!", TAG_PREFIX + "str"):
                continue
            if scalar.text in seen:
                raise self._refusal_at(f"{self.loader.title} refuses the duplicate key {scalar.text!r}", key)
            seen.add(scalar.text)

    def _key_value(self, node: Node, depth: int) -> Any:
        scalar = deref(node)
        if scalar.kind is SCALAR and not scalar.style and scalar.text == "=" and scalar.tag in (None, "!"):
            return "="
        key = self._node_value(node, depth)
        if isinstance(key, list) and self.loader.yaml_version == "1.2":
            key = tuple(key)
        try:
            hash(key)
        except TypeError:
            kind = "mapping" if scalar.kind is MAPPING else "sequence"
            raise self._refusal_at(f"{self.loader.title} refuses a {kind} as a key", node) from None
        return key

    def _flattened_entries(self, mapping: Node) -> list[Written]:
        if self._merging is None:
            self._merging = Flattener(order_of(self.loader), self._written_entries)
        return self._merging.flatten(mapping)

    def _written_entries(self, mapping: Node) -> Iterator[Written]:
        """Yield the entries of a mapping as written, checking its merge keys.

        Raises:
            DataError: The loader refuses a merge key.
        """
        brought = False
        for each in written_in(mapping):
            if each.merged is not None:
                key, value = each.entry.key, deref(each.entry.value)
                if brought and self.loader.yaml_version == "1.2":
                    raise self._refusal_at(f"{self.loader.title} refuses a second merge key", key)
                if value.kind is SCALAR:
                    raise self._refusal_at(
                        "a merge key takes a mapping or a list of mappings", each.entry.value
                    )
                if value.kind is SEQUENCE and len(each.merged) < len(value.items):
                    wrong = next(item for item in value.items if deref(item).kind is not MAPPING)
                    raise self._refusal_at("a merge key takes mappings only", wrong)
                brought = brought or any(part.items for part in each.merged)
            yield each


# Nodes nest at most `Limits.depth` deep; values reached through aliases are counted by `compose` as well.
_MAX_BUILD_DEPTH = 200
_SCALAR_TAGS = frozenset(("str", "int", "float", "bool", "null", "timestamp"))
_COLLECTION_TAGS = frozenset(("map", "set", "seq", "omap", "pairs"))
