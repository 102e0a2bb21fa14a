"""Pictures that are divided by 255 twice: in the input code and by a layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cfgfix.code.checks.common import short
from cfgfix.code.checks.guarded_calls import may_run_together
from cfgfix.code.checks.models import model_calls
from cfgfix.code.checks.pipelines import upstream
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.model.canonical_names import canonical_name
from cfgfix.code.model.expressions import constant, dotted, is_name, place_of, walk
from cfgfix.code.model.hit import Step, at, hit_in
from cfgfix.code.model.nodes import Binary, Call, Collection, Expr, Lambda, Literal, Name, Place
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Constant, Dataset, Function, Made, Site, Value, alternatives
from cfgfix.core.records import dataclass
from cfgfix.rules.hit import Hit

_ALWAYS = ("keras.applications.EfficientNetB", "keras.applications.efficientnet.EfficientNetB")
_UNLESS_TOLD = (
    "keras.applications.EfficientNetV2", "keras.applications.efficientnet_v2.EfficientNetV2", "keras.applications.MobileNetV3",
    "keras.applications.mobilenet_v3.MobileNetV3", "keras.applications.ConvNeXt", "keras.applications.convnext.ConvNeXt",
)  # fmt: skip
"""Networks of Keras that begin with Rescaling or Normalization of values from 0 to 255; the second kind unless `include_preprocessing` is
False (asked of Keras 3.15.1 and 2.15)."""
_NO_OPS = ("efficientnet", "efficientnet_v2", "mobilenet_v3", "convnext")
"""Modules of `keras.applications` whose `preprocess_input` returns what it is given."""
_RESCALING = ("keras.layers.Rescaling", "keras.layers.experimental.preprocessing.Rescaling")
_GENERATOR: Final = "keras.preprocessing.image.ImageDataGenerator"
_FULL: Final = 255.0
_LARGEST_SCALE = 1 / 64
"""Above it a Rescaling does not bring bytes to small numbers: 1/255 and 1/127.5 do, and 255 undoes that."""
_MOST_PARTS = 2_000


@dataclass(frozen=True, slots=True)
class _DivisionPlace:
    """The place where values are divided by 255 before a network gets them.

    Attributes:
        scope: The scope it stands in.
        place: Its span.
        block: The block it stands in.
    """

    scope: Scope
    place: Place
    block: int


def rescaled_twice(program: Program) -> Iterator[Hit]:
    """Find networks that divide inputs which are divided already."""
    for fit in model_calls(program, "fit"):
        scalers = _rescaling_layers(program, fit)
        if scalers is None:
            continue
        second = next((site for site in scalers if site.name in _RESCALING), None)
        if len(scalers) > 1 and second is not None:
            first = next(site for site in scalers if site is not second)
            division = _DivisionPlace(second.scope, second.call.place, second.call.block)
        elif scalers:
            first = scalers[0]
            found = _division_of_inputs(program, fit)
            if found is None:
                continue
            division = found
        else:
            continue
        if not may_run_together([fit, first]):
            continue
        yield hit_in(
            division.scope,
            division.place,
            division.block,
            {"network": short(first), "line": first.call.name_line},
            needs=((first.scope, first.call.block), (fit.scope, fit.call.block)),
            related=(
                at(first, label="divides its inputs itself"),
                at(fit, label="what is divided goes in here"),
            ),
        )
    yield from _prepared_twice(program)


def _rescaling_layers(program: Program, fit: Site) -> list[Site] | None:
    """Return the layers of a model that divide its inputs.

    Return None where one of them may undo that, or the model is not known.
    """
    models = alternatives(fit.receiver)
    if len(models) != 1 or not isinstance(models[0], Made) or models[0].site is None:
        return None
    made = models[0].site
    scope = made.scope
    numbers = {made.call.number}
    for given in (*made.call.args, *(value for _, value in made.call.keywords)):
        numbers |= _calls_behind(given, scope)
    event = statement_of(scope, made.call.place)
    for target in event.targets if event is not None and event.value is made.call else ():
        for call in scope.calls_on(target.name, "add") if isinstance(target, Name) else ():
            for given in call.args:
                numbers |= _calls_behind(given, scope)
    found: list[Site] = []
    for site in flow_of(program).of_calls(scope, numbers):
        if any(site.call is other.call for other in found):
            continue
        if site.name in _RESCALING:
            scale = _number_value(site.argument(0, "scale"), site.call.argument(0, "scale"))
            if scale is None or scale > _LARGEST_SCALE:
                return None
            found.append(site)
        elif site.name.startswith(_ALWAYS):
            found.append(site)
        elif site.name.startswith(_UNLESS_TOLD):
            told = site.call.keyword("include_preprocessing")
            if site.call.opaque or (told is not None and constant(told) is not True):
                return None
            found.append(site)
    return found


def _calls_behind(expr: Expr, scope: Scope) -> set[int]:
    """Return the numbers of all calls that an expression is computed from."""
    found: set[int] = set()
    seen: set[str] = set()
    pending = [expr]
    while pending and len(found) < _MOST_PARTS:
        for part in walk(pending.pop()):
            if isinstance(part, Call):
                found.add(part.number)
            elif isinstance(part, Name) and part.name not in seen:
                seen.add(part.name)
                pending += [event.value for event in scope.binding(part.name) if event.value is not None]
                pending += [
                    given for call in scope.calls_on(part.name, "append", "extend") for given in call.args
                ]
    return found


def _number_value(value: Value | None, written: Expr | None) -> float | None:
    """Return the value of a number, also of a quotient such as `1 / 255`, or None."""
    if isinstance(value, Constant) and isinstance(value.value, (int, float)):
        return float(value.value)
    if written is not None and isinstance(written, Binary) and written.operator == "/":
        above, below = constant(written.left), constant(written.right)
        if isinstance(above, (int, float)) and isinstance(below, (int, float)) and below:
            return float(above / below)
    return None


def _division_of_inputs(program: Program, fit: Site) -> _DivisionPlace | None:
    """Return where the data given to `fit` is divided by 255, or None."""
    given = alternatives(fit.argument(0, "x"))
    if len(given) == 1 and isinstance(given[0], Dataset):
        for step in (given[0], *upstream(given[0])):
            for function in step.functions if step.op == "map" else ():
                found = _division_of_argument(function.scope)
                if found is not None:
                    return found
            if step.op in ("from_tensor_slices", "from_tensors") and step.site is not None:
                return _divided_array(program, step.site.call.argument(0, "tensors"), step.site)
        return None
    if len(given) == 1 and isinstance(given[0], Made) and given[0].name.startswith(f"{_GENERATOR}.flow"):
        flow = given[0].site
        makers = alternatives(flow.receiver) if flow is not None else ()
        for maker in makers:
            if isinstance(maker, Made) and maker.site is not None and len(makers) == 1:
                written = maker.site.call.keyword("rescale")
                scale = _number_value(maker.site.keywords.get("rescale"), written)
                place = place_of(written, maker.site.scope) if written is not None else None
                if place is not None and scale is not None and scale <= _LARGEST_SCALE:
                    return _DivisionPlace(maker.site.scope, place, maker.site.call.block)
        return None
    return _divided_array(program, fit.call.argument(0, "x"), fit)


def _divided_array(program: Program, written: Expr | None, use: Site) -> _DivisionPlace | None:
    """Return where the array of an argument is divided by 255, or None."""
    if written is not None and isinstance(written, Collection) and written.items:
        written = written.items[0]
    if written is None or not isinstance(written, Name):
        return None
    return _divided_name(program, written.name, use)


def _divided_name(program: Program, name: str, use: Site) -> _DivisionPlace | None:
    """Return where an array is divided by 255 before a call uses it, or None.

    The division stands in the same scope or in the function that returned the array.
    """
    scope = use.scope
    events = [event for event in scope.binding(name) if event.place.start < use.call.place.start]
    if not events or any(event.block not in (0, use.call.block) for event in events):
        return None
    for event in reversed(events):
        value = event.value
        if value is None or event.kind not in ("assign", "annotate", "augment"):
            return None
        if event.kind == "augment":
            if event.operator == "/" and constant(value) == _FULL:
                return _DivisionPlace(scope, event.place, event.block)
            return None
        if (
            isinstance(value, Collection)
            and len(event.targets) == 1
            and isinstance(event.targets[0], Collection)
        ):
            sides = [
                side
                for target, side in zip(event.targets[0].items, value.items, strict=False)
                if is_name(target, name)
            ]
            value = sides[0] if len(sides) == 1 else value
        found = _place_of_division(value)
        if found is not None:
            return _DivisionPlace(scope, found, event.block)
        if isinstance(value, Call) and len(event.targets) == 1:
            way = _way_to(event.targets[0], name)
            function = flow_of(program).value_of_name(scope, value.func)
            if way is not None and isinstance(function, Function):
                return _given_divided(function.scope, way)
        if not any(is_name(part, name) for part in walk(value)):
            return None
    return None


def _way_to(target: Expr, name: str) -> tuple[int, ...] | None:
    """Return the positions of a name in the nested target of an assignment."""
    if is_name(target, name):
        return ()
    for number, item in enumerate(target.items if isinstance(target, Collection) else ()):
        way = _way_to(item, name)
        if way is not None:
            return (number, *way)
    return None


def _given_divided(scope: Scope, way: tuple[int, ...]) -> _DivisionPlace | None:
    """Return where a function divides one of its results by 255, or None."""
    results = [event.value for event in scope.events() if event.kind == "return"]
    if len(results) != 1 or results[0] is None:
        return None
    found = results[0]
    for number in way:
        if not isinstance(found, Collection) or number >= len(found.items):
            return None
        found = found.items[number]
    return _divided_on_the_way(found, scope)


def _division_of_argument(scope: Scope) -> _DivisionPlace | None:
    """Return where a function divides its first argument by 255, or None.

    Every `return` must give the divided value first.
    """
    if scope.kind not in ("function", "lambda") or not scope.params:
        return None
    results = [event.value for event in scope.events() if event.kind == "return"]
    if not results or any(result is None for result in results):
        return None
    found: _DivisionPlace | None = None
    for result in results:
        if result is None:
            return None
        first = result.items[0] if isinstance(result, Collection) and result.items else result
        found = _divided_on_the_way(first, scope)
        if found is None:
            return None
    return found


def _divided_on_the_way(expr: Expr, scope: Scope) -> _DivisionPlace | None:
    """Return where an expression's value was divided by 255 and not multiplied again."""
    seen: set[str] = set()
    pending: list[tuple[Expr, int]] = [(expr, 0)]
    found: _DivisionPlace | None = None
    while pending and len(seen) < _MOST_PARTS:
        here, block = pending.pop(0)
        for part in walk(here):
            if (
                isinstance(part, Binary)
                and part.operator == "*"
                and _FULL in (constant(part.left), constant(part.right))
            ):
                return None
            if isinstance(part, Lambda):
                return None
            place = _quotient_here(part)
            if place is not None and found is None:
                found = _DivisionPlace(scope, place, block)
            if isinstance(part, Name) and part.name not in seen:
                seen.add(part.name)
                for event in scope.binding(part.name):
                    if event.value is None:
                        continue
                    if event.kind == "augment" and constant(event.value) == _FULL:
                        if event.operator == "*":
                            return None
                        if event.operator == "/" and found is None:
                            found = _DivisionPlace(scope, event.place, event.block)
                    pending.append((event.value, event.block))
    return found


def _place_of_division(expr: Expr) -> Place | None:
    """Return the span of a division by 255 in an expression.

    Return None where there is none, or something is multiplied by 255 as well.
    """
    parts = list(walk(expr))
    if any(
        isinstance(part, Binary)
        and part.operator == "*"
        and _FULL in (constant(part.left), constant(part.right))
        for part in parts
    ):
        return None
    return next((place for part in parts if (place := _quotient_here(part)) is not None), None)


def _quotient_here(expr: Expr) -> Place | None:
    """Return the span of `x / 255` or of `x * (1 / 255)`."""
    if not isinstance(expr, Binary):
        return None
    place: Place = expr.place
    if expr.operator == "/" and constant(expr.right) == _FULL and not isinstance(expr.left, Literal):
        return place
    if expr.operator == "*":
        for side in (expr.left, expr.right):
            scale = _number_value(None, side)
            if scale is not None and abs(scale * _FULL - 1) < 1e-6:
                return place
    return None


def _prepared_twice(program: Program) -> Iterator[Hit]:
    """Yield inputs that are both divided and given to `preprocess_input`."""
    for site in flow_of(program).named(_GENERATOR):
        function = site.call.keyword("preprocessing_function")
        written = site.call.keyword("rescale")
        if function is None or written is None:
            continue
        name = canonical_name(program.static_name(function, site.scope) or "")
        scale = _number_value(site.keywords.get("rescale"), written)
        place = place_of(written, site.scope)
        if not _changes_input(name) or scale is None or scale > _LARGEST_SCALE or place is None:
            continue
        yield hit_in(
            site.scope,
            place,
            site.call.block,
            {"network": dotted(function) or name, "line": site.call.name_line},
            related=(at(site, label="the function runs before rescale"),),
        )
    for module in program.modules:
        for scope in module.summary.scopes:
            for call in scope.calls:
                called = call.func.name if isinstance(call.func, Name) else call.method
                if called != "preprocess_input" or not call.args:
                    continue
                name = canonical_name(program.static_name(call.func, scope) or "")
                found = _place_of_division(call.args[0]) if _changes_input(name) else None
                if found is not None:
                    yield hit_in(
                        scope,
                        found,
                        call.block,
                        {"network": dotted(call.func) or name, "line": call.name_line},
                        related=(Step(scope, call.name_place, call.block, "expects values from 0 to 255"),),
                    )


def _changes_input(name: str) -> bool:
    """Tell whether a function is a `preprocess_input` that changes its input."""
    parts = name.split(".")
    return (
        name.startswith("keras.applications.")
        and parts[-1] == "preprocess_input"
        and len(parts) == 4
        and parts[2] not in _NO_OPS
    )
