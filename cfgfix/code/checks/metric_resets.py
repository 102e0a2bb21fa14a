"""Metrics that accumulate over epochs because nothing resets them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import in_tests
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.expressions import dotted, text
from cfgfix.code.model.hit import at, hit_at
from cfgfix.code.model.nodes import (
    Attribute,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Made, Site, alternatives
from cfgfix.rules.hit import Hit

_Key = tuple[int, int]


_RESETS = frozenset({"reset_state", "reset_states", "reset_metrics", "reset"})


_METRICS = "keras.metrics."


def unreset_metric(program: Program) -> Iterator[Hit]:
    """Find metrics that are read once per epoch and never reset.

    Each reading is then the mean over all epochs so far.
    """
    updates, results, reset = _metric_calls(program)
    together: dict[tuple[int, ...], list[tuple[Site, Site, Site]]] = {}
    for key, reads in results.items():
        made = next(site for read in reads for site in _calls_making_metric(read) if _metric_key(site) == key)
        if key in reset or key not in updates or in_tests(made.scope):
            continue
        if _reset_by_others(program, [made, *reads, *updates[key]]) or written_for_one(program, made.scope):
            continue
        for read in reads:
            found = _once_an_epoch(program, made, read, updates[key])
            if found is not None:
                around = (id(read.scope), *_loops_around(read.scope, read.call.block))
                together.setdefault(around, []).append((read, found, made))
                break
    for group in together.values():
        group.sort(key=lambda item: item[0].call.place)
        read, found, _ = group[0]
        names = list(dict.fromkeys(text(item.call.receiver) for item, _, _ in group))
        yield hit_at(
            found,
            flow=(),
            values={
                "metric": ", ".join(names[:4]) + (" ..." if len(names) > 4 else ""),
                "are": "is" if len(names) == 1 else "are",
                "its": "its result is" if len(names) == 1 else "their results are",
                "line": read.call.name_line,
            },
            related=(
                at(read, label="read here"),
                *(at(made, label="the metric") for _, _, made in group[:4]),
                *(at(other, label="read here") for other, _, _ in group[1:4]),
            ),
        )


def _metric_key(site: Site) -> _Key:
    return id(site.scope), site.call.number


def _calls_making_metric(site: Site) -> list[Site]:
    """Return the calls that made the metric which a call updates, reads or runs."""
    values = (
        alternatives(site.receiver)
        if isinstance(site.call.func, Attribute) and not site.name.endswith(".__call__")
        else alternatives(site.callee)
    )
    return [
        value.site
        for value in values
        if isinstance(value, Made) and value.site is not None and value.name.startswith(_METRICS)
    ]


def _metric_calls(program: Program) -> tuple[dict[_Key, list[Site]], dict[_Key, list[Site]], set[_Key]]:
    updates: dict[_Key, list[Site]] = {}
    results: dict[_Key, list[Site]] = {}
    reset: set[_Key] = set()
    for site in flow_of(program).under(_METRICS):
        last = site.name.rpartition(".")[2]
        for made in _calls_making_metric(site):
            if last in ("update_state", "__call__"):
                updates.setdefault(_metric_key(made), []).append(site)
            elif last == "result":
                results.setdefault(_metric_key(made), []).append(site)
            elif last in _RESETS:
                reset.add(_metric_key(made))
    return updates, results, reset


def _reset_by_others(program: Program, sites: list[Site]) -> bool:
    """Tell whether the files of metrics reset objects that are not known."""
    modules = {id(site.scope.module): site.scope.module for site in sites}
    for module in modules.values():
        for scope in module.summary.scopes:
            known = {
                site.call.number
                for site in flow_of(program).within(scope)
                if site.name.startswith(_METRICS) and site.call.method in _RESETS
            }
            if any(call.method in _RESETS and call.number not in known for call in scope.calls):
                return True
    return False


def _once_an_epoch(program: Program, made: Site, read: Site, updates: list[Site]) -> Site | None:
    """Return the update that fills a metric in a loop before each read, or None."""
    scope = read.scope
    around = _loops_around(scope, read.call.block)
    for update in updates:
        if update.scope is scope:
            inner = [number for number in _loops_around(scope, update.call.block) if number not in around]
            if inner and _comes_again(program, scope, around, made):
                return update
            if _within_epochs(scope, _loops_around(scope, update.call.block), around, made):
                return update
            continue
        for call in _leading_to(program, scope, update.scope):
            inner = [number for number in _loops_around(scope, call.call.block) if number not in around]
            if (
                inner
                and call.call.place.start < read.call.place.start
                and _comes_again(program, scope, around, made)
            ):
                return update
            if (
                not inner
                and around
                and call.call.place.start < read.call.place.start
                and _loops_around(scope, call.call.block) == around
                and _fills_in_loop(program, call, update)
                and not _made_inside(scope, around, made)
            ):
                return update
            if _within_epochs(scope, _loops_around(scope, call.call.block), around, made):
                return update
    return None


_RUNNING = re.compile(r"running|overall|global|total|moving|cumul|ever|_all|all_", re.IGNORECASE)


"""Names of metrics that are meant to go on over the epochs."""


def _within_epochs(scope: Scope, filled: list[int], read: list[int], made: Site) -> bool:
    """Tell whether each turn of a loop inside an epoch loop fills and reads a metric.

    A metric named as a running one does not count. The metric is meant to run over the batches of one epoch.
    """
    if len(read) < 2 or filled[: len(read)] != read or _made_inside(scope, read[1:], made):
        return False
    names = {
        dotted(target) or ""
        for event in made.scope.events()
        if event.value is made.call
        for target in event.targets
    }
    if any(_RUNNING.search(name) for name in names):
        return False
    return any(_counts_epochs(scope, number) for number in read[1:])


def _counts_epochs(scope: Scope, loop: int) -> bool:
    """Tell whether a `for` loop speaks of epochs in its variable or iterable."""
    return any(
        "epoch" in text(part).lower()
        for event in scope.events()
        if event.kind == "for" and any(number == loop for number, _ in event.bodies)
        for part in (*event.targets, event.value)
        if part is not None
    )


def _loops_around(scope: Scope, block: int) -> list[int]:
    return [number for number in scope.block_numbers(block) if scope.blocks[number].kind in ("for", "while")]


def _comes_again(program: Program, scope: Scope, around: list[int], made: Site) -> bool:
    """Tell whether a place is reached repeatedly with the same metric."""
    if around:
        return not _made_inside(scope, around, made)
    if made.scope is scope or scope.kind != "function":
        return False
    return any(
        _loops_around(caller.scope, caller.call.block)
        and not _made_inside(caller.scope, _loops_around(caller.scope, caller.call.block), made)
        for caller in flow_of(program).callers(scope)
    )


def _made_inside(scope: Scope, loops: list[int], made: Site) -> bool:
    """Tell whether a loop makes a metric anew in each turn."""
    return made.scope is scope and any(inside(scope, made.call.block, number) for number in loops)


def _leading_to(program: Program, scope: Scope, target: Scope, depth: int = 3) -> list[Site]:
    """Return the calls in a scope that lead to a project function."""
    found = []
    for site in flow_of(program).within(scope):
        pending = [(item.scope, 1) for item in site.targets]
        seen: set[int] = set()
        while pending:
            here, steps = pending.pop()
            if here is target:
                found.append(site)
                break
            if id(here) in seen or steps >= depth:
                continue
            seen.add(id(here))
            pending += [
                (item.scope, steps + 1) for inner in flow_of(program).within(here) for item in inner.targets
            ]
    return found


def _fills_in_loop(program: Program, call: Site, update: Site) -> bool:
    """Tell whether a called function updates a metric in a loop."""
    for target in call.targets:
        here = target.scope
        if here is update.scope:
            if _loops_around(here, update.call.block):
                return True
        elif any(
            _loops_around(here, inner.call.block) for inner in _leading_to(program, here, update.scope, 2)
        ):
            return True
    return False
