"""Arrays of Python objects that a model is given."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.models import keras_model_method
from cfgfix.code.checks.origins import Origin, library_name, origins
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, dotted, is_name, place_of
from cfgfix.code.model.hit import Step, at, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Collection, Expr, Subscript
from cfgfix.code.model.program import Program
from cfgfix.rules.hit import Hit

_MAKES = {"array": 1, "asarray": 1, "empty": 1, "zeros": 1, "ones": 1, "full": 2}
"""Functions of NumPy that make an array, with the place of `dtype`."""
_KEEPS = frozenset({"delete", "take", "append", "insert", "copy", "reshape", "transpose", "squeeze", "expand_dims", "flip", "roll", "repeat"})  # fmt: skip
_JOINS = frozenset({"concatenate", "stack", "hstack", "vstack", "column_stack"})
_METHODS = frozenset({"copy", "reshape", "ravel", "flatten", "transpose", "squeeze", "take", "repeat"})
_DEPTH = 16


def given_to_model(program: Program) -> Iterator[Hit]:
    """Find arrays of Python objects that `fit`, `evaluate` or `predict` gets."""
    told: set[tuple[int, int]] = set()
    for site in flow_of(program).sites:
        if keras_model_method(site.name) not in ("fit", "evaluate", "predict"):
            continue
        given = site.call.argument(0, "x")
        if given is None or written_for_one(program, site.scope):
            continue
        made = _object_array(program, Origin(given, site.scope), _DEPTH)
        if made is None or (id(made.scope), id(made.expr)) in told:
            continue
        told.add((id(made.scope), id(made.expr)))
        place = place_of(made.expr, made.scope)
        if place is None or not isinstance(made.expr, Call):
            continue
        yield hit_in(
            made.scope,
            made.expr.name_place,
            made.expr.block,
            {"method": site.call.method, "line": site.call.name_line},
            needs=((site.scope, site.call.block),),
            related=(
                at(site, label="the model is given it here"),
                Step(made.scope, place, made.expr.block, "made of Python objects here"),
            ),
        )


def _object_array(program: Program, start: Origin, depth: int) -> Origin | None:
    """Return the call that makes an array of objects that a value is made of, or None."""
    if depth <= 0:
        return None
    found = origins(program, start)
    made = [_made_of(program, item, depth) for item in found]
    return made[0] if made and all(made) else None


def _made_of(program: Program, here: Origin, depth: int) -> Origin | None:
    expr = here.expr
    if isinstance(expr, Subscript):
        return _object_array(program, here.at(expr.base), depth - 1)
    if isinstance(expr, Attribute):
        return _object_array(program, here.at(expr.base), depth - 1) if expr.attribute == "T" else None
    if not isinstance(expr, Call) or expr.opaque:
        return None
    name = library_name(program, here)
    if name.startswith("numpy."):
        return _of_numpy(program, here, expr, name.removeprefix("numpy."), depth)
    if expr.method in _METHODS and expr.receiver is not None:
        return _object_array(program, here.at(expr.receiver), depth - 1)
    return None


def _of_numpy(program: Program, here: Origin, call: Call, last: str, depth: int) -> Origin | None:
    if last in _MAKES:
        kind = call.argument(_MAKES[last], "dtype")
        return here if kind is not None and _is_object(kind) else None
    if not call.args or call.keyword("dtype") is not None:
        return None
    first = call.args[0]
    if last in _KEEPS:
        return _object_array(program, here.at(first), depth - 1)
    if last in _JOINS and isinstance(first, Collection):
        parts = (_object_array(program, here.at(item), depth - 1) for item in first.items)
        return next((part for part in parts if part is not None), None)
    return None


def _is_object(kind: Expr) -> bool:
    return is_name(kind, "object") or dotted(kind) in ("np.object_", "numpy.object_") or constant(kind) in ("object", "O")  # fmt: skip
