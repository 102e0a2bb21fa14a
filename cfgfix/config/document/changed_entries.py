"""The part of a file that a change concerns, for readers too slow for the whole."""

from __future__ import annotations

from collections.abc import Sequence

from cfgfix.config.document.compose import (
    MAPPING,
    SCALAR,
    Document,
    Node,
)
from cfgfix.core.edits import (
    Change,
    DeleteKey,
    ReplaceText,
)
from cfgfix.core.findings import KeyPath


def changed_entries(
    before: Document, after: Document, changes: Sequence[Change]
) -> tuple[Document, Document] | None:
    """Return the changed top-level entries, before and after, as two small documents.

    The independent readers are thirty times slower than libyaml, so they read only these where that is as good: in
    block mappings whose entries begin a line each, so that no reader can carry anything from one entry into the next;
    all other entries the same text. None where the layout or the changes leave any doubt.
    """
    paths: list[KeyPath] = []
    for change in changes:
        if isinstance(change, ReplaceText) or change.document != 0:
            return None
        # What loses an entry is read whole, as is what gets one.
        paths.append(change.path[:-1] if isinstance(change, DeleteKey) else change.path)
    if not all(paths):
        return None
    for document in (before, after):
        if len(document.roots) != 1 or document.versions != [None]:
            return None
        root = document.roots[0]
        if root.start != root.value_start:
            return None
    texts = _concerned_text(
        (before.source.text, before.roots[0], len(before.source.text)),
        (after.source.text, after.roots[0], len(after.source.text)),
        paths,
    )
    if texts is None or len(texts[0]) * 2 > len(before.source.text):
        return None
    return Document(before.source.with_text(texts[0])), Document(after.source.with_text(texts[1]))


def _concerned_text(
    old: tuple[str, Node, int], new: tuple[str, Node, int], paths: Sequence[KeyPath]
) -> tuple[str, str] | None:
    """Return the text, before and after, of the mapping entries that paths lead into.

    None where there is any doubt.

    Args:
        old: A text, the mapping in it, and where what belongs to the mapping ends.
        new: The same after the edit.
        paths: Paths from the mapping on, none of them empty.
    """
    entries, new_entries = _whole_lines(*old), _whole_lines(*new)
    if entries is None or new_entries is None or len(entries) != len(new_entries):
        return None
    below_of: dict[str | int, list[KeyPath]] = {}
    for path in paths:
        below_of.setdefault(path[0], []).append(path[1:])
    found = []
    for (name, value, start, stop), (_, new_value, new_start, new_stop) in zip(
        entries, new_entries, strict=True
    ):
        whole = old[0][start:stop], new[0][new_start:new_stop]
        below = below_of.get(name)
        if below is None:
            if whole[0] != whole[1]:
                return None
            continue
        inner = (
            _concerned_text((old[0], value, stop), (new[0], new_value, new_stop), below)
            if all(below)
            else None
        )
        if inner is not None:
            head = old[0][start : _line_of(old[0], value.items[0][0].start)]
            new_head = new[0][new_start : _line_of(new[0], new_value.items[0][0].start)]
            whole = (head + inner[0], new_head + inner[1]) if head == new_head else whole
        found.append(whole)
    if len(found) != len(below_of):
        return None
    return "".join(text for text, _ in found), "".join(text for _, text in found)


def _whole_lines(text: str, node: Node, end: int) -> list[tuple[str, Node, int, int]] | None:
    """Return name, value, start and end of every entry of a block mapping.

    None where an entry does not stand on lines of its own.
    """
    if node.kind is not MAPPING or node.flow:
        return None
    starts = []
    for key, _ in node.items:
        start = _line_of(text, key.start)
        if key.kind is not SCALAR or key.start == key.end or (start and text[start - 1] not in "\n\r"):
            return None
        starts.append(start)
    stops = [*starts[1:], end]
    return [
        (key.text, value, start, stop)
        for (key, value), start, stop in zip(node.items, starts, stops, strict=True)
    ]


def _line_of(text: str, offset: int) -> int:
    """Return the offset where the spaces before an offset begin."""
    while offset and text[offset - 1] == " ":
        offset -= 1
    return offset
