"""Caches after a repeat, which hold every repetition of the data."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import line_of_site
from cfgfix.code.checks.guarded_calls import number
from cfgfix.code.checks.order import kind
from cfgfix.code.checks.pipelines import is_done_to_all_members, pipelines_to, possible
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant
from cfgfix.code.model.hit import at, hit_at
from cfgfix.code.model.program import Program
from cfgfix.code.model.values import Dataset, Site
from cfgfix.rules.hit import Hit

_ENDS = frozenset({"take", "window", "group_by_window", "scan", "unknown", "flat_map", "interleave"})
"""Operations behind which data without end may have one, or is other data."""


def behind_repeat(program: Program) -> Iterator[Hit]:
    """Find caches of repeated data."""
    told: set[tuple[int, int]] = set()
    for dataset in flow_of(program).datasets:
        cache = dataset.site
        if kind(dataset) != "cache" or cache is None or (id(cache.scope), cache.call.number) in told:
            continue
        for way in pipelines_to(dataset):
            repeat = _nearest_repeat(way[1:])
            if (
                repeat is None
                or not possible(program, way)
                or not is_done_to_all_members(way, repeat, ("repeat",))
            ):
                continue
            site = repeat.site
            assert site is not None
            told.add((id(cache.scope), cache.call.number))
            endless = _is_endless(site)
            yield hit_at(
                cache,
                values={
                    "line_of": line_of_site(cache, site),
                    "then": "it is never full, is never read, and grows by the whole data in every epoch"
                    if endless
                    else "it holds the data once for every turn of the repeat",
                },
                needs=((site.scope, site.call.block),),
                related=(at(site, label="repeated here"),),
            )
            break


def _nearest_repeat(way: list[Dataset]) -> Dataset | None:
    """Return the nearest step that repeats the data before a cache, or None."""
    for step in way:
        if kind(step) in _ENDS:
            return None
        if kind(step) == "repeat" and step.site is not None:
            count = number(step.site.argument(0, "count"))
            if _is_endless(step.site) or (count is not None and count > 1):
                return step
            return None
    return None


def _is_endless(site: Site) -> bool:
    given = site.call.argument(0, "count")
    return not site.call.opaque and (given is None or constant(given) in (None, -1))
