"""Where the comments of a document are."""

from __future__ import annotations

from cfgfix.config.document.compose import ALIAS, BREAKS, MAPPING, SCALAR, Document


def comments(document: Document) -> list[tuple[int, str]]:
    """Return every comment of a parsed document as (offset, text), in order."""
    text = document.source.text
    found: list[tuple[int, str]] = []
    position = 0
    for start, end in _scalar_spans(document):
        _scan_gap(text, position, start, found)
        position = max(position, end)
    _scan_gap(text, position, len(text), found)
    return found


def _scalar_spans(document: Document) -> list[tuple[int, int]]:
    """Return the spans of all scalars and aliases.

    A block scalar's span is that of its content without the header line.
    """
    spans: list[tuple[int, int]] = []
    waiting = list(document.roots)
    while waiting:
        node = waiting.pop()
        if node.kind is SCALAR and node.style in ("|", ">"):
            start = node.value_start
            while start < node.end and document.source.text[start] not in BREAKS:
                start += 1
            spans.append((start, node.end))
        elif node.kind is SCALAR or node.kind is ALIAS:
            spans.append((node.start, node.end))
        elif node.kind is MAPPING:
            waiting.extend(child for pair in node.items for child in pair)
        else:
            waiting.extend(node.items)
    spans.sort()
    return spans


def _scan_gap(text: str, start: int, end: int, found: list[tuple[int, str]]) -> None:
    offset = text.find("#", start, end)
    while offset >= 0:
        before = text[offset - 1] if offset else "\n"
        if before in " \t,[]{}" or before in BREAKS:
            stop = offset
            while stop < len(text) and text[stop] not in BREAKS:
                stop += 1
            found.append((offset, text[offset:stop].rstrip(" \t")))
            offset = stop
        else:
            offset += 1
        offset = text.find("#", offset, end)
