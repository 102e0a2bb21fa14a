"""Tell which dialect a document is written in, or that it is no training config.

Most files of a folder belong to no dialect or to one. So the signatures are indexed by the first keys they ask
for: one look at a document's top-level keys leaves a few candidates, and only their signatures are tried.
"""

from __future__ import annotations

from collections.abc import Iterable

from cfgfix.dialects.dialect import Dialect, Pattern
from cfgfix.documents.compose import Kind, Node, deref

MAX_CHILDREN = 200
"""Most children of one node that a wildcard looks at; real configs keep far fewer beside each other."""


class _Names:
    """The keys of a document's mappings, collected once and shared by all signatures."""

    __slots__ = ("_of",)

    def __init__(self) -> None:
        self._of: dict[int, dict[str, Node]] = {}

    def of(self, mapping: Node) -> dict[str, Node]:
        found = self._of.get(id(mapping))
        if found is None:
            found = {key.text: value for key, value in mapping.items if key.kind == Kind.SCALAR}
            self._of[id(mapping)] = found
        return found

    def has(self, node: Node, pattern: Pattern, start: int = 0) -> bool:
        if start == len(pattern):
            return True
        if node.kind == Kind.ALIAS:
            node = deref(node)
        step = pattern[start]
        if isinstance(step, int):
            if node.kind != Kind.SEQUENCE:
                return False
            items = node.items
            children = items[:MAX_CHILDREN] if step == -1 else items[step : step + 1]
            return any(self.has(child, pattern, start + 1) for child in children)
        if node.kind != Kind.MAPPING:
            return False
        if step is None:
            return any(self.has(value, pattern, start + 1) for _, value in node.items[:MAX_CHILDREN])
        value = self.of(node).get(step)
        return value is not None and self.has(value, pattern, start + 1)


def exists(node: Node, pattern: Pattern) -> bool:
    """Tell whether the document has a key path that fits the pattern."""
    return _Names().has(node, pattern)


def score(root: Node, dialect: Dialect) -> int:
    """Return how many of a dialect's telling keys a document has, or 0 where its signature does not hold."""
    root = deref(root)
    return 0 if root.kind != Kind.MAPPING else _score(root, dialect, _Names())


def _score(root: Node, dialect: Dialect, names: _Names) -> int:
    signature = dialect.signature
    if not (signature.every or signature.any_of):
        return 0
    for group in signature.every:
        if not any(names.has(root, pattern) for pattern in group):
            return 0
    hits = sum(names.has(root, pattern) for pattern in signature.any_of)
    if hits < signature.least or any(names.has(root, pattern) for pattern in signature.none_of):
        return 0
    return hits + len(signature.every)


class Index:
    """The signatures of some dialects by the top-level keys they ask for."""

    __slots__ = ("_always", "_by_key", "dialects")

    def __init__(self, dialects: Iterable[Dialect]) -> None:
        self.dialects = tuple(dialects)
        self._by_key: dict[str, list[int]] = {}
        self._always: list[int] = []
        for position, dialect in enumerate(self.dialects):
            firsts = _first_keys(dialect)
            if firsts is None:
                self._always.append(position)
            else:
                for key in firsts:
                    self._by_key.setdefault(key, []).append(position)

    def detect(self, root: Node) -> Dialect | None:
        """Return the dialect whose signature fits best, or None where none does.

        A dialect of low confidence counts only where no other fits; of two that fit equally well, the first.
        """
        root = deref(root)
        if root.kind != Kind.MAPPING:
            return None
        names = _Names()
        candidates = set(self._always)
        for key in names.of(root):
            candidates.update(self._by_key.get(key, ()))
        best: tuple[int, int] = (0, 0)
        found: Dialect | None = None
        for position in sorted(candidates):
            dialect = self.dialects[position]
            points = _score(root, dialect, names)
            rank = (0 if dialect.confidence == "low" else 1, points)
            if points and rank > best:
                best, found = rank, dialect
        return found


def _first_keys(dialect: Dialect) -> frozenset[str] | None:
    """Return top-level keys of which a document of this dialect must have one, or None where any may do."""
    signature = dialect.signature
    groups = [group for group in (*signature.every, signature.any_of if signature.least else ()) if group]
    sets = [frozenset(pattern[0] for pattern in group) for group in groups]
    named = [
        frozenset(key for key in keys if isinstance(key, str))
        for keys in sets
        if all(isinstance(key, str) for key in keys)
    ]
    return min(named, key=len) if named else None


_last: Index | None = None


def detect(root: Node, dialects: Iterable[Dialect]) -> Dialect | None:
    """Return the dialect whose signature fits best, or None where none does; see `Index.detect`.

    The index of the last dialects asked for is kept: a run asks for the same ones with every file.
    """
    global _last  # noqa: PLW0603 - a memory of one entry
    wanted = tuple(dialects)
    if _last is None or _last.dialects != wanted:
        _last = Index(wanted)
    return _last.detect(root)
