"""Names that look alike, and values as a reader sees them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

from cfgfix.code.inference.interpreter.objects import Scalar, Value
from cfgfix.usage.config_files import Entry

_NUMBER = re.compile(r"[-+]?(?:[0-9][0-9_]*)(?:\.[0-9_]*)?[eE][-+]?[0-9]+|[-+]?\.[0-9]+[eE][-+]?[0-9]+")


MAX_UNREAD = 1_000
"""Most unread keys of a section among which a misspelt one is looked for: what has more holds data, and no settings."""
MAX_SHOWN = 80
"""Most characters of a value in a message."""


def value_in_words(value: Value | None) -> str:
    """Return a value as text for a message, cut if long."""
    if not isinstance(value, Scalar):
        return "of the code"
    shown = repr(value.value)
    return shown if len(shown) <= MAX_SHOWN else f"{shown[: MAX_SHOWN - 3]}..."


def number_text(value: Any) -> str | None:
    """Return a text such as `1e-4` in a form that YAML 1.1 reads as a number.

    None for any other value.
    """
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        return None
    mantissa, _, exponent = value.lower().partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    if mantissa.startswith("."):
        mantissa = f"0{mantissa}"
    if exponent[0] not in "+-":
        exponent = f"+{exponent}"
    return f"{mantissa}e{exponent}"


def _letters_and_digits(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _split_words(name: str) -> list[str]:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return [word for word in re.split(r"[^A-Za-z0-9]+", spaced.lower()) if word]


def similarity(one: str, other: str) -> float:
    """Return the similarity of two names from 0 to 1; different names are below 0.7."""
    if one == other:
        return 1.0
    first, second = _letters_and_digits(one), _letters_and_digits(other)
    if first == second:
        return 0.99
    if not first or not second:
        return 0.0
    ratio = difflib.SequenceMatcher(None, first, second).ratio()
    if len(first) == len(second) and sorted(first) == sorted(second) and len(first) > 2:
        # Letters that changed places.
        ratio = max(ratio, 0.9)
    if (first.rstrip("s") == second.rstrip("s")) and min(len(first), len(second)) > 2:
        ratio = max(ratio, 0.92)
    words, others = _split_words(one), _split_words(other)
    if len(words) > 1 and words != others and sorted(words) == sorted(others):
        # Words that changed places.
        return 0.9
    if len(words) == len(others) and len(words) > 1:
        pairs = [difflib.SequenceMatcher(None, a, b).ratio() for a, b in zip(words, others, strict=True)]
        differing = [pair for pair in pairs if pair < 1]
        if len(differing) == 1:
            # One word of several is another one: `train_size` and `test_size` are two names.
            ratio = min(ratio, 0.69) if differing[0] < 0.6 else max(ratio, differing[0])
    elif len(words) != len(others) and ratio < 0.8:
        # `dirs` and `log_dirs` are two names.
        ratio = 0.0
    elif min(len(first), len(second)) <= 3 and ratio < 0.8:
        ratio = 0.0
    return ratio


def nearest_entry(name: str, entries: Iterable[Entry], *, alone: bool) -> Entry | None:
    """Return the entry whose name is most similar to a name that code reads.

    None where no entry is near, or there are too many entries.

    Args:
        name: The name that the code reads.
        entries: Entries that nothing reads.
        alone: Whether the code stops without the name; then the words of one name may begin the other.
    """
    entries = list(islice(entries, MAX_UNREAD + 1))
    if len(entries) > MAX_UNREAD:
        return None
    best, found = 0.0, None
    for entry in entries:
        other = str(entry.path[-1])
        score = similarity(name, other)
        if score < 0.7 and alone and _holds_words(name, other):
            score = 0.7
        if score >= 0.7 and score > best:
            best, found = score, entry
    return found


def _holds_words(one: str, other: str) -> bool:
    words, others = _split_words(one), _split_words(other)
    short, long = (words, others) if len(words) < len(others) else (others, words)
    return bool(short) and len(short) < len(long) and long[: len(short)] == short and len("".join(short)) > 2


def nearest_name(name: str, names: Iterable[str]) -> str | None:
    """Return the most similar of several names; None where none is near.

    None, too, for more names than settings have.
    """
    names = list(islice(names, MAX_UNREAD + 1))
    if len(names) > MAX_UNREAD:
        return None
    best, found = 0.0, None
    for other in names:
        score = similarity(name, other)
        if score >= 0.7 and score > best:
            best, found = score, other
    return found
