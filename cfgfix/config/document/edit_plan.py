"""What every change to a document needs: its entries, where they begin and end, and what keeps it from being made."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from cfgfix.config.document.compose import (
    ALIAS,
    BREAKS,
    MAPPING,
    SCALAR,
    SEQUENCE,
    TAG_PREFIX,
    Document,
    Node,
    Step,
    deref,
    has_braces,
)
from cfgfix.config.document.layout import Layout
from cfgfix.config.document.refusals import Refusal, RefusalReason
from cfgfix.core.edits import DeleteKey, Edit, InsertKey
from cfgfix.core.findings import KeyPath, format_key_path
from cfgfix.core.records import dataclass, field

_MAX_PLAIN_KEY = 128


@dataclass(slots=True)
class Group:
    """Changes to entries of one collection, to be made together."""

    node: Node
    steps: list[Step]
    deleted: set[int] = field(default_factory=set)
    inserted: list[InsertKey] = field(default_factory=list)


class EditPlan:
    """The edits of some changes as they are worked out.

    The methods answer what all kinds of change ask about the document.
    """

    def __init__(self, document: Document, shared: bool) -> None:
        self.document = document
        self.shared = shared
        self.at = Layout(document)
        self.text = document.source.text
        self.edits: list[Edit] = []
        self.groups: dict[int, Group] = {}
        # What other changes must keep off: values that get a new content, entries that go, names that are taken.
        self.filled: set[int] = set()
        self.removed: set[tuple[int, int]] = set()
        self.touched: list[list[tuple[int, int]]] = []
        self.names: set[tuple[int, str]] = set()
        self.uses = document.uses
        self.by_name: dict[tuple[int, str], list[int]] = {}

    def steps(self, path: KeyPath, document: int) -> list[Step]:
        """Return the steps to the entry at a key path.

        An entry that other places share is refused.
        """
        steps = self.document.trace(path, document)
        shown = format_key_path(path) or "the document"
        if steps is None:
            raise Refusal(RefusalReason.NOT_FOUND, f"there is no entry {shown}")
        for number, step in enumerate(steps):
            through_alias = number > 0 and steps[number - 1].value.kind is ALIAS
            if (step.shared or through_alias) and not self.shared:
                origin = steps[number - 1].value.anchor if through_alias else step.parent.anchor
                count = self.uses.get(id(step.parent), 0)
                source = f"&{origin}, used in {_count_in_words(count)}" if origin else "another mapping"
                raise Refusal(
                    RefusalReason.INHERITED, f"{shown} is shared: it comes from {source}; change it there"
                )
            if step.key is not None and deref(step.key).kind is not SCALAR:
                raise Refusal(
                    RefusalReason.COMPLEX_KEY, f"{shown}: a key that is a collection cannot be addressed"
                )
            self.require_unshared(step.parent, shown)
        return steps

    def require_unshared(self, node: Node, shown: str) -> None:
        """Refuse to change a node that aliases bring to other places."""
        count = self.uses.get(id(node), 0)
        if count and not self.shared:
            raise Refusal(
                RefusalReason.SHARED,
                f"{shown} is shared: it belongs to &{node.anchor}, and {_count_in_words(count)} more would change",
            )

    def touch(self, steps: list[Step]) -> None:
        """Note the entries on the way to a change."""
        self.touched.append([(id(step.parent), id(step.value)) for step in steps])

    def claim_value(self, node: Node, shown: str) -> None:
        """Note that a value is changed; refuse a second change."""
        if id(node) in self.filled:
            raise Refusal(RefusalReason.CONFLICT, f"{shown} would be changed twice")
        self.filled.add(id(node))

    def claim_name(self, parent: Node, name: str) -> None:
        """Note that a key name is written to a mapping; refuse a second key of that name."""
        if (id(parent), name) in self.names:
            raise Refusal(RefusalReason.CONFLICT, f"two changes would write the key {name}")
        self.names.add((id(parent), name))

    def ordered(self) -> list[Edit]:
        """Return all edits in the order of the text; refuse edits that overlap."""
        edits = sorted(self.edits, key=lambda edit: (edit.start, edit.end))
        for before, after in pairwise(edits):
            if after.start < before.end:
                raise Refusal(RefusalReason.CONFLICT, "two of the changes touch the same text")
        return [edit for edit in edits if edit.new != self.text[edit.start : edit.end]]

    def require_values(self, parent: Node, value: object, shown: str) -> None:
        """Refuse to give a value to a key of a `!!set`."""
        if parent.tag == TAG_PREFIX + "set" and value is not None:
            raise Refusal(RefusalReason.TAG, f"{shown} belongs to a !!set, which holds keys without values")

    def require_simple_key(self, text: str) -> None:
        """Refuse to write a key so long that readers may disagree about it."""
        # YAML allows 1024 characters up to the colon; no setting is named so, and other readers count in bytes.
        if len(text) > _MAX_PLAIN_KEY:
            raise Refusal(RefusalReason.UNSPELLABLE, f"a key of more than {_MAX_PLAIN_KEY} characters")

    def spans_lines(self, node: Node) -> bool:
        """Tell whether a node stands on more than one line."""
        return any(char in self.text[node.start : node.end] for char in BREAKS)

    def entry_index(self, parent: Node, change: DeleteKey, step: Step, shown: str) -> int:
        """Return the index of the entry that a deletion names."""
        if step.key is None:
            index = change.path[-1]
            assert isinstance(index, int)
            return index
        same = self.written(parent, deref(step.key).text)
        if change.occurrence is None:
            if len(same) > 1:
                raise Refusal(RefusalReason.AMBIGUOUS, f"{shown} is written {len(same)} times")
            return same[0]
        if not 0 <= change.occurrence < len(same):
            raise Refusal(RefusalReason.NOT_FOUND, f"{shown} is written {len(same)} times only")
        return same[change.occurrence]

    def written(self, mapping: Node, name: str) -> Sequence[int]:
        """Return the indices of a mapping's entries whose keys read `name`."""
        known = self.by_name.get((id(mapping), name))
        if known is None:
            places = self.document.places(mapping, name)
            known = [index for index in places if deref(mapping.items[index][0]).kind is SCALAR]
            self.by_name[id(mapping), name] = known
        return known

    def require_brackets(self, node: Node) -> None:
        """Refuse to change a single pair in brackets (`[a: 1]`), which has no braces."""
        if node.kind is MAPPING and not has_braces(self.text, node, [key for key, _ in node.items[:1]]):
            raise Refusal(RefusalReason.LAYOUT, "a single pair within brackets has no braces of its own")

    def entry_start(self, node: Node, index: int) -> int:
        """Return where an entry of a block collection begins, `-` or `?` included."""
        if node.kind is SEQUENCE:
            offset = node.value_start if index == 0 else self.at.skip_blank(self.entry_end(node, index - 1))
            if self.text[offset : offset + 1] != "-":
                raise Refusal(RefusalReason.LAYOUT, "the entry's dash was not found")
            return offset
        key: Node = node.items[index][0]
        line = self.at.prefix(key.start).rstrip(" ")
        if line.endswith("?") and len(line) - 1 == len(self.at.prefix(key.start)[: len(line) - 1]):
            return self.at.line_start(key.start) + len(line) - 1
        if key.start == key.end:
            raise Refusal(RefusalReason.COMPLEX_KEY, "the entry has an empty key")
        if index and self.at.skip_blank(self.entry_end(node, index - 1)) != key.start:
            raise Refusal(RefusalReason.COMPLEX_KEY, "the entry is not written as a simple key")
        if not index and node.value_start != key.start:
            raise Refusal(RefusalReason.COMPLEX_KEY, "the entry is not written as a simple key")
        return key.start

    def entry_end(self, node: Node, index: int) -> int:
        """Return where an entry of a block collection ends."""
        item = node.items[index]
        value: Node = item[1] if node.kind is MAPPING else item
        # An empty value stands behind its colon or dash.
        return max(value.end, item[0].end) if node.kind is MAPPING else value.end

    def is_after_block_scalar(self, offset: int) -> bool:
        """Tell whether a block scalar ends at an offset, blanks between them aside.

        Such a scalar owns its last line break.
        """
        for _, key, value, _, _ in self.document.walk():
            for node in (key or value, value):
                is_block = node.style in ("|", ">") and node.end <= offset
                if is_block and not self.text[node.end : offset].strip():
                    return True
        return False

    def position(self, step: Step) -> int:
        """Return the index of the list item that a step leads to."""
        return next(index for index, item in enumerate(step.parent.items) if item is step.value)

    def flow_start(self, node: Node, index: int) -> int:
        """Return the start of an entry in braces or brackets."""
        item = node.items[index]
        start: int = item[0].start if node.kind is MAPPING else item.start
        anchor = self.flow_end(node, index - 1) if index else node.value_start
        offset = self.at.skip_blank(anchor if index else anchor + 1)
        if index:
            if self.text[offset : offset + 1] != ",":
                raise Refusal(RefusalReason.LAYOUT, "the comma before the entry was not found")
            offset = self.at.skip_blank(offset + 1)
        if offset != start:
            raise Refusal(RefusalReason.COMPLEX_KEY, "the entry is not written as a simple key")
        return start

    def flow_end(self, node: Node, index: int) -> int:
        """Return the end of an entry in braces or brackets."""
        item = node.items[index]
        return max(item[0].end, item[1].end) if node.kind is MAPPING else int(item.end)


def _count_in_words(count: int) -> str:
    return "1 place" if count == 1 else f"{count} places"
