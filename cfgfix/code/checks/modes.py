"""Layers that differ in training, and custom steps that call them."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import inside_function
from cfgfix.code.checks.handed_on import values_of
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.model.expressions import dotted, is_name, is_true, walk
from cfgfix.code.model.hit import Rewrite, at, hit_in
from cfgfix.code.model.nodes import NOWHERE, Attribute, Call, Expr, Literal, Name, Starred
from cfgfix.code.model.program import Program, is_keras_part, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Function, Instance, Made, Site
from cfgfix.rules.hit import Hit

_DROPS = frozenset({"Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "AlphaDropout"})
_ADDS_NOISE = frozenset({"GaussianNoise", "GaussianDropout"})
_COUNTS = frozenset({"BatchNormalization", "SyncBatchNormalization"})
"""Layers that look at `training` (Keras 3.15.1 and 2.15.0, `call` of each)."""
_MODELS = frozenset({"keras.Sequential", "keras.Model"})
_SOURCES = frozenset({"trainable_variables", "trainable_weights", "variables", "weights"})


def without_training(program: Program) -> Iterator[Hit]:
    """Find custom steps that call the model they train without `training=True`.

    The model has layers that ask for it.
    """
    seen: set[tuple[int, str]] = set()
    trained: dict[int, set[str]] = {}
    for tape in flow_of(program).named("tensorflow.GradientTape"):
        scope = tape.scope
        if id(scope) not in trained:
            trained[id(scope)] = trained_names(scope)
        if not trained[id(scope)]:
            continue
        if written_for_one(program, scope):
            continue
        for call in _calls_in_tape(tape):
            name = dotted(call.func)
            if name is None or (id(scope), name) in seen or not _gives_only_inputs(call):
                continue
            if name not in trained[id(scope)] or _given_elsewhere(program, scope, call, name):
                continue
            found = _layer_of(program, scope, call.func)
            if found is None:
                continue
            if _phase_is_set(program):
                return
            seen.add((id(scope), name))
            kind, layer = found
            others = [
                other
                for other in _calls_in_tape(tape)
                if other is not call and dotted(other.func) == name and _gives_only_inputs(other)
            ]
            yield hit_in(
                scope,
                call.name_place,
                call.block,
                {
                    "model": name,
                    "layer": layer.name.rpartition(".")[2],
                    "does": "uses its moving averages and never updates them"
                    if kind == "counts"
                    else "lets everything through",
                },
                severity="info" if scope.module.path.endswith(".ipynb") else None,
                related=(at(layer, label="the layer"),),
                rewrites=tuple(
                    Rewrite("keyword", scope, item.place, "True", "training") for item in (call, *others)
                ),
            )


def _phase_is_set(program: Program) -> bool:
    """Tell whether the program sets Keras's learning phase."""
    return any(
        call.method in ("set_learning_phase", "learning_phase_scope")
        for module in program.modules
        for scope in module.summary.scopes
        for call in scope.calls
    )


def _calls_in_tape(tape: Site) -> Iterator[Call]:
    """Yield the calls in the body of a tape's `with`."""
    scope = tape.scope
    event = statement_of(scope, tape.call.place)
    if event is not None and event.kind == "with":
        inner = scope.calls_between(event.place.start, event.place.end)
        yield from sorted(inner, key=lambda call: call.number)


def _gives_only_inputs(call: Call) -> bool:
    """Tell whether a call passes its inputs and nothing else."""
    return len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], Starred)


def trained_names(scope: Scope) -> set[str]:
    """Return the names whose variables a function takes gradients for."""
    found: set[str | None] = set()
    names: set[str] = set()
    for call in scope.calls:
        if call.method in ("gradient", "minimize", "apply_gradients"):
            for given in (*call.args, *(value for _, value in call.keywords)):
                for part in walk(given):
                    found.add(_source_of(part))
                    if isinstance(part, Name):
                        names.add(part.name)
    for name in names:
        for event in scope.binding(name):
            if event.value is not None and any(is_name(target, name) for target in event.targets):
                found.update(map(_source_of, walk(event.value)))
    return {name for name in found if name is not None}


def _source_of(expr: Expr) -> str | None:
    """Return the dotted name of `x` in `x.trainable_variables`, or None."""
    return dotted(expr.base) if isinstance(expr, Attribute) and expr.attribute in _SOURCES else None


def _given_elsewhere(program: Program, scope: Scope, call: Call, name: str) -> bool:
    """Tell whether the function also calls the same model with the flag."""
    return any(other is not call for other in _given_flag(program, scope).get(name, ()))


@once
def _given_flag(program: Program, scope: Scope) -> dict[str, list[Call]]:
    del program
    found: dict[str, list[Call]] = {}
    for call in scope.calls:
        name = dotted(call.func) if call.keyword("training") is not None else None
        if name is not None:
            found.setdefault(name, []).append(call)
    return found


def _layer_of(program: Program, scope: Scope, expr: Expr, depth: int = 2) -> tuple[str, Site] | None:
    """Return a layer of a model that differs in training, with words for how.

    None unless each possible value of the model has one.
    """
    values = values_of(program, scope, expr)
    found = None
    for value in values:
        here = None
        if isinstance(value, Made) and value.name in _MODELS:
            here = _made_in(program, value.site) if value.site is not None else None
        elif isinstance(value, Instance) and is_keras_part(program, value.scope):
            here = _layer_of_class(program, value.scope, depth)
        if here is None:
            return None
        found = found or here
    return found


def _mode_of_call(name: str) -> str | None:
    head, _, last = name.rpartition(".")
    if head != "keras.layers":
        return None
    return "counts" if last in _COUNTS else "drops" if last in _DROPS or last in _ADDS_NOISE else None


@once
def _made_in(program: Program, made: Site) -> tuple[str, Site] | None:
    """Return a layer made for a model that needs the flag, with words, or None.

    None also where a function builds several models.
    """
    scope = made.scope
    if made.name == "keras.Sequential":
        added = flow_of(program).of_calls(scope, _numbers_of_added(program, made.call, scope))
        sites = [site for site in added if site.number in _numbers_of(program, scope)]
    else:
        sites = _sites_of(program, scope)
        if len({site.call.number for site in sites if site.scope is scope and site.name in _MODELS}) != 1:
            return None
    for site in sites:
        kind = _mode_of_call(site.name)
        if (
            kind is not None
            and site.call.number not in _called_with_flag(program, site.scope)
            and not _is_frozen(site)
        ):
            return kind, site
    return None


@once
def _sites_of(program: Program, scope: Scope) -> list[Site]:
    if scope.kind != "module":
        return [site for site, _ in inside_function(program, Function(scope))]
    found: list[Site] = list(flow_of(program).within(scope))
    models = [site.call for site in found if site.name in _MODELS]
    built = _calls_behind(scope, models[0]) if len(models) == 1 else set()
    # A module calls much beside what its model is built by.
    for site in list(found):
        if site.call.number in built and len(site.targets) == 1:
            found += [inner for inner, _ in inside_function(program, site.targets[0])]
    return found


def _calls_behind(scope: Scope, model: Call) -> set[int]:
    """Return the numbers of the calls whose results go into a model."""
    found: set[int] = set()
    seen: set[str] = set()
    pending: list[Expr] = [*model.args, *(value for _, value in model.keywords)]
    while pending:
        for part in walk(pending.pop()):
            if isinstance(part, Call):
                found.add(part.number)
            elif isinstance(part, Name) and part.name not in seen:
                seen.add(part.name)
                pending += [
                    event.value
                    for event in scope.binding(part.name)
                    if event.kind == "assign" and event.value is not None
                ]
    return found


@once
def _numbers_of(program: Program, scope: Scope) -> set[int]:
    return {site.number for site in _sites_of(program, scope)}


def _numbers_of_added(program: Program, model: Call, scope: Scope) -> set[int]:
    """Return the numbers of the calls in a Sequential model's list and `add` calls."""
    event = statement_of(scope, model.place)
    names = {dotted(target) for target in event.targets} if event and event.value is model else set()
    adds = [call for name in names - {None} for call in _calls_adding(program, scope).get(name, ())]
    return {
        call.number
        for outer in (model, *adds)
        for call in scope.calls_between(outer.place.start, outer.place.end)
    }


@once
def _calls_adding(program: Program, scope: Scope) -> dict[str | None, list[Call]]:
    del program
    found: dict[str | None, list[Call]] = {}
    for call in scope.calls_of("add"):
        found.setdefault(dotted(call.receiver), []).append(call)
    return found


@once
def _called_with_flag(program: Program, scope: Scope) -> set[int]:
    """Return the numbers of the calls that make layers called with `training` at once."""
    del program
    return {
        call.func.number
        for call in scope.calls
        if isinstance(call.func, Call) and (call.keyword("training") is not None or len(call.args) > 1)
    }


def _is_frozen(site: Site) -> bool:
    given = site.call.keyword("trainable")
    return given is not None and not is_true(given)


def _layer_of_class(program: Program, owner: Scope, depth: int = 2) -> tuple[str, Site] | None:
    """Return a layer that a class's `call` leaves open to training, or None.

    Keras hands the flag on to what `call` calls, whether `call` names it or not.
    """
    method = program.method(owner, "call")
    if method is None or program.method(owner, "__call__") is not None:
        return None
    default = next((item.default for item in method.params if item.name == "training"), _NO_FLAG)
    if default is None or not isinstance(default, Literal) or default.value not in (None, False):
        return None
    for scope in owner.module.summary.scopes:
        if scope.parent != owner.number or scope.kind != "function":
            continue
        sites = {site.call.number: site for site in flow_of(program).within(scope)}
        for attribute, value in _attributes_changed(scope):
            if not _left_open(method, attribute):
                continue
            if isinstance(value, Name) and depth > 0:
                found = _layer_of(program, scope, value, depth - 1)
                if found is not None:
                    return found
            for part in walk(value):
                site = sites.get(part.number) if isinstance(part, Call) else None
                if site is None:
                    continue
                kind = _mode_of_call(site.name)
                if kind is not None and not _is_frozen(site):
                    return kind, site
                if (
                    depth > 0
                    and isinstance(site.result, Instance)
                    and is_keras_part(program, site.result.scope)
                ):
                    found = _layer_of_class(program, site.result.scope, depth - 1)
                    if found is not None:
                        return found
    return None


_NO_FLAG: Expr = Literal(None, NOWHERE)


def _attributes_changed(scope: Scope) -> Iterator[tuple[str, Expr]]:
    """Yield the attributes that a method sets or adds to, each with the expression."""
    own = scope.params[0].name if scope.params else ""
    for event in scope.events():
        if event.value is None:
            continue
        for target in event.targets:
            if isinstance(target, Attribute) and is_name(target.base, own):
                yield target.attribute, event.value
        if event.kind == "expr" and isinstance(event.value, Call):
            call = event.value
            held = call.receiver if call.method == "add" and call.args else None
            if isinstance(held, Attribute) and is_name(held.base, own):
                yield held.attribute, call.args[0]


def _left_open(method: Scope, attribute: str) -> bool:
    """Tell whether `call` calls an attribute and does not fix `training`."""
    own = method.params[0].name if method.params else ""
    found = False
    for call in method.calls:
        if dotted(call.func) == f"{own}.{attribute}":
            given = call.keyword("training") or (call.args[1] if len(call.args) > 1 else None)
            if given is not None and not _is_off_by_default(method, given):
                return False
            found = True
    return found


def _is_off_by_default(method: Scope, given: Expr) -> bool:
    """Tell whether a flag comes from `training` parameters that are off by default."""
    named = {part.name for part in walk(given) if isinstance(part, Name)}
    flags = [item for item in method.params if item.name in named and "training" in item.name]
    return bool(flags) and all(
        isinstance(item.default, Literal) and item.default.value in (None, False) for item in flags
    )
