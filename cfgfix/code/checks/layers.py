"""Layers made anew in every call, without their sequence, or not loadable."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import short
from cfgfix.code.checks.compiled_scopes import compiled_reach
from cfgfix.code.checks.models import fits_eagerly, keras_model_method
from cfgfix.code.checks.written_values import written_constant
from cfgfix.code.inference.eras import release_in_words, written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.inference.references import api
from cfgfix.code.inference.releases import keras_three, refused_by_three
from cfgfix.code.model.expressions import constant, is_name
from cfgfix.code.model.hit import Rewrite, at, hit_at, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Expr, Lambda, Literal, Name
from cfgfix.code.model.program import Program, is_keras_part, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import ClassValue, Items, Made, Site, alternatives
from cfgfix.rules.hit import Hit

_WEIGHTS = re.compile(
    r"keras\.(?:layers\.)?(?:Dense|EinsumDense|(?:Separable|Depthwise)?Conv[123]D(?:Transpose)?|Embedding|LSTM|GRU|SimpleRNN|Bidirectional"
    r"|ConvLSTM[123]D|BatchNormalization|LayerNormalization|GroupNormalization|MultiHeadAttention|PReLU|TimeDistributed)"
)
"""Layers that have weights of their own."""
_OUTSIDE = frozenset({"__init__", "build", "get_config", "from_config", "summary", "compile"})
_RECURRENT = re.compile(r"keras\.layers\.(?:LSTM|GRU|SimpleRNN|CuDNNLSTM|CuDNNGRU)")
_SEQUENCES = re.compile(
    r"keras\.layers\.(?:LSTM|GRU|SimpleRNN|CuDNNLSTM|CuDNNGRU|Bidirectional|Conv1D|MaxPooling1D|MaxPool1D|AveragePooling1D|AvgPool1D"
    r"|GlobalMaxPooling1D|GlobalMaxPool1D|GlobalAveragePooling1D|GlobalAvgPool1D|SpatialDropout1D|UpSampling1D|ZeroPadding1D)"
)
"""Layers that take a sequence: three dimensions with the batch."""
_KEEPS = re.compile(
    r"keras\.(?:layers\.)?(?:Dropout|BatchNormalization|LayerNormalization|Activation|ReLU|LeakyReLU|ELU|PReLU|GaussianNoise|GaussianDropout|AlphaDropout"
    r"|ActivityRegularization|Dense)"
)
"""Layers whose output has as many dimensions as their input."""


def made_in_call(program: Program) -> Iterator[Hit]:
    """Find layers with weights that `call` makes and uses."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).under("keras.layers.", "keras.LayerNormalization"):
        scope = site.scope
        key = id(scope), site.call.number
        if key in seen or not _WEIGHTS.fullmatch(site.name):
            continue
        seen.add(key)
        if not _used_at_once(program, scope, site.call):
            continue
        where = _within_call(program, scope)
        if where is None or written_for_one(program, scope):
            continue
        yield hit_at(
            site,
            flow=(),
            values={"layer": short(site), "method": where},
            no_fix="make it in __init__ and keep it as an attribute",
        )


_SEEDED = re.compile(
    r"keras\.layers\.(?:(?:Spatial|Gaussian|Alpha)?Dropout(?:[123]D)?|GaussianNoise|Random[A-Z]\w*)"
)
"""Layers that keep the state of their random numbers in a variable."""


def seed_made_in_call(program: Program) -> Iterator[Hit]:
    """Find random layers that `call` makes anew.

    Their seed is a variable in Keras 3.
    """
    if not keras_three(program):
        return
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).under("keras.layers."):
        scope = site.scope
        key = id(scope), site.call.number
        if key in seen or not _SEEDED.fullmatch(site.name) or site.raw.startswith("tensorflow.python."):
            continue
        seen.add(key)
        if not _used_at_once(program, scope, site.call) or _draws_nothing(program, site):
            continue
        where = _within_call(program, scope)
        refused = refused_by_three(program, scope)
        if where is None or refused is None or not _is_compiled(program, scope):
            continue
        yield hit_at(
            site,
            flow=(),
            values={"layer": short(site), "method": where, "asked": release_in_words(api(program))},
            severity=refused[0],
        )


def _draws_nothing(program: Program, site: Site) -> bool:
    """Tell whether a random layer has a rate of 0."""
    rate = site.call.argument(0, "rate") or site.call.argument(0, "stddev")
    if rate is None:
        return False
    written = (
        rate if isinstance(rate, Literal) else written_constant(program, rate, site.scope, site.call.block)
    )
    return written is not None and written.value == 0


def _is_compiled(program: Program, scope: Scope) -> bool:
    """Tell whether Keras or `tf.function` compiles a layer's `call`."""
    return _keras_compiles(program) or compiled_reach(program, scope) is not None


@once
def _keras_compiles(program: Program) -> bool:
    """Tell whether Keras runs and compiles a model of the program."""
    return not fits_eagerly(program) and any(
        keras_model_method(site.name) in ("fit", "evaluate", "predict") for site in flow_of(program).sites
    )


def _used_at_once(program: Program, scope: Scope, made: Call) -> bool:
    """Tell whether a new layer is called at once, or by a local name."""
    results, names = _calls_in(program, scope)
    if id(made) in results:
        return True
    name = _assigned_calls(program, scope).get(id(made))
    if name is None or not isinstance(name, Name):
        return False
    return len(scope.binding(name.name)) == 1 and name.name in names


@once
def _calls_in(program: Program, scope: Scope) -> tuple[frozenset[int], frozenset[str]]:
    """Return the ids of called call results, and the called names of a scope."""
    del program
    return (
        frozenset(id(call.func) for call in scope.calls if isinstance(call.func, Call)),
        frozenset(call.func.name for call in scope.calls if isinstance(call.func, Name)),
    )


@once
def _assigned_calls(program: Program, scope: Scope) -> dict[int, Expr]:
    """Return the target that each call of a scope is assigned to, by the call's id."""
    del program
    return {
        id(event.value): event.targets[0]
        for event in reversed(scope.events_of("assign"))
        if isinstance(event.value, Call) and len(event.targets) == 1
    }


def _within_call(program: Program, scope: Scope) -> str | None:
    """Return in words the method by which `call` runs a scope, or None."""
    if scope.kind == "lambda" or (scope.kind == "function" and program.owner(scope) is None):
        return _kept_function(program, scope)
    owner = program.owner(scope)
    if owner is None or not is_keras_part(program, owner):
        return None
    if scope.name == "call":
        return "call"
    if scope.name in _OUTSIDE or scope.name.startswith("__"):
        return None
    callers = flow_of(program).callers(scope)
    if callers and all(
        caller.scope.name == "call" and program.owner(caller.scope) is not None for caller in callers
    ):
        return f"{scope.name}, which call enters"
    return None


def _kept_function(program: Program, scope: Scope) -> str | None:
    """Return in words the attribute by which `call` runs a function, or None.

    `__init__` or `build` keeps the function there.
    """
    above = program.outer(scope)
    owner = program.owner(above) if above is not None else None
    if above is None or owner is None or above.name not in ("__init__", "build") or not above.params:
        return None
    if not is_keras_part(program, owner):
        return None
    kept = next(
        (
            event.targets[0].attribute
            for event in above.events()
            if event.kind == "assign"
            and len(event.targets) == 1
            and isinstance(event.targets[0], Attribute)
            and is_name(event.targets[0].base, above.params[0].name)
            and event.value is not None
            and _is_scope(event.value, scope)
        ),
        None,
    )
    if kept is None:
        return None
    method = program.method(owner, "call")
    if method is None or not method.params:
        return None
    runs = any(
        isinstance(call.func, Attribute)
        and call.func.attribute == kept
        and is_name(call.func.base, method.params[0].name)
        for call in method.calls
    )
    return f"{kept}, which call runs" if runs else None


def _is_scope(value: Expr, scope: Scope) -> bool:
    """Tell whether an expression is the lambda or the name of a function."""
    if isinstance(value, Lambda):
        return bool(value.number == scope.number)
    return bool(isinstance(value, Name) and value.name == scope.name and scope.kind == "function")


def sequence_lost(program: Program) -> Iterator[Hit]:
    """Find recurrent layers that drop the sequence that the next layer needs."""
    seen: set[tuple[int, int]] = set()
    for layers in _layer_chains(program):
        lost: Site | None = None
        for site in layers:
            if site is None:
                lost = None
                continue
            if lost is not None and _SEQUENCES.fullmatch(site.name):
                key = id(lost.scope), lost.call.number
                if key not in seen and not written_for_one(program, lost.scope):
                    seen.add(key)
                    yield hit_at(
                        lost,
                        flow=(),
                        values={
                            "layer": short(lost),
                            "next": short(site),
                            "line": site.call.name_line,
                        },
                        related=(at(site, label="takes three dimensions"),),
                        rewrites=(
                            Rewrite("keyword", lost.scope, lost.call.place, "True", "return_sequences"),
                        ),
                    )
                lost = None
                continue
            last = _last_step_only(site)
            if last is not None:
                lost = site if last else None
            elif not _KEEPS.fullmatch(site.name):
                lost = None


def _last_step_only(site: Site) -> bool | None:
    """Tell whether a recurrent layer returns only its last step.

    None for any other layer.
    """
    if not _RECURRENT.fullmatch(site.name):
        return None
    call = site.call
    if call.opaque or call.keyword("return_state") is not None:
        return False
    given = call.keyword("return_sequences")
    if given is None:
        return True
    return isinstance(given, Literal) and constant(given) is False


def _layer_chains(program: Program) -> Iterator[list[Site | None]]:
    """Yield the layers of models in order.

    They stand in `Sequential` lists, are added, or are called on each other's results.
    """
    flow = flow_of(program)
    for model in flow.named("keras.Sequential"):
        for value in alternatives(model.argument(0, "layers")):
            if isinstance(value, Items):
                yield [
                    item.site if isinstance(item, Made) and item.name.startswith("keras.layers.") else None
                    for item in value.items
                ]
        yield from _layers_added(program, model)
    for module in program.modules:
        for scope in module.summary.scopes:
            if any(isinstance(call.func, Call) for call in scope.calls):
                yield from _layers_called(program, scope)


def _layers_added(program: Program, model: Site) -> Iterator[list[Site | None]]:
    """Yield the layers that `add` calls of one block add to a model, in order."""
    scope = model.scope
    made = statement_of(scope, model.call.place)
    if made is None or made.kind != "assign" or made.value is not model.call or len(made.targets) != 1:
        return
    name = made.targets[0]
    if not isinstance(name, Name) or len(scope.binding(name.name)) != 1:
        return
    adds = _calls_of_add(program, scope).get(name.name, [])
    if len({call.block for call in adds}) != 1:
        # What a condition adds may come between.
        return
    yield [_site_of_layer(program, scope, call.args[0] if call.args else None) for call in adds]


@once
def _calls_of_add(program: Program, scope: Scope) -> dict[str, list[Call]]:
    """Return the `add` calls of a scope by the name of their model."""
    del program
    found: dict[str, list[Call]] = {}
    for call in scope.calls:
        if call.method == "add" and isinstance(call.receiver, Name):
            found.setdefault(call.receiver.name, []).append(call)
    return found


def _site_of_layer(program: Program, scope: Scope, expr: Expr | None) -> Site | None:
    if expr is None or not isinstance(expr, Call):
        return None
    return next(
        (site for site in flow_of(program).of_calls(scope, (expr.number,)) if site.call is expr), None
    )


def _layers_called(program: Program, scope: Scope) -> Iterator[list[Site | None]]:
    """Yield chains of layers called on each other's results: `x = LSTM(4)(x)`."""
    for call in scope.calls:
        if not isinstance(call.func, Call) or len(call.args) != 1:
            continue
        site = _site_of_layer(program, scope, call.func)
        if site is None or not _SEQUENCES.fullmatch(site.name):
            continue
        chain: list[Site | None] = [site]
        here: Call = call
        for _ in range(8):
            before = _input_of(scope, here)
            if before is None:
                break
            chain.append(_site_of_layer(program, scope, before.func))
            here = before
        if len(chain) > 1:
            yield chain[::-1]


def _input_of(scope: Scope, call: Call) -> Call | None:
    """Return the layer call whose result another layer call gets, or None."""
    expr = call.args[0]
    if isinstance(expr, Name):
        bound = [event for event in scope.binding(expr.name) if event.place.start < call.place.start]
        last = bound[-1] if bound else None
        if last is not None and last.value is call:
            last = bound[-2] if len(bound) > 1 else None
        if last is None or last.kind != "assign" or last.block != call.block or last.value is None:
            return None
        if len(last.targets) != 1 or not is_name(last.targets[0], expr.name):
            return None
        expr = last.value
    if not isinstance(expr, Call):
        return None
    found: Call = expr
    return found if isinstance(found.func, Call) and len(found.args) == 1 else None


def not_loadable(program: Program) -> Iterator[Hit]:
    """Find custom layers that Keras 3 saves and cannot load again."""
    if not keras_three(program) or not _loads_models(program):
        return
    for module in program.modules:
        for scope in module.summary.scopes:
            if scope.kind != "class" or "get_config" in scope.children or "from_config" in scope.children:
                continue
            if not _plain_layer(program, scope):
                continue
            made = scope.children.get("__init__")
            if made is None:
                continue
            method = module.summary.scopes[made]
            if any(item.kind in ("*", "**") for item in method.params) or {"name", "dtype"} <= {
                item.name for item in method.params
            }:
                continue
            refused = refused_by_three(program, scope)
            if refused is None or not _in_saved_model(program, scope):
                continue
            yield hit_in(
                scope,
                scope.place,
                scope.block,
                {"layer": scope.name},
                severity=refused[0],
                no_fix="take **kwargs in __init__, hand them to super().__init__, and return the arguments from get_config",
            )


def _loads_models(program: Program) -> bool:
    """Tell whether the project loads whole models that it saved."""
    methods = {
        call.method or (call.func.name if isinstance(call.func, Name) else "")
        for module in program.linked
        for scope in module.summary.scopes
        for call in scope.calls
    }
    return "load_model" in methods and "save" in methods


def _plain_layer(program: Program, scope: Scope) -> bool:
    """Tell whether a class has Keras's Layer as its direct base."""
    classes, outside = program.bases(scope)
    return len(classes) == 1 and tuple(outside) in (("keras.Layer",), ("keras.layers.Layer",))


def _in_saved_model(program: Program, scope: Scope) -> bool:
    """Tell whether a layer class is used outside classes in a file that saves models."""
    for module in program.linked:
        saves = any(call.method == "save" for item in module.summary.scopes for call in item.calls)
        if not saves:
            continue
        for item in module.summary.scopes:
            for call in item.calls:
                if program.static_name(call.func, item) is None:
                    found = program.static_value(call.func, item)
                    if isinstance(found, ClassValue) and found.scope is scope and item.kind != "class":
                        owner = program.owner(item)
                        if owner is None or not is_keras_part(program, owner):
                            return True
    return False
