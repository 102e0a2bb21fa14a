"""Models frozen as part of another model, which then never train themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cfgfix.code.inference.eras import release_in_words
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.references import api
from cfgfix.code.inference.releases import keras_three, passed_over_for_keras_2, refused_by_three
from cfgfix.code.model.expressions import constant, dotted, is_name
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Expr, Name, Place, Subscript
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Function
from cfgfix.rules.hit import Hit

passed_over = passed_over_for_keras_2
"""Which modules these checks say nothing of."""

_TRAINS = ("train_on_batch", "fit", "fit_generator")
_DEPTH = 4
_MOST_CALLERS = 16

Key = tuple[str, int, str]
"""One model of the program: a name of a scope, or an attribute of the objects of a class."""


class _ModelUse(NamedTuple):
    """A place where a model is compiled, frozen or trained."""

    scope: Scope
    place: Place
    block: int
    shown: str


def never_trained(program: Program) -> Iterator[Hit]:
    """Find models that are compiled, frozen and then trained.

    Keras 3 reads `trainable` at the first step, not when the model is compiled.
    """
    if not keras_three(program):
        return
    frozen, freed = _trainable_settings(program)
    if not frozen:
        return
    compiled = _calls_of(program, "compile")
    trained = _calls_of(program, *_TRAINS)
    told: set[tuple[int, Place]] = set()
    for key, places in frozen.items():
        if key in freed or None in freed or key not in trained or len(places) != 1:
            continue
        freeze = places[0]
        made = _compile_before(program, key, compiled.get(key, []), freeze)
        if made is None or (id(freeze.scope), freeze.place) in told:
            continue
        trains = trained[key]
        if not all(_comes_after(program, use, freeze) for use in trains):
            continue
        refused = refused_by_three(program, freeze.scope)
        if refused is None:
            continue
        told.add((id(freeze.scope), freeze.place))
        use = trains[0]
        yield hit_in(
            freeze.scope,
            freeze.place,
            freeze.block,
            {
                "model": freeze.shown,
                "call": use.shown,
                "line": use.place.line,
                "asked": release_in_words(api(program)),
            },
            severity=refused[0],
            related=(
                Step(made.scope, made.place, made.block, "compiled while it was trainable"),
                Step(use.scope, use.place, use.block, "trains nothing"),
            ),
            no_fix=f"set {use.shown.rpartition('.')[0]}.trainable = True before {use.shown}, and False again before the other model trains",
        )


def _trainable_settings(program: Program) -> tuple[dict[Key, list[_ModelUse]], set[Key | None]]:
    """Return where models are frozen as a whole, and which may be unfrozen.

    None among the latter stands for an unknown model.
    """
    frozen: dict[Key, list[_ModelUse]] = {}
    freed: set[Key | None] = set()
    for module in program.linked:
        for scope in module.summary.scopes:
            for event in scope.events_of("assign", "annotate", "augment"):
                for target in event.targets:
                    if not isinstance(target, Attribute) or target.attribute != "trainable":
                        continue
                    owner, whole = _owner_of(scope, target.base)
                    keys = _model_keys(program, scope, owner, _DEPTH)
                    if constant(event.value) is False:
                        for key in keys if whole else ():
                            shown = dotted(owner) or "the model"
                            frozen.setdefault(key, []).append(
                                _ModelUse(scope, event.place, event.block, shown)
                            )
                    else:
                        freed.update(keys or (_key_of_unknown(program, scope, owner),))
            for call in scope.calls:
                if (
                    is_name(call.func, "setattr")
                    and len(call.args) == 3
                    and constant(call.args[1]) == "trainable"
                ):
                    freed.update(_model_keys(program, scope, call.args[0], _DEPTH) or (None,))
    freed.discard(("", 0, ""))
    return frozen, freed


def _key_of_unknown(program: Program, scope: Scope, owner: Expr) -> Key | None:
    """Return the key of a model that cannot be identified.

    It is None for any model, and an empty key for `self`.
    """
    own = program.owner(scope)
    if own is not None and scope.params and is_name(owner, scope.params[0].name):
        return "", 0, ""
    return None


def _owner_of(scope: Scope, base: Expr) -> tuple[Expr, bool]:
    """Return the model whose `trainable` is set, and whether the whole model is meant.

    A loop over the layers of a model sets the whole model.
    """
    if isinstance(base, Name):
        for event in scope.binding(base.name):
            if event.kind == "for" and len(event.targets) == 1 and is_name(event.targets[0], base.name):
                value = event.value
                if isinstance(value, Attribute) and value.attribute == "layers":
                    return value.base, True
                if value is not None:
                    return _model_in(value), False
        return base, True
    inner = _model_in(base)
    return inner, inner is base


def _model_in(expr: Expr) -> Expr:
    """Return the model of an expression for its layers, or the expression itself."""
    while True:
        if isinstance(expr, Subscript):
            expr = expr.base
        elif isinstance(expr, Attribute) and expr.attribute == "layers":
            return expr.base
        elif isinstance(expr, Call) and expr.method == "get_layer" and expr.receiver is not None:
            return expr.receiver
        else:
            return expr


def _calls_of(program: Program, *methods: str) -> dict[Key, list[_ModelUse]]:
    """Return the calls of some methods by the key of their model."""
    found: dict[Key, list[_ModelUse]] = {}
    for module in program.linked:
        for scope in module.summary.scopes:
            for call in scope.calls_of(*methods):
                if call.receiver is None:
                    continue
                use = _ModelUse(scope, call.name_place, call.block, dotted(call.func) or call.method or "")
                for key in _model_keys(program, scope, call.receiver, _DEPTH):
                    found.setdefault(key, []).append(use)
    return found


def _model_keys(program: Program, scope: Scope, expr: Expr, depth: int) -> tuple[Key, ...]:
    """Return the keys of the models that an expression may stand for.

    Empty where the models are unknown.
    """
    if depth < 0:
        return ()
    if isinstance(expr, Attribute):
        owner = program.owner(scope)
        if owner is not None and scope.params and is_name(expr.base, scope.params[0].name):
            return (("attribute", id(owner), expr.attribute),)
        return ()
    if not isinstance(expr, Name):
        return ()
    here: Scope | None = scope
    while here is not None and (expr.name not in here.names or (here.kind == "class" and here is not scope)):
        here = program.outer(here)
    if here is None or expr.name in here.imports:
        return ()
    bound = here.binding(expr.name)
    if any(item.name == expr.name for item in here.params):
        return _models_given(program, here, expr.name, depth) if not bound else ()
    if len(bound) != 1:
        return ()
    value = bound[0].value
    if isinstance(value, (Name, Attribute)) and any(is_name(item, expr.name) for item in bound[0].targets):
        other = _model_keys(program, here, value, depth - 1)
        if other:
            return other
    return (("name", id(here), expr.name),)


@once
def _models_given(program: Program, scope: Scope, name: str, depth: int) -> tuple[Key, ...]:
    """Return the keys of the models that callers pass for a parameter."""
    found: dict[Key, None] = {}
    for site in flow_of(program).callers(scope)[:_MOST_CALLERS]:
        target = next((item for item in site.targets if item.scope is scope), None)
        if target is None or site.call.opaque:
            return ()
        offset = int(target.receiver is not None)
        names = [item.name for item in scope.params]
        if name not in names:
            return ()
        written = site.call.argument(names.index(name) - offset, name)
        keys = _model_keys(program, site.scope, written, depth - 1) if written is not None else ()
        if not keys:
            return ()
        found.update(dict.fromkeys(keys))
    return tuple(found)


def _compile_before(
    program: Program, key: Key, compiled: list[_ModelUse], freeze: _ModelUse
) -> _ModelUse | None:
    """Return where a model is compiled before it is frozen, or None.

    The compile may be in the function that makes the model.
    """
    for use in compiled:
        if use.scope is freeze.scope:
            if use.place.start < freeze.place.start:
                return use
        elif _comes_after(program, freeze, use):
            return use
    for scope, value in _makers_of_model(program, key):
        if not isinstance(value, Call):
            continue
        made = program.static_value(value.func, scope)
        function = made.scope if isinstance(made, Function) else _own_method(program, scope, value)
        if function is None:
            continue
        returned = {
            event.value.name for event in function.events_of("return") if isinstance(event.value, Name)
        }
        for call in function.calls_of("compile"):
            if isinstance(call.receiver, Name) and call.receiver.name in returned:
                return _ModelUse(function, call.name_place, call.block, "")
    return None


def _own_method(program: Program, scope: Scope, call: Call) -> Scope | None:
    owner = program.owner(scope)
    if owner is None or not isinstance(call.func, Attribute) or not scope.params:
        return None
    if not is_name(call.func.base, scope.params[0].name):
        return None
    return program.method(owner, call.func.attribute)


def _makers_of_model(program: Program, key: Key) -> Iterator[tuple[Scope, Expr]]:
    """Yield the expressions assigned to a model's name or attribute, with scope."""
    kind, number, name = key
    for module in program.linked:
        for scope in module.summary.scopes:
            owner = program.owner(scope)
            if kind == "name" and id(scope) == number:
                events: list[Event] = scope.binding(name)
            elif kind == "attribute" and owner is not None and id(owner) == number:
                events = scope.events_of("assign")
            else:
                continue
            for event in events:
                if event.value is not None and any(
                    is_name(target, name)
                    if kind == "name"
                    else isinstance(target, Attribute)
                    and target.attribute == name
                    and is_name(target.base, scope.params[0].name if scope.params else "")
                    for target in event.targets
                ):
                    yield scope, event.value


def _comes_after(program: Program, later: _ModelUse, first: _ModelUse) -> bool:
    """Tell whether a place is reached only after another one."""
    if later.scope is first.scope:
        return later.place.start > first.place.start
    if program.owner(first.scope) is not None and first.scope.name == "__init__":
        # What a constructor itself calls may come before.
        return _entry_place(program, first.scope, later.scope) is None or (
            (_entry_place(program, first.scope, later.scope) or (0, 0)) > first.place.start
        )
    around = [first.scope, *(site.scope for site in flow_of(program).callers(first.scope)[:_MOST_CALLERS])]
    for scope in around:
        start = first.place.start if scope is first.scope else _entry_place(program, scope, first.scope)
        end = later.place.start if scope is later.scope else _entry_place(program, scope, later.scope)
        if start is not None and end is not None:
            return end > start
    return first.scope.kind == "module"


@once
def _entry_place(program: Program, scope: Scope, wanted: Scope) -> tuple[int, int] | None:
    """Return the first call in a scope that leads to another scope, or None.

    At most three calls lie on the way.
    """
    best: tuple[int, int] | None = None
    for site in flow_of(program).within(scope):
        if best is not None and site.call.place.start >= best:
            continue
        if any(_reaches_model(program, target.scope, wanted, 2) for target in site.targets):
            best = site.call.place.start
    return best


@once
def _reaches_model(program: Program, scope: Scope, wanted: Scope, depth: int) -> bool:
    if scope is wanted:
        return True
    return depth > 0 and any(
        _reaches_model(program, target.scope, wanted, depth - 1)
        for site in flow_of(program).within(scope)
        for target in site.targets
    )
