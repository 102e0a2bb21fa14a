"""Calls that take arrays and are given the symbolic tensors of a model or a traced function."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import in_tests
from cfgfix.code.checks.compiled_scopes import (
    ASKS_MODE,
    compiled_for_sure,
    compiled_scopes,
    eager_guard,
)
from cfgfix.code.checks.models import fits_eagerly, kept_eager, may_fit_eagerly
from cfgfix.code.checks.tracing import (
    ARRAYS,
    LOSS_CLASSES,
    LOSS_METHODS,
    OF_ELEMENTS,
    OF_SHAPES,
    guarded_type,
    is_conditional,
)
from cfgfix.code.inference.flow.datasets import DATASET, WITH_FUNCTION
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.flow.symbolic import holds_symbolic
from cfgfix.code.inference.hot_paths import PY_FUNCTIONS
from cfgfix.code.inference.traced_tensors import TracedTensors
from cfgfix.code.model.expressions import text
from cfgfix.code.model.hit import Step, hit_at, hit_in
from cfgfix.code.model.nodes import (
    Call,
)
from cfgfix.code.model.program import Program, is_keras_model, is_keras_part
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Items, Many, Site, alternatives, functions_of
from cfgfix.rules.hit import Hit


def array_call(program: Program) -> Iterator[Hit]:
    """Find functions of NumPy that get a tensor in compiled code.

    The code is a loss or metric that Keras compiles, or a compiled function.
    """
    if fits_eagerly(program) or may_fit_eagerly(program):
        return
    seen: set[tuple[int, int]] = set()
    for scope, tensors, what, kept in _where_symbolic(program):
        if in_tests(scope) or kept_eager(program, scope.module) or id(scope) in kept:
            continue
        for here, call, name, path in _arrays_of(program, scope, tensors, 2):
            key = id(here), call.number
            if key in seen or eager_guard(here, call.block) or guarded_type(here, call.block, call.place):
                continue
            if any(
                item.kind == "if" and item.test is not None and ASKS_MODE.search(text(item.test))
                for item in here.block_chain(call.block)
            ):
                continue
            seen.add(key)
            yield hit_in(
                here,
                call.name_place,
                call.block,
                {
                    "call": text(call.func),
                    "name": name,
                    "what": what,
                    "error": "NotImplementedError",
                },
                flow=tuple(
                    Step(item.scope, item.call.name_place, item.call.block, "calls it") for item in path
                ),
                severity="info" if is_conditional(here, call.block) else None,
            )
    yield from _of_inputs(program, seen)


def _of_inputs(program: Program, seen: set[tuple[int, int]]) -> Iterator[Hit]:
    """Yield findings for NumPy functions that get a symbolic Keras tensor."""
    for site in flow_of(program).under("numpy."):
        key = id(site.scope), site.call.number
        if key in seen or site.name in OF_SHAPES:
            continue
        if not any(
            type(value) is not Many and holds_symbolic(value)
            for value in (*site.args, *site.keywords.values())
        ):
            continue
        if eager_guard(site.scope, site.call.block) or is_conditional(site.scope, site.call.block):
            continue
        seen.add(key)
        yield hit_at(
            site,
            values={
                "call": text(site.call.func),
                "name": site.name,
                "what": "a model is built of it",
                "error": "an error",
            },
        )


def _where_symbolic(program: Program) -> Iterator[tuple[Scope, set[str], str, set[int]]]:
    """Yield functions that are certainly traced.

    Each comes with its tensor parameters, the name of who traces it, and the calls that run eagerly.
    """
    eager = {
        id(function.scope)
        for site in flow_of(program).named(*PY_FUNCTIONS)
        for function in functions_of(site.argument(0, "func"))
    }
    for site in flow_of(program).named("keras.Model.compile", "keras.Sequential.compile"):
        for position, name in ((1, "loss"), (3, "metrics"), (2, "metrics")):
            value = site.argument(position, name)
            for item in alternatives(value):
                for given in item.items if isinstance(item, Items) else (item,):
                    for function in functions_of(given):
                        names = {item.name for item in function.scope.params[function.partial :]}
                        if function.receiver is not None and function.scope.params:
                            names.discard(function.scope.params[0].name)
                        yield function.scope, names, f"compile in line {site.call.name_line}", eager
    for module in program.modules:
        for owner in module.summary.scopes:
            if owner.kind != "class" or not program.is_subclass(owner, LOSS_CLASSES):
                continue
            for method in LOSS_METHODS & owner.children.keys():
                scope = module.summary.scopes[owner.children[method]]
                names = {item.name for item in scope.params[1:3]}
                yield scope, names, f"Keras's {owner.name}", eager
    for scope, reach in compiled_scopes(program):
        if compiled_for_sure(reach) and not reach.path:
            yield scope, set(), reach.via, eager
        elif _is_call_of_keras(program, scope):
            yield scope, {item.name for item in scope.params[1:2]}, reach.via, eager
    for scope in _calls_of_layers(program):
        yield scope, {item.name for item in scope.params[1:2]}, "Keras's fit compiles it", eager
    for site in flow_of(program).under(f"{DATASET}."):
        method = site.name.rpartition(".")[2]
        if method not in OF_ELEMENTS:
            continue
        name, position = WITH_FUNCTION[method]
        for function in functions_of(site.argument(position, name)):
            offset = int(function.receiver is not None) + function.partial
            fixed = {name for name, _ in function.fixed}
            names = {
                name
                for name, _, default, kind in function.scope.params[offset:]
                if kind == "plain" and default is None and name not in fixed
            }
            yield function.scope, names, f"{method} in line {site.call.name_line}", eager


def _calls_of_layers(program: Program) -> Iterator[Scope]:
    """Yield the `call` methods of layers and models that are certainly traced.

    A layer is trained by `fit`, or the layer or model is called to build a model.
    """
    fits = next(flow_of(program).named("keras.Model.fit", "keras.Sequential.fit"), None) is not None
    for module in program.modules:
        for owner in module.summary.scopes:
            number = owner.children.get("call") if owner.kind == "class" else None
            if number is None or not is_keras_part(program, owner):
                continue
            scope = module.summary.scopes[number]
            layer = fits and not is_keras_model(program, owner)
            if layer or any(any(map(holds_symbolic, site.args)) for site in flow_of(program).callers(scope)):
                yield scope


def _is_call_of_keras(program: Program, scope: Scope) -> bool:
    """Tell whether a function is the `call` of a layer or a model."""
    owner = program.owner(scope) if scope.name == "call" else None
    return owner is not None and is_keras_part(program, owner)


def _arrays_of(
    program: Program, scope: Scope, tensors: set[str], depth: int, *, guess: bool = False
) -> Iterator[tuple[Scope, Call, str, tuple[Site, ...]]]:
    """Yield the NumPy calls on tensors in a function and in functions it calls."""
    known = TracedTensors(program, scope, frozenset(tensors), guess=guess)
    for site in flow_of(program).within(scope):
        call = site.call
        if ARRAYS.fullmatch(site.name) and not site.targets:
            if site.name not in OF_SHAPES and any(
                known.holds(item) for item in (*call.args, *(value for _, value in call.keywords))
            ):
                yield scope, call, site.name, ()
        elif site.targets and depth and not site.name.startswith("tensorflow."):
            for target in site.targets:
                if target.compiled is not None or target.scope is scope:
                    continue
                given = set(known.handed_on(site, target))
                if given:
                    for here, inner, name, path in _arrays_of(
                        program, target.scope, given, depth - 1, guess=guess
                    ):
                        yield here, inner, name, (site, *path)
