"""Edits and fixes: pure data, and the rules for applying several edits to one text."""

from __future__ import annotations

import enum
from bisect import bisect_left
from collections.abc import Iterable
from itertools import pairwise

from cfgfix.core.records import dataclass


class Safety(enum.IntEnum):
    """How safe a fix is to apply without being asked, in order."""

    DISPLAY = 1
    """Shown, never applied."""
    UNSAFE = 2
    """May change numerics, data order or convergence, or may exceed memory."""
    SAFE = 3
    """Cannot change what the model learns and cannot make a working run fail."""

    @property
    def label(self) -> str:
        """The name used in rule files and in every output format."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `text[start:end]` by `new`; offsets count code points of the decoded text."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class SetValue:
    """Give the value at `path` a new scalar.

    `text` is the exact YAML to write (for numbers whose spelling matters); without it the editor spells `value`.
    """

    path: tuple[str | int, ...]
    value: object
    text: str | None = None
    document: int = 0


@dataclass(frozen=True, slots=True)
class InsertKey:
    """Add `key: value` to the mapping at `path`, after the sibling `after` or as the last entry."""

    path: tuple[str | int, ...]
    key: str
    value: object
    after: str | None = None
    document: int = 0


@dataclass(frozen=True, slots=True)
class DeleteKey:
    """Remove the entry at `path`; `occurrence` picks one of several equal keys, counted from 0."""

    path: tuple[str | int, ...]
    occurrence: int | None = None
    document: int = 0


@dataclass(frozen=True, slots=True)
class RenameKey:
    """Give the key at `path` the name `new`; `quote` writes it in quotes, so that it stays text."""

    path: tuple[str | int, ...]
    new: str
    quote: bool = False
    document: int = 0


@dataclass(frozen=True, slots=True)
class ReplaceText:
    """Replace a span where no key path can say it: a file that does not parse yet, or Python source."""

    start: int
    end: int
    new: str


Change = SetValue | InsertKey | DeleteKey | RenameKey | ReplaceText
"""What a fix means. The editor turns it into edits; the proof checks the result against it."""


@dataclass(frozen=True, slots=True)
class FileChanges:
    """The changes that a fix makes to a file other than that of its finding."""

    path: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair: a title for people, its changes, and how safe they are."""

    title: str
    safety: Safety
    changes: tuple[Change, ...]
    """What it does to the file of its finding; nothing where the cause stands elsewhere."""
    why: str = ""
    """Why the fix is not safe, or what it rests on."""
    elsewhere: tuple[FileChanges, ...] = ()
    """What it does to the configs that hold the cause of a finding in code; all of it or nothing."""


class ProofError(Exception):
    """An edit does not do what was meant, so nothing may be written.

    Args:
        step: Which part failed: `plan`, `text`, `parse`, `shared`, `meaning`, `anchors`, `comments` or `loads`.
        message: What was seen, with the reader that saw it.
    """

    def __init__(self, step: str, message: str) -> None:
        super().__init__(message)
        self.step = step
        self.message = message


class OverlapError(ValueError):
    """Two edits touch the same text."""


def splice(text: str, edits: Iterable[Edit]) -> str:
    """Return `text` with all edits applied.

    Edits are applied from the end, so that earlier offsets stay valid. Two insertions at one offset keep
    their order.

    Raises:
        OverlapError: Two edits overlap.
        ValueError: An edit lies outside the text.
    """
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    for before, after in pairwise(ordered):
        if after.start < before.end:
            raise OverlapError(f"edits at {before.start} and {after.start} overlap")
    pieces: list[str] = []
    position = 0
    for edit in ordered:
        if not 0 <= edit.start <= edit.end <= len(text):
            raise ValueError(f"edit {edit.start}..{edit.end} lies outside a text of {len(text)} code points")
        pieces.append(text[position : edit.start])
        pieces.append(edit.new)
        position = edit.end
    pieces.append(text[position:])
    return "".join(pieces)


class Spans:
    """The spans of text that edits change already, in order: no two may overlap."""

    __slots__ = ("_taken",)

    def __init__(self) -> None:
        self._taken: list[tuple[int, int]] = []

    def add(self, edits: Iterable[Edit]) -> bool:
        """Add the spans of some edits and return True, or add none and return False.

        False means that an edit overlaps a span that is taken, or begins where one begins.
        """
        new = sorted((edit.start, edit.end) for edit in edits)
        taken = self._taken
        places = []
        for span in new:
            place = bisect_left(taken, span)
            near = (*taken[max(0, place - 1) : place], span, *taken[place : place + 1])
            if not _are_disjoint(near):
                return False
            places.append(place)
        if not _are_disjoint(new):
            return False
        for span, place in zip(reversed(new), reversed(places), strict=True):
            taken.insert(place, span)
        return True


def _are_disjoint(spans: Iterable[tuple[int, int]]) -> bool:
    return all(after[0] > before[0] and after[0] >= before[1] for before, after in pairwise(spans))
