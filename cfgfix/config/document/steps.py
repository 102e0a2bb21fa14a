"""Steps of a key path through a document, merge keys followed."""

from __future__ import annotations

from cfgfix.config.document.nodes import MAPPING, SCALAR, SEQUENCE, Node, is_merge, key_text
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import SourceFile


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a key path as found in a document.

    Attributes:
        parent: The mapping or sequence in which the step was found.
        key: The key node; None for a position in a sequence.
        value: The value as written (an alias stays an alias).
        shared: `""` for an entry written in `parent` itself, `merge` when it came through a `<<` key.
    """

    parent: Node
    key: Node | None
    value: Node
    shared: str = ""


def enter(parent: Node, name: str | int, source: SourceFile) -> Step | None:
    """Return the step from a node to a key or item below it, merge keys followed.

    None where there is no such entry.
    """
    if parent.kind is SEQUENCE:
        if isinstance(name, int) and 0 <= name < len(parent.items):
            return Step(parent, None, parent.items[name])
        return None
    if parent.kind is not MAPPING or not isinstance(name, str):
        return None
    merges = False
    for key, value in reversed(parent.items):
        if _is_called(key, name, source):
            return Step(parent, key, value)
        merges = merges or is_merge(key)
    if merges:
        from cfgfix.config.document.merging import Flattener, installed_order, written_in

        for each in reversed(Flattener(installed_order(), written_in).flatten(parent)):
            if _is_called(each.entry.key, name, source):
                return Step(each.entry.parent, each.entry.key, each.entry.value, "merge")
    return None


def _is_called(key: Node, name: str, source: SourceFile) -> bool:
    if key.kind is SCALAR:
        return key.text == name
    return key_text(key, source) == name
