"""What a check yields: one place in whatever file, before settings and policy."""

from __future__ import annotations

from cfgfix.core.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from cfgfix.core.edits import Change, Fix
    from cfgfix.core.findings import KeyPath, Location


class HitPlace:
    """A place of a hit in the terms of its kind of file, not yet a location."""

    __slots__ = ()


class HitChange:
    """A change of a hit in the terms of its kind of file, not yet a change of text."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Span(HitPlace):
    """A place in the text at hand: the offsets of its start and its end."""

    start: int
    end: int
    key_path: KeyPath | None = None
    """Where the value stands; None in a file that does not load, and where no value is meant."""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A place that a check found; fields that are None are taken from the rule file."""

    at: HitPlace | Location
    values: Mapping[str, object] = field(default_factory=dict)
    """Operands of the rule's message."""
    changes: tuple[Change | HitChange, ...] = ()
    """The repair by the rule's first fix; nothing for none."""
    related: tuple[HitPlace | Location, ...] = ()
    """Further places with their labels, in this file or another."""
    severity: str | None = None
    confidence: str | None = None
    safety: str | None = None
    title: str | None = None
    no_fix: str | None = None
    """Why there is no repair here although the rule usually has one."""
    notes: tuple[str, ...] = ()
    """Further lines for a reader."""
    message: str | None = None
    """The text in place of the rule's message."""
    fix: Fix | None = None
    """The repair as a whole, where the rule's first fix does not say it."""
    context: str | None = None
    """What identifies the place whatever its line; None for what the file says."""
    by_code: bool = False
    """Whether code that reads the config says what the value is, whatever the dialect makes of its key."""


def span_of(hit: Hit) -> Span:
    """Return the span of a hit that has its place in a text."""
    assert isinstance(hit.at, Span)
    return hit.at
