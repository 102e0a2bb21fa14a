"""Optimizers that get a second list of variables, which new optimizers refuse.

Those of TensorFlow 2.11 and later know only the first list.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from cfgfix.code.checks.bindings import bound_once
from cfgfix.code.checks.common import few_turns, in_tests
from cfgfix.code.checks.guarded_calls import may_run_together
from cfgfix.code.checks.models import keras_model_method
from cfgfix.code.inference.eras import release_in_words, severity_by_keras_releases, written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import expects_absence, statement_of
from cfgfix.code.inference.hot_paths import innermost_loop, inside
from cfgfix.code.inference.references import api, callers_ask
from cfgfix.code.inference.releases import keras_of_release
from cfgfix.code.model.canonical_names import canonical_name
from cfgfix.code.model.expressions import dotted, walk
from cfgfix.code.model.hit import Step, at, hit_at, hit_in
from cfgfix.code.model.nodes import Attribute, Binary, Call, Expr, Name
from cfgfix.code.model.program import Program, is_keras_model, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Instance, Made, Site, Value, alternatives
from cfgfix.code.tensorflow.requirement import LATER_MINORS
from cfgfix.rules.hit import Hit

_OPTIMIZER = re.compile(r"keras\.optimizers\.[A-Z]\w*")
_MODEL = re.compile(r"keras\.(?:Model|Sequential|layers\.[A-Z]\w*|applications\.(?:\w+\.)*[A-Z]\w*)")
_LISTS = ("trainable_variables", "trainable_weights")
_LAST_NEW = 13
"""The minor release of TensorFlow 2 from which every optimizer of Keras is one of the new ones."""
_DEPTH = 4
_MOST_CALLS = 8
_MOST_NAMES = 100


def first_new(site: Site) -> int:
    """Return the minor release of TensorFlow 2 where an optimizer is a new one.

    `tf.keras.optimizers` has them from 2.11 on. The package `keras` by itself had the old ones by those names until 2.12 (Keras 2.11.0
    and 2.12.0, `keras/optimizers/__init__.py`: `from keras.optimizers.legacy.adam import Adam`; 2.13.1 has the new ones).
    """
    return 11 if site.raw.startswith("tensorflow.") else _LAST_NEW


def second_list(program: Program) -> Iterator[Hit]:
    """Find optimizers that are applied to the variables of two models.

    Neither model has the other's variables.
    """
    table = api(program)
    requirement = table.requirement
    if table.silent:
        return
    groups: dict[tuple[int, str], dict[int, Site]] = defaultdict(dict)
    for site in flow_of(program).under("keras.optimizers."):
        shown = dotted(site.call.func.base) if isinstance(site.call.func, Attribute) else None
        if shown is not None and site.call.method in ("apply_gradients", "minimize"):
            groups[id(site.scope), shown].setdefault(site.call.number, site)
    for (_, shown), found in groups.items():
        sites = sorted(found.values(), key=lambda site: site.call.place)[:_MOST_CALLS]
        if len(sites) < 2 or not _surely_new(program, sites[0], shown):
            continue
        pair = _unrelated_variables(program, sites)
        if pair is not None:
            first, second, of_first, of_second = pair
            since = max(
                (
                    first_new(made.site)
                    for made in alternatives(first.receiver)
                    if isinstance(made, Made) and made.site is not None
                ),
                default=_LAST_NEW,
            )
            if not requirement.of_two(range(since, LATER_MINORS)):
                continue
            yield hit_at(
                second,
                values={
                    "optimizer": shown,
                    "first": of_first,
                    "second": of_second,
                    "line": first.call.name_line,
                    "since": f"2.{since}",
                    "asked": release_in_words(table),
                },
                severity=severity_by_keras_releases(table, "warning")
                if requirement.of_two(range(since))
                else None,
                needs=((first.scope, first.call.block),),
                related=(at(first, label="the other list"),),
            )


def _surely_new(program: Program, site: Site, shown: str) -> bool:
    """Tell whether an optimizer is certainly a new one of Keras and never replaced."""
    scope = site.scope
    made = alternatives(site.receiver)
    if (
        not made
        or not all(_is_new(value) for value in made)
        or not keras_of_release(program, scope)
        or written_for_one(program, scope)
        or expects_absence(scope, site.call.block, site.call.place)
    ):
        return False
    owner = program.owner(scope)
    head, _, last = shown.rpartition(".")
    if head and owner is not None and last == "optimizer" and is_keras_model(program, owner):
        # Keras builds the optimizer of a model for all its variables.
        return False
    if any(_may_build(call, last) for item in scope.module.summary.scopes for call in item.calls):
        return False
    # Another one in each step would be built for its own list.
    return sum(where is scope for _, where in _binding_statements(program, scope, shown)) <= 1


def _is_new(value: Value) -> bool:
    """Tell whether a value is one of the new optimizers of Keras, in some release."""
    if not isinstance(value, Made) or not _OPTIMIZER.fullmatch(value.name):
        return False
    return value.site is None or not value.site.raw.startswith(
        ("tensorflow.python.", "tensorflow.compat.v1.")
    )


def _may_build(call: Call, name: str) -> bool:
    """Tell whether a call may build the optimizer of a given name.

    Examples: `optimizer.build(variables)` and `model.compile(optimizer)`.
    """
    if call.method == "build":
        return (dotted(call.receiver) or "").rpartition(".")[2] == name
    given = call.argument(0, "optimizer") if call.method == "compile" else None
    return given is not None and (dotted(given) or "").rpartition(".")[2] == name


def _binding_statements(program: Program, scope: Scope, shown: str) -> list[tuple[Event, Scope]]:
    """Return the statements that assign a name or an attribute of `self`, with scopes."""
    head, _, last = shown.rpartition(".")
    if not head:
        here: Scope | None = scope
        while here is not None and (last not in here.names or (here.kind == "class" and here is not scope)):
            here = program.outer(here)
        return [(event, here) for event in here.binding(last)] if here is not None else []
    owner = program.owner(scope)
    if owner is None or "." in head or not scope.params or scope.params[0].name != head:
        return []
    return [
        (event, item)
        for item in scope.module.summary.scopes
        if program.owner(item) is owner
        for event in item.events()
        if any(isinstance(target, Attribute) and dotted(target) == shown for target in event.targets)
    ]


def _unrelated_variables(program: Program, sites: list[Site]) -> tuple[Site, Site, str, str] | None:
    """Return two calls with unrelated lists of variables, and a model of each list.

    Return None where no two lists are known to be unrelated.
    """
    lists = [(site, _models_of_variables(program, site)) for site in sites]
    for index, (second, ours) in enumerate(lists):
        for first, others in lists[:index]:
            if ours is None or others is None or not may_run_together([first, second]):
                continue
            if all(_are_unrelated(program, first.scope, one, other) for one in ours for other in others):
                return first, second, min(others), min(ours)
    return None


def _models_of_variables(program: Program, site: Site) -> frozenset[str] | None:
    """Return the source text of the models whose variables a call is given, or None."""
    call = site.call
    if call.opaque:
        return None
    if call.method == "minimize":
        return _of_list(program, site, call.argument(1, "var_list"))
    pairs = call.argument(0, "grads_and_vars")
    for _ in range(_DEPTH):
        pairs = _only_value(site, pairs)
        if pairs is None or not isinstance(pairs, Call):
            return None
        inner = pairs
        if inner.keywords or not inner.args or not isinstance(inner.func, Name):
            return None
        if inner.func.name == "zip" and len(inner.args) == 2:
            return _of_list(program, site, inner.args[1])
        if inner.func.name not in ("list", "tuple"):
            return None
        pairs = inner.args[0]
    return None


def _only_value(site: Site, expr: Expr | None) -> Expr | None:
    """Return the value of a name that is bound once in its scope.

    Any other expression is returned unchanged; None for a name that is bound otherwise.
    """
    if expr is None or not isinstance(expr, Name):
        return expr
    bound = bound_once(site.scope, expr.name, site.call.block)
    return bound[0] if bound is not None and bound[1] is site.scope else None


def _of_list(program: Program, site: Site, expr: Expr | None, depth: int = 0) -> frozenset[str] | None:
    expr = _only_value(site, expr)
    if expr is None or depth > _DEPTH:
        return None
    if isinstance(expr, Attribute) and expr.attribute in _LISTS:
        shown = dotted(expr.base)
        return frozenset({shown}) if shown is not None and _is_model(program, site, expr.base) else None
    if isinstance(expr, Binary) and expr.operator == "+":
        left = _of_list(program, site, expr.left, depth + 1)
        right = _of_list(program, site, expr.right, depth + 1)
        return left | right if left is not None and right is not None else None
    return None


def _is_model(program: Program, site: Site, expr: Expr) -> bool:
    """Tell whether an expression is a model or layer of Keras or of the project."""
    values = alternatives(flow_of(program).value_of_name(site.scope, expr))
    return bool(values) and all(
        (isinstance(value, Made) and _MODEL.fullmatch(value.name) is not None)
        or (isinstance(value, Instance) and is_keras_model(program, value.scope))
        for value in values
    )


def _are_unrelated(program: Program, scope: Scope, one: str, other: str) -> bool:
    """Tell whether neither of two models contains or is made from the other."""
    if f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}."):
        return False
    return other not in _made_of(program, scope, one) and one not in _made_of(program, scope, other)


def _made_of(program: Program, scope: Scope, shown: str) -> set[str]:
    """Return all names that a name's value is computed from, directly or indirectly."""
    found: set[str] = set()
    pending = [(shown, scope)]
    while pending and len(found) < _MOST_NAMES:
        name, here = pending.pop()
        for event, where in _binding_statements(program, here, name):
            for part in walk(event.value) if event.value is not None else ():
                inner = dotted(part) if isinstance(part, (Name, Attribute)) else None
                if inner is not None and inner not in found:
                    found.add(inner)
                    pending.append((inner, where))
                if isinstance(part, Call):
                    found |= _named_inside(program, where, part.number)
    return found


def _named_inside(program: Program, scope: Scope, number: int) -> set[str]:
    """Return the dotted names that the project functions entered by a call mention."""
    return {
        name
        for site in flow_of(program).within(scope)
        if site.call.number == number
        for target in site.targets
        for event in target.scope.events()
        if event.value is not None
        for part in walk(event.value)
        if isinstance(part, (Name, Attribute)) and (name := dotted(part)) is not None
    }


_OLD_HOOKS = (
    "_resource_apply_dense",
    "_resource_apply_sparse",
    "_resource_apply_sparse_duplicate_indices",
    "_apply_dense",
    "get_updates",
)
"""Methods by which the old optimizers compute their update (TensorFlow 2.10, `keras/optimizers/optimizer_v2/optimizer_v2.py`)."""
_NEW_HOOKS = frozenset(
    {"update_step", "_internal_apply_gradients", "apply_gradients", "apply", "_update_step"}
)


def old_hook(program: Program) -> Iterator[Hit]:
    """Find optimizers whose update is in a method that Keras no longer calls."""
    table = api(program)
    requirement = table.requirement
    if table.silent:
        return
    for module in program.modules:
        for owner in module.summary.scopes:
            if owner.kind != "class":
                continue
            hook = next((name for name in _OLD_HOOKS if name in owner.children), None)
            if hook is None or not keras_of_release(program, owner) or written_for_one(program, owner):
                continue
            base = _new_base(program, owner)
            if base is None:
                continue
            raw, kept = base
            since = 11 if raw.startswith("tensorflow.") else _LAST_NEW
            if requirement.text and not requirement.of_two(range(since, LATER_MINORS)):
                continue
            method = module.summary.scopes[owner.children[hook]]
            if callers_ask(program, method):
                continue
            plain = kept.rpartition(".")[2]
            yield hit_in(
                owner,
                method.place,
                0,
                {
                    "name": owner.name,
                    "hook": hook,
                    "since": f"2.{since}",
                    "then": "apply_gradients raises NotImplementedError"
                    if plain == "Optimizer"
                    else f"it trains as plain {plain}",
                    "asked": release_in_words(table),
                },
                severity="warning" if requirement.text and requirement.of_two(range(since)) else None,
            )


def _new_base(program: Program, owner: Scope) -> tuple[str, str] | None:
    """Return the new Keras optimizer that a class derives from, written and canonical.

    Return None where the base is not a new one for certain.
    """
    classes, outside = program.bases(owner)
    if sum(len(item.bases) for item in classes) > len(classes) - 1 + len(outside):
        # A base that is not known may be one of the old ones.
        return None
    if not all(name.startswith(("keras.", "abc.", "typing.", "builtins.")) for name in outside):
        return None
    if any(not _NEW_HOOKS.isdisjoint(item.children) for item in classes):
        return None
    found: tuple[str, str] | None = None
    for item in classes:
        outer = program.outer(item)
        for base in item.bases:
            raw = program.static_name(base, outer) if outer is not None else None
            if raw is None:
                continue
            if raw.startswith(("tensorflow.python.", "tensorflow.compat.v1.", "tensorflow_addons")):
                return None
            if _OPTIMIZER.fullmatch(canonical_name(raw)):
                found = raw, canonical_name(raw)
    return found if found is not None and found[1] in outside else None


_TRAINS = frozenset({"fit", "fit_generator", "train_on_batch"})


def shared_in_loop(program: Program) -> Iterator[Hit]:
    """Find optimizers that compile a new model in each turn of a loop.

    Such an optimizer is built for the variables of the first.
    """
    table = api(program)
    requirement = table.requirement
    if table.silent:
        return
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).sites:
        if site.call.method != "compile" or keras_model_method(site.name) != "compile":
            continue
        scope = site.scope
        key = id(scope), site.call.number
        if key in seen or written_for_one(program, scope):
            continue
        made = alternatives(site.argument(0, "optimizer"))
        if not made or not all(
            isinstance(value, Made) and _is_new(value) and value.site is not None for value in made
        ):
            continue
        optimizer = made[0]
        assert isinstance(optimizer, Made)
        assert optimizer.site is not None
        found = _models_in_turns(program, site, optimizer.site)
        if found is None:
            continue
        where, loop = found
        since = first_new(optimizer.site)
        if requirement.text and not requirement.of_two(range(since, LATER_MINORS)):
            continue
        if not keras_of_release(program, scope):
            continue
        seen.add(key)
        yield hit_at(
            site,
            flow=(),
            values={
                "line": optimizer.site.call.name_line,
                "loop_line": where.blocks[loop].line,
                "since": f"2.{since}",
                "asked": release_in_words(table),
            },
            severity="warning" if requirement.text and requirement.of_two(range(since)) else None,
            needs=((optimizer.site.scope, optimizer.site.call.block),),
            related=(at(optimizer.site, label="the one optimizer"),),
        )


def _models_in_turns(program: Program, site: Site, optimizer: Site) -> tuple[Scope, int] | None:
    """Return the scope and loop that compile and train new models with one optimizer.

    The optimizer is made outside the loop. Return None where there is no such loop.
    """
    scope = site.scope
    loop = innermost_loop(scope, site.call.block)
    if loop is not None:
        if (
            (optimizer.scope is not scope or not inside(scope, optimizer.call.block, loop))
            and (optimizer.scope is scope or _is_around(program, optimizer.scope, scope))
            and _makes_model_anew(site, loop)
            and _several_models(program, scope, loop)
            and (
                any(call.method in _TRAINS and inside(scope, call.block, loop) for call in scope.calls)
                or _trained_in_loop(program, site)
            )
        ):
            return scope, loop
        return None
    if optimizer.scope is scope or scope.kind != "function" or not _makes_model_anew(site, 0):
        return None
    if not any(call.method in _TRAINS for call in scope.calls) and not _trained_in_loop(program, site):
        return None
    for caller in flow_of(program).callers(scope):
        outer = _loop_around(caller)
        if outer is None or in_tests(caller.scope) or not _several_models(program, caller.scope, outer):
            continue
        if optimizer.scope is caller.scope and inside(caller.scope, optimizer.call.block, outer):
            continue
        if optimizer.scope is caller.scope or _is_around(program, optimizer.scope, scope):
            return caller.scope, outer
    return None


def _loop_around(site: Site) -> int | None:
    """Return the innermost loop around a call, comprehensions included."""
    scope = site.scope
    return next(
        (
            number
            for number in scope.block_numbers(site.call.block)
            if scope.blocks[number].kind in ("for", "while", "comprehension")
        ),
        None,
    )


def _trained_in_loop(program: Program, site: Site) -> bool:
    """Tell whether a loop trains the models that a call compiles, one after the other."""
    compiled = {
        id(item.site.call) for item in alternatives(site.receiver) if isinstance(item, Made) and item.site
    }
    return any(
        other.call.method in _TRAINS
        and innermost_loop(other.scope, other.call.block) is not None
        and any(
            isinstance(item, Made) and item.site is not None and id(item.site.call) in compiled
            for item in alternatives(other.receiver)
        )
        for other in flow_of(program).under("keras.")
    )


def _is_around(program: Program, outer: Scope, scope: Scope) -> bool:
    """Tell whether a scope is, or encloses, another scope."""
    here: Scope | None = scope
    while here is not None:
        if here is outer:
            return True
        here = program.outer(here)
    return False


def _makes_model_anew(site: Site, block: int) -> bool:
    """Tell whether a block makes the model that a call in it compiles."""
    scope = site.scope
    model = site.call.receiver
    if not isinstance(model, Name):
        return bool(isinstance(model, Call))
    return any(
        event.kind == "assign"
        and event.value is not None
        and isinstance(event.value, Call)
        and inside(scope, event.block, block)
        and event.place.start < site.call.place.start
        for event in scope.binding(model.name)
    )


def _several_models(program: Program, scope: Scope, loop: int) -> bool:
    return not few_turns(program, scope, loop, 1)


_STATELESS = frozenset({"SGD"})


def made_each_step(program: Program) -> Iterator[Hit]:
    """Find optimizers that are made anew for every step.

    What they keep from step to step begins at zero each time.
    """
    for site in flow_of(program).under("keras.optimizers."):
        scope = site.scope
        if (
            not _OPTIMIZER.fullmatch(site.name)
            or written_for_one(program, scope)
            or any(item.kind in ("if", "except") for item in scope.block_chain(site.call.block))
        ):
            continue
        if site.name.rpartition(".")[2] in _STATELESS and site.call.argument(1, "momentum") is None:
            # It keeps nothing.
            continue
        loop = innermost_loop(scope, site.call.block)
        event = statement_of(scope, site.call.place)
        if event is None or event.kind != "assign" or event.value is not site.call or len(event.targets) != 1:
            continue
        name: Expr = event.targets[0]
        if not isinstance(name, Name) or len(scope.binding(name.name)) != 1:
            continue
        applied = scope.calls_on(name.name, "apply_gradients", "minimize")
        if not applied or any(innermost_loop(scope, call.block) != loop for call in applied):
            continue
        if _has_model(program, scope):
            continue
        where, around = (scope, loop) if loop is not None else _called_in_loop(program, scope)
        if around is None or few_turns(program, where, around, 3):
            continue
        yield hit_at(
            site,
            flow=(),
            values={
                "optimizer": site.name.rpartition(".")[2],
                "loop_line": where.blocks[around].line,
                "line": applied[0].name_line,
            },
            related=(Step(scope, applied[0].name_place, applied[0].block, "used for one step"),),
        )


@once
def _has_model(program: Program, scope: Scope) -> bool:
    """Tell whether a scope makes or compiles a model."""
    return any(
        _MODEL.fullmatch(site.name) or keras_model_method(site.name) == "compile"
        for site in flow_of(program).within(scope)
    )


def _called_in_loop(program: Program, scope: Scope) -> tuple[Scope, int | None]:
    """Return the scope and the loop that calls a function, through one caller at most.

    Return the function itself with None where no loop calls it.
    """
    pending = [(scope, 2)]
    while pending and scope.kind == "function":
        here, left = pending.pop(0)
        for caller in flow_of(program).callers(here):
            if in_tests(caller.scope):
                continue
            loop = innermost_loop(caller.scope, caller.call.block)
            if loop is not None:
                return caller.scope, loop
            if left > 1:
                pending.append((caller.scope, left - 1))
    return scope, None
