"""What a plain scalar is for the project's loader and for the others, remembered by text.

The loaders' own resolvers decide (`cfgfix.config.loaders.scalars`); nothing here knows what a YAML number looks
like. Most scalars are ordinary and end as None, so that the walk over a document passes them by.
"""

from __future__ import annotations

import enum
import math

from cfgfix.config.loaders.scalars import LOADERS, Loader, Resolved, resolve

MAX_REMEMBERED = 50_000
"""Texts remembered for each loader; the memory is dropped when full (about 10 MB at 200 bytes an entry)."""
MAX_LENGTH = 64
"""Longest text looked at, in code points: no number or word of a config is longer, and a hostile one is not parsed."""

_WORDS = frozenset(
    ("true", "false", "yes", "no", "on", "off", "y", "n", "null", "none", "nan", "inf", "infinity")
)
"""Every word, in lower case, that a loader reads as something else than text, or that people take for such."""


class Kind(enum.IntEnum):
    """The kinds of special scalar."""

    NUMBER_TEXT = 1
    """Spelled like a float but read as text."""
    BOOL_WORD = 2
    """A word such as `yes` that this loader reads as a bool and YAML 1.2 as text."""
    BOOL_WORD_TEXT = 3
    """The same word under a loader that reads it as text."""
    BOOL = 4
    BASE_60 = 5
    OCTAL = 6
    """Loaders disagree about leading zeros."""
    FLOAT = 7
    """A float that is whole, or written with digits that a float does not keep."""
    NULL_WORD = 9
    """`None`, `nan`, `inf`: text for every loader."""
    EMPTY = 10
    HUMAN = 11
    """Text that a person reads as a number: `1,000`, `50%`, `8GB`, `(1, 2)`."""
    EQUALS = 12
    """`=`, for which PyYAML has a type but no constructor."""
    INT = 20
    FRACTION = 21
    """Any other float."""


class Reading:
    """A special plain scalar as the project's loader reads it.

    A plain class, since one is made for every distinct number of a file.
    """

    __slots__ = ("kind", "known_place", "ordinary", "own", "text")

    def __init__(self, kind: Kind, own: Resolved, text: str) -> None:
        self.kind = kind
        self.ordinary = kind in (Kind.INT, Kind.FRACTION)
        """Special only in quotes or as a learning rate."""
        self.known_place = kind in (Kind.BOOL, Kind.FLOAT)
        """Special only where the schema or the dialect knows the place, or at a version."""
        self.own = own
        """What the project's loader makes of it."""
        self.text = text

    @property
    def portable(self) -> Resolved:
        """The value under YAML 1.2."""
        return resolve(self.text, _NEW)


class Readings(dict[str, "Reading | None"]):
    """The readings of plain scalars under one loader, by text, made on demand."""

    def __init__(self, loader: Loader) -> None:
        super().__init__()
        self.loader = loader

    def __missing__(self, text: str) -> Reading | None:
        if len(text) > MAX_LENGTH:
            return None
        if len(self) >= MAX_REMEMBERED:
            self.clear()
        reading = self[text] = read(text, self.loader)
        return reading


_OF_LOADER: dict[str, Readings] = {}


def readings(loader: Loader) -> Readings:
    """Return the remembered readings of a loader."""
    known = _OF_LOADER.get(loader.name)
    if known is None or known.loader != loader:
        known = _OF_LOADER[loader.name] = Readings(loader)
    return known


_OLD, _NEW = LOADERS["pyyaml"], LOADERS["ruamel"]


def read(text: str, loader: Loader) -> Reading | None:
    """Return the reading of a special plain scalar, or None for ordinary text."""
    if text[:1].isalpha() and text.lower() not in _WORDS:
        return None
    own = resolve(text, loader)
    kind = _kind_of_text(text, own)
    return None if kind is None else Reading(kind, own, text)


def _kind_of_text(text: str, own: Resolved) -> Kind | None:
    tag = own.tag
    if not text:
        return Kind.EMPTY
    if tag in ("int", "float") and ":" in text:
        return Kind.BASE_60
    if (text[0] == "0" or text[:2] in ("-0", "+0")) and tag != "float" and _is_disputed(text):
        return Kind.OCTAL
    if tag == "int":
        return Kind.INT
    if tag == "float":
        value = own.value
        assert isinstance(value, float)
        return Kind.FLOAT if value.is_integer() or repr(value) != text else Kind.FRACTION
    if tag == "bool":
        return Kind.BOOL if resolve(text, _NEW).tag == "bool" else Kind.BOOL_WORD
    if tag == "value":
        return Kind.EQUALS
    if tag != "str":
        return None
    if resolve(text, _OLD).tag == "bool":
        return Kind.BOOL_WORD_TEXT
    if text.lstrip("+-").lower() in ("none", "nan", "inf", "infinity"):
        return Kind.NULL_WORD
    if text[0] in "+-.0123456789" and number(text) is not None:
        return Kind.NUMBER_TEXT
    if text[0] in "+-(.0123456789" and parse_human(text) is not None:
        return Kind.HUMAN
    return None


def _is_disputed(text: str) -> bool:
    """Tell whether YAML 1.2 reads a text as an integer that YAML 1.1 does not read so."""
    new = resolve(text, _NEW)
    if new.tag != "int":
        return False
    old = resolve(text, _OLD)
    return old.tag != "int" or old.value != new.value


def number(text: str) -> float | None:
    """Return a text as a finite float, as Python reads it, or None."""
    if not text.isascii():
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


class Human:
    """A number as people write it: its value, if that is clear, and its fault."""

    __slots__ = ("problem", "value")

    def __init__(self, problem: str, value: float | None) -> None:
        self.problem = problem
        self.value = value


def parse_human(text: str) -> Human | None:
    """Return the number that a person means by `1,000` or `8 GB`, or None.

    Also `50%`, `0.1f` and `(1, 2)`.
    """
    # Few texts are looked at, and building six patterns takes longer than reading a config: the mark of each comes first.
    import re

    last = text[-1]
    if "," in text and re.fullmatch(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?", text):
        return Human("a thousands separator", _plain_number(text.replace(",", "")))
    if " " in text and last.isdigit() and re.fullmatch(r"[-+]?\d{1,3}(?: \d{3})+", text):
        return Human("spaces between the digits", _plain_number(text.replace(" ", "")))
    if last == "%" and re.fullmatch(r"[-+]?\d+(?:\.\d+)? ?%", text):
        return Human("a percent sign", _percent_value(text))
    if last in "fF" and re.fullmatch(r"[-+]?(?:\d+\.\d*|\.\d+)[fF]", text):
        return Human("the suffix of a C float", _plain_number(text[:-1]))
    if last.isalpha() and re.fullmatch(
        r"[-+]?\d+(?:\.\d+)? ?(?:[kKMGTPB]|[kKMGTP]i?[bB]?|[mun]?s|[kM]?[hH]z|min|h)", text
    ):
        return Human("a unit", None)
    if "," in text and re.fullmatch(
        r"\(?\s*[-+.\d][-+.\deE_]*\s*(?:,\s*[-+.\d][-+.\deE_]*\s*)+,?\s*\)?", text
    ):
        return Human("a tuple or list without brackets of YAML", None)
    return None


def _plain_number(digits: str) -> float:
    return float(digits) if "." in digits else int(digits)


def _percent_value(text: str) -> float:
    from decimal import Decimal

    return float(Decimal(text.rstrip("% ")) / 100)
