"""Tell which dialect a document is written in, or that it is no training config."""

from __future__ import annotations

from collections.abc import Iterable

from cfgfix.dialects.dialect import Dialect, Pattern
from cfgfix.documents.compose import Kind, Node, deref


def exists(node: Node, pattern: Pattern, start: int = 0) -> bool:
    """Tell whether the document has a key path that fits the pattern."""
    node = deref(node)
    if start == len(pattern):
        return True
    step = pattern[start]
    if isinstance(step, int):
        if node.kind != Kind.SEQUENCE:
            return False
        children = node.items if step == -1 else node.items[step : step + 1]
        return any(exists(child, pattern, start + 1) for child in children[:200])
    if node.kind != Kind.MAPPING:
        return False
    if step is None:
        return any(exists(value, pattern, start + 1) for _, value in node.items[:200])
    return any(
        key.kind == Kind.SCALAR and key.text == step and exists(value, pattern, start + 1)
        for key, value in node.items
    )


def score(root: Node, dialect: Dialect) -> int:
    """Return how many of a dialect's telling keys a document has, or 0 where its signature does not hold."""
    signature = dialect.signature
    if root.kind != Kind.MAPPING or not (signature.every or signature.any_of):
        return 0
    if any(exists(root, pattern) for pattern in signature.none_of):
        return 0
    for group in signature.every:
        if not any(exists(root, pattern) for pattern in group):
            return 0
    hits = sum(exists(root, pattern) for pattern in signature.any_of)
    if hits < signature.least:
        return 0
    return hits + len(signature.every)


def detect(root: Node, dialects: Iterable[Dialect]) -> Dialect | None:
    """Return the dialect whose signature fits best, or None where none does.

    A dialect of low confidence counts only where no other fits.
    """
    best: tuple[int, int] = (0, 0)
    found: Dialect | None = None
    for dialect in dialects:
        points = score(root, dialect)
        rank = (0 if dialect.confidence == "low" else 1, points)
        if points and rank > best:
            best, found = rank, dialect
    return found
