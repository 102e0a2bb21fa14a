"""Tell which dialect a document is written in, or that it is no training config."""

from __future__ import annotations

from collections.abc import Iterable

from cfgfix.config.dialects.dialect import Dialect, shipped_table, signatures_of
from cfgfix.config.dialects.signatures import Pattern, table
from cfgfix.config.document.compose import ALIAS, MAPPING, SCALAR, SEQUENCE, Node, deref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.config.dialects.signatures import Row, Step

MAX_CHILDREN = 200
"""Most children of one node that a wildcard looks at; real configs keep far fewer beside each other."""


def _bits_below(node: Node, step: Step, seen: set[tuple[int, int]]) -> int:
    """Return the bits of the key paths below `step` that exist below a node.

    No node is looked at twice for the same step, so that aliases and keys given often cannot make this long.
    """
    found, named, every, placed = step
    if node.kind is ALIAS:
        node = deref(node)
    mark = (id(node), id(step))
    if mark in seen:
        return found
    seen.add(mark)
    if node.kind is MAPPING:
        if named:
            for key, value in node.items:
                if key.kind is SCALAR:
                    below = named.get(key.text)
                    if below is not None:
                        # Most steps are the last of their path: nothing below them is asked for.
                        found |= (
                            _bits_below(value, below, seen) if below[1] or below[2] or below[3] else below[0]
                        )
        if every is not None:
            for _, value in node.items[:MAX_CHILDREN]:
                found |= every[0] if value.kind is SCALAR else _bits_below(value, every, seen)
    elif placed and node.kind is SEQUENCE:
        items = node.items
        for position, below in placed.items():
            for child in items[:MAX_CHILDREN] if position == -1 else items[position : position + 1]:
                found |= _bits_below(child, below, seen)
    return found


def _key_count(found: int, row: Row) -> int:
    """Return how many keys of a signature are among the bits of a document's paths.

    The answer is 0 where the signature does not hold.
    """
    every, any_of, least, none_of, _ = row
    if not (every or any_of) or found & none_of:
        return 0
    for group in every:
        if not found & group:
            return 0
    hits = (found & any_of).bit_count()
    return 0 if hits < least else hits + len(every)


def exists(node: Node, pattern: Pattern) -> bool:
    """Tell whether the document has a key path that fits the pattern."""
    if not pattern:
        return True
    step: Step = (1, {}, None, {})
    for name in reversed(pattern):
        if name is None:
            step = (0, {}, step, {})
        elif isinstance(name, int):
            step = (0, {}, None, {name: step})
        else:
            step = (0, {name: step}, None, {})
    return _bits_below(node, step, set()) != 0


def score(root: Node, dialect: Dialect) -> int:
    """Return how many keys of a dialect's signature a document has.

    The score is 0 where the signature does not hold.
    """
    return Index([dialect]).points(root)[0]


class Index:
    """The signatures of some dialects, ready to be tried."""

    __slots__ = ("_rows", "_telling", "_tree", "dialects")

    def __init__(self, dialects: Iterable[Dialect]) -> None:
        self.dialects = tuple(dialects)
        shipped = shipped_table(self.dialects)
        if shipped is None:
            shipped = table(signatures_of(self.dialects))
        self._tree, self._rows = shipped
        self._telling: list[int] = []
        """For each dialect the bits without any of which it does not score."""
        for every, any_of, *_ in self._rows:
            telling = any_of
            for group in every:
                telling |= group
            self._telling.append(telling)

    def points(self, root: Node) -> list[int]:
        """Return the score of each dialect for a document, in order."""
        root = deref(root)
        found = _bits_below(root, self._tree, set()) if root.kind is MAPPING else 0
        return [_key_count(found, row) for row in self._rows]

    def detect(self, root: Node) -> Dialect | None:
        """Return the dialect whose signature fits a document best, or None for none.

        A dialect of low confidence counts only where no other fits; of two that fit equally well, the first.
        """
        root = deref(root)
        found = _bits_below(root, self._tree, set()) if root.kind is MAPPING else 0
        if not found:
            return None
        best: tuple[bool, int] = (False, 0)
        best_dialect: Dialect | None = None
        for number, telling in enumerate(self._telling):
            if not found & telling:
                continue
            row, dialect = self._rows[number], self.dialects[number]
            points = _key_count(found, row)
            if points and (not row[4], points) > best:
                best, best_dialect = (not row[4], points), dialect
        return best_dialect


_last: Index | None = None


def detect(root: Node, dialects: Iterable[Dialect]) -> Dialect | None:
    """Return the dialect whose signature fits a document best, or None for none.

    `Index.detect` says how. The index of the last dialects asked for is kept: a run asks for the same ones with every file.
    """
    global _last  # noqa: PLW0603 - a memory of one entry
    wanted = tuple(dialects)
    if _last is None or _last.dialects != wanted:
        _last = Index(wanted)
    return _last.detect(root)
