"""Argument values that Keras 3 refuses, such as floats for steps and units."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.bindings import bound_once
from cfgfix.code.checks.callees import head, may_be_of_another_library, may_be_overridden, methods
from cfgfix.code.checks.models import MAKES_KERAS_MODEL, keras_model_method
from cfgfix.code.checks.written_values import written_at
from cfgfix.code.inference.eras import release_in_words, written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.references import api, callers_ask, is_bound_twice
from cfgfix.code.inference.releases import (
    keras_of_release,
    keras_three,
    passed_over_for_keras_2,
    refused_by_three,
)
from cfgfix.code.model.expressions import constant, dotted, place_of, text
from cfgfix.code.model.hit import Calls, Rewrite, hit_in
from cfgfix.code.model.nodes import Attribute, Binary, Call, Expr, FString, Literal, Name, Subscript, Unary
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Constant, Instance, Made, Site, Value, alternatives
from cfgfix.rules.hit import Hit

KERAS_MODELS = frozenset({"keras.Model", "keras.Sequential"})
KERAS_IN_TENSORFLOW = "tensorflow.python."
"""The copy of Keras inside TensorFlow, which is never Keras 3."""


passed_over = passed_over_for_keras_2
"""Which modules these checks say nothing of."""


def is_surely_keras(program: Program, site: Site) -> bool:
    """Tell whether a call surely reaches Keras 3 where Keras 3 is installed."""
    scope, call = site.scope, site.call
    return (
        not site.targets
        and not site.open
        and not site.raw.startswith(KERAS_IN_TENSORFLOW)
        # Which values a variable may hold is known of what a method is called on.
        and (bool(keras_model_method(site.name)) or not is_bound_twice(scope, head(call.func)))
        and not callers_ask(program, scope)
    )


def is_called_on_model(program: Program, site: Site) -> bool:
    """Tell whether a method is Keras's own and surely called on one of its models."""
    found = alternatives(site.receiver)
    if not found or may_be_of_another_library(site) or may_be_overridden(program, site):
        return False
    method = site.name.rpartition(".")[2]
    for value in found:
        if isinstance(value, Made):
            made = value.site
            if MAKES_KERAS_MODEL.fullmatch(value.name) is None:
                return False
            if made is not None and made.raw.startswith(KERAS_IN_TENSORFLOW):
                return False
            if (made is None or value.name not in KERAS_MODELS) and method in own_methods_of_models(program):
                # What an annotation names, or what is loaded, may be an object of a class below it.
                return False
        elif isinstance(value, Instance):
            if method in own_methods_of_models(program) or not is_derived_from_keras_alone(
                program, value.scope
            ):
                return False
        else:
            return False
    return True


@once
def own_methods_of_models(program: Program) -> frozenset[str]:
    """Return the names of all methods of the program's own models."""
    named = methods(program)
    return frozenset(
        name
        for module in program.modules
        for scope in module.summary.scopes
        if scope.kind == "class" and not named.isdisjoint(scope.children)
        if program.is_subclass(scope, KERAS_MODELS)
        for name in scope.children
    )


def is_derived_from_keras_alone(program: Program, owner: Scope) -> bool:
    """Tell whether all bases of a class are the project's or models of Keras."""
    classes, outside = program.bases(owner)
    if not outside or any(name not in KERAS_MODELS for name in outside):
        return False
    named = 0
    for scope in classes:
        if any(
            source.startswith(f"{KERAS_IN_TENSORFLOW}keras")
            for item in scope.module.summary.scopes
            for source in item.imports.values()
        ):
            return False
        around = program.outer(scope) or scope
        for base in scope.bases:
            if program.static_value(base, around) is None:
                return False
            named += 1
    return named > 0


# Names of files


DEPTH = 6


# Floats


_STEPS = {
    "fit": (("epochs", 3), ("initial_epoch", 11), ("steps_per_epoch", 12), ("validation_steps", 13)),
    "evaluate": (("steps", 5),),
    "predict": (("steps", 3),),
}
_IN_ANY_KERAS = frozenset({"epochs", "initial_epoch"})
_ROUNDED = frozenset(f"numpy.{name}" for name in ("ceil", "floor", "rint", "round", "around", "trunc", "fix"))
"""Functions of NumPy that give a whole number as a float where they are given a float; most of them leave an integer as it is."""
_FLOATS = frozenset({"numpy.float16", "numpy.float32", "numpy.float64"})


def float_steps(program: Program) -> Iterator[Hit]:
    """Find floats where Keras counts."""
    for method, parameters in _STEPS.items():
        for owner in sorted(KERAS_MODELS):
            for site in flow_of(program).named(f"{owner}.{method}"):
                given = [
                    (parameter, value, found)
                    for parameter, position in parameters
                    if (value := site.call.argument(position, parameter)) is not None
                    and (found := _certain_float(program, value, site.scope, site.call.block)) is not None
                    and (parameter != "validation_steps" or _has_validation_data(site.call))
                ]
                if given and is_called_on_model(program, site) and is_surely_keras(program, site):
                    for parameter, value, found in given:
                        yield from _hits_of_counts(program, site, method, parameter, value, found)


def _refused_at_all(program: Program, scope: Scope) -> tuple[str | None] | None:
    """Return the severity of a value that every Keras refuses, or None.

    None where no Keras release can run the scope.
    """
    return None if written_for_one(program, scope) or not keras_of_release(program, scope) else (None,)


def _hits_of_counts(
    program: Program, site: Site, method: str, parameter: str, value: Expr, expr: Expr
) -> Iterator[Hit]:
    scope = site.scope
    ever = parameter in _IN_ANY_KERAS
    severity = _refused_at_all(program, scope) if ever else refused_by_three(program, scope)
    place = place_of(value, scope)
    if severity is None or place is None:
        return
    rewrites: tuple[Rewrite, ...] = ()
    no_fix = "the number stands elsewhere, and may be used there as a float"
    if expr is value:
        no_fix = (
            "how a fraction is meant is for you to say: Keras 2 ran one step more for it, as `math.ceil` has it, and `//` leaves it out"
            if not ever
            else "how a fraction is meant is for you to say"
        )
        if isinstance(value, Literal) and isinstance(value.value, float) and value.value.is_integer():
            rewrites = (Rewrite("replace", scope, place, str(int(value.value))),)
        elif _is_rounding(program, value, scope):
            rewrites = (Rewrite("wrap", scope, place, "int"),)
    yield hit_in(
        scope,
        place,
        site.call.block,
        {
            "method": method,
            "argument": parameter,
            "value": text(value) + ("" if expr is value else f", which is {text(expr)}"),
            "who": "every Keras" if ever else "Keras 3",
            "asked": release_in_words(api(program)),
        },
        entry=Calls(site),
        severity=severity[0],
        rewrites=rewrites,
        title="Write an integer" if isinstance(value, Literal) else None,
        no_fix=None if rewrites else no_fix,
    )


_UNITS = {
    "Dense": (("units", 0),),
    **{
        f"{kind}{dimensions}D{ending}": (("filters", 0),)
        for kind, ending, most in (("Conv", "", 3), ("Conv", "Transpose", 3), ("SeparableConv", "", 2))
        for dimensions in range(1, most + 1)
    },
}
"""Layers that made an integer of a float in Keras 2, and how many outputs they have: parameter and position."""
_EVER_UNITS = {
    **dict.fromkeys(("LSTM", "GRU", "SimpleRNN", "LSTMCell", "GRUCell", "SimpleRNNCell"), (("units", 0),)),
    "ConvLSTM2D": (("filters", 0),),
    "Embedding": (("input_dim", 0), ("output_dim", 1)),
    "MultiHeadAttention": (("num_heads", 0), ("key_dim", 1)),
    "RepeatVector": (("n", 0),),
}
"""Layers that every Keras refuses a float for."""


def float_units(program: Program) -> Iterator[Hit]:
    """Find floats for the size of a layer."""
    for site in flow_of(program).under("keras.layers."):
        layer = site.name.removeprefix("keras.layers.")
        for ever, table in ((False, _UNITS), (True, _EVER_UNITS)):
            for parameter, position in table.get(layer, ()):
                value = site.call.argument(position, parameter)
                found = (
                    _certain_float(program, value, site.scope, site.call.block) if value is not None else None
                )
                if value is not None and found is not None and is_surely_keras(program, site):
                    yield from _hits_of_sizes(program, site, parameter, value, found, ever=ever)


def _hits_of_sizes(
    program: Program, site: Site, parameter: str, value: Expr, expr: Expr, *, ever: bool
) -> Iterator[Hit]:
    scope = site.scope
    severity = _refused_at_all(program, scope) if ever else refused_by_three(program, scope)
    place = place_of(value, scope)
    if severity is None or place is None:
        return
    rewrites: tuple[Rewrite, ...] = ()
    if expr is value and not ever:
        plain = value.value if isinstance(value, Literal) else None
        rewrites = (
            Rewrite("replace", scope, place, str(int(plain)))
            if isinstance(plain, float) and plain.is_integer()
            else Rewrite("wrap", scope, place, "int"),
        )
    yield hit_in(
        scope,
        place,
        site.call.block,
        {
            "layer": site.name.rpartition(".")[2],
            "argument": parameter,
            "value": text(value) + ("" if expr is value else f", which is {text(expr)}"),
            "who": "every Keras refuses it"
            if ever
            else "Keras 3 raises ValueError, where Keras 2 made an integer of it",
            "asked": release_in_words(api(program)),
        },
        entry=Calls(site),
        severity=severity[0],
        rewrites=rewrites,
        no_fix=None
        if rewrites
        else "how a fraction is meant is for you to say"
        if ever
        else "the number stands elsewhere, and may be used there as a float",
    )


def _has_validation_data(call: Call) -> bool:
    """Tell whether a `fit` call is given validation data or a split."""
    if call.opaque:
        return False
    given = [call.argument(7, "validation_data"), call.argument(6, "validation_split")]
    return any(item is not None and not (isinstance(item, Literal) and not item.value) for item in given)


def _certain_float(program: Program, expr: Expr, scope: Scope, block: int) -> Expr | None:
    """Return the expression that makes a value a float for certain, or None."""
    if not isinstance(expr, Name):
        return expr if _is_float(program, expr, scope, block) else None
    bound = bound_once(scope, expr.name, block)
    if bound is None or not _is_float(program, *bound):
        return None
    return bound[0]


def _is_float(program: Program, expr: Expr, scope: Scope, block: int, depth: int = 0) -> bool:
    """Tell whether an expression is certainly a Python or NumPy float."""
    if depth > DEPTH:
        return False

    def inner(part: Expr) -> bool:
        return _is_float(program, part, scope, block, depth + 1)

    if isinstance(expr, Literal):
        return isinstance(expr.value, float)
    if isinstance(expr, Name) and (bound := bound_once(scope, expr.name, block)) is not None:
        return _is_float(program, *bound, depth + 1)
    if isinstance(expr, (Name, Attribute, Subscript)):
        written = written_at(program, expr, scope, block)
        return written is not None and _is_float(program, *written, depth + 1)
    if isinstance(expr, Unary):
        return expr.operator in "+-" and inner(expr.operand)
    if isinstance(expr, Binary):
        return expr.operator == "/" or (
            expr.operator in ("+", "-", "*", "//") and (inner(expr.left) or inner(expr.right))
        )
    if not isinstance(expr, Call):
        return False
    call = expr
    if not call.args or call.opaque:
        return False
    if isinstance(call.func, Name) and call.func.name == "round":
        digits = constant(call.argument(1, "ndigits"))
        return isinstance(digits, int) and inner(call.args[0])
    if isinstance(call.func, Name) and call.func.name == "float":
        return len(call.args) == 1
    name = program.static_name(call.func, scope)
    return name in _FLOATS or (name in _ROUNDED and not call.keywords and inner(call.args[0]))


def _is_rounding(program: Program, expr: Expr, scope: Scope) -> bool:
    """Tell whether an expression is a NumPy rounding to whole numbers."""
    if not isinstance(expr, Call):
        return False
    call = expr
    return len(call.args) == 1 and program.static_name(call.func, scope) in _ROUNDED


# Names and shapes


_NAMED = re.compile(r"keras\.(?:layers\.[A-Z]\w*|Input|Model|Sequential|optimizers\.[A-Z]\w*)")
_ADDS = re.compile(r"keras\.(?:layers\.\w+|Layer|Model)\.add_weight")
_INPUTS = frozenset({"keras.Input", "keras.layers.Input"})


def refused_value(program: Program) -> Iterator[Hit]:
    """Find names with a slash and integer shapes, which Keras 3 refuses."""
    if not keras_three(program):
        return
    for site in flow_of(program).under("keras."):
        name = site.name
        adds = _ADDS.fullmatch(name) is not None
        if not adds and not _NAMED.fullmatch(name):
            continue
        value = site.call.keyword("name")
        if value is not None and _has_slash(value, site.keywords.get("name"), site.scope):
            what = f"the name {text(value)}, with a slash in it"
            yield from _refused_hits(program, site, value, what, ())
        shape = site.call.argument(0, "shape") if name in _INPUTS else None
        if (
            shape is not None
            and site.call.keyword("tensor") is None
            and _is_number(program, shape, site.scope, site.call.block)
        ):
            written = text(shape)
            place = place_of(shape, site.scope)
            plain = isinstance(shape, (Literal, Name)) or (
                isinstance(shape, Subscript) and dotted(shape.base) is not None
            )
            rewrites = (
                (Rewrite("replace", site.scope, place, f"({written},)"),)
                if plain and place is not None
                else ()
            )
            yield from _refused_hits(
                program, site, shape, f"the shape {written}, a number and no tuple", rewrites
            )


def _is_number(program: Program, expr: Expr, scope: Scope, block: int, depth: int = 0) -> bool:
    """Tell whether an expression is certainly an integer."""
    if depth > DEPTH:
        return False
    if isinstance(expr, Literal):
        return type(expr.value) is int
    if isinstance(expr, Name):
        bound = bound_once(scope, expr.name, block)
        return bound is not None and _is_number(program, *bound, depth + 1)
    if isinstance(expr, Subscript):
        index = constant(expr.index)
        return isinstance(expr.base, Attribute) and expr.base.attribute == "shape" and type(index) is int
    if isinstance(expr, Binary):
        return expr.operator in ("+", "-", "*", "//") and all(
            _is_number(program, part, scope, block, depth + 1) for part in (expr.left, expr.right)
        )
    if not isinstance(expr, Call):
        return False
    call = expr
    return (
        isinstance(call.func, Name) and call.func.name in ("len", "int") and call.func.name not in scope.names
    )


def _has_slash(expr: Expr, value: Value | None, scope: Scope) -> bool:
    """Tell whether a name certainly contains a slash."""
    if isinstance(value, Constant):
        return isinstance(value.value, str) and "/" in value.value
    if isinstance(expr, Literal):
        return isinstance(expr.value, str) and "/" in expr.value
    if isinstance(expr, FString):
        return "/" in expr.tail
    return (
        isinstance(expr, Binary)
        and expr.operator == "+"
        and any(_has_slash(part, None, scope) for part in (expr.left, expr.right))
    )


def _refused_hits(
    program: Program, site: Site, value: Expr, what: str, rewrites: tuple[Rewrite, ...]
) -> Iterator[Hit]:
    severity = refused_by_three(program, site.scope)
    if severity is None or not is_surely_keras(program, site):
        return
    yield hit_in(
        site.scope,
        place_of(value, site.scope) or site.call.name_place,
        site.call.block,
        {"callee": text(site.call.func), "what": what, "asked": release_in_words(api(program))},
        entry=Calls(site),
        severity=severity[0],
        rewrites=rewrites,
        no_fix=None if rewrites else "weights that are kept may be looked up by the name",
    )
