"""Unsorted lists of files that are matched by position."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from cfgfix.code.checks.common import shows_pictures
from cfgfix.code.model.expressions import dotted, is_name, place_of, text, walk
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import (
    Attribute,
    Call,
    Collection,
    Comprehension,
    Expr,
    Name,
    Place,
    Slice,
    Subscript,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.rules.hit import Hit

_LISTING = frozenset({"glob.glob", "glob.iglob", "os.listdir"})
_KEEPING = frozenset({"list", "sorted"})
_SPLITS = ("sklearn.model_selection.train_test_split",)
_OF_PAIRS = re.compile(
    r"mask|label|seg|annot|truth|target|(?:^|[_/'. ])(?:gt|hr|lr|mel|mels|spec|txt|text|noisy|clean|xml|json|depth)(?:$|[_/'. ])",
    re.IGNORECASE,
)
"""What is said of files that belong to others, one to one: pictures of two styles need not."""

_Key = tuple[int, str]
"""The number of the scope that has a list, and its name there."""


class _FileList(NamedTuple):
    """A list of files under one name."""

    scope: Scope
    event: Event
    place: Place
    name: str
    shown: str
    is_sorted: bool


def unsorted_file_lists(program: Program) -> Iterator[Hit]:
    """Find lists of files that are matched by position and not sorted."""
    for module in program.modules:
        lists = _file_lists(program, module)
        if len(lists) < 2:
            continue
        told: set[_Key] = set()
        for scope in module.summary.scopes:
            if shows_pictures(scope):
                continue
            for keys, place, block, how in _pairings_by_position(program, scope, lists):
                found = [lists[key] for key in keys]
                if len({item.shown for item in found}) != len(found):
                    continue
                if not any(_OF_PAIRS.search(f"{item.name} {item.shown}") for item in found):
                    continue
                for key, item in zip(keys, found, strict=True):
                    if item.is_sorted or key in told:
                        continue
                    told.update(keys)
                    others = " and ".join(f"`{other.name}`" for other in found if other is not item)
                    yield hit_in(
                        item.scope,
                        item.place,
                        item.event.block,
                        {
                            "name": item.name,
                            "others": others,
                            "how": how,
                            "line": place.line,
                            "call": item.shown.partition("(")[0],
                        },
                        needs=((scope, block),),
                        related=(Step(scope, place, block, "matched by position"),),
                    )
                    break


def _file_lists(program: Program, module: Module) -> dict[_Key, _FileList]:
    """Return the lists of files that a module assigns once and never changes."""
    found: dict[_Key, _FileList] = {}
    bound: dict[_Key, int] = {}
    changed: set[str] = set()
    for scope in module.summary.scopes:
        for event in scope.events():
            for target in event.targets:
                key = _list_key(program, scope, target)
                if key is None:
                    continue
                bound[key] = bound.get(key, 0) + 1
                listed = _listing_call(program, scope, event.value) if event.kind == "assign" else None
                if listed is not None and event.value is not None:
                    call, is_sorted = listed
                    place = place_of(event.value, scope) or event.place
                    found[key] = _FileList(scope, event, place, text(target), text(call), is_sorted)
        for call in scope.calls:
            name = (dotted(call.func) or "").rpartition(".")[2]
            if name in ("sort", "append", "extend", "remove", "pop", "insert", "reverse"):
                changed.add(text(call.receiver))
            elif name in ("shuffle", "sort"):
                changed.update(text(item) for item in call.args)
    return {key: item for key, item in found.items() if bound[key] == 1 and item.name not in changed}


def _listing_call(program: Program, scope: Scope, expr: Expr | None) -> tuple[Call, bool] | None:
    """Return the call that lists files and whether the result is sorted, or None."""
    if isinstance(expr, Comprehension):
        if len(expr.generators) != 1 or expr.kind != "list":
            return None
        return _listing_call(program, scope, expr.generators[0][1])
    if not isinstance(expr, Call):
        return None
    if isinstance(expr.func, Name) and expr.func.name in _KEEPING and expr.args:
        inner = _listing_call(program, scope, expr.args[0])
        return (inner[0], inner[1] or expr.func.name == "sorted") if inner is not None else None
    name = program.static_name(expr.func, scope)
    return (expr, False) if name in _LISTING and expr.args else None


def _list_key(program: Program, scope: Scope, expr: Expr) -> _Key | None:
    """Return the key of the list behind a name or an attribute of `self`, or None."""
    if isinstance(expr, Name):
        here: Scope | None = scope
        while here is not None and expr.name not in here.names:
            here = program.outer(here)
        return (here.number, expr.name) if here is not None else None
    if not isinstance(expr, Attribute):
        return None
    method: Scope | None = scope
    while method is not None and program.owner(method) is None:
        method = program.outer(method)
    owner = program.owner(method) if method is not None else None
    if method is None or owner is None or not method.params or not is_name(expr.base, method.params[0].name):
        return None
    return owner.number, f"self.{expr.attribute}"


_Pairing = tuple[list[_Key], Place, int, str]


def _pairings_by_position(program: Program, scope: Scope, lists: dict[_Key, _FileList]) -> Iterator[_Pairing]:
    """Yield the lists that a scope matches by position, with the place and the way."""
    at_index: dict[str, dict[_Key, tuple[Place, int]]] = {}
    for event in scope.events():
        for top in (event.value, *event.targets, *event.extra_nodes()):
            for part in walk(top) if top is not None else ():
                if isinstance(part, Call):
                    given, how = _given_together(program, scope, part)
                    keys = [key for item in given if (key := _list_key(program, scope, item)) in lists]
                    if len(keys) > 1 and len(keys) == len(given):
                        yield keys, part.place, part.block, how
                elif isinstance(part, Subscript) and not isinstance(part.index, Slice):
                    key = _list_key(program, scope, part.base)
                    if key in lists and any(isinstance(item, Name) for item in walk(part.index)):
                        at_index.setdefault(text(part.index), {}).setdefault(key, (part.place, event.block))
    for index, found in at_index.items():
        if len(found) > 1 and "..." not in index:
            place, block = next(iter(found.values()))
            yield list(found), place, block, f"the same index [{index}]"


def _given_together(program: Program, scope: Scope, call: Call) -> tuple[tuple[Expr, ...], str]:
    """Return the arguments that a call matches by position, and its name.

    Empty where it matches none.
    """
    if is_name(call.func, "zip"):
        return call.args, "zip"
    name = program.static_name(call.func, scope) or ""
    if name in _SPLITS:
        return call.args, "train_test_split"
    if call.method == "from_tensor_slices" and call.args and isinstance(call.args[0], Collection):
        return call.args[0].items, "from_tensor_slices"
    return (), ""
