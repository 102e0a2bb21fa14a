"""Summaries as data that `marshal` reads and writes at memory speed, and back."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from cfgfix.code.model.summary import NO_NAMES, Block, Call, Event, Expr, ModuleSummary, Place, Scope

_BLOCK = operator.attrgetter("parent", "kind", "test", "branch", "line")
_CALL = operator.attrgetter("func", "args", "keywords", "block", "place")


def pack(summary: ModuleSummary) -> tuple[Any, ...]:
    """Return a summary as data that `marshal` can write."""
    return (
        [
            (
                scope.kind, scope.name, scope.qualname, scope.parent, scope.block, scope.place, scope.params,
                scope.decorators, scope.returns, scope.bases, scope.is_async, scope.generator, list(scope.names),
                list(scope.outer), scope.imports, scope.stars, scope.children,
                list(map(_BLOCK, scope.blocks)), list(map(_CALL, scope.calls)),
                _pack_events(scope.body), scope.references,
            )
            for scope in summary.scopes
        ],
        summary.suppressions,
        summary.problem,
        summary.cells,
        summary.lines,
        summary.words,
    )  # fmt: skip


def unpack(data: tuple[Any, ...]) -> ModuleSummary:
    """Return the summary that `pack` made data of."""
    scopes, suppressions, problem, cells, lines, words = data
    summary = ModuleSummary()
    summary.suppressions = suppressions
    summary.problem = problem
    summary.cells = cells
    summary.lines = lines
    summary.words = words
    for number, item in enumerate(scopes):
        (
            kind, name, qualname, parent, block, place, params, decorators, returns, bases, is_async, generator, names,
            outer, imports, stars, children, blocks, calls, body, references,
        ) = item  # fmt: skip
        scope = Scope(number, kind, name, qualname, parent, block, place)
        scope.params = params
        scope.decorators = decorators
        scope.returns = returns
        scope.bases = bases
        scope.is_async = is_async
        scope.generator = generator
        scope.names = set(names)
        scope.outer = frozenset(outer) if outer else NO_NAMES
        scope.imports = imports
        scope.stars = stars
        scope.children = children
        scope.blocks = [Block(*fields) for fields in blocks]
        scope.calls = [
            Call(func, args, keywords, number, span, index)
            for index, (func, args, keywords, number, span) in enumerate(calls)
        ]
        scope.body = _unpack_events(body)
        scope.references = references
        summary.scopes.append(scope)
    return summary


def _pack_events(events: Iterable[Event]) -> list[tuple[Any, ...]]:
    # Most statements have no suites, and nothing beside what they bind and what they compute.
    return [
        (e.kind, e.block, e.place, e.targets, e.value)
        if e.extra is None and not e.bodies
        else (
            e.kind, e.block, e.place, e.targets, e.value, e.extra,
            [(block, _pack_events(body)) for block, body in e.bodies],
        )
        for e in events
    ]  # fmt: skip


def _unpack_events(data: list[tuple[Any, ...]]) -> list[Event]:
    return [Event(*item) if len(item) == 5 else _unpack_event(*item) for item in data]


def _unpack_event(
    kind: str,
    block: int,
    place: Place,
    targets: tuple[Expr, ...],
    value: Expr | None,
    extra: Any,
    bodies: Any,
) -> Event:
    inner = tuple([(number, _unpack_events(body)) for number, body in bodies])
    return Event(kind, block, place, targets, value, extra, inner)
