"""A config as the values that guards in code read."""

from __future__ import annotations

from typing import Any

from cfgfix.code.scan import ConfigFacts
from cfgfix.config.document.compose import Document, Kind, Node, deref
from cfgfix.config.loaders.scalars import Loader, resolve

MAX_LEAVES = 20_000
"""Most values of one config that are kept."""


def facts_of(document: Document, loader: Loader) -> ConfigFacts:
    """Return the plain values of a config by key path, as the loader reads them.

    Items of lists are left out.
    """
    leaves: dict[tuple[str, ...], Any] = {}
    if document.problem is None:
        for root in document.roots:
            _collect_leaves(root, (), leaves, loader, 0)
    return ConfigFacts(document.source.path, leaves)


def _collect_leaves(
    node: Node, path: tuple[str, ...], leaves: dict[tuple[str, ...], Any], loader: Loader, depth: int
) -> None:
    if depth > 40 or len(leaves) >= MAX_LEAVES:
        return
    node = deref(node)
    if node.kind == Kind.MAPPING:
        for written, value in node.items:
            key = deref(written)
            if key.kind != Kind.SCALAR:
                continue
            if key.text == "<<" and not key.style:
                # What the mapping itself says wins over what is merged in.
                merged: dict[tuple[str, ...], Any] = {}
                target = deref(value)
                for part in target.items if target.kind == Kind.SEQUENCE else [target]:
                    _collect_leaves(part, path, merged, loader, depth + 1)
                for inner, found in merged.items():
                    leaves.setdefault(inner, found)
                continue
            _collect_leaves(value, (*path, key.text), leaves, loader, depth + 1)
    elif node.kind == Kind.SCALAR and path:
        if node.style:
            leaves[path] = node.text
            return
        resolved = resolve(node.text, loader)
        if isinstance(resolved.value, (str, int, float, bool, type(None))):
            leaves[path] = resolved.value
