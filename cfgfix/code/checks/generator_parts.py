"""Elements of generators that do not fit the types and shapes of their dataset."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import only_value
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import MISSING, constant, place_of
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import Call, Collection, Dictionary, Expr, Literal, Name, Starred, Yield
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import functions_of
from cfgfix.rules.hit import Hit


def mismatched_structure(program: Program) -> Iterator[Hit]:
    """Find `from_generator` whose types, shapes and elements differ in structure."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named("tensorflow.data.Dataset.from_generator"):
        scope, call = site.scope, site.call
        key = id(scope), call.number
        if key in seen or call.opaque:
            continue
        seen.add(key)
        name = "output_signature" if call.keyword("output_signature") is not None else "output_types"
        given = call.keyword(name) if name == "output_signature" else call.argument(1, name)
        types = _only_value(program, scope, given)
        if given is None or types is None:
            continue
        place = place_of(given, scope) or call.name_place
        shapes = (
            _only_value(program, scope, call.argument(2, "output_shapes")) if name == "output_types" else None
        )
        how = _shapes_differ(program, scope, types, shapes) if shapes is not None else None
        if how is not None:
            yield hit_in(scope, place, call.block, {"how": f"{name} {how}", "then": "from_generator raises"})
            continue
        functions = functions_of(site.argument(0, "generator"))
        if len(functions) != 1 or not functions[0].scope.generator or functions[0].scope.decorators:
            continue
        made = functions[0].scope
        found = next(_differing_yields(program, scope, types, made), None)
        if found is not None:
            event, how = found
            yield hit_in(
                scope,
                place,
                call.block,
                {
                    "how": f"{name} {how} in line {event.line}",
                    "then": "the first such element stops the run with InvalidArgumentError",
                },
                related=(Step(made, event.place, event.block, "yielded here"),),
            )


def _differing_yields(
    program: Program, scope: Scope, types: Expr, made: Scope
) -> Iterator[tuple[Event, str]]:
    """Yield the `yield` statements that cannot fit a dataset's types, with the reason."""
    for event in made.events_of("yield"):
        value = event.value.value if isinstance(event.value, Yield) else event.value
        if value is None or isinstance(value, Starred):
            continue
        how = _element_differs(program, scope, types, made, value)
        if how is not None:
            yield event, how


def _only_value(program: Program, scope: Scope, expr: Expr | None) -> Expr | None:
    """Return the value of the only assignment to a name, here or around, or None.

    Any other expression is returned as it is.
    """
    here: Scope | None = scope
    while isinstance(expr, Name) and here is not None and expr.name not in here.names:
        here = program.outer(here)
        if here is not None and here.kind == "class":
            here = program.outer(here)
    return only_value(here, expr) if here is not None else None


def _tuple_items(expr: Expr) -> tuple[Expr, ...] | None:
    """Return the items of a tuple of known length, or None."""
    if not isinstance(expr, Collection) or expr.kind != "tuple":
        return None
    return None if any(isinstance(item, Starred) for item in expr.items) else expr.items


def _dictionary_entries(expr: Expr) -> dict[str, Expr] | None:
    """Return the entries of a dictionary with text keys only, or None."""
    if not isinstance(expr, Dictionary):
        return None
    found: dict[str, Expr] = {}
    for key, value in expr.entries:
        if not isinstance(key, Literal) or not isinstance(key.value, str):
            return None
        found[key.value] = value
    return found


def _count_in_words(number: int) -> str:
    return "1 part" if number == 1 else f"{number} parts"


def _shapes_differ(program: Program, scope: Scope, types: Expr, shapes: Expr) -> str | None:
    """Return in words how shapes differ in structure from types, or None."""
    items = _tuple_items(types)
    if items is None:
        return None
    if isinstance(shapes, Call) and _is_shape(shapes):
        return f"has {_count_in_words(len(items))}, output_shapes is one shape"
    if not isinstance(shapes, Collection) or any(isinstance(item, Starred) for item in shapes.items):
        return None
    if len(items) != len(shapes.items):
        return f"has {_count_in_words(len(items))}, output_shapes has {len(shapes.items)}"
    for one, other in zip(items, shapes.items, strict=True):
        inner, shape = _only_value(program, scope, one), _only_value(program, scope, other)
        how = (
            _shapes_differ(program, scope, inner, shape) if inner is not None and shape is not None else None
        )
        if how is not None:
            return how
    return None


def _is_shape(call: Call) -> bool:
    return getattr(call.func, "attribute", getattr(call.func, "name", "")) == "TensorShape"


def _element_differs(program: Program, scope: Scope, types: Expr, made: Scope, value: Expr) -> str | None:
    """Return in words how an element differs in structure from types, or None."""
    given = _only_value(program, made, value)
    if given is None:
        return None
    items, entries = _tuple_items(types), _dictionary_entries(types)
    if items is None and entries is None:
        return None
    parts, named = _tuple_items(given), _dictionary_entries(given)
    is_list = isinstance(given, Collection) and given.kind == "list"
    plain = isinstance(given, Literal) and constant(given) is not MISSING and given.value is not None
    if items is not None:
        if is_list:
            return f"has a tuple of {_count_in_words(len(items))}, a list is yielded"
        if named is not None or plain:
            return f"has {_count_in_words(len(items))}, {'a dictionary' if named is not None else 'one value'} is yielded"
        if parts is None:
            return None
        if len(parts) != len(items):
            return f"has {_count_in_words(len(items))}, {len(parts)} are yielded"
        pairs = list(zip(items, parts, strict=True))
    else:
        assert entries is not None
        if is_list or plain or parts is not None:
            return "is a dictionary, and something else is yielded"
        if named is None:
            return None
        if set(named) != set(entries):
            odd = min(set(named) ^ set(entries))
            return f"and the dictionary yielded differ in the key '{odd}'"
        pairs = [(entries[key], named[key]) for key in sorted(entries)]
    for one, other in pairs:
        inner = _only_value(program, scope, one)
        how = _element_differs(program, scope, inner, made, other) if inner is not None else None
        if how is not None:
            return how
    return None
