"""Methods and properties of Keras objects that Keras 3 removed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from cfgfix.code.checks.callees import methods
from cfgfix.code.checks.models import keras_model_method
from cfgfix.code.inference.eras import release_in_words, written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import expects_absence, statement_of
from cfgfix.code.inference.references import api
from cfgfix.code.inference.releases import (
    keras_of_release,
    keras_three,
    passed_over_for_keras_2,
    refused_by_three,
)
from cfgfix.code.model.expressions import dotted, text, walk
from cfgfix.code.model.hit import Rewrite, Step, hit_at, hit_in
from cfgfix.code.model.nodes import Attribute, Expr, Place
from cfgfix.code.model.program import Program, is_keras_model
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import UNKNOWN, External, Instance, Made, Site, Value, alternatives
from cfgfix.rules.hit import Hit

_OWNERS = (
    (re.compile(r"keras\.(Model|Sequential|models\.\w+|applications\.\w+)"), "keras.Model", "model"),
    (re.compile(r"keras\.(Layer|layers\.[A-Z]\w*)"), "keras.layers.Layer", "layer"),
    (re.compile(r"keras\.metrics\.[A-Z]\w*"), "keras.metrics.Metric", "metric"),
    (re.compile(r"keras\.optimizers\.[A-Z]\w*"), "keras.optimizers.Optimizer", "optimizer"),
)
"""Names of what makes an object, the class of the table that it is one of, and what it is called in messages."""

_CALLBACKS_MODEL = re.compile(r"keras\.callbacks\.[A-Z]\w*\.model")

_INSTEAD = {
    ("metric", "reset_states"): "it is called reset_state",
    ("metric", "weights"): "it is called variables",
    ("model", "reset_states"): "each recurrent layer has reset_state",
    ("model", "fit_generator"): "fit takes generators",
    ("model", "evaluate_generator"): "evaluate takes generators",
    ("model", "predict_generator"): "predict takes generators",
    ("model", "to_yaml"): "use to_json",
    ("optimizer", "lr"): "it is called learning_rate",
    ("optimizer", "minimize"): "take the gradients with a GradientTape and give them to apply_gradients",
    ("optimizer", "get_weights"): "take the values of its variables",
    ("optimizer", "weights"): "it is called variables",
    ("optimizer", "get_updates"): "give the gradients to apply_gradients",
    ("optimizer", "get_gradients"): "take the gradients with a GradientTape",
    ("optimizer", "_decayed_lr"): "learning_rate is its value at the present step",
    ("optimizer", "_create_all_weights"): "build does it",
    ("optimizer", "_get_hyper"): "read the attribute",
    ("optimizer", "_set_hyper"): "set the attribute",
}
"""What does the same in Keras 3 (Keras 3.15.1, `keras/src/metrics/metric.py`, `optimizers/base_optimizer.py`, `trainers/trainer.py`)."""
_RENAMED = {
    ("metric", "reset_states"): ("reset_state", (2, 5)),
    ("optimizer", "lr"): ("learning_rate", (2, 0)),
}
"""Another name for the same, and the first TensorFlow that has it (release notes of TensorFlow 2.5: `reset_state`)."""


_PRIVATE = ("_decayed_lr", "_create_all_weights", "_get_hyper", "_set_hyper")
"""Methods that the optimizers of Keras up to TensorFlow 2.10 had, and that people call from outside (`keras/optimizers/optimizer_v2/
optimizer_v2.py` of Keras 2.10)."""


class _MemberUse(NamedTuple):
    """A place that reads, sets or calls a removed member of an object."""

    scope: Scope
    place: Place
    block: int
    kind: str
    member: str
    mask: int
    expr: Attribute
    stored: bool
    site: Site | None


passed_over = passed_over_for_keras_2
"""Which modules these checks say nothing of."""


def _owner_in_table(name: str) -> tuple[str, str] | None:
    """Return the table's class and kind for a canonical name, or None."""
    for pattern, owner, kind in _OWNERS:
        if pattern.fullmatch(name):
            return owner, kind
    return None


def _only_keras(program: Program, value: Value) -> bool:
    """Tell whether an object's class and all its bases are Keras's or the project's."""
    if isinstance(value, Made) and value.site is not None and value.site.raw.startswith("tensorflow.python."):
        # The copy of Keras inside TensorFlow is never Keras 3.
        return False
    if isinstance(value, (Made, External)):
        return value.name.startswith("keras.")
    if not isinstance(value, Instance):
        return False
    classes, outside = program.bases(value.scope)
    return (
        bool(outside)
        and all(name.startswith(("keras.", "abc.", "typing.", "builtins.")) for name in outside)
        and not any({"__getattr__", "__getattribute__"} & set(item.children) for item in classes)
        # A base that is not known may have anything.
        and sum(len(item.bases) for item in classes) <= len(classes) - 1 + len(outside)
    )


def _calls_of_gone_methods(program: Program) -> Iterator[_MemberUse]:
    """Yield the calls of removed methods."""
    table = api(program)
    for site in flow_of(program).under("keras."):
        func = site.call.func
        if not isinstance(func, Attribute) or site.targets or site.open:
            continue
        if site.scope.name == func.attribute and program.owner(site.scope) is not None:
            # The old method of a class hands on to that of Keras: nobody but an old Keras calls it.
            continue
        owner, _, member = site.name.rpartition(".")
        found = _owner_in_table(owner)
        mask = table.gone(found[0], member) if found is not None else 0
        if found is None or not mask:
            continue
        values = alternatives(site.receiver)
        if not values or not all(_only_keras(program, value) for value in values):
            continue
        yield _MemberUse(
            site.scope, site.call.name_place, site.call.block, found[1], member, mask, func, False, site
        )


def _calls_of_private_methods(program: Program) -> Iterator[_MemberUse]:
    """Yield the calls of private methods of old optimizers."""
    mask = api(program).gone("keras.optimizers.Optimizer", "add_slot")
    own = methods(program) if mask else frozenset()
    for module in program.modules if mask else ():
        for scope in module.summary.scopes:
            for member in _PRIVATE:
                for call in scope.calls_of(member):
                    if (
                        member not in own
                        and isinstance(call.func, Attribute)
                        and _may_be_optimizer(program, scope, call.func.base)
                    ):
                        yield _MemberUse(
                            scope,
                            call.name_place,
                            call.block,
                            "optimizer",
                            member,
                            mask,
                            call.func,
                            False,
                            None,
                        )


def _may_be_optimizer(program: Program, scope: Scope, expr: Expr) -> bool:
    """Tell whether an expression is named like an optimizer and may be one."""
    name = dotted(expr)
    if name is None or "opt" not in name.rpartition(".")[2].lower():
        return False
    values = alternatives(flow_of(program).value_of_name(scope, expr))
    return all(value is UNKNOWN or isinstance(value, External) or _makes_optimizer(value) for value in values)


def _uses_of_rate(program: Program) -> Iterator[_MemberUse]:
    """Yield the places where `lr` of an optimizer is read or set."""
    table = api(program)
    mask = table.gone("keras.optimizers.Optimizer", "lr")
    for module in program.modules if mask else ():
        if "optimizer.lr" not in module.summary.words and "opt.lr" not in module.summary.words:
            continue
        for scope in module.summary.scopes:
            seen: set[Place] = set()
            for expr, stored in _attributes_used(scope):
                if (
                    expr.attribute == "lr"
                    and expr.place not in seen
                    and _is_optimizer(program, scope, expr.base)
                ):
                    seen.add(expr.place)
                    statement = statement_of(scope, expr.place)
                    block = statement.block if statement is not None else 0
                    yield _MemberUse(scope, expr.place, block, "optimizer", "lr", mask, expr, stored, None)


def _attributes_used(scope: Scope) -> Iterator[tuple[Attribute, bool]]:
    """Yield the attributes in a scope's code, each with whether it is set."""
    for event in scope.events():
        for target in event.targets:
            for part in walk(target):
                if isinstance(part, Attribute):
                    yield part, part is target and event.kind in ("assign", "annotate")
        for top in (event.value, *event.managers):
            for part in walk(top) if top is not None else ():
                if isinstance(part, Attribute):
                    yield part, False


def _is_optimizer(program: Program, scope: Scope, expr: Expr) -> bool:
    """Tell whether an expression is certainly a Keras optimizer."""
    if dotted(expr) is None:
        return False
    values = alternatives(flow_of(program).value_of_name(scope, expr))
    if values and all(_makes_optimizer(value) for value in values):
        return True
    if not isinstance(expr, Attribute) or expr.attribute != "optimizer" or (values and values != (UNKNOWN,)):
        return False
    models = alternatives(flow_of(program).value_of_name(scope, expr.base))
    return bool(models) and all(
        isinstance(value, Instance) and is_keras_model(program, value.scope) and _only_keras(program, value)
        for value in models
    )


def _makes_optimizer(value: Value) -> bool:
    if isinstance(value, Made):
        found = _owner_in_table(value.name)
        return found is not None and found[1] == "optimizer"
    if isinstance(value, External):
        head, _, last = value.name.rpartition(".")
        found = _owner_in_table(head)
        # Keras gives a callback its model.
        model = (found is not None and found[1] == "model") or _CALLBACKS_MODEL.fullmatch(head) is not None
        return last == "optimizer" and model
    return False


def _use_groups(program: Program) -> list[list[_MemberUse]]:
    """Return the uses of removed members in groups to be fixed together.

    A group has the uses of one member in one block.
    """
    found: dict[object, list[_MemberUse]] = {}
    for use in (
        *_calls_of_gone_methods(program),
        *_calls_of_private_methods(program),
        *_uses_of_rate(program),
    ):
        if not expects_absence(use.scope, use.block, use.place):
            key = id(use.scope), use.block, use.kind, use.member, use.stored
            group = found.setdefault(key, [])
            if all(other.place != use.place for other in group):
                group.append(use)
    return [sorted(group, key=lambda use: use.place) for group in found.values()]


def gone_member(program: Program) -> Iterator[Hit]:
    """Find methods and properties of Keras objects that Keras 3 removed."""
    if not keras_three(program):
        return
    table = api(program)
    for group in _use_groups(program):
        use = group[0]
        refused = refused_by_three(program, use.scope)
        if refused is None:
            continue
        (severity,) = refused
        instead = _INSTEAD.get((use.kind, use.member), "")
        values = {
            "member": use.member,
            "kind": f"an {use.kind}" if use.kind == "optimizer" else f"a {use.kind}",
            "then": "setting it changes nothing, and the learning rate stays as it is"
            if use.stored
            else "AttributeError",
            "instead": f"; {instead}" if instead else "",
            "asked": release_in_words(table),
        }
        new, since = _RENAMED.get((use.kind, use.member), ("", (0, 0)))
        early = bool(table.requirement.of_two(range(since[1])))
        rewrites = (
            tuple(Rewrite("rename", item.scope, item.expr.place, new) for item in group)
            if new and not early
            else ()
        )
        no_fix = (
            "a release that may be meant does not have the new name"
            if new
            else "what does the same in Keras 3 is written differently"
        )
        related = tuple(Step(item.scope, item.place, item.block, "and here") for item in group[1:])
        if use.site is not None:
            yield hit_at(
                use.site,
                flow=(),
                values=values,
                severity=severity,
                rewrites=rewrites,
                no_fix=no_fix,
                related=related,
            )
        else:
            yield hit_in(
                use.scope,
                use.place,
                use.block,
                values,
                severity=severity,
                rewrites=rewrites,
                no_fix=no_fix,
                related=related,
            )


def called_property(program: Program) -> Iterator[Hit]:
    """Find calls of optimizer methods that are properties in Keras 3.

    What the property gives cannot be called.
    """
    if not keras_three(program):
        return
    table = api(program)
    member = "variables"
    if not table.was_called("keras.optimizers.Optimizer", member):
        return
    early = bool(table.requirement.of_two(range(12)))
    for module in program.modules:
        if ".variables()" not in module.summary.words:
            continue
        for scope in module.summary.scopes:
            for call in scope.calls:
                func = call.func
                if not isinstance(func, Attribute) or func.attribute != member or call.args or call.keywords:
                    continue
                if not _is_optimizer(program, scope, func.base):
                    continue
                refused = refused_by_three(program, scope)
                if refused is None:
                    continue
                yield hit_in(
                    scope,
                    call.name_place,
                    call.block,
                    {"member": member, "asked": release_in_words(table)},
                    severity=refused[0],
                    rewrites=() if early else (Rewrite("replace", scope, call.place, text(func)),),
                    no_fix="a release that may be meant has it as a method" if early else None,
                )


_PREDICTS = frozenset({"predict_classes", "predict_proba"})
_NO_MODEL = ("sklearn", "xgboost", "lightgbm", "catboost", "h2o", "autokeras")


def gone_prediction(program: Program) -> Iterator[Hit]:
    """Find `predict_classes` and `predict_proba` of a model.

    TensorFlow 2.6 took them away.
    """
    table = api(program)
    if table.requirement.text and not table.requirement.of_two(range(6, 30)):
        return
    early = bool(table.requirement.text) and bool(table.requirement.of_two(range(6)))
    known = {
        (id(site.scope), site.call.number): site
        for site in flow_of(program).sites
        if keras_model_method(site.name) in _PREDICTS
    }
    own = {
        scope.name
        for module in program.modules
        for scope in module.summary.scopes
        if scope.name in _PREDICTS and program.owner(scope) is not None
    }
    for module in program.modules:
        others = any(
            source.startswith(_NO_MODEL)
            for scope in module.summary.scopes
            for source in scope.imports.values()
        )
        for scope in module.summary.scopes:
            for call in scope.calls:
                if call.method not in _PREDICTS:
                    continue
                site = known.get((id(scope), call.number))
                if site is None and (call.method != "predict_classes" or others or call.method in own):
                    # Classifiers of other libraries have `predict_proba`.
                    continue
                if site is not None and (
                    site.targets
                    or site.open
                    or not all(_only_keras(program, value) for value in alternatives(site.receiver))
                ):
                    continue
                if not keras_of_release(program, scope) or written_for_one(program, scope):
                    continue
                yield hit_in(
                    scope,
                    call.name_place,
                    call.block,
                    {"method": call.method, "asked": release_in_words(table)},
                    severity="warning" if early or site is None else None,
                    rewrites=(Rewrite("rename", scope, call.func.place, "predict"),)
                    if isinstance(call.func, Attribute) and call.func.attribute == "predict_proba"
                    else (),
                )
