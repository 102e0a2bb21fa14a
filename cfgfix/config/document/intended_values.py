"""What changes mean for the values of a file, made on the tree that one reader gives of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cfgfix.config.document.readers import MERGE, Slot, Tree
from cfgfix.core.edits import (
    Change,
    DeleteKey,
    InsertKey,
    ProofError,
    RenameKey,
    SetValue,
)
from cfgfix.core.findings import KeyPath, format_key_path


class IntendedValues:
    """Makes changes on the tree of one reader.

    Every place is looked up before anything changes, so all paths are those of the tree as read.
    """

    def __init__(self, slots: list[Slot], changes: Sequence[Change], *, shared: bool) -> None:
        self._slots = slots
        self._shared = shared
        self._counts: dict[int, int] = {}
        self._count_references()
        self._actions: list[Callable[[], None]] = []
        self._added: set[int] = set()
        self._gone: dict[int, tuple[Tree, set[int]]] = {}
        """The slots to delete from each collection, by their ids in memory."""
        self._slots_by_text: dict[int, dict[str | None, list[Slot]]] = {}
        for change in changes:
            if isinstance(change, SetValue):
                self._set_value(change)
            elif isinstance(change, InsertKey):
                self._insert_entry(change)
            elif isinstance(change, DeleteKey):
                self._delete_entry(change)
            elif isinstance(change, RenameKey):
                self._rename_entry(change)

    def apply(self) -> list[Slot]:
        """Make the changes, and return the documents of the tree."""
        for action in self._actions:
            action()
        for tree, slots in self._gone.values():
            tree.slots = [slot for slot in tree.slots if id(slot) not in slots]
        return self._slots

    def _count_references(self) -> None:
        """Count the references to each collection.

        More than one means an alias.
        """
        waiting = list(self._slots)
        while waiting:
            tree = waiting.pop().value
            if isinstance(tree, Tree):
                seen = self._counts.get(id(tree), 0)
                self._counts[id(tree)] = seen + 1
                if not seen:
                    waiting.extend(tree.slots)

    def _root_slot(self, document: int, path: KeyPath) -> Slot:
        if document >= len(self._slots):
            raise ProofError("meaning", f"there is no document {document} for {format_key_path(path)}")
        return self._slots[document]

    def _entry_at_path(self, path: KeyPath, document: int) -> tuple[Tree | None, Slot]:
        """Return the entry at a key path, and the collection that holds it."""
        slot = self._root_slot(document, path)
        parent: Tree | None = None
        for step in path:
            parent = self._require_tree(slot, path)
            found = self._child_slot(parent, step)
            if found is None:
                raise ProofError("meaning", f"no entry {format_key_path(path)} is seen")
            parent, slot = found
        return parent, slot

    def _require_tree(self, slot: Slot, path: KeyPath) -> Tree:
        tree = slot.value
        if not isinstance(tree, Tree):
            raise ProofError("meaning", f"no collection is seen on the way to {format_key_path(path)}")
        if self._counts.get(id(tree), 0) > 1 and not self._shared:
            raise ProofError(
                "shared", f"{format_key_path(path)} belongs to a value that other places use too"
            )
        return tree

    def _child_slot(self, tree: Tree, step: str | int) -> tuple[Tree, Slot] | None:
        if not tree.mapping:
            if isinstance(step, int) and 0 <= step < len(tree.slots):
                return tree, tree.slots[step]
            return None
        same = self._slots_written_as(tree, step)
        if same:
            return tree, same[-1]
        if not self._shared:
            return None
        for slot in reversed(tree.slots):
            if slot.key is MERGE and isinstance(slot.value, Tree):
                merged = [slot.value] if slot.value.mapping else [item.value for item in slot.value.slots]
                for other in merged:
                    if isinstance(other, Tree) and other.mapping and other is not tree:
                        found = self._child_slot(other, step)
                        if found is not None:
                            return found
        return None

    def _slots_written_as(self, tree: Tree, text: str | int | None) -> list[Slot]:
        """Return the entries of a mapping whose key is written as `text`."""
        known = self._slots_by_text.get(id(tree))
        if known is None:
            known = self._slots_by_text[id(tree)] = {}
            for slot in tree.slots:
                known.setdefault(slot.text, []).append(slot)
        return known.get(text, []) if not isinstance(text, int) else []

    def _set_value(self, change: SetValue) -> None:
        _, slot = self._entry_at_path(change.path, change.document)
        targets = [slot]
        if self._shared:
            targets = [other for other in self._every_slot() if other.origin is slot.origin]

        def act() -> None:
            for target in targets:
                target.value = change.value

        self._actions.append(act)

    def _every_slot(self) -> Iterator[Slot]:
        seen: set[int] = set()
        waiting = list(self._slots)
        while waiting:
            slot = waiting.pop()
            yield slot
            if isinstance(slot.value, Tree) and id(slot.value) not in seen:
                seen.add(id(slot.value))
                waiting.extend(slot.value.slots)

    def _insert_entry(self, change: InsertKey) -> None:
        if not change.path and (not self._slots or (len(self._slots) == 1 and self._slots[0].value is None)):
            # A file without content; ruamel.yaml sees one empty document in it, PyYAML none.
            if not self._slots:
                self._slots.append(Slot(None, None, None, None))
            slot = self._slots[0]
        else:
            slot = self._entry_at_path(change.path, change.document)[1]
        entry = Slot(change.key, change.key, _as_tree(change.value), object())
        after: Slot | None = None
        if slot.value is not None:
            owner = self._require_tree(slot, change.path)
            if change.after is not None:
                found = self._child_slot(owner, change.after)
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
            while index < len(tree.slots) and id(tree.slots[index]) in self._added:
                index += 1
            tree.slots.insert(index, entry)

        self._added.add(id(entry))
        self._actions.append(act)

    def _delete_entry(self, change: DeleteKey) -> None:
        parent, slot = self._entry_at_path(change.path, change.document)
        assert parent is not None
        if change.occurrence is not None and parent.mapping:
            same = self._slots_written_as(parent, slot.text)
            if change.occurrence >= len(same):
                raise ProofError("meaning", f"{format_key_path(change.path)} is seen {len(same)} times")
            slot = same[change.occurrence]
        self._gone.setdefault(id(parent), (parent, set()))[1].add(id(slot))

    def _rename_entry(self, change: RenameKey) -> None:
        _, slot = self._entry_at_path(change.path, change.document)

        def act() -> None:
            slot.key = slot.text = change.new

        self._actions.append(act)


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
