"""Did-you-mean: the names a misspelt key or value most likely stands for.

Written for the moment after an error, so nothing here is imported by a clean check. The distance is the
optimal-string-alignment distance (insert, delete, replace, swap of two neighbours), computed in a band that
the best distance still allowed bounds, so a hopeless pair costs little.
"""

from __future__ import annotations

from collections.abc import Iterable

MAX_NAME = 80
"""Longer names are not compared: a key of this length is text, not a slip of the finger."""

MAX_CANDIDATES = 2_000
"""So many candidates are compared at most, which bounds the work for a schema with a huge list of names."""

MIN_INSIDE = 5
"""A name that lies inside another counts as near from this length on; shorter ones (`lr`, `eps`) lie in too many."""


def fold(name: str) -> str:
    """Return `name` as people confuse it: letter case, dashes, spaces, dots and underscores make no difference."""
    return "".join(char for char in name.casefold() if char not in "-_ .")


def distance(first: str, second: str, limit: int) -> int:
    """Return how many single edits turn `first` into `second`, or `limit + 1` when it is more than `limit`.

    A swap of two neighbouring characters counts as one edit.
    """
    if abs(len(first) - len(second)) > limit:
        return limit + 1
    if first == second:
        return 0
    before: list[int] = []
    previous = list(range(len(second) + 1))
    for row, char in enumerate(first, 1):
        current = [row]
        for column, other in enumerate(second, 1):
            cost = previous[column - 1] + (char != other)
            cost = min(cost, previous[column] + 1, current[column - 1] + 1)
            if row > 1 and column > 1 and char == second[column - 2] and first[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        if min(current) > limit:
            return limit + 1
        before, previous = previous, current
    return min(previous[-1], limit + 1)


def allowed_edits(length: int) -> int:
    """Return how many edits a name of `length` characters may be away and still be meant.

    The steps find the slips that real configs show (`trainig`, `lerning_rate`, `enbale`, `nunRuns`) and leave names
    of five characters and fewer only one edit, since short names (`beta1` and `beta2`) are near each other anyway.
    """
    if length < 3:
        return 0
    return 1 if length < 6 else 2 if length < 12 else 3 if length < 20 else 4


def closest(name: str, candidates: Iterable[str], *, limit: int = 3) -> list[str]:
    """Return up to `limit` candidates that `name` may stand for, the likeliest first.

    A candidate counts when it differs by case or separators only, by few edits, by the order of its words, or when
    one name holds the other whole (`enable_mixed_precision` and `mixed_precision`).
    """
    if not name or len(name) > MAX_NAME:
        return []
    wanted = fold(name)
    words = sorted(_words(name))
    allowed = allowed_edits(len(wanted))
    ranked: list[tuple[int, int, int, str]] = []
    for position, candidate in enumerate(candidates):
        if position == MAX_CANDIDATES:
            break
        if candidate == name or len(candidate) > MAX_NAME:
            continue
        other = fold(candidate)
        if not other:
            continue
        if wanted == other:
            rank = 0
        elif len(words) > 1 and words == sorted(_words(candidate)):
            rank = 1
        else:
            edits = distance(wanted, other, allowed)
            if edits <= allowed:
                rank = 1 + edits
            elif _holds(wanted, other):
                rank = 10 + abs(len(wanted) - len(other))
            else:
                continue
        shared = 0
        for first, second in zip(wanted, other, strict=False):
            if first != second:
                break
            shared += 1
        ranked.append((rank, -shared, position, candidate))
    ranked.sort()
    if not ranked:
        return []
    best = ranked[0][0]
    # A clearly better match is not diluted by weaker ones.
    return [candidate for rank, _, _, candidate in ranked if rank <= max(best + 1, best * 3 // 2)][:limit]


def best(name: str, candidates: Iterable[str]) -> str | None:
    """Return the one candidate that `name` stands for, or None where none or several are equally near."""
    found = closest(name, candidates, limit=MAX_CANDIDATES)
    if not found:
        return None
    wanted = fold(name)
    allowed = allowed_edits(len(wanted))
    nearest = distance(wanted, fold(found[0]), allowed)
    for other in found[1:]:
        # Spellings of one name that differ by case or separators are not rivals.
        if fold(other) != fold(found[0]) and distance(wanted, fold(other), allowed) == nearest:
            return None
    return found[0]


def _words(name: str) -> list[str]:
    for separator in "-. ":
        name = name.replace(separator, "_")
    return [word for word in name.casefold().split("_") if word]


def _holds(first: str, second: str) -> bool:
    short, long = sorted((first, second), key=len)
    return len(short) >= MIN_INSIDE and 2 * len(short) >= len(long) and short in long
