"""Averaged copies of models that follow only part of the model's variables."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import inside_function, only_value
from cfgfix.code.checks.handed_on import values_of
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.expressions import dotted, is_name, text, walk
from cfgfix.code.model.hit import Step, at, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Collection, Expr, Name
from cfgfix.code.model.program import Program, is_keras_part
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Function, Instance, Made, Site, Value
from cfgfix.rules.hit import Hit

_TRAINED = frozenset({"trainable_variables", "trainable_weights"})
_MORE = frozenset(
    {
        "non_trainable_variables",
        "non_trainable_weights",
        "variables",
        "weights",
        "get_weights",
        "set_weights",
        "moving_mean",
        "buffers",
    }
)
_NORMALISES = frozenset({"keras.layers.BatchNormalization", "keras.layers.SyncBatchNormalization"})
_CLONES = frozenset({"keras.models.clone_model", "copy.deepcopy"})


def without_statistics(program: Program) -> Iterator[Hit]:
    """Find averaged model copies that leave BatchNormalization's statistics out."""
    for module in program.modules:
        for scope in module.summary.scopes:
            if not scope.calls_of("assign"):
                continue
            for event in scope.events_of("for"):
                pair = _assigned_models(scope, event)
                if pair is None or _follows_more(program, scope):
                    continue
                layer = next(
                    (found for expr in pair for found in [_layer_of(program, scope, expr)] if found), None
                )
                if layer is None:
                    continue
                call = next(call for call in scope.calls_of("assign") if _is_in(scope, call, event))
                yield hit_in(
                    scope,
                    call.name_place,
                    call.block,
                    {"copy": text(pair[0]), "model": text(pair[1])},
                    related=(
                        at(layer, label="its moving averages are not trainable"),
                        Step(scope, event.place, event.block, "goes through the trained variables only"),
                    ),
                )
                break


def _is_in(scope: Scope, call: Call, event: Event) -> bool:
    return any(inside(scope, call.block, number) for number, _ in event.bodies)


def _assigned_models(scope: Scope, event: Event) -> tuple[Expr, Expr] | None:
    """Return the copy and the model whose variables a loop assigns, or None.

    The loop goes over `zip(copy.trainable_variables, model.trainable_variables)`.
    """
    over, target = only_value(scope, event.value), event.targets[0]
    if (
        not isinstance(over, Call)
        or not is_name(over.func, "zip")
        or len(over.args) != 2
        or not isinstance(target, Collection)
        or len(target.items) != 2
    ):
        return None
    sources: dict[str, Expr] = {}
    for item, written in zip(target.items, over.args, strict=True):
        given = only_value(scope, written)
        if not isinstance(item, Name) or not isinstance(given, Attribute) or given.attribute not in _TRAINED:
            return None
        sources[item.name] = given.base
    for call in scope.calls_of("assign"):
        held = dotted(call.receiver)
        if not _is_in(scope, call, event) or held not in sources or not call.args:
            continue
        other = next((name for name in sources if name != held), None)
        if other is not None and any(is_name(part, other) for part in _variable_parts(scope, call.args[0])):
            return sources[held], sources[other]
    return None


def _variable_parts(scope: Scope, expr: Expr) -> Iterator[Expr]:
    for part in walk(expr):
        yield part
        if isinstance(part, Name):
            for event in scope.binding(part.name):
                if event.kind == "assign" and event.value is not None:
                    yield from walk(event.value)


def _follows_more(program: Program, scope: Scope) -> bool:
    """Tell whether a function, or one near it, uses more than the trained variables."""
    owner = program.owner(scope)
    beside = [
        item
        for item in scope.module.summary.scopes
        if item is scope
        or (owner is not None and item.parent == owner.number and item.name not in ("__init__", "build"))
        or any(site.scope is item for site in flow_of(program).callers(scope))
    ]
    for item in beside:
        for event in item.events():
            for expr in (event.value, *event.targets):
                if expr is not None and any(
                    isinstance(part, Attribute) and part.attribute in _MORE for part in walk(expr)
                ):
                    return True
    return False


def _layer_of(program: Program, scope: Scope, expr: Expr) -> Site | None:
    """Return a BatchNormalization layer of a model.

    None unless each possible value of the model has one.
    """
    found = None
    for value in values_of(program, scope, expr):
        here = _normalising_call(program, value)
        if here is None:
            return None
        found = found or here
    return found


def _normalising_call(program: Program, value: Value, depth: int = 3) -> Site | None:
    if isinstance(value, Made) and value.site is not None and depth > 0:
        made = value.site
        if value.name in _CLONES and made.args:
            return _normalising_call(program, made.args[0], depth - 1)
        if not value.name.startswith(("keras.Sequential", "keras.Model")):
            return None
        if made.scope.kind == "function":
            sites = [site for site, _ in inside_function(program, Function(made.scope))]
        else:
            sites = flow_of(program).within(made.scope)
        return next((site for site in sites if site.name in _NORMALISES), None)
    if isinstance(value, Instance) and is_keras_part(program, value.scope):
        for number in value.scope.children.values():
            for site in flow_of(program).within(value.scope.module.summary.scopes[number]):
                if site.name in _NORMALISES:
                    return site
                if depth > 0 and site.result is not value and isinstance(site.result, Instance):
                    found = _normalising_call(program, site.result, depth - 1)
                    if found is not None:
                        return found
    return None
