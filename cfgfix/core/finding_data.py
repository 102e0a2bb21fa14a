"""Findings as plain data that `marshal` can write, for the cache."""

from __future__ import annotations

from cfgfix.core.edits import FileChanges, Fix, ReplaceText, Safety, SetValue
from cfgfix.core.findings import Confidence, Finding, Location, Severity, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def pack_finding(item: Finding) -> tuple[Any, ...]:
    """Return a finding in source code as plain data."""
    fix = None
    if item.fix is not None:
        fix = (
            item.fix.title,
            int(item.fix.safety),
            [(c.start, c.end, c.new) for c in item.fix.changes if isinstance(c, ReplaceText)],
            item.fix.why,
            [
                (other.path, [(c.path, c.value) for c in other.changes if isinstance(c, SetValue)])
                for other in item.fix.elsewhere
            ],
        )
    return (
        item.rule, item.name, int(item.severity), int(item.confidence), item.message, _pack_location(item.location),
        [_pack_location(other) for other in item.related], item.state.value, fix, item.no_fix_reason, item.notes,
        [_pack_location(step) for step in item.flow], item.context, item.unpinned,
    )  # fmt: skip


def unpack_finding(data: tuple[Any, ...]) -> Finding:
    """Return the finding that `pack_finding` made data of."""
    (
        rule,
        name,
        severity,
        confidence,
        message,
        location,
        related,
        state,
        fix,
        reason,
        notes,
        flow,
        context,
        unpinned,
    ) = data
    return Finding(
        rule=rule,
        name=name,
        severity=Severity(severity),
        confidence=Confidence(confidence),
        message=message,
        location=Location(*location),
        related=tuple(Location(*item) for item in related),
        state=State(state),
        fix=_unpack_fix(fix) if fix else None,
        no_fix_reason=reason,
        notes=notes,
        flow=tuple(Location(*item) for item in flow),
        context=context,
        unpinned=unpinned,
    )


def _unpack_fix(data: tuple[Any, ...]) -> Fix:
    title, safety, changes, why, elsewhere = data
    return Fix(
        title,
        Safety(safety),
        tuple(ReplaceText(*item) for item in changes),
        why,
        tuple(
            FileChanges(path, tuple(SetValue(tuple(key), value) for key, value in items))
            for path, items in elsewhere
        ),
    )


def _pack_location(item: Location) -> tuple[Any, ...]:
    return (
        item.path,
        item.start,
        item.end,
        item.line,
        item.column,
        item.end_line,
        item.end_column,
        item.label,
    )
