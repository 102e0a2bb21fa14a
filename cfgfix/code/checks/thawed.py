"""Layers that are thawed or frozen between two calls of `fit`, which goes on with the step that it compiled first.

What a function does to the models that it is given stands in one list with what its callers do, in the order in which it happens: fits,
compiles, and what sets `trainable`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.expressions import constant, dotted, is_name, walk
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Collection, Expr, Name, Place, Subscript
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Function
from cfgfix.rules.hit import Hit

FITS = ("keras.Model.fit", "keras.Sequential.fit")
_COMPILES = ("compile", "make_train_function", "compile_from_config")
_MOST_ACTS = 80
_DEPTH = 4
_KEEPS = frozenset(
    {
        "print",
        "len",
        "isinstance",
        "type",
        "str",
        "repr",
        "id",
        "enumerate",
        "hasattr",
        "getattr",
        "float",
        "int",
        "range",
    }
)
"""Functions that leave a model as it is."""
_RUNS_ONCE = frozenset({"body", "with", "try"})


class _ModelKey(NamedTuple):
    """The model or layer behind a name.

    Its scope is the one that binds the name; the calls are those by which that scope was entered.
    """

    scope: int
    name: str
    calls: tuple[int, ...] = ()


class _ModelAct(NamedTuple):
    """One act on a model in a run.

    Attributes:
        kind: `fit`, `compile`, `set`, or `hand` for a model that something not known is given.
        keys: The model and, for `fit`, all that it is made of; for `set` what is thawed or frozen; none where that is not known.
        way: The scopes entered to come there, outermost first, each with the block of the call.
        place: Where it stands.
        shown: The model as the text has it.
        value: For `set` the constant.
    """

    kind: str
    keys: tuple[_ModelKey, ...]
    way: tuple[tuple[Scope, int], ...]
    place: Place
    shown: str
    value: object = None

    @property
    def scope(self) -> Scope:
        """The scope in which the act stands."""
        return self.way[-1][0]

    @property
    def block(self) -> int:
        """The block in which the act stands."""
        return self.way[-1][1]


def trainable_since(program: Program) -> Iterator[Hit]:
    """Find `trainable` set between two calls of `fit` without another `compile`.

    The step that was compiled keeps what it had.
    """
    told: set[tuple[int, Place]] = set()
    for scope in _changing_scopes(program):
        acts = _acts_in_order(program, scope)
        if acts is None:
            continue
        for number, later in enumerate(acts):
            if later.kind != "fit" or written_for_one(program, later.scope):
                continue
            found = _set_since_fit(acts[:number], later)
            if found is None:
                continue
            switch, first = found
            if (id(switch.scope), switch.place) in told:
                continue
            told.add((id(switch.scope), switch.place))
            yield hit_in(
                switch.scope,
                switch.place,
                switch.block,
                {
                    "name": switch.shown,
                    "model": later.shown,
                    "first": _line_in_words(first, switch),
                    "line": _line_in_words(later, switch),
                },
                needs=(*first.way, *later.way),
                related=(
                    Step(first.scope, first.place, first.block, "the step is compiled here"),
                    Step(later.scope, later.place, later.block, "and used again here"),
                ),
            )


def _line_in_words(act: _ModelAct, beside: _ModelAct) -> str:
    file = "" if act.scope.module is beside.scope.module else f" of {os.path.basename(act.scope.module.path)}"
    return f"line {act.place.line}{file}"


def _set_since_fit(acts: list[_ModelAct], later: _ModelAct) -> tuple[_ModelAct, _ModelAct] | None:
    """Return the change of `trainable` between two fits of a model, and the first fit.

    The later fit is given. Return None where there is no such change, or a compile after it.
    """
    switches: list[_ModelAct] = []
    for number in range(len(acts) - 1, -1, -1):
        act = acts[number]
        if act.kind == "compile" or (act.kind == "hand" and set(act.keys) & set(later.keys[:1])):
            return None
        if act.kind == "set" and set(act.keys) & set(later.keys) and _is_passed(act, later):
            switches.append(act)
        if act.kind == "fit" and act.keys[:1] == later.keys[:1]:
            before = {other.keys: other.value for other in acts[:number] if other.kind == "set"}
            for switch in reversed(switches):
                if _is_passed(act, switch) and before.get(switch.keys) is not switch.value:
                    return switch, act
            return None
    return None


def _is_passed(first: _ModelAct, later: _ModelAct) -> bool:
    """Tell whether the run always reaches one act before it reaches a later one."""
    common = 0
    for (scope, block), (other, later_block) in zip(first.way, later.way, strict=False):
        if scope is not other:
            break
        common += 1
        if block != later_block:
            if not inside(scope, later_block, block):
                return False
            break
    return all(
        all(item.kind in _RUNS_ONCE for item in scope.block_chain(block))
        for scope, block in first.way[common:]
    )


def _changing_scopes(program: Program) -> Iterator[Scope]:
    """Yield the scopes that change `trainable` and their callers, callers first."""
    touched = {id(scope): scope for scope in _scopes_with_switches(program)}
    pending = list(touched.values())
    for _ in range(_DEPTH):
        above: list[Scope] = []
        for scope in pending:
            for site in flow_of(program).callers(scope):
                if id(site.scope) not in touched:
                    touched[id(site.scope)] = site.scope
                    above.append(site.scope)
        pending = above
    yield from reversed(touched.values())


@once
def _scopes_with_switches(program: Program) -> list[Scope]:
    return [
        scope
        for module in program.linked
        for scope in module.summary.scopes
        if any(_switched_model(event, scope) is not None for event in scope.events_of("assign"))
    ]


@once
def _scopes_touching_models(program: Program) -> frozenset[int]:
    """Return the ids of scopes that compile, train or change `trainable`.

    Their direct and indirect callers are among them.
    """
    pending = [
        scope
        for module in program.linked
        for scope in module.summary.scopes
        if scope.calls_of("fit", *_COMPILES)
    ]
    pending += _scopes_with_switches(program)
    found = {id(scope) for scope in pending}
    while pending:
        for site in flow_of(program).callers(pending.pop()):
            if id(site.scope) not in found:
                found.add(id(site.scope))
                pending.append(site.scope)
    return frozenset(found)


@once
def _acts_in_order(program: Program, scope: Scope, depth: int = _DEPTH) -> list[_ModelAct] | None:
    """Return in order what a scope and the functions it calls do to models.

    Return None where there is too much to tell.
    """
    if id(scope) not in _scopes_touching_models(program):
        return []
    found: list[tuple[tuple[int, int], list[_ModelAct]]] = []
    for event in scope.events_of("assign"):
        if any(isinstance(item, Attribute) and item.attribute == "train_function" for item in event.targets):
            found.append(
                (event.place.start, [_ModelAct("compile", (), ((scope, event.block),), event.place, "")])
            )
        switched = _switched_model(event, scope)
        if switched is None:
            continue
        name, block = switched
        key = _key_of_name(program, scope, name)
        acts = (
            [_ModelAct("set", (key,), ((scope, block),), event.place, name, constant(event.value))]
            if key
            else []
        )
        found.append((event.place.start, acts))
    for call in scope.calls:
        acts_of_call = _acts_of_call(program, scope, call, depth)
        if acts_of_call is None:
            return None
        if acts_of_call:
            found.append((call.place.end, acts_of_call))
    found.sort(key=lambda item: item[0])
    acts = _that_matter(scope, [act for _, some in found for act in some])
    return acts if len(acts) <= _MOST_ACTS else None


def _that_matter(scope: Scope, acts: list[_ModelAct]) -> list[_ModelAct]:
    """Return the acts without those that pass on objects that are not trained models."""
    if all(act.kind == "hand" for act in acts):
        return []
    models = {act.keys[0] for act in acts if act.kind == "fit"}
    given = {item.name for item in scope.params}
    return [
        act
        for act in acts
        if act.kind != "hand"
        or not models.isdisjoint(act.keys)
        or any(key.scope == id(scope) and key.name.partition(".")[0] in given for key in act.keys)
    ]


def _acts_of_call(program: Program, scope: Scope, call: Call, depth: int) -> list[_ModelAct] | None:
    sites = flow_of(program).of_calls(scope, (call.number,))
    targets = list({id(target.scope): target for site in sites for target in site.targets}.values())
    here = ((scope, call.block),)
    shown = dotted(call.receiver)
    if not targets:
        if call.method in _COMPILES:
            return [_ModelAct("compile", (), here, call.name_place, shown or "")]
        if shown is not None and any(site.name in FITS for site in sites):
            key = _key_of_name(program, scope, shown)
            keys = (key, *_parts_of_model(program, scope, shown)) if key is not None else ()
            return [_ModelAct("fit", keys, here, call.name_place, shown)] if keys else []
        if isinstance(call.func, Name) and call.func.name in _KEEPS:
            return []
        given = {
            key
            for value in (*call.args, *(value for _, value in call.keywords))
            for part in walk(value)
            if isinstance(part, (Name, Attribute))
            and (name := dotted(part)) is not None
            and (key := _key_of_name(program, scope, name)) is not None
        }
        return [_ModelAct("hand", tuple(given), here, call.name_place, "")] if given else []
    inner = [_acts_in_order(program, target.scope, depth - 1) if depth > 0 else None for target in targets]
    if None in inner:
        return [_ModelAct("compile", (), here, call.name_place, "")]
    some = [acts for acts in inner if acts]
    if not some:
        return []
    if len(targets) > 1 or call.opaque:
        return [_ModelAct("compile", (), here, call.name_place, "")]
    seen = [_effect_of_function(program, scope, call, targets[0], act) for act in some[0]]
    return [act for act in seen if act is not None]


def _effect_of_function(
    program: Program, scope: Scope, call: Call, target: Function, act: _ModelAct
) -> _ModelAct | None:
    """Return an act of a called function in the names of its caller.

    Return None where the caller has no name for the model.
    """
    keys: dict[_ModelKey, None] = {}
    for number, key in enumerate(act.keys):
        name = _name_for_caller(scope, call, target, key)
        if name is None:
            keys[_ModelKey(key.scope, key.name, (call.number, *key.calls))] = None
            continue
        outer = _key_of_name(program, scope, name)
        if outer is None:
            if number == 0:
                return None
            continue
        keys[outer] = None
        if act.kind == "fit" and number == 0:
            keys.update(dict.fromkeys(_parts_of_model(program, scope, name)))
    return act._replace(keys=tuple(keys), way=((scope, call.block), *act.way))


def _name_for_caller(scope: Scope, call: Call, target: Function, key: _ModelKey) -> str | None:
    """Return the caller's name for an object of a called function.

    Return None for an object of the function itself or of a module, and empty text for one without a name.
    """
    inner = target.scope
    root, dot, rest = key.name.partition(".")
    position = next((number for number, item in enumerate(inner.params) if item.name == root), None)
    if key.scope != id(inner) or key.calls or position is None:
        return None
    offset = int(target.receiver is not None)
    given: Expr | None = None
    if position >= offset:
        given = call.argument(position - offset, root)
    elif inner.name == "__init__":
        event = next((item for item in scope.events_of("assign") if item.value is call), None)
        given = event.targets[0] if event is not None and len(event.targets) == 1 else None
    else:
        given = call.receiver
    shown = dotted(given)
    return f"{shown}{dot}{rest}" if shown is not None else ""


def _key_of_name(program: Program, scope: Scope, name: str) -> _ModelKey | None:
    """Return the key of a dotted name that is bound once, or None."""
    root, _, attribute = name.partition(".")
    if not root:
        return None
    here: Scope | None = scope
    while here is not None and (root not in here.names or (here.kind == "class" and here is not scope)):
        here = program.outer(here)
    if here is None or root in here.imports:
        return None
    given = any(item.name == root for item in here.params)
    if len(here.binding(root)) != int(not given):
        return None
    if attribute and len(_attribute_stores(program, here, root, attribute)) > 1:
        return None
    return _ModelKey(id(here), name)


def _switched_model(event: Event, scope: Scope) -> tuple[str, int] | None:
    """Return the model or layer whose `trainable` a statement sets to a constant.

    With it comes the block; for a loop over layers it is the model. Return None for any other statement.
    """
    if len(event.targets) != 1 or event.value is None:
        return None
    target = event.targets[0]
    if (
        not isinstance(target, Attribute)
        or target.attribute != "trainable"
        or not isinstance(constant(event.value), bool)
    ):
        return None
    owner, block = target.base, event.block
    if isinstance(owner, Name):
        bound = scope.binding(owner.name)
        loops = [item for item in bound if item.kind == "for"]
        around = next(
            (item for item in loops if any(inside(scope, block, body) for body, _ in item.bodies)), None
        )
        if around is not None:
            if around.value is None or len(around.targets) != 1 or not isinstance(around.targets[0], Name):
                return None
            owner, block = around.value, around.block
            if not _names_layers(owner):
                return None
        elif len(bound) == 1 and bound[0].value is not None and len(bound[0].targets) == 1:
            given = bound[0].value
            if _without_layers(given) is not given and is_name(bound[0].targets[0], owner.name):
                owner = given
    shown = dotted(_without_layers(owner))
    return (shown, block) if shown is not None else None


def _names_layers(expr: Expr) -> bool:
    while isinstance(expr, Subscript):
        expr = expr.base
    return bool(isinstance(expr, Attribute) and expr.attribute == "layers")


def _without_layers(expr: Expr) -> Expr:
    """Return the model that a layer expression takes its layer from.

    Examples: `model.layers[0]` and `model.get_layer("a")`. Any other expression is returned unchanged.
    """
    while True:
        if isinstance(expr, Subscript):
            expr = expr.base
        elif isinstance(expr, Attribute) and expr.attribute == "layers":
            model: Expr = expr.base
            return model
        elif isinstance(expr, Call) and expr.receiver is not None and expr.method == "get_layer":
            return expr.receiver
        else:
            return expr


@once
def _parts_of_model(program: Program, scope: Scope, model: str) -> tuple[_ModelKey, ...]:
    """Return the keys of all models and layers that a model is made from."""
    pending = [(scope, model)]
    seen: dict[tuple[int, str], None] = {(id(scope), model): None}
    found: dict[_ModelKey, None] = {}
    while pending:
        where, name = pending.pop()
        for maker, value in _made_with(program, where, name):
            for part in (*walk(value), *_returned_beside(program, maker, name, value)):
                shown = dotted(part) if isinstance(part, (Name, Attribute)) else None
                if shown is None or (id(maker), shown) in seen:
                    continue
                seen[id(maker), shown] = None
                pending.append((maker, shown))
                key = _key_of_name(program, maker, _as_seen_from(scope, maker, shown))
                if key is not None:
                    found[key._replace(scope=id(scope)) if _is_of_object(maker, shown) else key] = None
    return tuple(found)


def _is_of_object(scope: Scope, name: str) -> bool:
    return bool(scope.params) and name.startswith(f"{scope.params[0].name}.")


def _as_seen_from(scope: Scope, maker: Scope, name: str) -> str:
    """Return an attribute of one method's `self` as another method names it."""
    if maker is scope or not _is_of_object(maker, name) or not scope.params:
        return name
    return f"{scope.params[0].name}.{name.partition('.')[2]}"


def _made_with(program: Program, scope: Scope, name: str) -> list[tuple[Scope, Expr]]:
    """Return the values assigned to a name or an attribute of `self`, with scopes."""
    own, _, attribute = name.partition(".")
    if not attribute:
        return [(scope, event.value) for event in scope.binding(name) if event.value is not None]
    return [
        (method, event.value)
        for method, event in _attribute_stores(program, scope, own, attribute)
        if event.value is not None
    ]


def _returned_beside(program: Program, scope: Scope, name: str, value: Expr) -> Iterator[Expr]:
    """Yield the names that get parts of a model returned together with it."""
    made = program.static_value(value.func, scope) if isinstance(value, Call) else None
    if not isinstance(made, Function):
        return
    event = next((item for item in scope.events_of("assign") if item.value is value), None)
    target = event.targets[0] if event is not None and len(event.targets) == 1 else None
    returns = made.scope.events_of("return")
    given = returns[0].value if len(returns) == 1 else None
    if not isinstance(target, Collection) or not isinstance(given, Collection):
        return
    names = [dotted(item) for item in target.items]
    if len(names) != len(given.items) or name not in names:
        return
    inner = dotted(given.items[names.index(name)])
    if inner is None:
        return
    parts = {key.name for key in _parts_of_model(program, made.scope, inner)}
    for item, other in zip(target.items, given.items, strict=True):
        if dotted(other) in parts:
            yield item


@once
def _attribute_stores(program: Program, scope: Scope, own: str, attribute: str) -> list[tuple[Scope, Event]]:
    """Return the statements in a class's methods that assign an attribute of `self`."""
    owner = program.owner(scope)
    if owner is None or not scope.params or scope.params[0].name != own:
        return []
    return [
        (method, event)
        for method in owner.module.summary.scopes
        if method.parent == owner.number and method.kind == "function" and method.params
        for event in method.events()
        for target in event.targets
        if isinstance(target, Attribute)
        and target.attribute == attribute
        and is_name(target.base, method.params[0].name)
    ]
