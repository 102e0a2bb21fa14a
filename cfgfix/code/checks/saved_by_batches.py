"""Checkpoints named after epochs and written every few batches."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.origins import Origin, origins
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, place_of, text, walk
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import FString, Literal
from cfgfix.code.model.program import Program
from cfgfix.rules.hit import Hit

_MOST = 50
"""Most batches between two saves that nobody means: an epoch of so few is written once at its end."""


def every_few_batches(program: Program) -> Iterator[Hit]:
    """Find `save_freq` of a few batches beside a name that only the epoch is in."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named("keras.callbacks.ModelCheckpoint"):
        key = id(site.scope), site.call.number
        given, path = site.call.argument(6, "save_freq"), site.call.argument(0, "filepath")
        if given is None or path is None or key in seen or written_for_one(program, site.scope):
            continue
        seen.add(key)
        found = origins(program, Origin(given, site.scope))
        counts = [constant(item.expr) for item in found]
        if not counts or not all(type(count) is int and 1 < count <= _MOST for count in counts):
            continue
        named = "".join(_texts(program, Origin(path, site.scope)))
        if "{epoch" not in named or "{batch" in named:
            continue
        elsewhere = place_of(found[0].expr, found[0].scope)
        yield hit_in(
            site.scope,
            place_of(given, site.scope) or site.call.name_place,
            site.call.block,
            {"given": text(given), "count": max(counts)},
            related=(Step(found[0].scope, elsewhere, -1, "set here"),)
            if elsewhere is not None and found[0].expr is not given
            else (),
        )


def _texts(program: Program, start: Origin, depth: int = 4) -> Iterator[str]:
    """Yield the texts that a path is put together of."""
    for found in origins(program, start) if depth > 0 else ():
        for part in walk(found.expr):
            if isinstance(part, Literal) and isinstance(part.value, str):
                yield part.value
            elif isinstance(part, FString):
                yield part.tail
                yield from (piece for piece in part.pieces if isinstance(piece, str))
            elif part is not found.expr:
                yield from _texts(program, found.at(part), depth - 1)
