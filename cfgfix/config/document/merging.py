"""What a mapping holds once its merge keys are followed, in the order in which a loader reads it.

PyYAML orders merged entries by its release, and of equal keys the last one counts:

- 6.0.1 to 6.0.3 take the mappings of a list in reverse, so that the first one wins; of several `<<` the last one wins.
- 6.0.4 takes them as they stand, and leaves out an entry whose key is the same Python object as an earlier one: an entry
  that comes by two ways, an alias as a key, and every key of at most one Latin-1 character, of which CPython keeps one
  object each. So the last mapping wins, but for such keys the first entry does.

ruamel.yaml agrees with the older releases where it reads the file at all.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable

from cfgfix.config.document.nodes import MAPPING, SCALAR, SEQUENCE, Node, deref, is_merge
from cfgfix.config.loaders.scalars import Loader
from cfgfix.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:  # see `nodes`
    from typing import Any


class Order(enum.Enum):
    """How merged entries are ordered."""

    LISTS_REVERSED = "PyYAML 6.0.1 to 6.0.3, and ruamel.yaml"
    AS_WRITTEN = "PyYAML 6.0.4"


@dataclass(frozen=True, slots=True)
class Written:
    """One entry of a mapping as written.

    Attributes:
        key: The object that PyYAML tells keys apart by: the text of the key node.
        entry: What stands there, as the caller has it.
        merged: The mappings that a merge key names; None for any other key.
    """

    key: object
    entry: Any
    merged: tuple[Any, ...] | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry in force: the mapping it is written in, its key node and its value node."""

    parent: Node
    key: Node
    value: Node


MAX_CHAIN = 300
"""Most mappings that are followed from one to the next; only circles of merges lead further than a document nests."""
_installed: list[Order] = []


def installed_order() -> Order:
    """Return the order in which the installed PyYAML merges, found by a trial."""
    if not _installed:
        import yaml

        text = "[&first {key: first}, &last {key: last}, {<<: [*first, *last]}]"
        reads_last = yaml.safe_load(text)[2]["key"] == "last"
        _installed.append(Order.AS_WRITTEN if reads_last else Order.LISTS_REVERSED)
    return _installed[0]


def order_of(loader: Loader) -> Order:
    """Return the order in which a loader merges.

    Loaders for YAML 1.1 all rest on the installed PyYAML.
    """
    return installed_order() if loader.yaml_version == "1.1" else Order.LISTS_REVERSED


class Flattener:
    """Follows the merge keys of mappings; each mapping is flattened once.

    Args:
        order: How merged entries are ordered.
        written: Returns the entries of a mapping as written.
    """

    __slots__ = ("_depth", "_flat", "_kept", "order", "written")

    def __init__(self, order: Order, written: Callable[[Any], Iterable[Written]]) -> None:
        self.order = order
        self.written = written
        self._flat: dict[int, list[Written]] = {}
        self._kept: list[Any] = []
        self._depth = 0

    def flatten(self, mapping: Any) -> list[Written]:
        """Return the entries of a mapping with its merge keys followed, merged ones first.

        Of equal keys the last one counts.

        A circle of merges ends as it does in PyYAML: a mapping that is being flattened gives what it has so far.
        """
        name = id(mapping)
        if name not in self._flat:
            self._flat[name] = list(self.written(mapping))
            self._kept.append(mapping)  # an id names an object only as long as that lives
        entries = self._flat[name]
        brought: list[Written] = []
        seen: set[int] = set()
        index = 0
        while index < len(entries):
            merged = entries[index].merged
            if merged is None:
                index += 1
                continue
            del entries[index]
            if self._depth == MAX_CHAIN:
                continue
            self._depth += 1
            if self.order is Order.AS_WRITTEN:
                for part in merged:
                    for each in self.flatten(part):
                        if id(each.key) not in seen:
                            seen.add(id(each.key))
                            brought.append(each)
            else:
                for entries in reversed([list(self.flatten(part)) for part in merged]):
                    brought.extend(entries)
            self._depth -= 1
            entries = self._flat[name]
        if brought:
            entries = self._flat[name] = brought + entries
        return entries


def written_in(mapping: Node) -> Iterable[Written]:
    """Yield the entries of a mapping as written, with the mappings that each merges.

    What a merge key cannot take is left out.
    """
    for key, value in mapping.items:
        name = deref(key)
        target = deref(value)
        merged: tuple[Node, ...] | None = None
        if is_merge(key):
            parts = target.items if target.kind is SEQUENCE else [target]
            merged = tuple(part for part in map(deref, parts) if part.kind is MAPPING)
        yield Written(name.text if name.kind is SCALAR else name, Entry(mapping, key, value), merged)
