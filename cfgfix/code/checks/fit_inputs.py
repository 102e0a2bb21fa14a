"""Arguments of `fit` that do not go with its data."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import in_tests
from cfgfix.code.checks.models import model_calls
from cfgfix.code.checks.supply import generator_of
from cfgfix.code.inference.eras import release_in_words, written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import expects_absence
from cfgfix.code.inference.references import api
from cfgfix.code.inference.releases import refused_by_three
from cfgfix.code.model.expressions import constant, place_of, walk
from cfgfix.code.model.hit import Calls, Step, at, hit_in
from cfgfix.code.model.nodes import Collection, Dictionary, Expr, Yield
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import (
    Constant,
    Dataset,
    Instance,
    Items,
    Made,
    Site,
    Value,
    alternatives,
)
from cfgfix.rules.hit import Hit

_OF_DATA = {
    "fit": ((1, "y"), (6, "validation_split"), (10, "sample_weight")),
    "evaluate": ((1, "y"), (4, "sample_weight")),
}
"""Arguments that go with arrays alone, by method."""
_SEQUENCES = frozenset({"keras.utils.Sequence", "keras.utils.PyDataset"})


def arguments_beside_dataset(program: Program) -> Iterator[Hit]:
    """Find labels, weights or splits given beside data that brings its own."""
    seen: set[tuple[int, int]] = set()
    for method, parameters in _OF_DATA.items():
        for site in model_calls(program, method):
            key = id(site.scope), site.call.number
            if key in seen or site.call.opaque or written_for_one(program, site.scope):
                continue
            kind = _kind_of_data(program, site)
            if kind is None:
                continue
            for position, parameter in parameters:
                written = site.call.argument(position, parameter)
                if written is None or not _is_given(site.argument(position, parameter), parameter):
                    continue
                seen.add(key)
                yield hit_in(
                    site.scope,
                    place_of(written, site.scope) or site.call.name_place,
                    site.call.block,
                    {"method": method, "parameter": parameter, "kind": kind},
                )
                break


def no_epoch_left(program: Program) -> Iterator[Hit]:
    """Find calls of `fit` whose first epoch is not before the last."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).sites:
        # Nothing but a model of Keras takes such an argument.
        if site.call.method != "fit" or site.call.keyword("initial_epoch") is None:
            continue
        key = id(site.scope), site.call.number
        written = site.call.argument(3, "epochs")
        if key in seen or written is None or site.call.opaque or written_for_one(program, site.scope):
            continue
        first, last = (_only_integer(site.argument(*item)) for item in ((11, "initial_epoch"), (3, "epochs")))
        if first is None or last is None or last > first or first == 0:
            continue
        seen.add(key)
        yield hit_in(
            site.scope,
            place_of(written, site.scope) or site.call.name_place,
            site.call.block,
            {"first": first, "last": last, "sum": first + last},
        )


def _only_integer(value: Value | None) -> int | None:
    """Return the only integer that a value may be, or None."""
    found = alternatives(value)
    item = found[0] if len(found) == 1 else None
    return item.value if isinstance(item, Constant) and type(item.value) is int else None


def _kind_of_data(program: Program, site: Site) -> str | None:
    """Return in words the kind of first argument that brings its labels, or None."""
    written = site.call.argument(0, "x")
    found = alternatives(site.argument(0, "x"))
    if written is None:
        return None
    if found and all(isinstance(item, Dataset) for item in found):
        return "a Dataset"
    if found and all(
        isinstance(item, Instance) and program.is_subclass(item.scope, _SEQUENCES) for item in found
    ):
        return "a Sequence"
    return "a generator" if generator_of(program, site, written) is not None else None


def _is_given(value: Value | None, parameter: str) -> bool:
    """Tell whether an argument certainly has a value."""
    found = alternatives(value)
    if parameter == "validation_split":
        return bool(found) and all(
            isinstance(item, Constant) and isinstance(item.value, (int, float)) and item.value > 0
            for item in found
        )
    return bool(found) and all(isinstance(item, (Made, Items, Instance)) for item in found)


def lists_yielded(program: Program) -> Iterator[Hit]:
    """Find generators that yield lists, where Keras 3 takes tuples only."""
    seen: set[int] = set()
    for method in ("fit", "evaluate"):
        for site in model_calls(program, method):
            written = site.call.argument(0, "x")
            if (
                written is None
                or in_tests(site.scope)
                or written_for_one(program, site.scope)
                or expects_absence(site.scope, site.call.block, site.call.place)
            ):
                continue
            generator = generator_of(program, site, written)
            if generator is None or id(generator) in seen:
                continue
            part = _list_in(generator)
            refused = refused_by_three(program, site.scope) if part is not None else None
            if part is None or refused is None:
                continue
            seen.add(id(generator))
            yielded, what = part
            yield hit_in(
                generator,
                place_of(yielded, generator) or generator.place,
                0,
                {
                    "what": what,
                    "error": _ERRORS[what],
                    "method": method,
                    "asked": release_in_words(api(program)),
                },
                needs=((site.scope, site.call.block),),
                related=(at(site, label="it is given here"),),
                severity=refused[0],
            )


_ERRORS = {"the inputs are": "TypeError", "the element is": "ValueError"}


def _list_in(generator: Scope) -> tuple[Expr, str] | None:
    """Return a list that a generator yields, or None unless every `yield` has one."""
    found: list[tuple[Expr, str] | None] = []
    for event in generator.events():
        for part in walk(event.value) if event.value is not None else ():
            if isinstance(part, Yield):
                found.append(_list_of(part.value))
    return found[0] if found and all(item is not None for item in found) else None


def _list_of(value: Expr | None) -> tuple[Expr, str] | None:
    if not isinstance(value, Collection):
        return None
    if value.kind == "list" and len(value.items) in (2, 3):
        return value, "the element is"
    if value.kind != "tuple" or len(value.items) not in (2, 3):
        return None
    first = value.items[0]
    if isinstance(first, Collection) and first.kind == "list" and len(first.items) > 1:
        return first, "the inputs are"
    return None


def class_weights(program: Program) -> Iterator[Hit]:
    """Find class weights that `fit` cannot use."""
    seen: set[tuple[int, int]] = set()
    for site in model_calls(program, "fit"):
        key = id(site.scope), site.call.number
        written = site.call.argument(9, "class_weight")
        if written is None or key in seen or written_for_one(program, site.scope):
            continue
        says = _fault_of_weights(program, site, written)
        if says is None:
            continue
        seen.add(key)
        yield hit_in(
            site.scope,
            place_of(written, site.scope) or site.call.name_place,
            site.call.block,
            {"says": says[0]},
            severity=says[1],
        )


def _fault_of_weights(program: Program, site: Site, written: Expr) -> tuple[str, str | None] | None:
    """Return in words the fault of class weights, with a severity, or None."""
    value = alternatives(site.argument(9, "class_weight"))
    if len(value) == 1 and isinstance(value[0], Constant) and isinstance(value[0].value, str):
        return f"class_weight takes a dict, not the text '{value[0].value}': AttributeError", None
    if isinstance(written, Collection) or (len(value) == 1 and isinstance(value[0], Items)):
        return "class_weight takes a dict, not a list: AttributeError", None
    if not isinstance(written, Dictionary) or not written.entries:
        return None
    names = [constant(key) if key is not None else None for key, _ in written.entries]
    outputs = _model_outputs(site)
    if all(isinstance(name, int) for name in names) and outputs is not None and len(outputs) > 1:
        return f"class_weight is for a model with one output, and this has {len(outputs)}: ValueError", None
    if all(isinstance(name, str) for name in names) and not any(
        isinstance(weight, Dictionary) for _, weight in written.entries
    ):
        return (
            "class_weight is looked up by the number of each class, and these keys are texts: no weight counts",
            "error" if _kind_of_data(program, site) is not None else "warning",
        )
    return None


def _model_outputs(site: Site) -> tuple[Value, ...] | None:
    """Return the outputs of the model that a method is called on, or None."""
    found = alternatives(site.receiver)
    made = found[0].site if len(found) == 1 and isinstance(found[0], Made) else None
    if made is None or made.name != "keras.Model" or made.call.opaque:
        return None
    written = made.call.argument(1, "outputs")
    given = alternatives(made.argument(1, "outputs"))
    if not isinstance(written, Collection) and not (len(given) == 1 and isinstance(given[0], Items)):
        return None
    if len(given) == 1 and isinstance(given[0], Items):
        return given[0].items
    return None


def measured_apart(program: Program) -> Iterator[Hit]:
    """Find metrics of a model with several outputs that are not one for each."""
    seen: set[tuple[int, int]] = set()
    for site in (
        *flow_of(program).named("keras.Model.compile"),
        *flow_of(program).named("keras.Sequential.compile"),
    ):
        key = id(site.scope), site.call.number
        written = site.call.argument(3, "metrics")
        outputs = _model_outputs(site)
        if written is None or key in seen or outputs is None or len(outputs) < 2:
            continue
        count = _metric_count(site.argument(3, "metrics"))
        if count is None or count == len(outputs) or not count or written_for_one(program, site.scope):
            continue
        refused = refused_by_three(program, site.scope)
        if refused is None:
            continue
        seen.add(key)
        made = alternatives(site.receiver)[0]
        assert isinstance(made, Made)
        assert made.site is not None
        yield hit_in(
            site.scope,
            place_of(written, site.scope) or site.call.name_place,
            site.call.block,
            {"count": count, "outputs": len(outputs), "asked": release_in_words(api(program))},
            entry=Calls(site),
            severity=refused[0],
            related=(_step_of(made.site),),
        )


def _step_of(made: Site) -> Step:
    step: Step = at(made, label="the model is made here")
    return step


def _metric_count(value: Value | None) -> int | None:
    """Return the number of metrics in a list, or None."""
    found = alternatives(value)
    if len(found) != 1:
        return None
    if isinstance(found[0], Items):
        return len(found[0].items)
    if isinstance(found[0], Constant) and isinstance(found[0].value, list):
        return len(found[0].value)
    return None
