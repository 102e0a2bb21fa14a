"""Held-out validation data that is never used."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.unused_results import mentions_in
from cfgfix.code.inference.entry_points import is_imported
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import dotted, place_of, walk
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import Call, Collection, Expr, Literal, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit

_HELD_OUT = r"(?:val|valid|validation)"
_DATA = (
    r"(?:x|y|ds|db|data|dataset|datasets|set|gen|generator|loader|images|labels|iter|iterator|batches|inputs|targets|features"
    r"|sequence|seq|pipeline|examples|samples)"
)
_OF_VALIDATION = re.compile(rf"(?i)(?:{_DATA}_)+{_HELD_OUT}|{_HELD_OUT}(?:_{_DATA})+")
"""Names of data that is held out for validation: `x_val`, `val_ds`, `valid_data_loader`."""
_IN_NAME = re.compile(rf"(?i)(?<![a-z]){_HELD_OUT}(?![a-z])")
_SPLIT = "train_test_split"
_OF_TEST = re.compile(r"(?i)(?:^|_)(?:test|val|valid|validation|dev|eval|holdout)(?:_|$)")


def unused_held_out_data(program: Program) -> Iterator[Hit]:
    """Find held-out data that is never mentioned again."""
    for module in program.modules:
        for scope in module.summary.scopes:
            if scope.kind == "class" or (scope.kind == "module" and is_imported(program, module)):
                continue
            mentions = None
            for event in scope.events():
                if event.kind != "assign" or len(event.targets) != 1 or event.value is None:
                    continue
                names = [
                    item
                    for item in _held_out(event.targets[0], event.value)
                    if scope.binding(item.name) == [event]
                ]
                if not names:
                    continue
                mentions = mentions_in(program, scope) if mentions is None else mentions
                lost = [item for item in names if mentions[item.name] == 1]
                beside = (
                    _train_names(scope, event.targets[0], lost[0].name) if lost and lost == names else set()
                )
                if any(mentions[name] > 1 for name in beside) and not written_for_one(program, scope):
                    shown = " and ".join(f"`{item.name}`" for item in lost)
                    place = place_of(lost[0], scope) or event.place
                    yield hit_in(scope, place, event.block, {"names": shown})


def _held_out(target: Expr, value: Expr) -> list[Name]:
    """Return the names that an assignment gives to held-out data."""
    items = list(target.items) if isinstance(target, Collection) else [target]
    names = [item for item in items if isinstance(item, Name)]
    if len(names) < len(items) or not any(isinstance(item, Call) for item in walk(value)):
        return []
    if (
        isinstance(value, Call)
        and (dotted(value.func) or "").endswith(_SPLIT)
        and len(names) > 1
        and len(names) % 2 == 0
    ):
        return [item for item in names[1::2] if _OF_TEST.search(item.name)]
    return [item for item in names if _OF_VALIDATION.fullmatch(item.name)]


def _train_names(scope: Scope, target: Expr, name: str) -> set[str]:
    """Return the possible names of the training data beside held-out data."""
    if isinstance(target, Collection):
        return {item.name for item in target.items if isinstance(item, Name) and item.name != name}
    return {
        made for word in ("train", "training", "trn") if (made := _IN_NAME.sub(word, name)) in scope.names
    }


def ignored_validation_data(program: Program) -> Iterator[Hit]:
    """Find validation data passed to a function that never reads it."""
    flow = flow_of(program)
    seen: set[tuple[int, int]] = set()
    for site in flow.entering:
        if site.call.opaque:
            continue
        for target in site.targets:
            function = target.scope
            key = id(site.scope), site.call.number
            if key in seen or function.kind != "function" or _is_open(program, function):
                continue
            seen.add(key)
            for number, parameter in enumerate(function.params):
                if parameter.kind not in ("plain", "keyword") or not _OF_VALIDATION.fullmatch(parameter.name):
                    continue
                mentions = mentions_in(program, function)
                given = _argument_given(site, function, number)
                trains = any(
                    mentions[other.name] > 1 and "train" in other.name.lower() for other in function.params
                )
                if mentions[parameter.name] == 1 and trains and given is not None:
                    yield hit_in(
                        site.scope,
                        place_of(given, site.scope) or site.call.name_place,
                        site.call.block,
                        {"name": parameter.name, "function": function.name},
                        related=(Step(function, function.place, -1, "never reads it"),),
                    )


def _argument_given(site: Site, function: Scope, number: int) -> Expr | None:
    """Return a call's argument for a parameter.

    None where it is missing or `None`.
    """
    bound = 1 if function.params and function.params[0].name in ("self", "cls") else 0
    given = site.call.argument(number - bound, function.params[number].name)
    return None if isinstance(given, Literal) and given.value is None else given


def _is_open(program: Program, function: Scope) -> bool:
    """Tell whether a base class or decorator may decide a function's parameters."""
    if function.decorators:
        return True
    owner = program.owner(function)
    return owner is not None and bool(owner.bases)
