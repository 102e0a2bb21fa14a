"""Clones of models without the weights of the original."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, dotted, is_name, text, walk
from cfgfix.code.model.hit import Step, hit_at
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Attribute, Call, Expr, Place
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit

_GIVES_WEIGHTS = re.compile(
    r"set_weights|load_weights|load_model|get_weights|\bassign\(|\.restore\(|load_own_variables"
)
_TRAINS = frozenset({"fit", "fit_generator", "train_on_batch", "compile"})
_OWN = frozenset({"trainable_variables", "trainable_weights", "variables", "weights"})
_READS = frozenset({"predict", "predict_on_batch", "evaluate", "call", "__call__"})


def clone_without_weights(program: Program) -> Iterator[Hit]:
    """Find cloned models that are used with their initial weights.

    Nothing copies weights to them or trains them.
    """
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named("keras.models.clone_model"):
        key = id(site.scope), site.call.number
        if key in seen or site.call.opaque or written_for_one(program, site.scope):
            continue
        seen.add(key)
        if site.call.keyword("clone_function") is not None or len(site.call.args) > 2:
            continue
        names = list(_names_of(program, site))
        if not names:
            continue
        modules = {id(scope.module): scope.module for scope, _ in names}
        modules |= {
            id(caller.scope.module): caller.scope.module
            for scope, _ in names
            for caller in flow_of(program).callers(scope)
        }
        if any(_GIVES_WEIGHTS.search(module.source_file().text) for module in modules.values()):
            continue
        # An attribute may get its weights in any file.
        attributes = {name.rpartition(".")[2] for _, name in names if "." in name}
        if any(
            f".{name}.set_weights" in module.source_file().text
            or f".{name}.load_weights" in module.source_file().text
            for name in attributes
            for module in program.modules
        ):
            continue
        used = _use_of_clone(names, list(modules.values()))
        if used is not None:
            yield hit_at(
                site,
                flow=(),
                values={"name": names[-1][1], "model": text(site.call.argument(0, "model"))},
                related=(used,),
            )


def _names_of(program: Program, site: Site) -> Iterator[tuple[Scope, str]]:
    """Yield the names that a clone is assigned to, with scope.

    Callers of a function that returns the clone count.
    """
    own = _bound_name(site.scope, site.call)
    if own is not None:
        yield site.scope, own
    returned = any(
        event.kind == "return"
        and event.value is not None
        and (event.value is site.call or (own is not None and dotted(event.value) == own))
        for event in site.scope.events()
    )
    if returned:
        for caller in flow_of(program).callers(site.scope):
            name = _bound_name(caller.scope, caller.call)
            if name is not None:
                yield caller.scope, name


def _bound_name(scope: Scope, call: Call) -> str | None:
    for event in scope.events():
        if event.kind in ("assign", "annotate") and event.value is call and len(event.targets) == 1:
            return dotted(event.targets[0])
    return None


def _use_of_clone(names: list[tuple[Scope, str]], modules: list[Module]) -> Step | None:
    """Return where a clone is called, read or frozen, or None.

    None also where it is trained or passed to another call.
    """
    found: Step | None = None
    for scope, name in names:
        if "." in name:
            scopes = [item for module in modules for item in module.summary.scopes]
        elif scope.kind == "module":
            scopes = scope.module.summary.scopes
        else:
            scopes = [scope]
        for here in scopes:
            for call in here.calls:
                mine = call.receiver is not None and _is_named(call.receiver, name)
                if (mine and call.method in _TRAINS) or any(
                    _is_named(item, name) for item in _given_models(call)
                ):
                    return None
                if (mine and call.method in _READS) or _is_named(call.func, name):
                    found = found or Step(here, call.name_place, call.block, "it is asked here")
            frozen, trained = _freezing_places(here, name)
            if trained:
                return None
            if frozen is not None:
                found = found or Step(here, frozen[0], frozen[1], "it is not to be trained")
    return found


def _is_named(expr: Expr, name: str) -> bool:
    """Tell whether an expression is a clone's name or any attribute of that name."""
    if "." not in name:
        return is_name(expr, name)
    return isinstance(expr, Attribute) and expr.attribute == name.rpartition(".")[2]


def _given_models(call: Call) -> Iterable[Expr]:
    yield from call.args
    for _, value in call.keywords:
        yield value


def _freezing_places(scope: Scope, name: str) -> tuple[tuple[Place, int] | None, bool]:
    """Return where a scope freezes a model, and whether it reads its variables."""
    frozen: tuple[Place, int] | None = None
    for event in scope.events():
        for target in event.targets:
            if (
                isinstance(target, Attribute)
                and target.attribute == "trainable"
                and _is_named(target.base, name)
                and constant(event.value) is False
            ):
                frozen = target.place, event.block
    asked = any(
        isinstance(part, Attribute) and part.attribute in _OWN and _is_named(part.base, name)
        for event in scope.events()
        if event.value is not None
        for part in walk(event.value)
    )
    return frozen, asked
