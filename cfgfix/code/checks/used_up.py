"""Datasets over one iterator, which is empty after the first round."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.supply import ends
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, dotted, is_name
from cfgfix.code.model.hit import Step, at, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Comprehension, Expr, Lambda, Name, Place
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Dataset, Function, Site, functions_of
from cfgfix.rules.hit import Hit

_ITERATORS = frozenset({"iter", "map", "zip", "filter", "enumerate", "reversed"})
_ENDLESS = frozenset({"itertools.count", "itertools.cycle", "itertools.repeat"})
_MOST = 200


def one_iterator(program: Program) -> Iterator[Hit]:
    """Find `from_generator` over a function that returns one iterator."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named("tensorflow.data.Dataset.from_generator"):
        scope = site.scope
        key = id(scope), site.call.number
        if key in seen or written_for_one(program, scope):
            continue
        seen.add(key)
        functions = functions_of(site.argument(0, "generator"))
        if len(functions) != 1 or not isinstance(site.result, Dataset):
            continue
        made = _kept_iterator(program, functions[0])
        again = _second_round(program, site.result) if made is not None else None
        if made is None or again is None:
            continue
        where, place, block, shown = made
        yield hit_in(
            scope,
            site.call.name_place,
            site.call.block,
            {"iterator": shown, "line": place.line, "again": again.label},
            related=(Step(where, place, block, "made once"), again),
            no_fix="give from_generator the function that makes the iterator, so that every round gets a new one",
        )


Kept = tuple[Scope, Place, int, str]


def _kept_iterator(program: Program, function: Function) -> Kept | None:
    """Return where an iterator is made that a function only returns, or None."""
    scope = function.scope
    if scope.generator or scope.decorators or function.partial or function.fixed:
        return None
    returned = scope.events_of("return") if scope.kind == "function" else scope.events()
    if len(returned) != 1 or returned[0].value is None:
        return None
    value = returned[0].value
    if isinstance(value, Call) and isinstance(value.func, Name) and value.func.name == "iter":
        # The iterator of an iterator is itself.
        value = value.args[0] if len(value.args) == 1 else value
    outer = program.outer(scope)
    if isinstance(value, Name):
        if value.name in scope.names or outer is None:
            return None
        return _of_name(program, outer, value.name)
    if not isinstance(value, Attribute) or not isinstance(value.base, Name):
        return None
    here: Scope | None = scope
    while here is not None and program.owner(here) is None:
        here = program.outer(here)
    owner = program.owner(here) if here is not None else None
    if here is None or owner is None or not here.params or value.base.name != here.params[0].name:
        return None
    return _of_attribute(program, owner, value.attribute, dotted(value) or value.attribute)


def _of_name(program: Program, scope: Scope, name: str) -> Kept | None:
    here: Scope | None = scope
    while here is not None and (name not in here.names or here.kind == "class"):
        here = program.outer(here)
    if here is None or any(item.name == name for item in here.params):
        return None
    bound = here.binding(name)
    if len(bound) != 1 or bound[0].kind != "assign" or bound[0].value is None:
        return None
    if not any(is_name(target, name) for target in bound[0].targets):
        return None
    return _iterator_made_by(program, here, bound[0], bound[0].value, name)


def _of_attribute(program: Program, owner: Scope, attribute: str, shown: str) -> Kept | None:
    """Return where an attribute's only assignment makes an iterator, or None.

    Assignments in base classes count as well.
    """
    found: list[tuple[Scope, Event]] = []
    for item in program.bases(owner).classes:
        for number in item.children.values():
            method = item.module.summary.scopes[number]
            if method.kind != "function" or not method.params:
                continue
            found += [
                (method, event)
                for event in method.events()
                for target in event.targets
                if isinstance(target, Attribute)
                and target.attribute == attribute
                and is_name(target.base, method.params[0].name)
            ]
    if len(found) != 1 or found[0][1].kind != "assign" or found[0][1].value is None:
        return None
    method, event = found[0]
    return _iterator_made_by(program, method, event, event.value, shown) if event.value is not None else None


def _iterator_made_by(program: Program, scope: Scope, event: Event, value: Expr, shown: str) -> Kept | None:
    """Return a statement that makes an iterator which may end, or None."""
    if isinstance(value, Comprehension):
        return (scope, event.place, event.block, shown) if value.kind == "generator" else None
    if not isinstance(value, Call):
        return None
    if isinstance(value.func, Name) and value.func.name in _ITERATORS and value.func.name not in scope.names:
        if _may_last_forever(program, scope, value):
            return None
        return scope, event.place, event.block, shown
    full = program.static_name(value.func, scope) or ""
    if full in ("csv.reader", "csv.DictReader", "itertools.chain", "itertools.islice", "itertools.product"):
        return None if _may_last_forever(program, scope, value) else (scope, event.place, event.block, shown)
    sites = flow_of(program).of_calls(scope, (value.number,))
    targets = {id(target.scope): target.scope for site in sites for target in site.targets}
    if not sites or len(targets) != 1 or any(site.open or site.name for site in sites):
        return None
    generator = next(iter(targets.values()))
    if not generator.generator or generator.decorators or ends(generator) is False:
        return None
    return scope, event.place, event.block, shown


def _may_last_forever(program: Program, scope: Scope, call: Call) -> bool:
    """Tell whether an iterator is made from one that may have no end."""
    for given in call.args:
        if isinstance(given, Lambda):
            continue
        if isinstance(given, Call):
            if program.static_name(given.func, scope) in _ENDLESS:
                return True
            for site in flow_of(program).of_calls(scope, (given.number,)):
                if any(target.scope.generator and ends(target.scope) is False for target in site.targets):
                    return True
    return False


def _second_round(program: Program, dataset: Dataset) -> Step | None:
    """Return where a dataset is read a second time, or None.

    It is read by epochs of `fit`, by `repeat`, or by a loop in a loop.
    """
    loops: dict[int, tuple[Scope, int]] = {}
    for how, looped, scope, block in flow_of(program).consumed:
        if how == "loop":
            loops.setdefault(id(looped), (scope, block))
    pending, seen = [dataset], {id(dataset)}
    while pending and len(seen) < _MOST:
        here = pending.pop()
        if here.op == "cache":
            continue
        if here.op == "repeat" and here.site is not None:
            count = here.site.call.argument(0, "count")
            if count is None or constant(count) not in (0, 1):
                return at(here.site, label="goes over it again")
        found = loops.get(id(here))
        if found is not None:
            scope, block = found
            around = scope.loops(scope.blocks[block].parent) if block >= 0 else []
            if around and not _is_left_early(scope, block):
                event = next(
                    (item for item in scope.events() if any(number == block for number, _ in item.bodies)),
                    None,
                )
                if event is not None:
                    start = event.place
                    return Step(
                        scope,
                        Place(start.line, start.column, start.line, start.column + 3),
                        event.block,
                        "goes over it in each turn",
                    )
        for use in here.uses:
            if isinstance(use, Dataset):
                if id(use) not in seen:
                    seen.add(id(use))
                    pending.append(use)
            elif use[1] is not None and use[1].call.method == "fit" and _several_epochs(use[1]):
                return at(use[1], label="goes over it in each epoch")
    return None


def _is_left_early(scope: Scope, block: int) -> bool:
    """Tell whether a loop is left before its end.

    A later round then goes on where the first one stopped.
    """
    return any(
        event.kind in ("break", "return") and block in scope.block_numbers(event.block)
        for event in scope.events()
    )


def _several_epochs(site: Site) -> bool:
    """Tell whether `fit` trains several epochs without `steps_per_epoch`."""
    epochs = site.call.argument(3, "epochs")
    steps = site.call.argument(12, "steps_per_epoch")
    if site.call.opaque or epochs is None or (steps is not None and constant(steps) is not None):
        return False
    return bool(constant(epochs) != 1)
