"""Target networks that are only another name of their source network."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import dotted, is_name, is_none, place_of, text, walk
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Comprehension, Expr, Name
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.rules.hit import Hit

_WEIGHTS = frozenset(
    {
        "weights",
        "variables",
        "trainable_weights",
        "trainable_variables",
        "get_weights",
        "non_trainable_weights",
    }
)
_Alias = tuple[Expr, Expr, Scope, Event]
"""Two names of one thing, and the statement that makes them so."""


def same_object(program: Program) -> Iterator[Hit]:
    """Find target networks that are only another name of their source network."""
    copies = _copied_weights(program)
    if not copies:
        return
    for module in program.modules:
        for scope in module.summary.scopes:
            told: set[int] = set()
            for first, second, where, event in _alias_pairs(program, scope):
                ways = ((first, second), (second, first))
                pair = next(((a, b) for a, b in ways if (_last_name(a), _last_name(b)) in copies), None)
                if pair is None or id(event) in told or _is_made_elsewhere(program, scope, pair, event):
                    continue
                told.add(id(event))
                copied_in, call = copies[_last_name(pair[0]), _last_name(pair[1])]
                yield hit_in(
                    where,
                    event.place,
                    event.block,
                    {"target": text(pair[0]), "source": text(pair[1])},
                    related=(Step(copied_in, call.place, call.block, "copied here, to itself"),),
                )


@once
def _copied_weights(program: Program) -> dict[tuple[str, str], tuple[Scope, Call]]:
    """Return the names between which weights are copied, target first, and the calls."""
    found: dict[tuple[str, str], tuple[Scope, Call]] = {}
    for module in program.modules:
        for scope in module.summary.scopes:
            for target, source, call in (*_copies_by_assignment(scope), *_assigned_in_loop(scope)):
                names = _last_name(target), _last_name(source)
                if names[0] and names[1] and names[0] != names[1]:
                    found.setdefault(names, (scope, call))
    for (first, second), (scope, call) in list(found.items()):
        params = [item.name for item in scope.params]
        if first not in params or second not in params:
            continue
        for site in flow_of(program).callers(scope):
            offset = int(any(target.receiver is not None for target in site.targets))
            given = [site.call.argument(params.index(name) - offset, name) for name in (first, second)]
            names = _last_name(given[0]), _last_name(given[1])
            if names[0] and names[1] and names[0] != names[1]:
                found.setdefault(names, (scope, call))
    return found


def _copies_by_assignment(scope: Scope) -> Iterator[tuple[Expr, Expr, Call]]:
    """Yield the target, the source and the call of each copy by `set_weights`."""
    for call in scope.calls_of("set_weights"):
        if call.receiver is None or len(call.args) != 1:
            continue
        given: Expr | None = call.args[0]
        if isinstance(given, Name):
            bound = scope.binding(given.name)
            given = bound[0].value if len(bound) == 1 else None
        sources = {
            text(part.base): part.base
            for part in (walk(given) if given is not None else ())
            if isinstance(part, Attribute) and part.attribute in _WEIGHTS
        }
        sources.pop(text(call.receiver), None)
        if len(sources) == 1:
            yield call.receiver, next(iter(sources.values())), call


def _assigned_in_loop(scope: Scope) -> Iterator[tuple[Expr, Expr, Call]]:
    """Yield the target, the source and the call of each copy by `assign` in a loop.

    Example: `for a, b in zip(x.weights, y.weights): a.assign(b)`.
    """
    overs = [(event.targets[0], event.value) for event in scope.events_of("for") if event.targets]
    overs += [
        (target, over)
        for event in scope.events()
        for part in (walk(event.value) if event.value is not None else ())
        if isinstance(part, Comprehension)
        for target, over, _ in part.generators
    ]
    for target, over in overs:
        items = getattr(target, "items", ())
        if (
            not isinstance(over, Call)
            or not is_name(over.func, "zip")
            or len(items) != 2
            or len(over.args) != 2
        ):
            continue
        sides = [
            part.base
            for given in over.args
            for part in walk(given)
            if isinstance(part, Attribute) and part.attribute in _WEIGHTS
        ]
        if len(sides) != 2:
            continue
        for call in scope.calls_of("assign"):
            number = next((at for at, item in enumerate(items) if _is_same_name(call.receiver, item)), None)
            if number is not None:
                yield sides[number], sides[1 - number], call


def _is_same_name(expr: Expr | None, name: Expr) -> bool:
    return isinstance(name, Name) and is_name(expr, name.name)


def _last_name(expr: Expr | None) -> str:
    return (dotted(expr) or "").rpartition(".")[2]


def _alias_pairs(program: Program, scope: Scope) -> Iterator[_Alias]:
    """Yield pairs of expressions that a scope gives one object."""
    held: dict[str, Expr] = {}
    for event in scope.events_of("assign"):
        if event.value is None:
            continue
        targets = [item for item in event.targets if isinstance(item, (Name, Attribute))]
        if len(targets) > 1 and not isinstance(event.value, (Name, Attribute)):
            yield targets[0], targets[1], scope, event
        source = _layers_of(program, scope, event.value)
        if source is None or not targets:
            continue
        yield targets[0], source, scope, event
        key = text(source)
        if key in held and len(scope.binding(key)) <= 1:
            yield targets[0], held[key], scope, event
        held.setdefault(key, targets[0])
    if scope.name == "__init__":
        yield from _given_twice(program, scope)


def _layers_of(program: Program, scope: Scope, expr: Expr) -> Expr | None:
    """Return the object whose layers a model shares, or None.

    It is the object itself, or `x` in `Model(x.input, x.output)`.
    """
    if isinstance(expr, (Name, Attribute)):
        return expr
    if not isinstance(expr, Call) or len(expr.args) + len(expr.keywords) < 2:
        return None
    if not (program.static_name(expr.func, scope) or "").endswith(("keras.Model", "keras.models.Model")):
        return None
    ends = [expr.argument(0, "inputs"), expr.argument(1, "outputs")]
    if not all(
        isinstance(end, Attribute) and end.attribute in names
        for end, names in zip(ends, (("input", "inputs"), ("output", "outputs")), strict=True)
    ):
        return None
    bases = [end.base for end in ends if isinstance(end, Attribute)]
    return bases[0] if text(bases[0]) == text(bases[1]) else None


def _given_twice(program: Program, scope: Scope) -> Iterator[_Alias]:
    """Yield pairs of attributes that a constructor call gives the same object."""
    kept = {
        event.value.name: (event.targets[0], event)
        for event in scope.events_of("assign")
        if isinstance(event.value, Name) and isinstance(event.targets[0], Attribute)
    }
    params = [item.name for item in scope.params]
    for site in flow_of(program).callers(scope):
        given: dict[str, str] = {}
        for name in kept:
            if name not in params or site.call.opaque:
                continue
            value = site.call.argument(params.index(name) - 1, name)
            if not isinstance(value, (Name, Attribute)):
                continue
            other = given.setdefault(text(value), name)
            if other != name:
                place = place_of(value, site.scope)
                event = next((item for item in site.scope.events() if _contains_call(item, site.call)), None)
                if event is not None and place is not None:
                    yield kept[other][0], kept[name][0], site.scope, event


def _contains_call(event: Event, call: Call) -> bool:
    return event.value is not None and any(part is call for part in walk(event.value))


def _is_made_elsewhere(program: Program, scope: Scope, pair: tuple[Expr, Expr], made: Event) -> bool:
    """Tell whether one of two names gets an object of its own in another statement."""
    owner = program.owner(scope)
    for expr in pair:
        if isinstance(expr, Name):
            given = [event for event in scope.binding(expr.name) if event is not made]
        else:
            given = [
                event
                for where, event, target in scope.module.stores()
                if target.attribute == _last_name(expr)
                and event is not made
                and program.owner(where) is owner
            ]
        if expr is pair[0] and any(not is_none(event.value) for event in given):
            others = [event for event in given if not isinstance(event.value, (Name, Attribute))]
            if others and len(made.targets) == 1:
                return True
        if len(given) > 1:
            return True
    return False
