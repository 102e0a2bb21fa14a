"""A document that a schema judges: its values as JSON data, and where they stand."""

from __future__ import annotations

from cfgfix.config.document.compose import (
    TAG_PREFIX,
    Document,
    Kind,
    Node,
    Tagged,
    deref,
    is_merge,
    key_text,
)
from cfgfix.config.document.data import Builder
from cfgfix.config.document.merging import Flattener, order_of, written_in
from cfgfix.config.loaders.scalars import Loader
from cfgfix.config.schema.failures import OPAQUE
from cfgfix.config.schema.load import MAX_KEY
from cfgfix.core.findings import KeyPath

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing `typing` costs as much as checking a few files
    from typing import Any

    from cfgfix.config.schema.limited_validator import Schema


MAX_SUGGESTIONS = 200
"""Unknown names of one document for which a meant one is sought."""

_HUGE = 10**4_000
"""Stands for whole numbers beyond it: Python refuses to write out more than 4,300 digits."""


class JudgedDocument:
    """One YAML document and its schema: values by key path, as data and as spans.

    Attributes:
        schema: The schema.
        loaded: The schema as it was loaded.
        root: The top node of the document.
        number: Which document of the file it is.
        loader: What the program reads the file with.
        opaque: Whether a value is under a custom tag, so that it is not judged.
        long_keys: Keys too long to be checked.
    """

    def __init__(self, schema: Schema, document: Document, root: Node, loader: Loader) -> None:
        self.schema = schema
        self.loaded = schema.loaded
        self.root = root
        self.number = next((index for index, each in enumerate(document.roots) if each is root), 0)
        self.loader = loader
        self.opaque = False
        self.long_keys: list[Node] = []
        self._document = document
        self._text = document.source.text
        self._suggestions = 0
        self._entries_of: dict[int, dict[str, tuple[Node, Node, bool]]] = {}
        self._built: dict[int, Any] = {}
        self._builder = Builder(document.source, loader)
        self._merging: Flattener | None = None

    def entries(self, mapping: Node) -> dict[str, tuple[Node, Node, bool]]:
        """Return the entries of a mapping by key text, merge keys followed.

        Each is the key node, the value node, and whether it was merged in.
        """
        known = self._entries_of.get(id(mapping))
        if known is not None:
            return known
        source = self._document.source
        found = self._entries_of[id(mapping)] = {}
        if any(is_merge(key) for key, _ in mapping.items):
            if self._merging is None:
                self._merging = Flattener(order_of(self._builder.loader), written_in)
            for each in self._merging.flatten(mapping):
                entry = each.entry
                found[key_text(entry.key, source)] = (entry.key, entry.value, entry.parent is not mapping)
            return found
        for key, value in mapping.items:
            found[key_text(key, source)] = (key, value, False)
        return found

    def instance(self, node: Node) -> Any:
        """Return a node as JSON data.

        Keys are as written, values under custom tags are `OPAQUE`.
        """
        node = deref(node)
        if id(node) in self._built:
            return self._built[id(node)]
        result: Any
        tag = node.tag or ""
        if node.kind is Kind.SCALAR:
            if tag and tag != "!" and not tag.startswith(TAG_PREFIX):
                result = OPAQUE
            else:
                result = self._builder.scalar(node)
                if isinstance(result, Tagged):
                    result = OPAQUE
                elif isinstance(result, int) and not -_HUGE < result < _HUGE:
                    result = _HUGE if result > 0 else -_HUGE
        elif tag and tag not in ("!", TAG_PREFIX + "map", TAG_PREFIX + "seq", TAG_PREFIX + "python/tuple"):
            result = OPAQUE
        elif node.kind is Kind.SEQUENCE:
            result = [self.instance(each) for each in node.items]
        else:
            result = {}
            for name, (key, value, _) in self.entries(node).items():
                if len(name) > MAX_KEY:
                    self.long_keys.append(key)
                else:
                    result[name] = self.instance(value)
        self.opaque = self.opaque or result is OPAQUE
        self._built[id(node)] = result
        return result

    def find(self, path: KeyPath) -> tuple[Node | None, Node, bool] | None:
        """Return key node, value node and whether an entry is merged in or under an alias.

        None where there is no such entry.
        """
        key: Node | None = None
        node = self.root
        shared = False
        for step in path:
            shared = shared or node.kind is Kind.ALIAS
            node = deref(node)
            if isinstance(step, int):
                if node.kind is not Kind.SEQUENCE or step >= len(node.items):
                    return None
                key, node = None, node.items[step]
                continue
            if node.kind is not Kind.MAPPING:
                return None
            entry = self.entries(node).get(step)
            if entry is None:
                return None
            key, node, merged = entry
            shared = shared or merged
        return key, node, shared

    def span(self, key: Node | None, value: Node) -> tuple[int, int]:
        """Return the span to underline for a wrong value.

        That is the value, or its key where the value is empty or spans lines.
        """
        start, end = value.value_start, value.end
        line_end = _line_end(self._text, start)
        if start < end <= line_end:
            return start, end
        if key is not None:
            return self.key_span(key)
        return (start, min(max(end, start), line_end)) if start < end else (value.start, value.end)

    def key_span(self, key: Node) -> tuple[int, int]:
        """Return the span to underline for a key."""
        return key.value_start, min(key.end, _line_end(self._text, key.value_start))

    def place(self, path: KeyPath) -> tuple[int, int]:
        """Return the span to underline for a problem of the value at a key path."""
        found = self.find(path)
        if found is None:
            return self.root.start, self.root.start
        return self.span(found[0], found[1])

    def mapping_span(self, path: KeyPath) -> tuple[int, int]:
        """Return the span to underline where a mapping lacks an entry."""
        found = self.find(path) if path else None
        if found is None:
            return self.root.start, self.root.start
        return self.key_span(found[0]) if found[0] is not None else self.span(None, found[1])

    def value_at(self, path: KeyPath) -> Node:
        """Return the value at a key path; the whole document where there is none."""
        found = self.find(path) if path else None
        return self.root if found is None else found[1]

    def may_suggest(self) -> bool:
        """Tell whether a meant name may still be sought, and count it."""
        self._suggestions += 1
        return self._suggestions <= MAX_SUGGESTIONS


def _line_end(text: str, start: int) -> int:
    ends = [each for each in (text.find("\n", start), text.find("\r", start)) if each >= 0]
    return min(ends, default=len(text))
