"""Where in a document a declarative rule is judged, and what its operands say of the place."""

from __future__ import annotations

from collections.abc import Sequence

from cfgfix.config.dialects.dialect import Dialect
from cfgfix.config.dialects.view import Binding, View, intended_value
from cfgfix.config.document.compose import MAPPING, SCALAR, SEQUENCE, Kind, Node
from cfgfix.core.findings import KeyPath, Location, format_key_path
from cfgfix.rules.expression import Missing
from cfgfix.rules.rule import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


MAX_LEVELS = 20
"""Deepest level at which keys are looked for by their name."""


MAX_COMMENT_LINES = 20
"""Most comment lines above a value that are looked at; more is a header and speaks of the whole file."""


def can_bind(rule: Rule, dialect: Dialect) -> bool:
    """Tell whether a dialect has a place for a rule.

    A rule about concepts needs a dialect with one of them; a rule about key names fits any dialect.
    """
    if rule.each is None:
        return any(concept in dialect.concepts for concept in rule.at)
    return not rule.each.concepts or any(concept in dialect.concepts for concept in rule.each.concepts)


def heads_of(rule: Rule, dialect: Dialect) -> frozenset[str] | None:
    """Return the top-level keys under which a dialect keeps the concepts of a rule.

    None where a rule is about key names, or a place may lie under any top-level key.
    """
    concepts = rule.at if rule.each is None else rule.each.concepts
    if not concepts:
        return None
    heads: set[str] = set()
    for concept in concepts:
        for pattern in dialect.concepts.get(concept, ()):
            if not isinstance(pattern[0], str):
                return None
            heads.add(pattern[0])
    return frozenset(heads)


def places_of(rule: Rule, view: View, names: frozenset[str]) -> Sequence[tuple[str | None, Binding]]:
    """Return the places of a document to judge a rule at, each with its concept.

    The concept is None for a rule that is not run once per concept. `names` are the key names that some rule is about.
    """
    each = rule.each
    if each is None:
        first: Binding | None = None
        for concept in rule.at:
            bindings = view.bindings(concept)
            if bindings:
                if bindings[0].origin == "file":
                    return ((None, bindings[0]),)
                first = first or bindings[0]
        return () if first is None else ((None, first),)
    if each.concepts:
        return [(concept, binding) for concept in each.concepts for binding in view.all_bindings(concept)]
    entries = view.by_name
    if entries is None:
        entries = view.by_name = {}
        _collect_entries(view.root, names, [], entries)
    if entries.keys().isdisjoint(each.keys):
        return ()
    chosen = [entry for name in each.keys for entry in entries.get(name, ())]
    found: list[tuple[str | None, Binding]] = []
    for path, key, node in sorted(chosen, key=lambda entry: entry[1].start):
        if not each.under or any(step in each.under for step in path[:-1]):
            try:
                value = intended_value(node, view.loader, view.document)
            except Missing:
                continue
            found.append((None, Binding(path, key, node, value, "file")))
    return found


def _collect_entries(
    node: Node,
    names: frozenset[str],
    path: list[str | int],
    found: dict[str | int, list[tuple[KeyPath, Node, Node]]],
) -> None:
    """Add to `found` all entries at or below a node whose key has one of the names."""
    if len(path) > MAX_LEVELS:
        return
    if node.kind is MAPPING:
        for key, value in node.items:
            if key.kind is SCALAR:
                name = key.text
                if name in names:
                    found.setdefault(name, []).append(((*path, name), key, value))
                if value.items:
                    path.append(name)
                    _collect_entries(value, names, path, found)
                    path.pop()
    elif node.kind is SEQUENCE:
        path.append(0)
        for position, value in enumerate(node.items):
            if value.items:
                path[-1] = position
                _collect_entries(value, names, path, found)
        path.pop()


def place_operands(view: View, binding: Binding) -> dict[str, Any]:
    """Return the operands `key`, `value` and `raw` for a place of a rule."""
    path = binding.path or ()
    text = view.document.source.text
    node = binding.node
    raw = text[node.value_start : node.end] if node is not None else ""
    return {
        "key": format_key_path(path),
        "name": str(path[-1]) if path else "",
        "raw": raw.strip()[:200],
        "section": str(path[-2]) if len(path) > 1 else "",
    }


def comment_beside(view: View, binding: Binding) -> str:
    """Return the comments beside and right above a value, in lower case."""
    if binding.key_node is None or binding.node is None:
        return ""
    text = view.document.source.text
    start = text.rfind("\n", 0, binding.key_node.start) + 1
    end = text.find("\n", binding.node.end)
    _, mark, after = text[binding.node.end : end if end >= 0 else len(text)].partition("#")
    found = [after] if mark else []
    while start and len(found) < MAX_COMMENT_LINES:
        above = text.rfind("\n", 0, start - 1) + 1
        line = text[above : start - 1].strip()
        if not line.startswith("#"):
            break
        found.append(line.lstrip("# "))
        start = above
    return " ".join(reversed(found)).lower()[:2_000]


def place_of(view: View, binding: Binding) -> Location:
    """Return the location of a binding's value.

    For an absent key that is the section where the key would stand.
    """
    source = view.document.source
    if binding.node is not None:
        node = binding.node
        if node.kind == Kind.SCALAR and node.end > node.value_start:
            return source.location(node.value_start, node.end)
        if binding.key_node is not None:
            return source.location(binding.key_node.start, binding.key_node.end)
        return source.location(node.start, max(node.start, min(node.end, node.start + 80)))
    path = binding.path or ()
    for length in range(len(path) - 1, 0, -1):
        for _, key, _node in view.places(path[:length]):
            if key is not None:
                return source.location(key.start, key.end, f"{path[-1]} is not set here")
    first = view.root.items[0][0] if view.root.kind == Kind.MAPPING and view.root.items else view.root
    return source.location(first.start, first.end)
