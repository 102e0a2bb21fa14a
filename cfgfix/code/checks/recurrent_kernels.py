"""Recurrent layers with arguments for which Keras has no fast kernel."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import short
from cfgfix.code.checks.origins import Origin, origins
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, place_of
from cfgfix.code.model.hit import hit_in
from cfgfix.code.model.program import Program
from cfgfix.rules.hit import Hit

_LAYERS = ("keras.layers.LSTM", "keras.layers.GRU")


def without_fast_kernel(program: Program) -> Iterator[Hit]:
    """Find LSTM and GRU layers that drop connections between their steps."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named(*_LAYERS):
        key = id(site.scope), site.call.number
        given = site.call.keyword("recurrent_dropout")
        if given is None or key in seen or written_for_one(program, site.scope):
            continue
        seen.add(key)
        rates = [constant(item.expr) for item in origins(program, Origin(given, site.scope))]
        if not rates or not all(isinstance(rate, float) and 0 < rate < 1 for rate in rates):
            continue
        yield hit_in(
            site.scope,
            place_of(given, site.scope) or site.call.name_place,
            site.call.block,
            {"layer": short(site), "rate": max(rates)},
        )
