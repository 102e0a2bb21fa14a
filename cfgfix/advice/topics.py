"""What guides, tools and documents recommend, what was measured, and where they contradict each other.

The content is `schemas/advice.yaml`; it is read when a page asks for it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from cfgfix.core.records import dataclass
from cfgfix.rules import compiled
from cfgfix.rules.reader import load_yaml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True, slots=True)
class Recommendation:
    """One piece of advice with its source."""

    source: str
    kind: str
    """`guide`, `tool`, `code` or `primary` (documents and source of TensorFlow and Keras)."""
    says: str
    worth: str | None
    """What the advice is good for, where that needs saying."""
    tiers: Mapping[float, Any]
    """Values by the nominal memory of a card in GiB; empty where the advice does not depend on it."""
    least_ram_gib: float | None


@dataclass(frozen=True, slots=True)
class Measured:
    """One measured fact: a table of results, or a sentence."""

    says: str
    script: str | None
    table: str | None


@dataclass(frozen=True, slots=True)
class Topic:
    """Recommendations and measurements about one setting, or about a wider topic."""

    name: str
    title: str
    concepts: tuple[str, ...]
    recommendations: tuple[Recommendation, ...]
    contradictions: tuple[str, ...]
    measured: tuple[Measured, ...]
    instead: str | None
    """What cfgfix says to a topic that no setting answers."""


def _read_topics() -> dict[str, Topic]:
    data = load_yaml(os.path.join(compiled.data_folder("schemas"), "advice.yaml"))
    sources = data["sources"]
    topics: dict[str, Topic] = {}
    for name, entry in data["topics"].items():
        recommendations = tuple(
            Recommendation(
                sources[item["source"]]["title"],
                sources[item["source"]]["kind"],
                item["says"],
                item.get("worth"),
                item.get("tiers", {}),
                item.get("least_ram_gib"),
            )
            for item in entry.get("recommendations", ())
        )
        measured = tuple(
            Measured(item["says"], item.get("script"), item.get("table"))
            for item in entry.get("measured", ())
        )
        topics[name] = Topic(
            name,
            entry.get("title", name),
            tuple(entry.get("concepts", (name,))),
            recommendations,
            tuple(entry.get("contradictions", ())),
            measured,
            entry.get("instead"),
        )
    return topics


_LOADED: dict[str, Topic] | None = None


def topics() -> dict[str, Topic]:
    """Return all topics by name."""
    global _LOADED  # noqa: PLW0603 - loaded once a process
    if _LOADED is None:
        _LOADED = _read_topics()
    return _LOADED


def topic_of(name: str) -> Topic | None:
    """Return the topic with a name, or the first about a concept of that name."""
    found = topics().get(name)
    if found is not None:
        return found
    return next((topic for topic in topics().values() if name in topic.concepts), None)
