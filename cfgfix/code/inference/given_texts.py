"""Which texts the code of a program gives parameters and attributes of a name."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.model.expressions import walk_own
from cfgfix.code.model.nodes import Attribute, Comprehension, Expr, Literal, Name, Starred
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope


@once
def texts_given(program: Program, name: str) -> frozenset[str] | None:
    """Return the string constants that a program assigns to anything of a name.

    Parameters, keyword arguments, variables and attributes of the name count. None where another value may be given, as by
    a command line, a config or a computed string.
    """
    texts: set[str] = set()
    places = _places_of(program, name)
    words = [word.encode() for word in (name, *places)]
    for module in program.all_modules():
        content = program.content_of(module.path)
        if not any(word in content for word in words):
            continue
        for scope in module.summary.scopes:
            for given in _given_in(scope, name, places):
                if given is None:
                    return None
                texts.add(given)
            if _is_said_as_text(scope, name) or _is_bound_in_passing(scope, name):
                return None
    return frozenset(texts)


def _places_of(program: Program, name: str) -> dict[str, int]:
    """Return the callables with a positional parameter of a name, and its position."""
    found: dict[str, int] = {}
    for module in program.all_modules():
        scopes = module.summary.scopes
        for scope in scopes:
            plain = [item.name for item in scope.params if item.kind == "plain"]
            if name not in plain:
                continue
            is_method = scope.parent >= 0 and scopes[scope.parent].kind == "class"
            called = scopes[scope.parent].name if is_method and scope.name == "__init__" else scope.name
            place = plain.index(name) - is_method
            found[called] = min(place, found.get(called, place))
    return found


def _given_in(scope: Scope, name: str, places: dict[str, int]) -> Iterator[str | None]:
    """Yield the string constants that a scope gives a name; None for other values."""
    for item in scope.params:
        if item.name == name and item.default is not None:
            yield from _text_of(item.default, name)
    for call in scope.calls:
        for keyword, value in call.keywords:
            if keyword == name:
                yield from _text_of(value, name)
        place = places.get(_last_step(call.func))
        if place is None:
            continue
        if any(isinstance(item, Starred) for item in call.args):
            yield None
        elif len(call.args) > place:
            yield from _text_of(call.args[place], name)
    for event in scope.events():
        for target in event.targets:
            if _last_step(target) == name:
                if event.kind in ("assign", "annotate"):
                    yield from _text_of(event.value, name) if event.value is not None else ()
                else:
                    yield None
            elif any(_last_step(part) == name for part in walk_own((target,)) if part is not target):
                # `for name, value in items`
                yield None
        if event.kind == "import" and any(bound == name for bound, _ in event.imports):
            yield None


def _text_of(value: Expr, name: str) -> Iterator[str | None]:
    """Yield the string constant that an expression is, or None for another value.

    Nothing is yielded for the literal None, and for a variable or attribute of the same name.
    """
    if isinstance(value, Literal) and (value.value is None or isinstance(value.value, str)):
        if value.value is not None:
            yield value.value
    elif _last_step(value) != name:
        yield None


def _is_bound_in_passing(scope: Scope, name: str) -> bool:
    """Tell whether a lambda or comprehension binds a name; its value may be anything."""
    if scope.kind in ("lambda", "comprehension"):
        return name in scope.names or any(item.name == name for item in scope.params)
    return any(
        _last_step(part) == name
        for item in _expressions_in(scope)
        if isinstance(item, Comprehension)
        for target, _, _ in item.generators
        for part in walk_own((target,))
    )


def _is_said_as_text(scope: Scope, name: str) -> bool:
    """Tell whether a string constant is a name, as in the declaration of an option."""
    return any(
        isinstance(item, Literal)
        and isinstance(item.value, str)
        and item.value.lstrip("-").replace("-", "_") == name
        for item in _expressions_in(scope)
    )


def _expressions_in(scope: Scope) -> Iterator[Expr]:
    """Yield the expressions that a scope evaluates."""
    tops = [event.value for event in scope.events() if event.value is not None]
    tops += [item for call in scope.calls for item in (*call.args, *(value for _, value in call.keywords))]
    return walk_own(tops)


def _last_step(expr: Expr) -> str:
    if isinstance(expr, Name):
        return expr.name
    return expr.attribute if isinstance(expr, Attribute) else ""
