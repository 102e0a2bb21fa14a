"""Initializers that give several tables of embeddings the same numbers."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.releases import keras_three
from cfgfix.code.model.expressions import constant, text
from cfgfix.code.model.hit import at, hit_at
from cfgfix.code.model.program import Program
from cfgfix.code.model.values import Made, Site, alternatives
from cfgfix.rules.hit import Hit

_RANDOM = frozenset(
    f"keras.initializers.{name}" for name in ("RandomNormal", "RandomUniform", "TruncatedNormal")
)


def shared_embedding_initializers(program: Program) -> Iterator[Hit]:
    """Find one initializer of two embeddings that stand side by side."""
    found: dict[tuple[int, int, str], list[Site]] = {}
    makers: dict[int, Site] = {}
    for site in flow_of(program).named("keras.layers.Embedding"):
        if written_for_one(program, site.scope) or site.call.opaque:
            continue
        width = site.call.argument(1, "output_dim")
        for value in alternatives(site.argument(2, "embeddings_initializer")):
            if (
                width is not None
                and isinstance(value, Made)
                and value.site is not None
                and value.name in _RANDOM
                and (type(constant(value.site.call.keyword("seed"))) is int or bool(keras_three(program)))
            ):
                key = (id(value.site.call), id(site.scope), text(width))
                sites = found.setdefault(key, [])
                if all(other.call is not site.call for other in sites):
                    sites.append(site)
                makers[id(value.site.call)] = value.site
    for (made, _, shown), sites in found.items():
        if len(sites) < 2:
            continue
        maker = makers[made]
        yield hit_at(
            maker,
            flow=(),
            values={"count": len(sites), "width": shown, "line": sites[0].call.name_line},
            related=tuple(at(site, label="begins with these numbers") for site in sites),
        )
