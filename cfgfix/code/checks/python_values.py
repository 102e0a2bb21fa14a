"""The values that `numpy_function` and `py_function` pass to and from Python."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import TRACED, hot_paths
from cfgfix.code.model.expressions import dotted, is_name, is_none, place_of, text, walk
from cfgfix.code.model.hit import Step, at, hit_in
from cfgfix.code.model.nodes import Attribute, Binary, Call, Collection, Expr, FString, Literal
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Function, Instance, Site, functions_of
from cfgfix.rules.hit import Hit

_WITH_ARRAYS = "tensorflow.numpy_function"
_WITH_TENSORS = "tensorflow.py_function"
_OF_TEXT = frozenset(
    {
        "replace",
        "split",
        "rsplit",
        "endswith",
        "startswith",
        "find",
        "rfind",
        "strip",
        "lstrip",
        "rstrip",
        "partition",
    }
    | {"rpartition", "removeprefix", "removesuffix"}
)
"""Methods of texts that take texts, which arrays do not have and bytes refuse texts for."""


def bytes_as_text(program: Program) -> Iterator[Hit]:
    """Find Python functions that use the bytes they are given as text."""
    seen: set[tuple[int, int]] = set()
    for site, function in _calls_with_values(program):
        scope = function.scope
        given = site.call.argument(1, "inp")
        if not isinstance(given, Collection) or function.partial or function.fixed:
            continue
        bound = isinstance(function.receiver, Instance)
        for param in scope.params[bound : bound + len(given.items)]:
            if param.kind != "plain" or scope.binding(param.name):
                continue
            for event in scope.events():
                used = _used_as_text(event, param.name, site.name == _WITH_TENSORS)
                place = place_of(used, scope) if used is not None else None
                if used is None or place is None or _asks_of(scope, event.block, param.name):
                    continue
                key = id(scope), place.line
                if key not in seen:
                    seen.add(key)
                    yield hit_in(
                        scope,
                        place,
                        event.block,
                        {
                            "param": param.name,
                            "line": site.call.line,
                            "shown": text(used),
                            "function": dotted(site.call.func),
                        },
                        needs=((site.scope, site.call.block),),
                        related=(at(site, label="hands it over"),),
                    )
                break


def _calls_with_values(program: Program) -> Iterator[tuple[Site, Function]]:
    """Yield each call that passes values to a known project function."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named(_WITH_ARRAYS, _WITH_TENSORS):
        key = id(site.scope), site.call.number
        functions = functions_of(site.argument(0, "func"))
        if key in seen or site.call.opaque or len(functions) != 1 or functions[0].scope.decorators:
            continue
        seen.add(key)
        yield site, functions[0]


def _used_as_text(event: Event, name: str, as_tensor: bool) -> Expr | None:
    """Return the part of a statement that uses a bytes parameter as text, or None."""
    for top in (event.value, *event.targets):
        for part in walk(top) if top is not None else ():
            if (
                isinstance(part, Call)
                and isinstance(part.func, Attribute)
                and part.func.attribute in _OF_TEXT
            ):
                if _is_value(part.func.base, name, as_tensor) and any(map(_is_text, part.args)):
                    return part
            elif isinstance(part, Binary) and part.operator == "+":
                for one, other in ((part.left, part.right), (part.right, part.left)):
                    if _is_value(one, name, as_tensor) and _is_text(other):
                        return part
    return None


def _is_value(expr: Expr, name: str, as_tensor: bool) -> bool:
    """Tell whether an expression is the bytes of a parameter.

    Where the parameter is a tensor, its `numpy()` gives the bytes.
    """
    if not as_tensor:
        return is_name(expr, name)
    return isinstance(expr, Call) and expr.method == "numpy" and is_name(expr.receiver, name)


def _is_text(expr: Expr) -> bool:
    return isinstance(expr, FString) or (isinstance(expr, Literal) and isinstance(expr.value, str))


def _asks_of(scope: Scope, block: int, name: str) -> bool:
    """Tell whether a condition around a block mentions a name."""
    return any(
        any(is_name(part, name) for part in walk(here.test))
        for here in scope.block_chain(block)
        if here.test is not None and here.kind in ("if", "while")
    )


def nothing_returned(program: Program) -> Iterator[Hit]:
    """Find functions that return nothing where the call promises a result."""
    hot = hot_paths(program)
    for site, function in _calls_with_values(program):
        scope = function.scope
        types = site.call.argument(2, "Tout")
        if types is None or is_none(types) or (isinstance(types, Collection) and not types.items):
            continue
        if scope.kind != "function" or scope.generator or scope.is_async:
            continue
        if not isinstance(types, (Attribute, Collection)) or _may_return(scope):
            continue
        if site.name == _WITH_ARRAYS and hot.reach_of(site, *TRACED) is None:
            # Called eagerly, nothing is taken for nothing.
            continue
        place = place_of(types, site.scope) or site.call.name_place
        yield hit_in(
            site.scope,
            place,
            site.call.block,
            {"function": scope.name, "types": text(types)},
            related=(Step(scope, scope.place, -1, "returns nothing"),),
        )


def _may_return(scope: Scope) -> bool:
    """Tell whether a function returns a value or leaves by an exception."""
    return any(
        event.kind == "raise" or (event.value is not None and not is_none(event.value))
        for event in scope.events_of("return", "raise")
    )
