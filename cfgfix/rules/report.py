"""Make findings and fixes by a rule: the one way from what a check saw to what a user is told."""

from __future__ import annotations

from cfgfix.core.edits import Fix, Safety
from cfgfix.core.findings import Confidence, Finding, Location, Severity, State, format_key_path
from cfgfix.core.records import replace
from cfgfix.rules.expression import Missing
from cfgfix.rules.hit import HitChange, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any, Protocol

    from cfgfix.core.edits import Change
    from cfgfix.core.findings import KeyPath
    from cfgfix.core.source_file import SourceFile
    from cfgfix.rules.expression import Scope
    from cfgfix.rules.hit import Hit, HitPlace
    from cfgfix.rules.rule import Rule
else:
    Protocol = object


class Operands:
    """The operands that a hit gives to a message; None counts as unknown."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def value(self, name: str) -> Any:
        """Return an operand's value or raise `Missing`."""
        found = self._values.get(name)
        if found is None:
            raise Missing(name)
        return found

    def has(self, name: str) -> bool:
        """Tell whether an operand has a known value."""
        return self._values.get(name) is not None

    def given(self, name: str) -> bool:
        """Tell whether an operand has a known value, as `has` does."""
        return self.has(name)

    def tier(self, table: str, column: str, gib: float) -> Any:
        """Raise `Missing`: a message has no tables."""
        raise Missing(f"{table}.{column} at {gib}")

    def gpu(self, index: int, field: str) -> Any:
        """Raise `Missing`: a message knows no machine."""
        raise Missing(f"{field} of {index}")


class HitFile(Protocol):
    """Turns places and changes of hits into locations and changes of a file's text."""

    def location(self, place: HitPlace | Location) -> Location:
        """Return the location of a place in the file."""

    def about(self, hit: Hit, location: Location) -> tuple[Mapping[str, object], str]:
        """Return the operands that any message may use, and the context of the finding."""

    def changes(self, hit: Hit) -> tuple[tuple[Change, ...], str | None]:
        """Return the changes that repair a hit, and the reason why there are none."""


class TextFile:
    """A file whose hits are spans of its text."""

    __slots__ = ("_source",)

    def __init__(self, source: SourceFile) -> None:
        self._source = source

    def location(self, place: HitPlace | Location) -> Location:
        """Return the location of a span; a location is returned unchanged."""
        if isinstance(place, Span):
            return self._source.location(place.start, place.end, place.label or None)
        assert isinstance(place, Location)
        return place

    def about(self, hit: Hit, location: Location) -> tuple[Mapping[str, object], str]:
        """Return the operands `key`, `name` and `raw` of a hit, and its text as context."""
        path = key_path_of(hit)
        raw = self._source.text[location.start : location.end]
        key = format_key_path(path) if path is not None else ""
        return {"key": key, "name": str(path[-1]) if path else "", "raw": raw}, raw[:200]

    def changes(self, hit: Hit) -> tuple[tuple[Change, ...], str | None]:
        """Return the changes of a hit unchanged, and the reason why there are none."""
        return tuple(change for change in hit.changes if not isinstance(change, HitChange)), hit.no_fix


def key_path_of(hit: Hit) -> KeyPath | None:
    """Return the key path of a hit's span, or None where the hit has none."""
    return hit.at.key_path if isinstance(hit.at, Span) else None


def severity_of(rule: Rule, hit: Hit) -> Severity:
    """Return the severity of a hit, else of its rule, before policy and settings."""
    return Severity[hit.severity.upper()] if hit.severity else rule.severity


def make_finding(
    rule: Rule,
    hit: Hit,
    file: HitFile,
    *,
    severity: Severity | None = None,
    state: State = State.ACTIVE,
    flow: tuple[Location, ...] = (),
    via: str = "",
    notes: tuple[str, ...] = (),
    unpinned: bool = False,
) -> Finding:
    """Return a finding made of a rule and a hit.

    A field that the hit leaves open is taken from the rule file.

    Args:
        rule: The rule.
        hit: What its check found.
        file: The file that it was found in.
        severity: How bad it is here, after policy and settings; None for what the hit says.
        state: Whether it takes effect.
        flow: The way to the place.
        via: The operand `via` of the message for that way; empty for the hit's own.
        notes: Lines for a reader beside those of the hit.
        unpinned: Whether it speaks of the newest release because nothing pins one.
    """
    location = file.location(hit.at)
    message, context, fix, no_fix = hit.message, hit.context, hit.fix, hit.no_fix
    if message is None or context is None or hit.changes:
        values, text = file.about(hit, location)
        operands = Operands({**values, **hit.values, **({"via": via} if via else {})})
        if message is None:
            message = str(rule.message(operands))
        if context is None:
            context = text
        if hit.changes:
            changes, no_fix = file.changes(hit)
            fix = make_fix(rule, operands, changes, safety=hit.safety, title=hit.title)
    return Finding(
        rule=rule.id,
        name=rule.name,
        severity=severity_of(rule, hit) if severity is None else severity,
        confidence=Confidence[hit.confidence.upper()] if hit.confidence else rule.confidence,
        message=message,
        location=location,
        related=tuple(map(file.location, hit.related)),
        key_path=key_path_of(hit),
        state=state,
        fix=fix,
        no_fix_reason=None if fix is not None else (no_fix or rule.no_fix),
        notes=(*hit.notes, *notes),
        flow=flow,
        context=context,
        unpinned=unpinned,
    )


def make_fix(
    rule: Rule,
    scope: Scope,
    changes: tuple[Change, ...],
    *,
    safety: str | None = None,
    title: str | None = None,
) -> Fix | None:
    """Return a fix made of changes, with the rule's title and safety unless given.

    None where there are no changes.

    Args:
        rule: The rule, whose first fix tells what the check does not.
        scope: The operands of the title.
        changes: What is changed; nothing is no fix.
        safety: The word for how safe it is here.
        title: What it does here.
    """
    if not changes:
        return None
    spec = rule.fixes[0] if rule.fixes else None
    return Fix(
        title or (str(spec.title(scope)) if spec is not None else ""),
        Safety[safety.upper()] if safety else (spec.safety if spec is not None else Safety.DISPLAY),
        changes,
        spec.why if spec is not None else "",
    )


def tell_cut(findings: list[Finding], cut: Collection[str], most: int) -> None:
    """Add a note to the last finding of each cut rule that there are more.

    Args:
        findings: What is listed of one file, in order; changed in place.
        cut: The rules of which that is only a part.
        most: How many of one rule are listed.
    """
    open_rules = set(cut)
    for number in range(len(findings) - 1, -1, -1):
        if not open_rules:
            return
        finding = findings[number]
        if finding.rule in open_rules:
            open_rules.remove(finding.rule)
            note = f"there are more of this rule in the file: {most:,} are listed"
            findings[number] = replace(finding, notes=(*finding.notes, note))
