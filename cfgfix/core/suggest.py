"""Did-you-mean: the names a misspelt key or value most likely stands for.

Written for the moment after an error, so nothing here is imported by a clean check. The distance is the
optimal-string-alignment distance (insert, delete, replace, swap of two neighbours), given up as soon as it exceeds
what is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import islice

MAX_NAME = 80
"""Longer names are not compared: a key of this length is text, not a slip of the finger."""

MAX_CANDIDATES = 2_000
"""So many candidates are compared at most, which bounds the work for a schema with a huge list of names."""

_REMEMBERED = 1 << 15
"""Results kept of each helper: the names of a schema are compared again for every unknown key of every file."""

FILLERS = frozenset(
    {"enable", "enabled", "is", "max", "n", "num", "number", "of", "the", "total", "use", "with"}
)
"""Words that people add to a name or leave out (`enable_mixed_precision` for `mixed_precision`, `max_epochs`)."""


@lru_cache(_REMEMBERED)
def confusable_form(name: str) -> str:
    """Return a name in lower case without dashes, spaces, dots and underscores.

    Names that people confuse have the same form.
    """
    return "".join(char for char in name.casefold() if char not in "-_ .")


@lru_cache(_REMEMBERED)
def distance(first: str, second: str, limit: int) -> int:
    """Return the number of edits between two texts, counted up to a limit.

    More than `limit` edits are `limit + 1`. A swap of two neighbouring characters counts as one edit.
    """
    if abs(len(first) - len(second)) > limit:
        return limit + 1
    if first == second:
        return 0
    if not first:
        return len(second)
    # Hyyrö's bit-parallel form of the table of edits (2003, "A bit-vector algorithm for computing Levenshtein and
    # Damerau edit distances"): bit `i` of each number stands for row `i` of the column that is being computed.
    rows: dict[str, int] = {}
    for row, char in enumerate(first):
        rows[char] = rows.get(char, 0) | 1 << row
    every = (1 << len(first)) - 1
    last = 1 << len(first) >> 1
    # Rows that are one more than the row above, rows that are one less, and rows where a diagonal step is free.
    more, less, diagonal, before = every, 0, 0, 0
    found = len(first)
    for char in second:
        here = rows.get(char, 0)
        swapped = ((~diagonal & here) << 1) & before
        diagonal = ((((here & more) + more) ^ more) | here | less | swapped) & every
        across = less | (~(diagonal | more) & every)
        back = diagonal & more
        found += bool(across & last) - bool(back & last)
        across = (across << 1) | 1
        more = ((back << 1) | ~(diagonal | across)) & every
        less = across & diagonal
        before = here
    return min(found, limit + 1)


def allowed_edits(length: int) -> int:
    """Return how many edits a misspelt name of some length may be off.

    `length` is its number of characters.

    The steps find the slips that real configs show (`trainig`, `lerning_rate`, `enbale`, `nunRuns`) and leave names
    of five characters and fewer only one edit, since short names (`beta1` and `beta2`) are near each other anyway.
    """
    if length < 3:
        return 0
    return 1 if length < 6 else 2 if length < 12 else 3 if length < 20 else 4


def closest(name: str, candidates: Iterable[str], *, limit: int = 3) -> list[str]:
    """Return the candidates that a misspelt name may mean, the likeliest first.

    At most `limit` are returned. A candidate counts when it differs by case or separators only, by few edits, by the order
    of its words, or by words that say little (`FILLERS`).
    """
    if not name or len(name) > MAX_NAME:
        return []
    some = candidates if isinstance(candidates, tuple) else tuple(islice(candidates, MAX_CANDIDATES))
    return list(_closest_names(name, some[:MAX_CANDIDATES], limit))


@lru_cache(1024)
def _closest_names(name: str, candidates: tuple[str, ...], limit: int) -> tuple[str, ...]:
    wanted = confusable_form(name)
    allowed = allowed_edits(len(wanted))
    digits, own = _digits_and_letters(name)
    ranked: list[tuple[int, int, int, str]] = []
    size = len(wanted)
    # Most names are told apart by their letters: an edit brings in, or takes away, one at most. Words left out take
    # away only, and what is left stands in the longer name.
    alike = [
        (position, candidate)
        for position, candidate, letters, other in _names_by_digits(candidates).get(digits, ())
        if (
            -allowed <= len(other) - size <= allowed
            and (own & ~letters).bit_count() <= allowed
            and (letters & ~own).bit_count() <= allowed
        )
        or wanted in other
        or other in wanted
    ]
    for position, candidate in alike:
        if candidate == name or len(candidate) > MAX_NAME:
            continue
        other = confusable_form(candidate)
        if not other:
            continue
        if wanted == other:
            rank = 0
        else:
            edits = _slips_between(name, candidate, wanted, other, allowed)
            if edits is None:
                continue
            rank = 1 + edits
        shared = 0
        for first, second in zip(wanted, other, strict=False):
            if first != second:
                break
            shared += 1
        ranked.append((rank, -shared, position, candidate))
    ranked.sort()
    if not ranked:
        return ()
    best = ranked[0][0]
    # A clearly better match is not diluted by weaker ones.
    return tuple(candidate for rank, _, _, candidate in ranked if rank <= best + 1)[:limit]


def only_match(name: str, candidates: Iterable[str]) -> str | None:
    """Return the one candidate that a misspelt name means.

    None where no candidate is near, or several are equally near.
    """
    found = closest(name, candidates, limit=MAX_CANDIDATES)
    if not found:
        return None
    wanted = confusable_form(name)
    allowed = allowed_edits(len(wanted))
    nearest = distance(wanted, confusable_form(found[0]), allowed)
    if nearest > allowed:
        return found[0]
    for other in found[1:]:
        # Spellings of one name that differ by case or separators are not rivals.
        if (
            confusable_form(other) != confusable_form(found[0])
            and distance(wanted, confusable_form(other), allowed) == nearest
        ):
            return None
    return found[0]


@lru_cache(_REMEMBERED)
def _digits_and_letters(name: str) -> tuple[str, int]:
    """Return the digits of a name, and its letters as a bit set.

    Several letters may share a bit.
    """
    folded = confusable_form(name)
    letters = 0
    for char in folded:
        letters |= 1 << (ord(char) & 63)
    return "".join(char for char in name if char.isdigit()), letters


@lru_cache(64)
def _names_by_digits(candidates: tuple[str, ...]) -> dict[str, list[tuple[int, str, int, str]]]:
    """Return candidates grouped by their digits: position, name, letters, folded form.

    Names with other digits are never alike.
    """
    groups: dict[str, list[tuple[int, str, int, str]]] = {}
    for position, candidate in enumerate(candidates):
        digits, letters = _digits_and_letters(candidate)
        groups.setdefault(digits, []).append((position, candidate, letters, confusable_form(candidate)))
    return groups


@lru_cache(_REMEMBERED)
def _split_words(name: str) -> tuple[str, ...]:
    for separator in "-. ":
        name = name.replace(separator, "_")
    return tuple(word for word in name.casefold().split("_") if word)


@lru_cache(_REMEMBERED)
def _slips_between(name: str, candidate: str, wanted: str, other: str, allowed: int) -> int | None:
    """Return the number of slips between a misspelt name and a candidate.

    None where the two are different names. Every word is compared by itself: `min_length` and `max_length` differ by two
    letters of twenty, but by a word.
    """
    if _digits_and_letters(name)[0] != _digits_and_letters(candidate)[0]:
        return None  # `beta1` and `beta2` are two things
    first, second = _split_words(name), _split_words(candidate)
    if len(first) == len(second) > 1:
        if sorted(first) == sorted(second):
            return 0
        total = 0
        for one, two in zip(first, second, strict=True):
            if one != two:
                limit = allowed_edits(min(len(one), len(two)))
                edits = distance(one, two, limit)
                if edits > limit:
                    return None
                total += edits
        return total if total <= allowed else None
    if len(first) != len(second):
        short, long = sorted((first, second), key=len)
        for start in range(len(long) - len(short) + 1):
            if long[start : start + len(short)] == short:
                extra = long[:start] + long[start + len(short) :]
                return 0 if short and FILLERS.issuperset(extra) else None
    edits = distance(wanted, other, allowed)
    return edits if edits <= allowed else None
