"""Penalties of layers that a custom training step leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import only_value
from cfgfix.code.inference.conditions import Conditions
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.three_values import UNKNOWN, truth
from cfgfix.code.model.expressions import constant, dotted, is_name, is_none, text
from cfgfix.code.model.hit import Step, at, hit_at, hit_in
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import (
    Attribute,
    Call,
    Collection,
    Conditional,
    Expr,
    Literal,
    Name,
    Place,
    Subscript,
)
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Instance, Made, Site, Value, alternatives
from cfgfix.rules.hit import Hit

_ASKS = ("kernel_regularizer", "bias_regularizer", "activity_regularizer", "depthwise_regularizer", "embeddings_regularizer",
         "recurrent_regularizer", "pointwise_regularizer", "gamma_regularizer", "beta_regularizer")  # fmt: skip
_ADDED = re.compile(
    r"(?<!keras)(?<!\btf)(?<!\bk)(?<!\bK)\.losses\b(?!\.|\s*import)|l2_loss|regulari[sz]ation_loss|super\([^()]*\)\.compute_loss\(|reg_loss|weight_decay|add_loss"
)
"""What shows that penalties reach the loss: the model's own list, Keras's method that adds it, or weights that decay by other means."""
_BY_KERAS = re.compile(r"\.compute_loss\(")
"""Keras's method that adds them, where the project has none of this name itself."""
_OWN_METHOD = re.compile(r"\bdef compute_loss\(")
_DECAYING = re.compile(r"\b(?:AdamW|SGDW)\b(?:\s*\([^()]*\))?")
"""Optimizers that make weights decay, with what they are given."""
_DEPTH = 3
_MOST_CALLERS = 16


def penalties_left_out(program: Program) -> Iterator[Hit]:
    """Find steps with a tape that leave out the penalties of their model.

    Its layers have regularizers, and nothing adds the model's losses.
    """
    seen: set[int] = set()
    for tape in flow_of(program).named("tensorflow.GradientTape"):
        scope = tape.scope
        if id(scope) in seen or written_for_one(program, scope):
            continue
        seen.add(id(scope))
        if not _applies_gradients(scope) and not any(
            _applies_gradients(caller.scope) for caller in flow_of(program).callers(scope)
        ):
            continue
        for site in _sites_of_step(program, scope):
            found = next(
                (
                    place
                    for value in _called_models(program, site)
                    if (place := _asks_for_penalty(program, value))
                ),
                None,
            )
            if found is None:
                continue
            asking, call, option = found
            if _is_added(program, scope, asking.module):
                break
            yield hit_at(
                tape,
                flow=(),
                values={
                    "model": dotted(site.call.func) or "the model",
                    "option": option,
                    "line": call.name_line,
                    "file": _file_in_words(asking, scope),
                },
                related=(
                    Step(asking, call.name_place, call.block, "asks for a penalty"),
                    at(site, label="the model is called here"),
                ),
            )
            break


def _file_in_words(asking: Scope, scope: Scope) -> str:
    import os

    return "" if asking.module is scope.module else f" of {os.path.basename(asking.module.path)}"


def _applies_gradients(scope: Scope) -> bool:
    return any(call.method in ("apply_gradients", "minimize", "apply") for call in scope.calls)


def _sites_of_step(program: Program, scope: Scope) -> list[Site]:
    """Return the calls of a step and of the project functions it calls."""
    found = list(flow_of(program).within(scope))
    for site in list(found):
        for target in site.targets:
            if target.scope.name != "call":
                found += flow_of(program).within(target.scope)
    return found


def _called_models(program: Program, site: Site) -> Iterator[Value]:
    """Yield the models that a call runs forward."""
    for value in alternatives(site.callee):
        if (isinstance(value, Made) and value.name in ("keras.Model", "keras.Sequential")) or (
            isinstance(value, Instance)
            and any(
                outer.startswith(("keras.Model", "keras.layers.Layer"))
                for outer in program.bases(value.scope).outside
            )
        ):
            yield value


@once
def _asks_for_penalty(program: Program, value: Value) -> tuple[Scope, Call, str] | None:
    """Return a call in a model that adds a penalty, with its scope and argument.

    Return None where there is none.
    """
    if isinstance(value, Made):
        if value.site is None:
            return None
        found = _penalty_in_scope(program, value.site.scope)
        if found is not None:
            return found
        for site in flow_of(program).within(value.site.scope):
            for target in site.targets:
                found = _penalty_in_scope(program, target.scope)
                if found is not None:
                    return found
        return None
    assert isinstance(value, Instance)
    return _penalty_of_class(program, value.scope, _DEPTH)


def _penalty_of_class(program: Program, owner: Scope, depth: int) -> tuple[Scope, Call, str] | None:
    """Return a call in a class that adds a penalty, with its scope and argument.

    The layers that its methods make are searched as well; `call` and `train_step` are left out.
    """
    if depth <= 0:
        return None
    for base in program.bases(owner).classes:
        for method in base.module.summary.scopes:
            if (
                method.parent != base.number
                or method.kind != "function"
                or method.name in ("call", "train_step")
            ):
                continue
            found = _penalty_in_scope(program, method)
            if found is not None:
                return found
            for site in flow_of(program).within(method):
                for made in alternatives(site.result):
                    if isinstance(made, Instance) and made.scope is not owner:
                        found = _penalty_of_class(program, made.scope, depth - 1)
                        if found is not None:
                            return found
    return None


def _penalty_in_scope(program: Program, scope: Scope) -> tuple[Scope, Call, str] | None:
    for call in scope.calls:
        for name in _ASKS:
            given = call.keyword(name)
            if given is not None and _is_penalty(program, scope, given, call.line, _DEPTH):
                return scope, call, name
    return None


def _is_penalty(program: Program, scope: Scope, given: Expr, line: int, depth: int) -> bool:
    """Tell whether an expression is a penalty on some branch that may run."""
    if isinstance(given, Literal):
        return isinstance(given.value, str)
    if isinstance(given, Call):
        return not _is_zero(program, scope, given, line)
    if depth <= 0:
        return False
    if isinstance(given, Conditional):
        holds = truth(Conditions(program, None).value(given.test, scope, before=line))
        ways = [
            way
            for way, closed in ((given.then, holds is False), (given.otherwise, holds is True))
            if not closed
        ]
        return any(_is_penalty(program, scope, way, line, depth - 1) for way in ways)
    if not isinstance(given, Name):
        return False
    bound = scope.binding(given.name)
    if bound:
        return all(event.kind == "assign" for event in bound) and any(
            event.value is not None
            and any(is_name(target, given.name) for target in event.targets)
            and not _is_closed(program, scope, event)
            and _is_penalty(program, scope, event.value, event.line, depth - 1)
            for event in bound
        )
    return any(
        _is_penalty(program, where, value, where.line if call is None else call.line, depth - 1)
        for where, value, call in _values_from_callers(program, scope, given.name)
    )


def _is_zero(program: Program, scope: Scope, call: Call, line: int) -> bool:
    """Tell whether a penalty has a weight of zero."""
    if (dotted(call.func) or "").rpartition(".")[2].lower() not in ("l1", "l2", "l1_l2", "l1l2"):
        return False
    given = [*call.args, *(value for _, value in call.keywords)]
    conditions = Conditions(program, None)
    return bool(given) and all(conditions.value(item, scope, before=line) == 0 for item in given)


def _is_closed(program: Program, scope: Scope, event: Event) -> bool:
    """Tell whether a statement is known not to run."""
    conditions = Conditions(program, None)
    for item in scope.block_chain(event.block):
        if item.kind == "if" and item.test is not None:
            holds = truth(conditions.value(item.test, scope, before=item.line))
            if holds is not UNKNOWN and holds is not item.branch:
                return True
    return False


def _values_from_callers(
    program: Program, scope: Scope, name: str
) -> Iterator[tuple[Scope, Expr, Call | None]]:
    """Yield the values that calls give a parameter, or its default."""
    position = next((number for number, item in enumerate(scope.params) if item.name == name), None)
    around = program.outer(scope)
    if position is None or around is None:
        return
    default = scope.params[position].default
    for caller in flow_of(program).callers(scope)[:_MOST_CALLERS]:
        if caller.call.opaque:
            continue
        bound = any(target.scope is scope and target.receiver is not None for target in caller.targets)
        value = caller.call.argument(position - int(bound), name)
        if value is not None:
            yield caller.scope, value, caller.call
        elif default is not None:
            yield around, default, None


def _is_added(program: Program, scope: Scope, asking: Module) -> bool:
    """Tell whether a file around a step adds the penalties to the loss."""
    modules = {id(scope.module): scope.module, id(asking): asking}
    pending = [scope]
    looked: set[int] = set()
    while pending and len(looked) < 40:
        here = pending.pop()
        if id(here) in looked:
            continue
        looked.add(id(here))
        modules[id(here.module)] = here.module
        pending += [caller.scope for caller in flow_of(program).callers(here)]
        if here is scope:
            pending += [target.scope for site in flow_of(program).within(here) for target in site.targets]
    texts = [module.source_file().text for module in modules.values()]
    if not any(_OWN_METHOD.search(item) for item in texts) and any(_BY_KERAS.search(item) for item in texts):
        return True
    if _applies_without_decay(program, scope):
        texts = [_DECAYING.sub("", item) for item in texts]
    return any(_ADDED.search(item) or _DECAYING.search(item) for item in texts)


def _applies_without_decay(program: Program, scope: Scope) -> bool:
    """Tell whether a step may use an optimizer that is known to have no weight decay."""
    places = (scope, *(caller.scope for caller in flow_of(program).callers(scope)))
    return any(
        isinstance(value, Made)
        and value.site is not None
        and value.name.startswith("keras.optimizers.")
        and _DECAYING.search(value.name) is None
        and value.site.call.keyword("weight_decay") is None
        for place in places
        for site in flow_of(program).within(place)
        if site.call.method == "apply_gradients"
        for value in alternatives(site.receiver)
    )


_WEIGHT_PENALTIES = frozenset(name for name in _ASKS if name != "activity_regularizer")
"""Penalties that a layer reads when it makes its weights; that of its output is read at each call."""
_REBUILT = re.compile(
    r"model_from_json|from_config\b|clone_model|to_json\(|get_config\(|model_from_config|_regularizer\(|add_loss"
)
"""What makes the model anew of its settings, or what adds the penalty by itself."""


def set_on_built(program: Program) -> Iterator[Hit]:
    """Find penalties that are set on the layers of a built model.

    A layer reads them when it makes its weights.
    """
    for module in program.modules:
        for scope in module.summary.scopes:
            told: set[str] = set()
            for base, name, place, block in _penalties_set(scope):
                model = _model_of_layer(scope, base, block)
                if model is None or text(model) in told or written_for_one(program, scope):
                    continue
                made = _call_that_builds(program, scope, model)
                if made is None or _is_made_anew(program, scope, place):
                    continue
                yield hit_in(
                    scope,
                    place,
                    block,
                    {"option": name, "model": text(model), "line": made.call.line},
                    related=(at(made, label="the model, whose layers have their weights"),),
                )
                told.add(text(model))


def _penalties_set(scope: Scope) -> Iterator[tuple[Expr, str, Place, int]]:
    """Yield the layer, attribute, place and block where a penalty is set.

    Statements that remove a penalty are left out.
    """
    for event in scope.events():
        if event.kind == "assign" and not is_none(event.value):
            for target in event.targets:
                if isinstance(target, Attribute) and target.attribute in _WEIGHT_PENALTIES:
                    yield target.base, target.attribute, target.place, event.block
    for call in scope.calls:
        if is_name(call.func, "setattr") and len(call.args) == 3 and not is_none(call.args[2]):
            name = _text_of(scope, call.args[1], call.block)
            if name is not None:
                yield call.args[0], name, call.place, call.block


def _text_of(scope: Scope, expr: Expr, block: int) -> str | None:
    """Return the name of the penalty attribute that an expression gives, or None.

    A loop over a list of names gives the first of them.
    """
    if isinstance(expr, Name):
        around = _loop_over(scope, expr.name, block)
        if not isinstance(around, Collection) or not around.items:
            return None
        expr = around.items[0]
    found = constant(expr)
    return found if isinstance(found, str) and found in _WEIGHT_PENALTIES else None


def _loop_over(scope: Scope, name: str, block: int) -> Expr | None:
    """Return the iterable of the loop that binds a name around a block, or None."""
    around = set(scope.block_numbers(block))
    for event in reversed(scope.binding(name)):
        if (
            event.kind == "for"
            and event.value is not None
            and any(number in around for number, _ in event.bodies)
        ):
            value = event.value
            if isinstance(value, Call) and is_name(value.func, "enumerate") and value.args:
                return value.args[0]
            return value
    return None


def _model_of_layer(scope: Scope, expr: Expr, block: int) -> Expr | None:
    """Return the model that a layer is taken from, or None.

    It is taken by a loop over the layers, by number or by name.
    """
    if isinstance(expr, Name):
        looped = _loop_over(scope, expr.name, block)
        if looped is not None:
            return _model_of_layers(looped)
        given = only_value(scope, expr)
        if given is None or given is expr:
            return None
        expr = given
    if isinstance(expr, Subscript):
        return _model_of_layers(expr)
    if isinstance(expr, Call) and expr.method == "get_layer":
        return expr.receiver
    return None


def _model_of_layers(expr: Expr) -> Expr | None:
    while isinstance(expr, Subscript):
        expr = expr.base
    return expr.base if isinstance(expr, Attribute) and expr.attribute == "layers" else None


def _call_that_builds(program: Program, scope: Scope, model: Expr) -> Site | None:
    """Return a call that makes a model with its weights.

    Return None where the model may come without weights.
    """
    values = alternatives(flow_of(program).value_of_name(scope, model))
    if isinstance(model, Name) and any(item.name == model.name for item in scope.params):
        position = next(number for number, item in enumerate(scope.params) if item.name == model.name)
        given: list[Value] = []
        for caller in flow_of(program).callers(scope):
            offset = int(any(target.receiver is not None for target in caller.targets))
            given += alternatives(caller.argument(position - offset, model.name))
        values = tuple(given)
    found = [_built_by(value) for value in values]
    return next(iter(found), None) if found and all(site is not None for site in found) else None


def _built_by(value: Value) -> Site | None:
    if not isinstance(value, Made) or value.site is None:
        return None
    site = value.site
    if value.name == "keras.Model":
        return site if len(site.call.args) >= 2 or site.call.keyword("inputs") is not None else None
    if value.name == "keras.Sequential":
        return site if _knows_input(site) else None
    if re.fullmatch(
        r"keras\.applications\.(?:\w+\.)?[A-Z]\w*|keras\.(?:models|saving)\.load_model", value.name
    ):
        return site
    return None


def _knows_input(site: Site) -> bool:
    """Tell whether the first layer of a `Sequential` gives its input shape."""
    given = site.call.argument(0, "layers")
    first = given.items[0] if isinstance(given, Collection) and given.items else None
    if given is None:
        name = next(
            (event.targets[0] for event in site.scope.events() if event.value is site.call and event.targets),
            None,
        )
        shown = dotted(name)
        first = next(
            (
                call.args[0]
                for call in site.scope.calls_of("add")
                if call.args and shown and dotted(call.receiver) == shown
            ),
            None,
        )
    if not isinstance(first, Call):
        return False
    last = (dotted(first.func) or "").rpartition(".")[2]
    return last in ("Input", "InputLayer") or any(
        first.keyword(name) is not None for name in ("input_shape", "input_dim", "batch_input_shape")
    )


def _is_made_anew(program: Program, scope: Scope, place: Place) -> bool:
    """Tell whether the model is made again from its config or loaded again."""
    if any(call.method == "load_model" and call.place > place for call in scope.calls):
        return True
    modules = {id(scope.module): scope.module}
    modules |= {id(caller.scope.module): caller.scope.module for caller in flow_of(program).callers(scope)}
    return any(_REBUILT.search(module.source_file().text) for module in modules.values())
