"""Layers whose input does not fit: too small for a window, or of another rank."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cfgfix.code.checks.layer_ranks import Misfit, is_certain, without_sequence
from cfgfix.code.checks.outputs import constant_in_every_call
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.flow.symbolic import MERGES
from cfgfix.code.inference.references import api
from cfgfix.code.model.expressions import is_none
from cfgfix.code.model.hit import Step, at, hit_in
from cfgfix.code.model.nodes import Collection, Expr, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.values import Constant, External, Items, Made, Site, Value, alternatives
from cfgfix.code.tensorflow.api import Api
from cfgfix.code.tensorflow.layers.all_layers import layer_sizes
from cfgfix.code.tensorflow.layers.sizes import (
    UNKNOWN,
    Arguments,
    Layer,
    MisfitError,
    Named,
    Shape,
    UnknownSize,
)
from cfgfix.rules.hit import Hit

_LAYERS = "keras.layers."
_CALL = ".__call__"
_INPUTS = ("keras.Input", "keras.layers.Input", "keras.layers.InputLayer")
_LEAST = {"Xception": 71, "InceptionV3": 75, "InceptionResNetV2": 75}
_USUAL_LEAST = 32
"""Smallest height and width that an application of Keras takes, where it is none of those above."""
_OF_APPLICATIONS = ("ConvNeXt", "DenseNet", "EfficientNet", "Inception", "MobileNet", "NASNet", "ResNet", "VGG", "Xception")  # fmt: skip
_DEPTH = 400


def does_not_fit(program: Program) -> Iterator[Hit]:
    """Find layers and networks that refuse the shape of their input."""
    if any(site.call.method == "set_image_data_format" for site in flow_of(program).sites):
        return
    shapes = _LayerShapes(program)
    seen: set[tuple[int, int]] = set()
    found = [
        item
        for item in (*shapes.called(), *shapes.sequential(), *_application_misfits(program))
        if is_certain(item[0])
    ]
    for site, layer, first, says in (*found, *without_sequence(program)):
        key = id(layer.scope), layer.call.number
        if key in seen or written_for_one(program, site.scope):
            continue
        seen.add(key)
        related: tuple[Step, ...] = (at(first, label="the shape begins here"),) if first is not None else ()
        shown = layer.name.rpartition(".")[2]
        yield hit_in(
            layer.scope,
            layer.call.name_place,
            layer.call.block,
            {"layer": shown, "says": says},
            related=related,
        )


def _gives_tensor(site: Site) -> bool:
    """Tell whether a call passes a tensor to a Keras layer."""
    return site.name in MERGES or (site.name.startswith(_LAYERS) and site.name.endswith(_CALL))


def _is_of(value: Value, site: Site) -> bool:
    """Tell whether a value is made in the same run of its function as a call.

    A function entered again with alike values is not run again, so its result keeps the old shape.
    """
    if not isinstance(value, Made) or value.site is None:
        return False
    ways, own = value.site.through, site.through
    common = sum(1 for one, other in zip(ways, own, strict=False) if one is other)
    return not any(one.also for one in ways[common:])


class _LayerShapes:
    """The known output shapes of a program's layers."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._table: Api = api(program)
        self._known: dict[int, tuple[Shape, Site] | None] = {}

    def called(self) -> Iterator[Misfit]:
        """Yield the layer calls whose tensor does not fit."""
        for site in flow_of(self._program).sites:
            if _gives_tensor(site):
                found = self._misfit_at(site)
                if found is not None:
                    yield found

    def _misfit_at(self, site: Site) -> Misfit | None:
        layer, inputs = self._layer_of(site), self._input_shapes(site)
        if layer is None or inputs is None:
            return None
        try:
            layer_sizes(self.layer(layer), tuple(shape for shape, _ in inputs))
        except MisfitError as error:
            return site, layer, inputs[0][1], str(error)
        except UnknownSize:
            pass
        return None

    def _layer_of(self, site: Site) -> Site | None:
        """Return the call that made the layer of a layer call, or None."""
        if site.name in MERGES:
            return site
        made = alternatives(site.callee)
        if len(made) != 1 or not isinstance(made[0], Made) or not made[0].name.startswith(_LAYERS):
            return None
        return made[0].site

    def _input_shapes(self, site: Site) -> list[tuple[Shape, Site]] | None:
        if site.call.opaque or not site.args:
            return None
        given = site.args[0]
        values = given.items if isinstance(given, Items) else (given,)
        found = [self._shape_of_tensor(item) if _is_of(item, site) else None for item in values]
        known = [item for item in found if item is not None]
        return known if known and len(known) == len(found) else None

    def _shape_of_tensor(self, value: Value, depth: int = 0) -> tuple[Shape, Site] | None:
        """Return a Keras tensor's shape and the input that it comes from, or None."""
        if not isinstance(value, Made) or value.site is None or depth > _DEPTH:
            return None
        site = value.site
        key = id(value)
        if key in self._known:
            return self._known[key]
        self._known[key] = None
        found: tuple[Shape, Site] | None = None
        if site.name in _INPUTS:
            shape = self.argument(site, 0, "shape")
            found = (shape, site) if _is_shape(shape) and not site.call.opaque else None
        elif _gives_tensor(site):
            layer, inputs = self._layer_of(site), self._input_shapes(site)
            if layer is not None and inputs is not None:
                try:
                    made = layer_sizes(self.layer(layer), tuple(shape for shape, _ in inputs))
                    found = made.output, inputs[0][1]
                except UnknownSize:
                    found = None
        self._known[key] = found
        return found

    def layer(self, site: Site) -> Layer:
        """Return a layer with the arguments of the call that makes the layer.

        Raises:
            UnknownSize: What it is made with is not shown.
        """
        if site.call.opaque:
            raise UnknownSize
        merges = MERGES.get(site.name)
        args = site.args if merges is None else ()
        order = self._table.order(site.name) if args else ()
        if len(args) > len(order) or (merges is not None and len(site.args) > 1):
            raise UnknownSize
        given = {name: _argument_value(value, self) for name, value in zip(order, args, strict=False)}
        given.update((name, self.argument(site, None, name)) for name in site.keywords)
        return Layer(merges or site.name.rpartition(".")[2], Arguments(given))

    def argument(self, site: Site, position: int | None, name: str) -> Any:
        """Return an argument's value.

        A parameter of the function around has the value that all callers pass.
        """
        expr = site.call.keyword(name) if position is None else site.call.argument(position, name)
        value = site.keywords.get(name) if position is None else site.argument(position, name)
        return _argument_value(value, self) if expr is None else self._written_shape(expr, value, site)

    def _written_shape(self, expr: Expr, value: Value | None, site: Site) -> Any:
        if isinstance(expr, Name) and (value is None or type(value) is Value):
            given = constant_in_every_call(self._program, site.scope, expr.name)
            return given.value if given is not None else UNKNOWN
        if isinstance(expr, Collection) and isinstance(value, Items) and len(expr.items) == len(value.items):
            sizes = [self._written_shape(*pair, site) for pair in zip(expr.items, value.items, strict=True)]
            # A None that the code does not write there stands for a size that is not known; what a run gives
            # stands at the place of the whole.
            return tuple(
                UNKNOWN if size is None and not (is_none(item) and item.place != expr.place) else size
                for size, item in zip(sizes, expr.items, strict=True)
            )
        return _argument_value(value, self)

    def sequential(self) -> Iterator[Misfit]:
        """Yield the layers of Sequential models that do not fit the layer before them."""
        sites = flow_of(self._program).sites
        added: dict[int, list[Site]] = {}
        for site in sites:
            if site.call.method in ("add", "pop"):
                for value in alternatives(site.receiver):
                    added.setdefault(id(value), []).append(site)
        for site in sites:
            if site.name == "keras.Sequential" and isinstance(site.result, Made):
                yield from self._stacked_misfits(site, added.get(id(site.result), []))

    def _stacked_misfits(self, model: Site, added: list[Site]) -> Iterator[Misfit]:
        given = model.argument(0, "layers")
        layers: list[tuple[Site, Value | None]] = []
        if isinstance(given, Items):
            layers += [(model, item) for item in given.items]
        elif given is not None or model.call.opaque:
            return
        for site in added:
            if site.call.method != "add" or not is_certain(site) or len(alternatives(site.receiver)) != 1:
                layers.append((site, None))
                break
            layers.append((site, site.argument(0, "layer")))
        shape: Shape | None = None
        first: Site | None = None
        for call, value in layers:
            if not isinstance(value, Made) or value.site is None:
                return
            layer = value.site
            if layer.name in _INPUTS:
                wanted = "input_shape" if layer.name.endswith("InputLayer") else "shape"
                begins = self.argument(layer, 0, wanted)
            elif shape is None and layer.name.startswith(_LAYERS):
                begins = self.argument(layer, None, "input_shape")
            else:
                begins = None
            if begins is not None:
                if not _is_shape(begins) or shape is not None:
                    return
                shape, first = begins, layer
                if layer.name in _INPUTS:
                    continue
            if shape is None or not layer.name.startswith(_LAYERS):
                return
            try:
                shape = layer_sizes(self.layer(layer), (shape,)).output
            except MisfitError as error:
                yield call, layer, first, str(error)
                return
            except UnknownSize:
                return


def _application_misfits(program: Program) -> Iterator[Misfit]:
    """Yield the Keras networks whose `input_shape` is smaller than they take."""
    for site in flow_of(program).under("keras.applications."):
        last = site.name.rpartition(".")[2]
        if not last.startswith(_OF_APPLICATIONS) or site.name.count(".") != 2 or site.call.opaque:
            continue
        given = site.keywords.get("input_shape")
        if not isinstance(given, Items) or len(given.items) != 3:
            continue
        sides = [item.value for item in given.items[:2] if isinstance(item, Constant)]
        least = _LEAST.get(last, _USUAL_LEAST)
        small = [side for side in sides if type(side) is int and side < least]
        if small and len(sides) == 2 and sides[0] > 4:
            yield (
                site,
                site,
                None,
                f"takes pictures of {least} x {least} and more, and input_shape says {sides[0]} x {sides[1]}",
            )


def _is_shape(value: Any) -> bool:
    return isinstance(value, tuple) and all(
        item is None or (type(item) is int and item > 0) for item in value
    )


def _argument_value(value: Value | None, shapes: _LayerShapes) -> Any:
    """Return a value as a plain argument of a layer, or None where it is missing."""
    if value is None:
        return None
    if isinstance(value, Constant):
        return value.value
    if isinstance(value, Items):
        items = tuple(_argument_value(item, shapes) for item in value.items)
        return UNKNOWN if UNKNOWN in items else items
    if isinstance(value, External):
        return Named(value.name)
    if isinstance(value, Made) and value.site is not None and value.name.startswith(_LAYERS):
        try:
            return shapes.layer(value.site)
        except UnknownSize:
            return UNKNOWN
    return UNKNOWN
