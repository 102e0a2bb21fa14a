"""Outputs of models against the inputs of losses: logits or probabilities."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.bindings import assignment_read
from cfgfix.code.checks.common import line_of_site, short
from cfgfix.code.checks.models import keras_model_method
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.canonical_names import canonical_name
from cfgfix.code.model.expressions import constant, is_name, is_none, is_same_expression
from cfgfix.code.model.hit import Rewrite, at, hit_at
from cfgfix.code.model.nodes import Attribute, Call, Collection, Expr, Literal, Name
from cfgfix.code.model.program import Program, is_keras_model
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import External, Function, Instance, Items, Made, Site, Value, alternatives
from cfgfix.rules.hit import Hit

_OF_PROBABILITIES = frozenset(
    {"categorical_crossentropy", "sparse_categorical_crossentropy", "binary_crossentropy"}
)
_LOSS = re.compile(
    r"keras\.(?:losses|metrics|backend)\.(?:Sparse)?(?:Categorical|Binary)Crossentropy"
    r"|keras\.(?:losses|metrics|backend)\.(?:sparse_categorical|categorical|binary)_crossentropy"
)
_WITH_LOGITS = re.compile(
    r"tensorflow\.nn\.(?:(?:sparse_)?softmax|sigmoid|weighted)_cross_entropy_with_logits(?:_v2)?"
)
_LAYER = re.compile(r"keras\.layers\.(?:Dense|Conv[123]D|EinsumDense)")
_DEPTH = 4
_MAX_CALLERS = 16


def logits_as_probabilities(program: Program) -> Iterator[Hit]:
    """Find losses of probabilities for models whose last layer has no activation."""
    for site, last, (shown, made) in _losses_of_outputs(program):
        if last[0] != "linear":
            continue
        place = made if made is not None else site
        yield hit_at(
            place,
            flow=(),
            values={"loss": shown, "layer": short(last[1]), "line": last[1].call.name_line},
            needs=((last[1].scope, last[1].call.block), (site.scope, site.call.block)),
            related=(at(last[1], label="the last layer has no activation"),),
            rewrites=(Rewrite("keyword", made.scope, made.call.place, "True", "from_logits"),)
            if made is not None and made.name.endswith("Crossentropy")
            else (),
        )


_BEYOND = {
    "relu": "from 0 up",
    "relu6": "from 0 to 6",
    "tanh": "from -1 to 1",
    "softsign": "from -1 to 1",
    "elu": "from -1 up",
    "selu": "from -1.76 up",
    "gelu": "from -0.17 up",
    "swish": "from -0.28 up",
    "silu": "from -0.28 up",
    "leaky_relu": "of any size",
    "softplus": "from 0 up",
}
"""Activations that give what is no probability, and in which range."""


def no_probabilities(program: Program) -> Iterator[Hit]:
    """Find losses of probabilities for models whose last activation gives none."""
    for site, last, (shown, made) in _losses_of_outputs(program):
        reach = _BEYOND.get(last[0])
        if reach is None:
            continue
        yield hit_at(
            last[1],
            flow=(),
            # One unit cut off at both ends still learns, only worse.
            severity="warning" if "inary" in shown else None,
            values={
                "activation": last[0],
                "range": reach,
                "loss": shown,
                "line_of": line_of_site(last[1], made if made is not None else site),
                "right": "sigmoid" if "inary" in shown else "softmax",
            },
            needs=((last[1].scope, last[1].call.block), (site.scope, site.call.block)),
            related=(at(made if made is not None else site, label="takes probabilities"),),
        )


def _losses_of_outputs(
    program: Program,
) -> Iterator[tuple[Site, tuple[str, Site], tuple[str, Site | None]]]:
    """Yield the calls that give a loss of probabilities the output of a known last layer.

    With each come the activation and the layer, and the loss in words with what makes it.
    """
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).sites:
        if site.call.method == "compile" and keras_model_method(site.name) == "compile":
            last = output_of(program, site.receiver)
            loss = _loss_of(site, site.call.argument(1, "loss"), site.argument(1, "loss"))
        elif _LOSS.fullmatch(site.name.removesuffix(".__call__")):
            function = site.name.endswith("crossentropy") and not site.name.endswith(".__call__")
            if not function and not site.name.endswith(".__call__"):
                continue
            given = site.call.argument(1, "y_pred") or site.call.argument(1, "output")
            last = _output_given(program, site, given)
            loss = _loss_called(program, site, function=function)
        else:
            continue
        key = id(site.scope), site.call.number
        if loss is None or key in seen or written_for_one(program, site.scope):
            continue
        shown, made = loss
        if last is None:
            continue
        if "binary" not in shown.lower() and _unit_count(last[1]) == 1:
            # A single class: another fault.
            continue
        seen.add(key)
        yield site, last, (shown, made)


def _unit_count(layer: Site) -> int | None:
    given = constant(layer.call.argument(0, "units") or layer.call.keyword("filters"))
    return given if type(given) is int else None


def _loss_of(site: Site, given: Expr | None, value: Value | None) -> tuple[str, Site | None] | None:
    """Return the source text of a loss of `compile` that takes probabilities.

    The call that makes it comes with it, or None for a text or a function. Return None for any other loss.
    """
    if given is None or site.call.opaque:
        return None
    if isinstance(given, Collection) and len(given.items) == 1:
        given = given.items[0]
        value = value.items[0] if isinstance(value, Items) and value.items else value
    found = alternatives(value)
    if len(found) != 1:
        return None
    item = found[0]
    text = constant(given) if isinstance(given, Literal) else getattr(item, "value", None)
    if isinstance(text, str):
        return (f"'{text}'", None) if text in _OF_PROBABILITIES else None
    if isinstance(item, External) and _LOSS.fullmatch(canonical_name(item.name)):
        return item.name.rpartition(".")[2], None
    if isinstance(item, Made) and item.site is not None and _LOSS.fullmatch(item.name):
        return _without_logits(item.site)
    return None


def _without_logits(made: Site) -> tuple[str, Site] | None:
    """Return a loss's name and call where it is made without `from_logits`, or None."""
    if made.call.opaque or made.call.args or made.call.keyword("from_logits") is not None:
        return None
    return made.name.rpartition(".")[2], made


def _loss_called(program: Program, site: Site, *, function: bool) -> tuple[str, Site | None] | None:
    if site.call.opaque:
        return None
    if function:
        if len(site.call.args) > 2 or site.call.keyword("from_logits") is not None:
            return None
        return site.name.rpartition(".")[2], None
    made = _only_value(program, site.scope, site.call.func, site.callee)
    if not isinstance(made, Made) or made.site is None:
        return None
    return _without_logits(made.site)


def _only_value(program: Program, scope: Scope, expr: Expr, value: Value | None) -> Value | None:
    """Return the value of an expression where it has only one, or None.

    Values that the same call made count once. A parameter, or an attribute that the constructor takes over
    from one, has the values that the calls give.
    """
    given = _taken_over(program, scope, expr)
    found = (
        [item for values in given for item in alternatives(values)] if given else list(alternatives(value))
    )
    calls = {
        (type(item), id(item.site.call) if isinstance(item, Made) and item.site is not None else id(item))
        for item in found
    }
    return found[-1] if len(calls) == 1 else None


def _taken_over(program: Program, scope: Scope, expr: Expr) -> list[Value | None]:
    """Return the values that calls give the parameter behind a name or an attribute.

    The parameter is one of an enclosing function, or one that the constructor stores as the attribute.
    """
    if isinstance(expr, Name):
        around: Scope | None = scope
        while around is not None and not around.binding(expr.name):
            if any(item.name == expr.name for item in around.params):
                return _given_to(program, around, expr.name)
            around = program.outer(around)
        return []
    owner = program.owner(scope)
    if owner is None or not isinstance(expr, Attribute) or not scope.params:
        return []
    if not is_name(expr.base, scope.params[0].name):
        return []
    stores = [
        (where, event)
        for where, event, target in scope.module.stores()
        if target.attribute == expr.attribute and program.owner(where) is owner
    ]
    if len(stores) != 1 or stores[0][0].name != "__init__" or not isinstance(stores[0][1].value, Name):
        return []
    return _given_to(program, stores[0][0], stores[0][1].value.name)


def _given_to(program: Program, scope: Scope, name: str) -> list[Value | None]:
    """Return the value of a parameter in each call of its function.

    Return an empty list where the value is not known in one of them.
    """
    position = next((number for number, item in enumerate(scope.params) if item.name == name), None)
    if position is None or scope.binding(name):
        return []
    callers = flow_of(program).callers(scope)
    given = [
        caller.argument(position - int(any(target.receiver is not None for target in caller.targets)), name)
        for caller in callers
    ]
    return given if len(given) <= _MAX_CALLERS and None not in given else []


def probabilities_as_logits(program: Program) -> Iterator[Hit]:
    """Find losses of `tf.nn` that take logits but get probabilities.

    A softmax or sigmoid gave them.
    """
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).under("tensorflow.nn."):
        key = id(site.scope), site.call.number
        if not _WITH_LOGITS.fullmatch(site.name) or key in seen:
            continue
        given = site.call.argument(1, "logits")
        if given is None or written_for_one(program, site.scope):
            continue
        wanted = "sigmoid" if "sigmoid" in site.name or "weighted" in site.name else "softmax"
        direct = _made_by(site.scope, given, site.call.block)
        by = next(
            (
                item
                for item in flow_of(program).within(site.scope)
                if direct is not None and item.call is direct
            ),
            None,
        )
        if by is not None and by.name in (f"tensorflow.nn.{wanted}", f"keras.activations.{wanted}"):
            last: tuple[str, Site] | None = (wanted, by)
        else:
            last = _output_given(program, site, given)
        if last is None or last[0] not in ("softmax", "sigmoid"):
            continue
        seen.add(key)
        yield hit_at(
            site,
            flow=(),
            values={
                "loss": short(site),
                "activation": last[0],
                "line": last[1].call.name_line,
            },
            needs=((last[1].scope, last[1].call.block),),
            related=(at(last[1], label=f"this gives out what a {last[0]} gave"),),
        )


def _made_by(scope: Scope, expr: Expr, block: int) -> Call | None:
    """Return the call whose result an expression is, through names, or None."""
    for _ in range(_DEPTH):
        if isinstance(expr, Call):
            found: Call = expr
            return found
        if not isinstance(expr, Name):
            return None
        bound = scope.binding(expr.name)
        given = bound[0] if len(bound) == 1 else assignment_read(scope, expr, block)
        if given is None or given.kind != "assign" or given.value is None:
            return None
        if not any(is_name(target, expr.name) for target in given.targets):
            return None
        expr, block = given.value, given.block
    return None


def _computed_by(program: Program, site: Site, expr: Expr | None) -> Value | None:
    """Return the model whose output an expression is, or None."""
    call = _made_by(site.scope, expr, site.call.block) if expr is not None else None
    if call is None or call.method in ("predict", "numpy"):
        return None
    sites: list[Site] = flow_of(program).within(site.scope)
    found = next((item for item in sites if item.call is call), None)
    return _only_value(program, site.scope, call.func, found.callee if found is not None else None)


def _output_given(
    program: Program, site: Site, expr: Expr | None, depth: int = _DEPTH
) -> tuple[str, Site] | None:
    """Return the last activation and layer of the model whose output an argument is.

    A parameter is followed to all known calls of its function. Return None where they differ.
    """
    model = _computed_by(program, site, expr)
    if model is not None:
        return output_of(program, model)
    scope = site.scope
    position = next(
        (
            number
            for number, item in enumerate(scope.params)
            if isinstance(expr, Name) and item.name == expr.name
        ),
        None,
    )
    if position is None or not isinstance(expr, Name) or scope.binding(expr.name) or depth == 0:
        return None
    found: tuple[str, Site] | None = None
    for given in _given_for(program, scope, position, expr.name, depth):
        if given is None or (found is not None and given[1] is not found[1]):
            return None
        found = given
    return found


def _given_for(
    program: Program, scope: Scope, position: int, name: str, depth: int
) -> Iterator[tuple[str, Site] | None]:
    """Yield the model output that each call of a function gives a parameter.

    A loss function given to `compile` gets the output of that model as its second parameter.
    """
    callers = flow_of(program).callers(scope)
    if len(callers) > _MAX_CALLERS:
        yield None
        return
    for caller in callers:
        offset = int(any(target.receiver is not None for target in caller.targets))
        given = caller.call.argument(position - offset, name)
        yield None if caller.call.opaque else _output_given(program, caller, given, depth - 1)
    if position != 1:
        return
    for site in flow_of(program).sites:
        if site.call.method != "compile" or keras_model_method(site.name) != "compile":
            continue
        losses = alternatives(site.argument(1, "loss"))
        if len(losses) == 1 and isinstance(losses[0], Function) and losses[0].scope is scope:
            yield output_of(program, site.receiver)


def output_of(program: Program, model: Value | None) -> tuple[str, Site] | None:
    """Return the activation of a model's last layer, with the call that makes it.

    The activation is `linear` where the layer has none.
    """
    # One call may have been met in several runs.
    found = {
        id(item.site.call) if isinstance(item, Made) and item.site is not None else id(item): item
        for item in alternatives(model)
    }
    if len(found) != 1:
        return None
    (item,) = found.values()
    layer: Site | None = None
    if isinstance(item, Made) and item.site is not None:
        if item.name == "keras.Sequential":
            layer = _last_of_list(program, item.site)
        elif item.name == "keras.Model":
            outputs = item.site.call.argument(1, "outputs")
            layer = _layer_of(program, item.site.scope, outputs, item.site.call)
    elif isinstance(item, Instance) and is_keras_model(program, item.scope):
        layer = _last_of_class(program, item)
    if layer is None:
        return None
    activation = _activation_name(program, layer)
    return (activation, layer) if activation is not None else None


def _last_of_list(program: Program, site: Site) -> Site | None:
    """Return the last layer of a `Sequential`: from its list, or added later.

    Return None where it is not known.
    """
    scope = site.scope
    name = next(
        (
            target
            for event in scope.events()
            if event.kind == "assign" and event.value is site.call and len(event.targets) == 1
            for target in event.targets
        ),
        None,
    )
    if name is not None:
        added = [
            call
            for call in scope.calls
            if call.method in ("add", "pop")
            and call.receiver is not None
            and is_same_expression(call.receiver, name)
            and call.place > site.call.place
        ]
        if isinstance(name, Name) and len(scope.binding(name.name)) != 1:
            return None
        if added:
            last = max(added, key=lambda call: call.place)
            if last.method == "pop" or not last.args or last.block != site.call.block:
                return None
            return _layer_made(program, scope, last.args[0], last.block)
    for value in alternatives(site.argument(0, "layers")):
        if isinstance(value, Items) and value.items:
            end = value.items[-1]
            if isinstance(end, Made) and end.site is not None and _LAYER.fullmatch(end.name):
                return end.site
    return None


def _layer_made(program: Program, scope: Scope, expr: Expr, block: int) -> Site | None:
    """Return the call that makes the layer which an expression or a name stands for."""
    call = _made_by(scope, expr, block)
    if call is None:
        return None
    sites: list[Site] = flow_of(program).within(scope)
    return next((site for site in sites if site.call is call and _LAYER.fullmatch(site.name)), None)


def _layer_of(program: Program, scope: Scope, expr: Expr | None, before: Call) -> Site | None:
    """Return the layer whose output an expression or a name is, or None.

    For a name the last assignment before a call counts.
    """
    for _ in range(_DEPTH):
        if expr is None:
            return None
        if isinstance(expr, Collection) and len(expr.items) == 1:
            expr = expr.items[0]
            continue
        if isinstance(expr, Name):
            bound = [event for event in scope.binding(expr.name) if event.place.start < before.place.start]
            last = bound[-1] if bound else None
            if last is None or last.kind != "assign" or not inside(scope, before.block, last.block):
                return None
            if not any(is_name(target, expr.name) for target in last.targets):
                return None
            expr = last.value
            continue
        if not isinstance(expr, Call):
            return None
        call = expr
        if isinstance(call.func, Call):
            return _layer_made(program, scope, call.func, call.block)
        for site in flow_of(program).within(scope):
            if site.call is call:
                for value in alternatives(site.callee):
                    if isinstance(value, Made) and value.site is not None and _LAYER.fullmatch(value.name):
                        return value.site
        return None
    return None


def _last_of_class(program: Program, instance: Instance) -> Site | None:
    """Return the layer whose output the only `return` of a model's `call` returns."""
    method = program.method(instance.scope, "call")
    if method is None:
        return None
    returns = [event for event in method.events() if event.kind == "return"]
    if len(returns) != 1 or returns[0].value is None:
        return None
    call = _last_call(method, returns[0].value)
    if call is None or not isinstance(call.func, Attribute):
        return None
    for value in alternatives(flow_of(program).value_of_name(method, call.func)):
        if isinstance(value, Made) and value.site is not None and _LAYER.fullmatch(value.name):
            return value.site
    return None


def _last_call(scope: Scope, expr: Expr) -> Call | None:
    for _ in range(_DEPTH):
        if isinstance(expr, Call):
            found: Call = expr
            return found
        if not isinstance(expr, Name):
            return None
        bound = scope.binding(expr.name)
        if not bound or bound[-1].kind != "assign" or bound[-1].block != 0 or bound[-1].value is None:
            return None
        expr = bound[-1].value
    return None


def _activation_name(program: Program, layer: Site) -> str | None:
    """Return a layer's activation, `linear` where it has none.

    Return None where it is not known.
    """
    call = layer.call
    if call.opaque:
        return None
    given = call.argument(1, "activation") if layer.name.endswith(".Dense") else call.keyword("activation")
    if not layer.name.endswith(".Dense") and len(call.args) > 2:
        return None
    if given is None or is_none(given):
        return "linear"
    if isinstance(given, Name):
        given = constant_in_every_call(program, layer.scope, given.name) or given
    shown = constant(given)
    if isinstance(shown, str):
        return shown
    if shown is None:
        return "linear"
    value = flow_of(program).value_of_name(layer.scope, given)
    return value.name.rpartition(".")[2] if isinstance(value, External) else None


def constant_in_every_call(program: Program, scope: Scope, name: str) -> Literal | None:
    """Return the constant that a parameter has in every call of its function.

    The default counts for calls that leave the parameter out. Return None where the calls differ.
    """
    position = next((number for number, item in enumerate(scope.params) if item.name == name), None)
    if position is None or scope.binding(name):
        return None
    default = scope.params[position].default
    found: list[Literal] = []
    for caller in flow_of(program).callers(scope):
        if caller.call.opaque:
            return None
        offset = int(any(target.receiver is not None for target in caller.targets))
        given = caller.call.argument(position - offset, name)
        given = given if given is not None else default
        if not isinstance(given, Literal):
            return None
        found.append(given)
    return found[0] if len({item.value for item in found}) == 1 else None
