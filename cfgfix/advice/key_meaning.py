"""What one key of a config is to the code that opens it: what it means, what it reaches, what is taken there, and without it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from cfgfix.code.tensorflow.parameter_facts import FactTable, ParameterFacts
from cfgfix.config.dialects.meanings import meaning, meaning_among
from cfgfix.config.dialects.parameters import KeyMeanings, Reached
from cfgfix.core.findings import KeyPath
from cfgfix.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.usage.code_facts import CodeFacts

MAX_PLACES = 4
"""Most calls that a value reaches that are told."""


@dataclass(frozen=True, slots=True)
class KeyEnd:
    """One call that a key's value reaches.

    Attributes:
        reached: The call and its parameter.
        place: Where it stands, as `path:line`.
        facts: What the parameter takes.
    """

    reached: Reached
    place: str
    facts: ParameterFacts


_TABLE = FactTable()


def ends_of(path: KeyPath, code_facts: CodeFacts) -> list[KeyEnd]:
    """Return the calls that a key's value reaches, each once, with their facts.

    Calls that get the value unchanged come first.
    """
    found: dict[tuple[str, str], Reached] = {}
    for item in code_facts.reached:
        if item.path == path:
            found.setdefault((item.call_text, _place_text(item)), item)
    ordered = sorted(found.items(), key=lambda entry: not entry[1].unchanged)
    return [
        KeyEnd(item, place, _TABLE.facts(item.call, item.parameter, code_facts.release))
        for (_, place), item in ordered
    ]


def concepts_of(path: KeyPath, meanings: KeyMeanings | None) -> list[str]:
    """Return the concepts that the code gives a key."""
    return [concept for concept, known in meanings.keys if known == path] if meanings is not None else []


def meaning_lines(path: KeyPath, meanings: KeyMeanings | None) -> Iterator[str]:
    """Yield a line on the meaning of each concept of a key."""
    beside = dict(notes_with_strategy(path, meanings))
    for concept in concepts_of(path, meanings):
        text = meaning(concept) or concept
        yield f"{text}: {beside[concept]}" if concept in beside else text


def notes_with_strategy(path: KeyPath, meanings: KeyMeanings | None) -> Iterator[tuple[str, str]]:
    """Yield notes on concepts of a key whose meaning a strategy or the like changes.

    Each comes with its concept.
    """
    for concept in concepts_of(path, meanings):
        beside = meaning_among(concept, meanings.facts if meanings is not None else ())
        if beside:
            yield concept, beside


def end_lines(path: KeyPath, code_facts: CodeFacts) -> Iterator[str]:
    """Yield a line on each call that a key's value reaches.

    The line tells which values the parameter takes, and its default.
    """
    ends = ends_of(path, code_facts)
    for end in ends[:MAX_PLACES]:
        how = "reaches" if end.reached.unchanged else "goes into"
        line = f"{how} {end.reached.call_text} in {end.place}"
        if end.facts.takes:
            line += f", which takes {end.facts.takes}"
        if end.facts.default is not None:
            line += f"; TensorFlow's default is {end.facts.default!r}"
        yield line
    if len(ends) > MAX_PLACES:
        yield f"and {len(ends) - MAX_PLACES} more"


def first_call(path: KeyPath, code_facts: CodeFacts) -> str:
    """Return a line on the first call that a key's value reaches.

    The line counts the other calls. Empty where the value reaches none.
    """
    ends = ends_of(path, code_facts)
    if not ends:
        return ""
    how = "reaches" if ends[0].reached.unchanged else "goes into"
    more = f" and {len(ends) - 1} more" if len(ends) > 1 else ""
    return f"{how} {ends[0].reached.call_text} in {ends[0].place}{more}"


def absence_line(path: KeyPath, code_facts: CodeFacts) -> str:
    """Return a line on the value that the code takes where a config lacks a key.

    Empty where the code says nothing of that.
    """
    told = dict(code_facts.fallbacks).get(path)
    return f"without it the code takes {told}" if told is not None else ""


def read_line(path: KeyPath, code_facts: CodeFacts) -> str:
    """Return a line on where the code first reads a key; empty where it does not."""
    place = next((place for key, place in code_facts.reads if key == path), None)
    return f"read first in {place[0]}:{place[1]}" if place is not None else ""


def allowed_texts(path: KeyPath, code_facts: CodeFacts) -> dict[str, str]:
    """Return the texts that a key's value may be, each with the call that takes it.

    Only calls that get the value unchanged count.
    """
    found: dict[str, str] = {}
    for end in ends_of(path, code_facts):
        if end.reached.unchanged:
            for word in end.facts.words:
                found.setdefault(word, end.reached.call_text)
    return found


def _place_text(item: Reached) -> str:
    return f"{os.path.relpath(item.location.path)}:{item.location.line}"
