"""Masks of padded sequences that a custom layer does not pass on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, is_name, is_true
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Expr, Name, Place
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Instance, Items, Made, Site, Value, alternatives
from cfgfix.rules.hit import Hit

_READS = re.compile(
    r"keras\.layers\.(?:LSTM|GRU|SimpleRNN|RNN|Bidirectional|GlobalAveragePooling1D|GlobalAvgPool1D)"
)
"""Layers that leave masked steps out."""
_HANDS_ON = re.compile(
    r"keras\.layers\.(?:(?:Spatial|Gaussian|Alpha)?Dropout(?:1D)?|GaussianNoise|LayerNormalization|BatchNormalization|Dense|Activation|ReLU|LeakyReLU"
    r"|TimeDistributed|LSTM|GRU|SimpleRNN|Bidirectional)"
)
_PLAIN_BASES = frozenset({"keras.Layer", "keras.layers.Layer"})
_MOST_LAYERS = 12

_Link = tuple[Value, Scope, Call]
"""A layer, and the call that runs it on what came before, or that puts it into a list."""


def mask_lost(program: Program) -> Iterator[Hit]:
    """Find custom layers that lose a mask which a later layer reads."""
    seen: set[tuple[int, int]] = set()
    for chain in _layer_chains(program):
        lost: tuple[Instance, Scope, Call] | None = None
        mask: Call | None = None
        for value, scope, call in chain:
            if _makes_mask(value):
                mask, lost = call, None
            elif mask is None:
                continue
            elif isinstance(value, Instance):
                if lost is None:
                    if not _ignores_masks(program, value.scope):
                        mask = None
                        continue
                    lost = value, scope, call
            elif (
                isinstance(value, Made)
                and _READS.fullmatch(value.name) is not None
                and call.keyword("mask") is None
            ):
                if lost is not None:
                    layer, where, place = lost
                    key = id(where), place.number
                    if key not in seen and not written_for_one(program, where):
                        seen.add(key)
                        yield hit_in(
                            where,
                            _layer_name_place(place),
                            place.block,
                            {
                                "layer": layer.scope.name,
                                "reader": value.name.rpartition(".")[2],
                                "line": call.line,
                                "made": mask.line,
                            },
                            related=(
                                Step(layer.scope, layer.scope.place, 0, "says nothing of masks"),
                                Step(scope, _layer_name_place(call), call.block, "reads the padding as well"),
                            ),
                        )
                mask = None
            elif not (isinstance(value, Made) and _HANDS_ON.fullmatch(value.name) is not None):
                mask = None


def _layer_name_place(call: Call) -> Place:
    """Return the place of the layer's name in a layer call."""
    return call.func.name_place if isinstance(call.func, Call) else call.name_place


def _makes_mask(value: Value) -> bool:
    if not isinstance(value, Made) or value.site is None:
        return False
    if value.name == "keras.layers.Masking":
        return True
    return value.name == "keras.layers.Embedding" and is_true(value.site.call.keyword("mask_zero"))


@once
def _ignores_masks(program: Program, owner: Scope) -> bool:
    """Tell whether a class is a plain layer that never mentions masks."""
    classes, outside = program.bases(owner)
    if not outside or not all(name in _PLAIN_BASES for name in outside):
        return False
    for item in classes:
        if "compute_mask" in item.children or ("call" not in classes[0].children and len(classes) == 1):
            return False
        if sum(len(base.bases) for base in classes) > len(classes) - 1 + len(outside):
            return False
        lines = item.module.source_lines()[item.place.line - 1 : item.place.end_line]
        if any("supports_masking" in line or "_keras_mask" in line for line in lines):
            return False
    return True


def _layer_chains(program: Program) -> Iterator[list[_Link]]:
    """Yield the layers of models in order: listed, added or called."""
    flow = flow_of(program)
    for model in flow.named("keras.Sequential"):
        for value in alternatives(model.argument(0, "layers")):
            if isinstance(value, Items):
                yield [link for item in value.items for link in _of_list(item, model)]
        yield _added_layers(program, model)
    for module in program.modules:
        for scope in module.summary.scopes:
            if scope.kind in ("function", "module"):
                yield from _called_layers(program, scope)


def _of_list(item: Value, model: Site) -> Iterator[_Link]:
    site = item.site if isinstance(item, Made) else None
    yield item, model.scope, site.call if site is not None else model.call


def _added_layers(program: Program, model: Site) -> list[_Link]:
    """Return the layers that `add` calls of one block add to a model, in order."""
    scope = model.scope
    name = next(
        (
            event.targets[0].name
            for event in scope.events()
            if event.value is model.call and len(event.targets) == 1 and isinstance(event.targets[0], Name)
        ),
        None,
    )
    adds = scope.calls_on(name, "add") if name is not None else []
    if name is None or len(scope.binding(name)) != 1 or len({call.block for call in adds}) > 1:
        return []
    found: list[_Link] = []
    for call in sorted(adds, key=lambda call: call.place):
        # The last run that came here is the one that knows most.
        sites = [site for site in flow_of(program).of_calls(scope, (call.number,)) if site.call is call]
        site = sites[-1] if sites else None
        value = site.argument(0, "layer") if site is not None else None
        found.append((value if value is not None else Value(), scope, call))
    return found


def _called_layers(program: Program, scope: Scope) -> Iterator[list[_Link]]:
    """Yield chains of layers called on each other's results.

    Each chain ends at a layer that reads a mask.
    """
    sites: dict[int, Site] | None = None
    for call in scope.calls:
        if not call.args or not isinstance(call.func, (Call, Attribute, Name)):
            continue
        if sites is None:
            sites = {id(site.call): site for site in flow_of(program).within(scope)}
        site = sites.get(id(call))
        value = _only_layer(site)
        if not isinstance(value, Made) or _READS.fullmatch(value.name) is None:
            continue
        chain: list[_Link] = [(value, scope, call)]
        here: Call | None = call
        for _ in range(_MOST_LAYERS):
            here = _call_before(scope, here) if here is not None else None
            if here is None:
                break
            found = _only_layer(sites.get(id(here)))
            if found is None:
                break
            chain.append((found, scope, here))
        yield chain[::-1]


def _only_layer(site: Site | None) -> Value | None:
    """Return the only layer that a call may run, or None."""
    values = alternatives(site.callee) if site is not None else ()
    return values[0] if len(values) == 1 and isinstance(values[0], (Made, Instance)) else None


def _call_before(scope: Scope, call: Call) -> Call | None:
    """Return the call whose result another call gets, or None."""
    expr: Expr = call.args[0]
    if isinstance(expr, Name):
        bound = [
            event
            for event in scope.binding(expr.name)
            if event.place.start < call.place.start and event.value is not call
        ]
        last = bound[-1] if bound else None
        if last is None or last.kind != "assign" or last.block != call.block or last.value is None:
            return None
        if len(last.targets) != 1 or not is_name(last.targets[0], expr.name):
            return None
        expr = last.value
    return (
        expr if isinstance(expr, Call) and expr.args and constant(expr.keyword("mask")) is not None else None
    )
