"""How two trees of one reader differ."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from cfgfix.config.document.merging import Flattener, Order, Written
from cfgfix.config.document.readers import MERGE, Slot, Tree
from cfgfix.core.findings import KeyPath, format_key_path


def first_difference(first: list[Slot], second: list[Slot]) -> str | None:
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


def without_merge_keys(slots: list[Slot], order: Order) -> list[Slot]:
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
