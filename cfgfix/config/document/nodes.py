"""The nodes of a YAML document, and the ways through them."""

from __future__ import annotations

import enum
from collections.abc import Iterator

from cfgfix.core.source_file import SourceFile

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing `typing` costs as much as parsing thirty files of usual size
    from typing import Any

TAG_PREFIX = "tag:yaml.org,2002:"
"""What `!!` stands for (YAML 1.2.2, section 6.8.2)."""

BREAKS = "\n\r\x85\u2028\u2029"
"""What YAML 1.1 calls a line break (section 4.2); the last three are ordinary characters to editors."""


class Kind(enum.IntEnum):
    """The kind of a node."""

    SCALAR = 0
    MAPPING = 1
    SEQUENCE = 2
    ALIAS = 3


SCALAR, MAPPING, SEQUENCE, ALIAS = Kind.SCALAR, Kind.MAPPING, Kind.SEQUENCE, Kind.ALIAS


class Node:
    """One node of a document.

    A plain class with slots, since a large file has hundreds of thousands.

    Attributes:
        kind: Scalar, mapping, sequence or alias.
        tag: The tag as written, its handle expanded (`!!float` is `tag:yaml.org,2002:float`); None where none is.
        anchor: The name after `&`; for an alias the name after `*`; else None.
        start: Offset at which the node begins, anchor and tag included.
        end: Offset after its last character. Trailing comments and blank lines do not belong to it.
        value_start: Offset at which the content begins, after anchor and tag.
        style: For scalars `""` (plain), `"'"`, `'"'`, `"|"` or `">"`; empty for other kinds.
        flow: For collections, whether it is written with braces or brackets.
        text: For scalars, the parsed text; empty for other kinds.
        items: For mappings a list of (key node, value node) as written, duplicates and `<<` included; for
            sequences a list of nodes; empty for other kinds.
        target: For an alias, the node it stands for; else None.
    """

    __slots__ = (
        "anchor",
        "end",
        "flow",
        "items",
        "kind",
        "start",
        "style",
        "tag",
        "target",
        "text",
        "value_start",
    )

    items: Any

    def __init__(self, kind: Kind, start: int, end: int) -> None:
        self.kind = kind
        self.tag: str | None = None
        self.anchor: str | None = None
        self.start = start
        self.end = end
        self.value_start = start
        self.style = ""
        self.flow = False
        self.text = ""
        self.items = ()
        self.target: Node | None = None

    def __repr__(self) -> str:
        content = (
            self.text if self.kind is SCALAR else (self.anchor if self.kind is ALIAS else len(self.items))
        )
        return f"<{self.kind.name.lower()} {self.start}..{self.end} {content!r}>"


def deref(node: Node) -> Node:
    """Return the node that an alias stands for; return any other node unchanged."""
    return node.target if node.target is not None else node


def entries(node: Node, source: SourceFile) -> Iterator[tuple[str | int, Node | None, Node]]:
    """Yield step, key node and value node of each entry of a collection, in order."""
    if node.kind is MAPPING:
        for key, value in node.items:
            yield key_text(key, source), key, value
    elif node.kind is SEQUENCE:
        for index, value in enumerate(node.items):
            yield index, None, value


def key_text(key: Node, source: SourceFile) -> str:
    """Return a key as key paths show it: the scalar's text, else the source text."""
    key = deref(key)
    return key.text if key.kind is SCALAR else source.text[key.start : key.end]


def is_merge(key: Node) -> bool:
    """Tell whether a key node is a merge key: a plain `<<`, or one tagged so."""
    if key.kind is not SCALAR or key.text != "<<":
        return False
    return key.tag == TAG_PREFIX + "merge" or (not key.style and key.tag in (None, "!"))


def has_braces(text: str, node: Node, inner: list[Node]) -> bool:
    """Tell whether a flow mapping is written with braces, unlike the one in `[a: 1]`.

    `inner` are its keys and values in order; the first is enough.
    """
    # A key may itself begin with a brace, as in `[{a: 1}: 2]`.
    return text.startswith("{", node.value_start) and not (inner and inner[0].start == node.value_start)


def children(node: Node) -> Iterator[Node]:
    """Yield the keys and values of a mapping, or the items of a sequence."""
    if node.kind is MAPPING:
        for key, value in node.items:
            yield key
            yield value
    else:
        yield from node.items
