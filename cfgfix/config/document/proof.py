"""The proof of an edit: what it was meant to do, and nothing else, seen by readers that do not trust one another.

The changes are made on the tree each reader gives of the text *before*; the result must equal its tree of the text
*after*. What loaded before must load after, and the comments must be there still.
"""

from __future__ import annotations

import contextlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest

from cfgfix.config.document.comments import comments
from cfgfix.config.document.compose import (
    ALIAS,
    MAPPING,
    SCALAR,
    DataError,
    Document,
    Node,
    compose,
    deref,
)
from cfgfix.config.document.merging import Flattener, Order, Written, order_of
from cfgfix.config.document.nodes import children
from cfgfix.config.document.readers import MERGE, Reader, ReadError, Slot, Tree, readers
from cfgfix.config.loaders.scalars import LOADERS, Loader
from cfgfix.core.edits import (
    Change,
    DeleteKey,
    Edit,
    InsertKey,
    ProofError,
    RenameKey,
    ReplaceText,
    SetValue,
    splice,
)
from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import KeyPath, format_key_path

__all__ = ["ProofError", "prove"]


class _Intent:
    """Makes changes on the tree of one reader.

    Every place is looked up before anything changes, so all paths are those of the tree as read.
    """

    def __init__(self, slots: list[Slot], changes: Sequence[Change], *, shared: bool) -> None:
        self.slots = slots
        self.shared = shared
        self.counts: dict[int, int] = {}
        self.count_references()
        self.actions: list[Callable[[], None]] = []
        self.added: set[int] = set()
        self.gone: dict[int, tuple[Tree, set[int]]] = {}
        """The slots to delete from each collection, by their ids in memory."""
        self.slots_by_text: dict[int, dict[str | None, list[Slot]]] = {}
        for change in changes:
            if isinstance(change, SetValue):
                self.set_value(change)
            elif isinstance(change, InsertKey):
                self.insert(change)
            elif isinstance(change, DeleteKey):
                self.delete(change)
            elif isinstance(change, RenameKey):
                self.rename(change)

    def apply(self) -> list[Slot]:
        for action in self.actions:
            action()
        for tree, slots in self.gone.values():
            tree.slots = [slot for slot in tree.slots if id(slot) not in slots]
        return self.slots

    def count_references(self) -> None:
        """Count the references to each collection.

        More than one means an alias.
        """
        waiting = list(self.slots)
        while waiting:
            tree = waiting.pop().value
            if isinstance(tree, Tree):
                seen = self.counts.get(id(tree), 0)
                self.counts[id(tree)] = seen + 1
                if not seen:
                    waiting.extend(tree.slots)

    def root(self, document: int, path: KeyPath) -> Slot:
        if document >= len(self.slots):
            raise ProofError("meaning", f"there is no document {document} for {format_key_path(path)}")
        return self.slots[document]

    def enter(self, path: KeyPath, document: int) -> tuple[Tree | None, Slot]:
        """Return the entry at a key path, and the collection that holds it."""
        slot = self.root(document, path)
        parent: Tree | None = None
        for step in path:
            parent = self.require_tree(slot, path)
            found = self.child(parent, step)
            if found is None:
                raise ProofError("meaning", f"no entry {format_key_path(path)} is seen")
            parent, slot = found
        return parent, slot

    def require_tree(self, slot: Slot, path: KeyPath) -> Tree:
        tree = slot.value
        if not isinstance(tree, Tree):
            raise ProofError("meaning", f"no collection is seen on the way to {format_key_path(path)}")
        if self.counts.get(id(tree), 0) > 1 and not self.shared:
            raise ProofError(
                "shared", f"{format_key_path(path)} belongs to a value that other places use too"
            )
        return tree

    def child(self, tree: Tree, step: str | int) -> tuple[Tree, Slot] | None:
        if not tree.mapping:
            if isinstance(step, int) and 0 <= step < len(tree.slots):
                return tree, tree.slots[step]
            return None
        same = self.same(tree, step)
        if same:
            return tree, same[-1]
        if not self.shared:
            return None
        for slot in reversed(tree.slots):
            if slot.key is MERGE and isinstance(slot.value, Tree):
                merged = [slot.value] if slot.value.mapping else [item.value for item in slot.value.slots]
                for other in merged:
                    if isinstance(other, Tree) and other.mapping and other is not tree:
                        found = self.child(other, step)
                        if found is not None:
                            return found
        return None

    def same(self, tree: Tree, text: str | int | None) -> list[Slot]:
        """Return the entries of a mapping whose key is written as `text`."""
        known = self.slots_by_text.get(id(tree))
        if known is None:
            known = self.slots_by_text[id(tree)] = {}
            for slot in tree.slots:
                known.setdefault(slot.text, []).append(slot)
        return known.get(text, []) if not isinstance(text, int) else []

    def set_value(self, change: SetValue) -> None:
        _, slot = self.enter(change.path, change.document)
        targets = [slot]
        if self.shared:
            targets = [other for other in self.every_slot() if other.origin is slot.origin]

        def act() -> None:
            for target in targets:
                target.value = change.value

        self.actions.append(act)

    def every_slot(self) -> Iterator[Slot]:
        seen: set[int] = set()
        waiting = list(self.slots)
        while waiting:
            slot = waiting.pop()
            yield slot
            if isinstance(slot.value, Tree) and id(slot.value) not in seen:
                seen.add(id(slot.value))
                waiting.extend(slot.value.slots)

    def insert(self, change: InsertKey) -> None:
        if not change.path and (not self.slots or (len(self.slots) == 1 and self.slots[0].value is None)):
            # A file without content; ruamel.yaml sees one empty document in it, PyYAML none.
            if not self.slots:
                self.slots.append(Slot(None, None, None, None))
            slot = self.slots[0]
        else:
            slot = self.enter(change.path, change.document)[1]
        entry = Slot(change.key, change.key, _as_tree(change.value), object())
        after: Slot | None = None
        if slot.value is not None:
            owner = self.require_tree(slot, change.path)
            if change.after is not None:
                found = self.child(owner, change.after)
                if found is None:
                    raise ProofError("meaning", f"no key {change.after} is seen")
                after = found[1]

        def act() -> None:
            if slot.value is None:
                slot.value = Tree(mapping=True)
            tree = slot.value
            assert isinstance(tree, Tree)
            if change.after is None:
                tree.slots.append(entry)
                return
            index = next(place for place, other in enumerate(tree.slots) if other is after) + 1
            # Several keys after the same one keep their order.
            while index < len(tree.slots) and id(tree.slots[index]) in self.added:
                index += 1
            tree.slots.insert(index, entry)

        self.added.add(id(entry))
        self.actions.append(act)

    def delete(self, change: DeleteKey) -> None:
        parent, slot = self.enter(change.path, change.document)
        assert parent is not None
        if change.occurrence is not None and parent.mapping:
            same = self.same(parent, slot.text)
            if change.occurrence >= len(same):
                raise ProofError("meaning", f"{format_key_path(change.path)} is seen {len(same)} times")
            slot = same[change.occurrence]
        self.gone.setdefault(id(parent), (parent, set()))[1].add(id(slot))

    def rename(self, change: RenameKey) -> None:
        _, slot = self.enter(change.path, change.document)

        def act() -> None:
            slot.key = slot.text = change.new

        self.actions.append(act)


def _as_tree(value: object) -> object:
    if isinstance(value, dict):
        tree = Tree(mapping=True)
        tree.slots = [Slot(key, None, _as_tree(item), object()) for key, item in value.items()]
        return tree
    if isinstance(value, list):
        tree = Tree(mapping=False)
        tree.slots = [Slot(None, None, _as_tree(item), object()) for item in value]
        return tree
    return value


def _difference(first: list[Slot], second: list[Slot]) -> str | None:
    """Return the first difference of two trees in words, or None where they are equal.

    Shared and circular parts are compared once.
    """
    if len(first) != len(second):
        return f"{len(second)} documents instead of {len(first)}"
    waiting: list[tuple[KeyPath, object, object]] = [
        ((), before.value, after.value) for before, after in zip(first, second, strict=True)
    ]
    seen: set[tuple[int, int]] = set()
    while waiting:
        path, before, after = waiting.pop()
        if isinstance(before, Tree) and isinstance(after, Tree):
            if (id(before), id(after)) in seen:
                continue
            seen.add((id(before), id(after)))
            if before.mapping != after.mapping or before.tag != after.tag:
                return f"{_place_text(path)} is another kind of collection"
            for index, (one, other) in enumerate(zip_longest(before.slots, after.slots)):
                if one is None or other is None:
                    return (
                        f"{_place_text(path)} has {len(after.slots)} entries instead of {len(before.slots)}"
                    )
                if before.mapping:
                    waiting.append(((*path, "?"), one.key, other.key))
                    if not isinstance(one.key, Tree) and not _same_scalar(one.key, other.key):
                        return f"{_place_text(path)} has the key {other.key!r} where {one.key!r} is meant"
                step: str | int = (
                    str(one.text if one.text is not None else one.key) if before.mapping else index
                )
                waiting.append(((*path, step), one.value, other.value))
        elif isinstance(before, Tree) or isinstance(after, Tree) or not _same_scalar(before, after):
            return f"{_place_text(path)} is {_value_text(after)} where {_value_text(before)} is meant"
    return None


def _place_text(path: KeyPath) -> str:
    return format_key_path(path) or "the document"


def _same_scalar(first: object, second: object) -> bool:
    # The repr tells -0.0 from 0.0 and finds nan equal to nan; ruamel.yaml's dates have a type of their own.
    return type(first) is type(second) and repr(first) == repr(second)


def _value_text(value: object) -> str:
    if isinstance(value, Tree):
        return "a mapping" if value.mapping else "a list"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _flatten(slots: list[Slot], order: Order) -> list[Slot]:
    """Return trees with merge keys followed and only the entries in force.

    Used where a change replaces bare text, which may say the same in other words. Releases of PyYAML differ in the order
    of the entries that merge keys bring, so that order is left out.
    """
    done: dict[int, Tree] = {}

    def written(tree: Tree) -> Iterator[Written]:
        for slot in tree.slots:
            merged: tuple[Tree, ...] | None = None
            if slot.key is MERGE:
                merged = ()
                if isinstance(slot.value, Tree):
                    parts = [slot.value] if slot.value.mapping else [item.value for item in slot.value.slots]
                    merged = tuple(part for part in parts if isinstance(part, Tree) and part.mapping)
            yield Written(slot if slot.text is None else slot.text, slot, merged)

    flattener = Flattener(order, written)

    def value(item: object) -> object:
        if not isinstance(item, Tree):
            return item
        known = done.get(id(item))
        if known is None:
            known = done[id(item)] = Tree(mapping=item.mapping, tag=item.tag)
            found = entries(item) if item.mapping else item.slots
            known.slots = [Slot(slot.key, slot.text, value(slot.value), None) for slot in found]
        return known

    def entries(tree: Tree) -> list[Slot]:
        own = {id(slot) for slot in tree.slots}
        result: dict[str, Slot] = {}
        brought: set[str] = set()
        for each in flattener.flatten(tree):
            slot = each.entry
            name = f"{type(slot.key).__name__}:{id(slot.key) if isinstance(slot.key, Tree) else slot.key!r}"
            place = result.get(name)
            if id(slot) not in own:
                brought.add(name)
            result[name] = slot if place is None else Slot(place.key, place.text, slot.value, None)
        return [
            result[name] for name in (*sorted(brought), *(name for name in result if name not in brought))
        ]

    return [Slot(None, None, value(slot.value), None) for slot in slots]


# --- Anchors and comments ------------------------------------------------------------------------------------------------------


def _check_anchors(before: Document, after: Document, changes: Sequence[Change]) -> None:
    """Check that anchors keep their names.

    Those in deleted entries may go, and those in bare text that is replaced may change.

    Raises:
        ProofError: A name would change.
    """
    if before.problem is not None or any(isinstance(change, ReplaceText) for change in changes):
        return
    if "&" not in before.source.text and "&" not in after.source.text:
        return
    now = _anchors(after)
    if any(isinstance(change, DeleteKey) for change in changes):
        left = iter(_anchors(before))
        kept = all(name in left for name in now)
    else:
        kept = now == _anchors(before)
    if not kept:
        raise ProofError("anchors", "the names of anchors would change")


def _anchors(document: Document) -> list[str]:
    """Return the names of all anchors, in the order of the text."""
    found: list[str] = []
    waiting: list[Node] = list(reversed(document.roots))
    while waiting:
        node = waiting.pop()
        if node.anchor is not None and node.kind is not ALIAS:
            found.append(node.anchor)
        if node.items:
            waiting.extend(reversed(list(children(node))))
    return found


def _check_comments(
    before: Document, after: Document, changes: Sequence[Change], edits: Sequence[Edit]
) -> None:
    """Check that comments stay, each with its text and in order.

    Those in text that a deletion or a replacement names may go.

    Raises:
        ProofError: A comment would be lost or changed.
    """
    if before.problem is not None:
        return
    named = _Union(_named_spans(before, changes))
    edited = _Union((edit.start, edit.end) for edit in edits)
    kept = [
        comment for offset, comment in comments(before) if not (named.holds(offset) and edited.holds(offset))
    ]
    now = comments(after)
    if any(isinstance(change, ReplaceText) for change in changes):
        written = _Union(_written_spans(changes, edits))
        seen = [comment for offset, comment in now if not written.holds(offset)]
    else:
        seen = [comment for _, comment in now]
    if kept != seen:
        remaining = set(seen)
        lost = [comment for comment in kept if comment not in remaining]
        detail = f"the comment {lost[0]!r} would be lost" if lost else "the comments would change"
        raise ProofError("comments", detail)


class _Union:
    """The union of some spans of offsets."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(end, self._ends[-1])
            else:
                self._starts.append(start)
                self._ends.append(end)

    def holds(self, offset: int) -> bool:
        """Tell whether an offset lies within one of the spans, ends excluded."""
        index = bisect_right(self._starts, offset) - 1
        return index >= 0 and offset < self._ends[index]


def _named_spans(before: Document, changes: Sequence[Change]) -> Iterator[tuple[int, int]]:
    size = len(before.source.text)
    told: set[tuple[int, str]] = set()
    for change in changes:
        if isinstance(change, ReplaceText):
            yield change.start, change.end
        elif isinstance(change, DeleteKey):
            steps = before.trace(change.path, change.document)
            if not steps:
                continue
            parent = steps[-1].parent
            entries = [steps[-1].value] if steps[-1].key is None else []
            spans = [(entry.start, entry.end) for entry in entries]
            if steps[-1].key is not None:
                name = deref(steps[-1].key).text
                if (id(parent), name) in told:
                    continue
                told.add((id(parent), name))
                spans = [
                    (key.start, max(key.end, value.end))
                    for key, value in (parent.items[index] for index in before.places(parent, name))
                    if deref(key).kind is SCALAR
                ]
            for start, end in spans:
                index = bisect_left(before.breaks, end)
                yield start, before.breaks[index] if index < len(before.breaks) else size


def _written_spans(changes: Sequence[Change], edits: Sequence[Edit]) -> Iterator[tuple[int, int]]:
    """Yield the spans, in the text after the edits, of replacements of bare text."""
    replaced = {
        (change.start, change.end, change.new) for change in changes if isinstance(change, ReplaceText)
    }
    shift = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        start = edit.start + shift
        if (edit.start, edit.end, edit.new) in replaced:
            yield start, start + len(edit.new)
        shift += len(edit.new) - (edit.end - edit.start)


def prove(
    before: Document,
    after_text: str,
    changes: Sequence[Change],
    edits: Sequence[Edit],
    loader: Loader,
    *,
    shared: bool = False,
    whole: bool = False,
) -> Document:
    """Return the parsed document after edits, proven to do what the changes mean.

    Nothing else may have changed.

    Args:
        before: The document the edit was planned on.
        after_text: The text that would be written.
        changes: What the edit means; all paths are those of `before`.
        edits: The edits that made `after_text` of the text of `before`.
        loader: The project's loader.
        shared: Whether values that other places share may change, there too.
        whole: Have the independent readers read the whole file, also where the entries concerned are enough.

    Raises:
        ProofError: The text is not that of the edits; it does not parse; a reader sees something else than the
            changes mean, loads no longer what it loaded before, or a comment is lost.
    """
    try:
        expected = splice(before.source.text, edits)
        after = compose(before.source.with_text(after_text))
    except (ValueError, CfgfixError) as error:
        raise ProofError("text", str(error)) from None
    if expected != after_text:
        raise ProofError("text", "the text differs outside the edits")
    if after.problem is not None:
        raise ProofError(
            "parse", f"the result would not parse: {after.problem.message} (line {after.problem.line})"
        )
    _check_meaning(before, after, changes, loader, shared=shared, whole=whole)
    _check_loads(before, after, loader)
    _check_anchors(before, after, changes)
    _check_comments(before, after, changes, edits)
    return after


def _check_meaning(
    before: Document, after: Document, changes: Sequence[Change], loader: Loader, *, shared: bool, whole: bool
) -> None:
    own, *independent = readers(loader)
    # It may itself be unable to read a scalar, before and after; the others then decide.
    with contextlib.suppress(ReadError):
        _compare(own, before, after, changes, shared=shared)
    window = None if whole else _window(before, after, changes)
    blind: list[str] = []
    for reader in independent:
        if window is not None:
            try:
                _compare(reader, *window, changes, shared=shared)
            except ReadError:
                # A part may lean on the rest, by an alias for one.
                window = None
            else:
                continue
        try:
            _compare(reader, before, after, changes, shared=shared)
        except ReadError:
            blind.append(reader.title)
    if blind and len(blind) == len(independent) and before.problem is None:
        titles = " nor ".join(blind)
        raise ProofError("parse", f"neither {titles} can read the file, so a change to it cannot be proven")


def _compare(
    reader: Reader, before: Document, after: Document, changes: Sequence[Change], *, shared: bool
) -> None:
    """Compare one reader's tree after the edits with its tree before, changes made.

    Raises:
        ReadError: The reader could read the text neither before nor after, for the same reason.
        ProofError: It sees something else than was meant.
    """
    refused: ReadError | None = None
    intended: list[Slot] = []
    try:
        intended = reader.read(before)
    except ReadError as error:
        refused = error
    try:
        result = reader.read(after)
    except ReadError as error:
        if refused is not None and str(refused) == str(error):
            raise
        raise ProofError("parse", f"{reader.title} could not read the result: {error}") from None
    if refused is not None:
        # The fault that was repaired: now it reads the file, and there is nothing to compare with.
        return
    intended = _Intent(intended, changes, shared=shared).apply()
    if any(isinstance(change, ReplaceText) for change in changes):
        order = order_of(reader.loader)
        intended, result = _flatten(intended, order), _flatten(result, order)
    difference = _difference(intended, _without_unintended_empty_slots(result, intended))
    if difference is not None:
        raise ProofError("meaning", f"{reader.title} would see another change: {difference}")


def _window(before: Document, after: Document, changes: Sequence[Change]) -> tuple[Document, Document] | None:
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


def _without_unintended_empty_slots(result: list[Slot], intended: list[Slot]) -> list[Slot]:
    """Return the result of a reader without an empty document that was not intended.

    In a file of comments ruamel.yaml sees one empty document, PyYAML none.
    """
    if not intended and len(result) == 1 and result[0].value is None:
        return []
    return result


def _check_loads(before: Document, after: Document, loader: Loader) -> None:
    """Check that loaders which could load the file before can load the result.

    Duplicate keys and all else that a tree allows count, too.

    Raises:
        ProofError: A loader would refuse the result.
    """
    for reader in {loader.name: loader, "pyyaml": LOADERS["pyyaml"], "ruamel": LOADERS["ruamel"]}.values():
        refusal = _refusal(after, reader)
        # A loader names one fault at a time: behind a repaired duplicate key may stand the next one.
        if refusal is not None and before.problem is None and _refusal(before, reader) is None:
            raise ProofError("loads", f"{reader.title} would no longer load the file: {refusal}")


def _refusal(document: Document, loader: Loader) -> str | None:
    """Return the reason why a loader refuses a file, or None where it loads."""
    for number in range(len(document.roots)):
        try:
            document.data(loader, number)
        except DataError as error:
            return error.message
    return None
