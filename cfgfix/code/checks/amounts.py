"""Amounts that cannot be meant: float counts, ranges and softmaxes of one value."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.bindings import bound_once
from cfgfix.code.checks.models import method_of
from cfgfix.code.checks.outputs import constant_in_every_call
from cfgfix.code.checks.written_values import written_at
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, dotted, is_name, place_of, text
from cfgfix.code.model.hit import hit_at, hit_in
from cfgfix.code.model.nodes import Attribute, Binary, Call, Expr, Literal, Name, Subscript, Unary
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import External, Value, alternatives
from cfgfix.rules.hit import Hit

_COUNTS = {
    "batch": "batch_size",
    "padded_batch": "batch_size",
    "take": "count",
    "skip": "count",
    "repeat": "count",
    "shuffle": "buffer_size",
    "prefetch": "buffer_size",
    "window": "size",
}
_LOADERS = frozenset(
    {"yaml.safe_load", "yaml.load", "yaml.full_load", "json.load", "json.loads", "toml.load", "tomllib.load"}
)
_OF_BATCHES = frozenset({"keras.utils.Sequence", "keras.utils.PyDataset"})
_ROUND_TO_FLOATS = frozenset({"numpy.ceil", "numpy.floor", "numpy.round", "numpy.rint", "numpy.trunc"})
_DEPTH = 6


def float_count(program: Program) -> Iterator[Hit]:
    """Find floats where a dataset counts elements.

    Examples: `batch(size / 2)`, `take(0.8 * len(files))`.
    """
    seen: set[tuple[int, int]] = set()
    for dataset in flow_of(program).datasets:
        site = dataset.site
        if site is None or (id(site.scope), site.call.number) in seen:
            continue
        method = method_of(site)
        name = _COUNTS.get(method)
        given = site.call.argument(0, name) if name is not None else None
        if given is None or site.call.opaque:
            continue
        seen.add((id(site.scope), site.call.number))
        if (
            written_for_one(program, site.scope)
            or _number_type(program, given, site.scope, site.call.block, _DEPTH) is not float
        ):
            continue
        place = place_of(given, site.scope) or site.call.name_place
        made = _value_bound_to(given, site.scope, site.call.block)
        yield hit_in(
            site.scope,
            place,
            site.call.block,
            {"method": method, "expr": text(made)},
        )


def float_length(program: Program) -> Iterator[Hit]:
    """Find classes of batches whose `__len__` gives a float."""
    for module in program.modules:
        for owner in module.summary.scopes:
            number = owner.children.get("__len__")
            if owner.kind != "class" or number is None or written_for_one(program, owner):
                continue
            if not _OF_BATCHES.intersection(program.bases(owner).outside):
                continue
            method = module.summary.scopes[number]
            for event in method.events_of("return"):
                if event.value is not None and _is_float(program, event.value, method, event.block):
                    yield hit_in(
                        method,
                        place_of(event.value, method) or event.place,
                        event.block,
                        {"owner": owner.name, "expr": text(event.value)},
                    )


def _is_float(program: Program, expr: Expr, scope: Scope, block: int) -> bool:
    """Tell whether an expression gives a float whatever its operands are."""
    if isinstance(expr, Name):
        bound = bound_once(scope, expr.name, block)
        return bound is not None and bound[1] is scope and _is_float(program, bound[0], scope, bound[2])
    if isinstance(expr, Binary):
        return expr.operator == "/"
    return isinstance(expr, Call) and program.static_name(expr.func, scope) in _ROUND_TO_FLOATS


def _value_bound_to(expr: Expr, scope: Scope, block: int) -> Expr:
    """Return the value assigned to a name, for a message, or the expression itself."""
    bound = bound_once(scope, expr.name, block) if isinstance(expr, Name) else None
    return bound[0] if bound is not None and bound[1] is scope else expr


def _number_type(program: Program, expr: Expr, scope: Scope, block: int, depth: int) -> type | None:
    """Return the Python type of a number, int or float, or None for anything else.

    A NumPy number gives None: TensorFlow turns a NumPy float into an integer, and refuses a Python float.
    """
    if depth <= 0:
        return None
    if isinstance(expr, Literal):
        return type(expr.value) if type(expr.value) in (int, float) else None
    if isinstance(expr, Unary) and expr.operator in ("-", "+"):
        return _number_type(program, expr.operand, scope, block, depth - 1)
    if isinstance(expr, Name) and (bound := bound_once(scope, expr.name, block)) is not None:
        return _number_type(program, *bound, depth - 1)
    if isinstance(expr, Binary):
        left = _number_type(program, expr.left, scope, block, depth - 1)
        right = _number_type(program, expr.right, scope, block, depth - 1)
        if left is None or right is None:
            return None
        if expr.operator == "/":
            return float
        if expr.operator in ("+", "-", "*", "//", "%"):
            return float if float in (left, right) else int
        return None
    if isinstance(expr, Call):
        call = expr
        if is_name(call.func, "len") and len(call.args) == 1:
            return int
        return None
    if _is_from_settings(expr, scope, block, depth):
        return int
    if isinstance(expr, Attribute) and expr.attribute == "num_replicas_in_sync":
        return int
    if isinstance(expr, (Name, Attribute, Subscript)):
        written = written_at(program, expr, scope, block)
        return _number_type(program, *written, depth - 1) if written is not None else None
    return None


def _is_from_settings(expr: Expr, scope: Scope, block: int, depth: int) -> bool:
    """Tell whether an expression is a value of a settings file or the command line."""
    steps = 0
    while isinstance(expr, (Subscript, Attribute)):
        if isinstance(expr, Subscript) and not isinstance(constant(expr.index), str):
            return False
        steps += 1
        expr = expr.base
    for _ in range(depth):
        if not isinstance(expr, Name):
            break
        bound = bound_once(scope, expr.name, block)
        if bound is None:
            return False
        expr, scope, block = bound
        while isinstance(expr, Subscript) and isinstance(constant(expr.index), str):
            expr = expr.base
    if not isinstance(expr, Call) or not steps:
        return False
    call = expr
    return call.method == "parse_args" or dotted(call.func) in _LOADERS


def share_of_one(program: Program) -> Iterator[Hit]:
    """Find a softmax over a single unit: its result is always 1."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named("keras.layers.Dense"):
        key = id(site.scope), site.call.number
        if key in seen or site.call.opaque:
            continue
        units = site.call.argument(0, "units")
        if isinstance(units, Name):
            units = constant_in_every_call(program, site.scope, units.name) or units
        if constant(units) != 1:
            continue
        activation = site.call.argument(1, "activation")
        if activation is None or not _is_softmax(activation, site.argument(1, "activation")):
            continue
        seen.add(key)
        yield hit_at(site, flow=(), values={})


def _is_softmax(expr: Expr, value: Value | None) -> bool:
    values = alternatives(value)
    return constant(expr) == "softmax" or (
        bool(values)
        and all(
            isinstance(item, External) and item.name.endswith((".nn.softmax", "activations.softmax"))
            for item in values
        )
    )


_INTEGERS = ("tensorflow.int32", "tensorflow.int64", "tensorflow.uint32", "tensorflow.uint64")


def range_of_one(program: Program) -> Iterator[Hit]:
    """Find random integers below 1: they are always 0.

    The upper bound is left out of the range.
    """
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named("tensorflow.random.uniform"):
        key = id(site.scope), site.call.number
        if key in seen or site.call.opaque:
            continue
        low, high = site.call.argument(1, "minval"), site.call.argument(2, "maxval")
        kinds = alternatives(site.argument(3, "dtype"))
        integer = constant(site.call.argument(3, "dtype")) in ("int32", "int64") or (
            bool(kinds) and all(isinstance(item, External) and item.name in _INTEGERS for item in kinds)
        )
        if not integer or high is None or constant(high) != 1 or (low is not None and constant(low) != 0):
            continue
        seen.add(key)
        yield hit_at(site, flow=(), values={})
