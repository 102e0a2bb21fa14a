"""Errors of device and dataset set-up that are caught and dropped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.models import method_of
from cfgfix.code.checks.runtime_start import (
    SET_GROWTH,
    SET_LIMIT,
    SET_THREADS,
    SET_VISIBLE,
    earlier_start,
    growth_by_environment,
    start_in_scope,
)
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model import comments as remarks
from cfgfix.code.model.expressions import constant, dotted, text, walk
from cfgfix.code.model.hit import hit_at
from cfgfix.code.model.nodes import Collection, Subscript
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit

_ONCE = (*SET_GROWTH, *SET_LIMIT, *SET_VISIBLE, *SET_THREADS)
_SETTERS = (
    *SET_GROWTH,
    *SET_LIMIT,
    *SET_VISIBLE,
    *SET_THREADS,
    "tensorflow.config.set_soft_device_placement",
)
_TELLS = re.compile(
    r"log|print|warn|raise|error|exception|exit|fail|traceback|info|debug|critical|report|notify",
    re.IGNORECASE,
)


def _handlers_of_try(scope: Scope, block: int) -> Iterator[tuple[int, list[Event]]]:
    """Yield the handlers of the innermost `try`: block number and statements."""
    number = block
    while number >= 0 and scope.blocks[number].kind != "try":
        number = scope.blocks[number].parent
    if number < 0:
        return
    for event in scope.events():
        if event.kind == "try" and any(item == number for item, _ in event.bodies):
            for item, body in event.bodies:
                if scope.blocks[item].kind == "except":
                    yield item, body


def _line_hiding_errors(scope: Scope, block: int) -> int | None:
    """Return the line of a handler that silently drops any error, or None."""
    for number, body in _handlers_of_try(scope, block):
        test = scope.blocks[number].test
        names = (
            []
            if test is None
            else ([dotted(item) for item in test.items] if isinstance(test, Collection) else [dotted(test)])
        )
        if test is not None and not any(
            name in ("Exception", "BaseException", "RuntimeError") for name in names
        ):
            continue
        if any(event.kind in ("raise", "assert") for event in body):
            continue
        told = False
        for call in scope.calls:
            if inside(scope, call.block, number) and _TELLS.search(text(call.func)):
                told = True
        # `return False` or `ok = False` hands the failure on; only silence hides it.
        quiet = all(event.kind in ("pass", "continue") for event in body)
        if not told and quiet and not _is_explained(scope, body) and not _tried_only(scope, number):
            return scope.blocks[number].line
    return None


_AT_WILL = re.compile(
    r"(?i)work(?:s|ing)?[- ]?around|best[- ]effort|\bignor|\boptional|\bharmless|if (?:possible|available|supported)|\bmay fail|\bcan fail"
    r"|not (?:fatal|critical|supported)"
)


def _tried_only(scope: Scope, handler: int) -> bool:
    """Tell whether a comment above a `try` says that failing is fine."""
    for event in scope.events():
        if event.kind == "try" and any(number == handler for number, _ in event.bodies):
            return any(_AT_WILL.search(line) for line in remarks.comments_above(scope, event.line))
    return False


def _is_explained(scope: Scope, body: list[Event]) -> bool:
    """Tell whether a handler contains a comment."""
    if not body:
        return False
    first, last = body[0].line, body[-1].end_line
    return any(remarks.comments_above(scope, first)) or any(remarks.comments_behind(scope, first, last))


def hidden_device_error(program: Program) -> Iterator[Hit]:
    """Find device set-up whose errors are caught and dropped."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named(*_SETTERS):
        line = _line_hiding_errors(site.scope, site.call.block)
        if line is None or (id(site.scope), line) in seen:
            continue
        if site.name in _ONCE and earlier_start(site, program) is not None:
            # That it comes too late is said of the same line, and says more.
            continue
        if site.name in SET_GROWTH and growth_by_environment(program, site):
            continue
        seen.add((id(site.scope), line))
        yield hit_at(
            site,
            flow=(),
            # Where a script begins nothing has started the devices yet, and so nothing makes it fail; nor does anything that is known
            # make memory growth fail; the number of threads changes no result; a machine without a GPU has no `gpus[0]`, and is to go on.
            severity="info"
            if site.name in SET_GROWTH
            or (site.scope.kind == "module" and start_in_scope(site, program) is None)
            or site.name in SET_THREADS
            or _one_of_none(site, line)
            else None,
            values={"setter": site.name.rpartition(".")[2], "handler": line},
        )


def _one_of_none(site: Site, line: int) -> bool:
    """Tell whether a handler also catches the IndexError of `gpus[0]`."""
    given = site.call.argument(0, "device")
    if given is None or not isinstance(given, Subscript) or type(constant(given.index)) is not int:
        return False
    name = dotted(given.base)
    if any(
        block.kind == "if"
        and block.branch
        and block.test is not None
        and name in map(dotted, walk(block.test))
        for block in site.scope.block_chain(site.call.block)
    ):
        return False
    test = next(
        site.scope.blocks[number].test
        for number, _ in _handlers_of_try(site.scope, site.call.block)
        if site.scope.blocks[number].line == line
    )
    return test is None or dotted(test) in ("Exception", "BaseException")


def hidden_dataset_error(program: Program) -> Iterator[Hit]:
    """Find dataset set-up whose errors are caught and dropped."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).under("tensorflow.data."):
        method = method_of(site)
        if (
            method
            not in (
                "with_options",
                "prefetch",
                "apply",
                "cache",
                "shuffle",
                "map",
                "batch",
                "interleave",
            )
            and site.name != "tensorflow.data.experimental.prefetch_to_device"
        ):
            continue
        line = _line_hiding_errors(site.scope, site.call.block)
        if line is None or (id(site.scope), line) in seen:
            continue
        seen.add((id(site.scope), line))
        yield hit_at(site, flow=(), values={"what": method or "prefetch_to_device", "handler": line})
