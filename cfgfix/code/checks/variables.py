"""Variables of layers and models that Keras 3 does not train or save."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from cfgfix.code.checks.common import tensorflow_alias
from cfgfix.code.checks.layer_calls import Parts, methods
from cfgfix.code.inference.eras import release_in_words
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.references import api, is_bound_twice
from cfgfix.code.inference.releases import keras_three, passed_over_for_keras_2, refused_by_three
from cfgfix.code.model.expressions import MISSING, constant, is_name, is_true, place_of, text, walk
from cfgfix.code.model.hit import Rewrite, hit_at, hit_in
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
    Call,
    Collection,
    Comprehension,
    Expr,
    FString,
    Literal,
    Name,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit

_VARIABLE = "tensorflow.Variable"
_NEVER_TRAINED = re.compile(r"\bu?int(?:8|16|32|64)\b|\bbool\b|\bstring\b")
"""Types that no gradient comes to."""
_COLLECT = frozenset(
    {
        "gradient",
        "jacobian",
        "gradients",
        "get_gradients",
        "compute_gradients",
        "apply_gradients",
        "minimize",
        "watch",
        "append",
        "extend",
    }
)
"""Calls that a variable is given to by who trains it himself."""
_TRAIN = frozenset({"gradient", "jacobian", "gradients", "apply_gradients", "minimize"})
_OWN = frozenset(
    {
        "__setattr__",
        "trainable_variables",
        "trainable_weights",
        "variables",
        "weights",
        "_trainable_variables",
        "_trainable_weights",
        "_track_variable",
        "_tracker",
    }
)
"""Names that a class has, or uses of its object, where it says itself what its variables are."""


passed_over = passed_over_for_keras_2
"""Which modules these checks say nothing of."""


def untracked_variable(program: Program) -> Iterator[Hit]:
    """Find a kept `tf.Variable` that Keras 3 neither trains nor saves.

    A layer or model keeps it as an attribute.
    """
    if not keras_three(program):
        return
    parts = Parts(program)
    uses: _AttributeUses | None = None
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named(_VARIABLE):
        scope, call = site.scope, site.call
        owner = program.owner(scope)
        if owner is None or (id(scope), call.number) in seen or site.raw != _VARIABLE:
            continue
        seen.add((id(scope), call.number))
        attribute = _kept_as(scope, call)
        if attribute is None or not _may_learn(call):
            continue
        if not parts.is_part(owner):
            continue
        if (
            isinstance(call.func, Attribute)
            and isinstance(call.func.base, Name)
            and is_bound_twice(scope, call.func.base.name)
        ):
            continue
        family = [*program.bases(owner).classes, *parts.below(owner)]
        if any(_says_itself(item) for item in family):
            continue
        uses = uses or _AttributeUses(program)
        if not uses.is_used(family, attribute) or uses.is_state(attribute) or uses.is_collected(attribute):
            continue
        refused = refused_by_three(program, scope)
        if refused is None:
            continue
        rewrites = _fix_by_tracking(program, site)
        yield hit_at(
            site,
            values={
                "attribute": f"{scope.params[0].name}.{attribute}",
                "owner": owner.name,
                "asked": release_in_words(api(program)),
            },
            severity=refused[0],
            rewrites=rewrites,
            no_fix=None
            if rewrites
            else "`self.add_weight(shape=..., initializer=...)` makes a variable that every Keras knows of; what it begins with is for you to say",
        )


def _kept_as(scope: Scope, call: Call) -> str | None:
    """Return the attribute of `self` that keeps the result of a call, or None.

    The attribute may hold it in a list.
    """
    if not scope.params:
        return None
    own = scope.params[0].name
    made = call
    for event in scope.events():
        if event.value is None or event.kind not in ("assign", "annotate", "augment"):
            continue
        value = event.value
        held = (
            value is made
            or (isinstance(value, Collection) and made in value.items)
            or (isinstance(value, Comprehension) and value.parts[-1] is made)
        )
        if held and len(event.targets) == 1:
            target = event.targets[0]
            if isinstance(target, Attribute) and is_name(target.base, own):
                return str(target.attribute)
    for other in scope.calls:
        if other.method == "append" and other.args == (made,):
            inner = other.receiver
            if isinstance(inner, Attribute) and is_name(inner.base, own):
                return str(inner.attribute)
    return None


def _may_learn(call: Call) -> bool:
    """Tell whether the arguments of a variable let it be trained."""
    trainable = call.argument(1, "trainable")
    if call.opaque or not (trainable is None or is_true(trainable)):
        return False
    begins = call.argument(0, "initial_value")
    if begins is None:
        return False
    if not _may_be_floats(constant(begins)):
        return False
    return not any(
        _NEVER_TRAINED.search(text(item)) for item in (begins, call.keyword("dtype")) if item is not None
    )


def _may_be_floats(value: Any) -> bool:
    """Tell whether a constant or a list may hold floats; unknown values may."""
    if isinstance(value, (list, tuple)):
        return any(map(_may_be_floats, value))
    return value is MISSING or isinstance(value, float)


def _says_itself(owner: Scope) -> bool:
    """Tell whether a class defines its own lists of variables."""
    if not _OWN.isdisjoint(owner.children) or not _OWN.isdisjoint(owner.names):
        return True
    for method in methods(owner):
        own = method.params[0].name
        for call in method.calls:
            func = call.func
            while isinstance(func, Attribute):
                if is_name(func.base, own) and func.attribute.startswith("_") and func.attribute in _OWN:
                    return True
                func = func.base
        for event in method.events():
            for target in event.targets:
                if isinstance(target, Attribute) and is_name(target.base, own) and target.attribute in _OWN:
                    return True
    return False


class _AttributeUses:
    """The uses of attributes in a program, by the attributes' names."""

    def __init__(self, program: Program) -> None:
        self._read: dict[int, set[str]] = {}
        self._state: set[str] = set()
        self._collected: set[str] = set()
        self._watched = False
        for module in program.modules:
            for scope in module.summary.scopes:
                owner = program.owner(scope)
                self._look_into_scope(
                    scope, self._read.setdefault(id(owner), set()) if owner is not None else set()
                )

    def is_used(self, family: Iterable[Scope], attribute: str) -> bool:
        """Tell whether a method of the given classes reads an attribute."""
        return any(attribute in self._read.get(id(item), ()) for item in family)

    def is_state(self, attribute: str) -> bool:
        """Tell whether code assigns to variables in an attribute, such as a counter."""
        return attribute in self._state

    def is_collected(self, attribute: str) -> bool:
        """Tell whether the program may train the variable in an attribute by itself."""
        return self._watched or attribute in self._collected

    def _look_into_scope(self, scope: Scope, read: set[str]) -> None:
        trains = any((call.method or "") in _TRAIN for call in scope.calls)
        for call in scope.calls:
            func = call.func
            name = call.method or (func.name if isinstance(func, Name) else "")
            given = [*call.args, *(value for _, value in call.keywords)]
            if name == "watched_variables":
                self._watched = True
            elif name in _COLLECT or (trains and name == "zip"):
                self._collected.update(_attribute_names(given))
            if isinstance(func, Attribute):
                if name.startswith(("assign", "scatter_")) and isinstance(func.base, Attribute):
                    self._state.add(func.base.attribute)
                read.update(_attribute_names([func.base]))
            read.update(_attribute_names(given))
        for event in scope.events():
            if event.value is None:
                continue
            read.update(_attribute_names([event.value]))
            self._collected.update(_attributes_in_lists(event.value))
            if trains and isinstance(event.value, Attribute):
                self._collected.add(event.value.attribute)


def _attribute_names(parts: Iterable[Expr]) -> Iterator[str]:
    for part in parts:
        for item in walk(part):
            if isinstance(item, Attribute):
                yield item.attribute


def _attributes_in_lists(expr: Expr) -> Iterator[str]:
    """Yield the names of attributes that are items of a list.

    Example: `model.trainable_variables + [self.alpha]`.
    """
    if isinstance(expr, Collection):
        for item in expr.items:
            if isinstance(item, Attribute):
                yield item.attribute
    elif isinstance(expr, Binary) and expr.operator == "+":
        yield from _attributes_in_lists(expr.left)
        yield from _attributes_in_lists(expr.right)


def _fix_by_tracking(program: Program, site: Site) -> tuple[Rewrite, ...]:
    """Return the fix that replaces `tf.Variable` by `tf.keras.Variable`.

    Empty where a release that the project asks for lacks it.
    """
    call, scope = site.call, site.scope
    alias = tensorflow_alias(scope)
    if alias is None or not isinstance(call.func, Attribute) or not is_name(call.func.base, alias):
        return ()
    if not api(program).all_releases_have("tensorflow.keras.Variable"):
        return ()
    if len(call.args) != 1 or any(key not in ("trainable", "dtype", "name") for key, _ in call.keywords):
        return ()
    return (Rewrite("replace", scope, call.func.place, f"{alias}.keras.Variable"),)


def metric_without_start(program: Program) -> Iterator[Hit]:
    """Find weights of metrics without an initializer."""
    for module in program.modules:
        if passed_over(program, module):
            continue
        for scope in module.summary.scopes:
            owner = program.owner(scope)
            calls = [call for call in scope.calls_of("add_weight") if is_name(call.receiver, "self")]
            if owner is None or not calls or not _is_metric(program, owner):
                continue
            refused = refused_by_three(program, scope)
            for call in calls if refused is not None else ():
                # By its place it comes second, behind what Keras 2 took for the name.
                if call.args or call.opaque or call.keyword("initializer") is not None:
                    continue
                yield hit_in(
                    scope,
                    call.name_place,
                    call.block,
                    {"asked": release_in_words(api(program))},
                    severity=refused[0] if refused is not None else None,
                    rewrites=(Rewrite("keyword", scope, call.place, '"zeros"', "initializer"),),
                )


def _is_metric(program: Program, owner: Scope) -> bool:
    """Tell whether a class is a Keras metric without its own `add_weight`."""
    outside = program.bases(owner).outside
    return outside == ["keras.metrics.Metric"] and program.method(owner, "add_weight") is None


def name_by_position(program: Program) -> Iterator[Hit]:
    """Find weights whose first argument is a name, where Keras 3 takes a shape."""
    for module in program.modules:
        if passed_over(program, module):
            continue
        for scope in module.summary.scopes:
            owner = program.owner(scope)
            calls = [
                call
                for call in scope.calls_of("add_weight")
                if is_name(call.receiver, "self") and call.args and not call.opaque and _is_text(call.args[0])
            ]
            if owner is None or not calls or not _adds_as_keras(program, owner):
                continue
            refused = refused_by_three(program, scope)
            for call in calls if refused is not None else ():
                yield hit_in(
                    scope,
                    place_of(call.args[0], scope) or call.name_place,
                    call.block,
                    {"name": text(call.args[0]), "asked": release_in_words(api(program))},
                    severity=refused[0] if refused is not None else None,
                    rewrites=tuple(
                        Rewrite("name-argument", scope, call.place, str(number), name)
                        for number, name in enumerate(("name", "shape")[: len(call.args)])
                    )
                    if len(call.args) <= 2 and call.keyword("name") is None
                    else (),
                )


def _is_text(expr: Expr) -> bool:
    return isinstance(expr, FString) or (isinstance(expr, Literal) and isinstance(expr.value, str))


def _adds_as_keras(program: Program, owner: Scope) -> bool:
    """Tell whether a class is a layer, model or metric with Keras's `add_weight`."""
    outside = program.bases(owner).outside
    return (
        bool(outside)
        and all(
            name in ("keras.Layer", "keras.Model", "keras.metrics.Metric") or name.startswith("keras.layers.")
            for name in outside
        )
        and program.method(owner, "add_weight") is None
    )
