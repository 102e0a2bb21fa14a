"""Embeddings with fewer rows than there are word numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, dotted, is_name, place_of
from cfgfix.code.model.hit import Step, at, hit_in
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
    Call,
    Collection,
    Comprehension,
    Expr,
    Literal,
    Name,
    Place,
    Subscript,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Made, Site, alternatives
from cfgfix.rules.hit import Hit

_EMBEDDING = "keras.layers.Embedding"
_TOKENIZER = "keras.preprocessing.text.Tokenizer"
_DEPTH = 12
_Found = tuple[Scope, Expr]


def too_small(program: Program) -> Iterator[Hit]:
    """Find embeddings without a row for the largest word number."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named(_EMBEDDING):
        key = id(site.scope), site.call.number
        given = site.call.argument(0, "input_dim")
        if given is None or key in seen or site.call.opaque or written_for_one(program, site.scope):
            continue
        seen.add(key)
        names: set[str] = set()
        counted = _only_source(program, site.scope, given, names)
        made = _counted_from_one(program, counted, names) if counted is not None else None
        if made is None or _is_added_to(
            names, (site.scope, made[0].scope, *(counted[:1] if counted else ()))
        ):
            continue
        where, what = made
        yield hit_in(
            site.scope,
            place_of(given, site.scope) or site.call.name_place,
            site.call.block,
            {"what": what},
            related=(where,),
        )


def _only_source(program: Program, scope: Scope, expr: Expr, names: set[str]) -> _Found | None:
    """Return the only expression that a value comes from, with its scope, or None.

    Names, attributes, parameters and results are followed, and their names added to `names`.
    """
    for _ in range(_DEPTH):
        if isinstance(expr, (Name, Attribute)):
            names.add(expr.name if isinstance(expr, Name) else expr.attribute)
        if isinstance(expr, Name):
            found = _found_by_name(program, scope, expr.name)
        elif isinstance(expr, Attribute) and is_name(expr.base, "self"):
            found = _found_by_attribute(program, scope, expr.attribute)
        elif isinstance(expr, Call):
            found = _of_result(program, scope, expr)
            if found is None:
                return scope, expr
        else:
            return scope, expr
        if found is None:
            return None
        scope, expr = found
    return None


def _found_by_name(program: Program, scope: Scope, name: str) -> _Found | None:
    here: Scope | None = scope
    while here is not None:
        number = next((at for at, item in enumerate(here.params) if item.name == name), None)
        bound = here.binding(name)
        if number is not None:
            return _found_at_callers(program, here, name, number) if not bound else None
        if bound:
            event = bound[0]
            if len(bound) != 1 or event.kind not in ("assign", "annotate") or event.value is None:
                return None
            if any(is_name(target, name) for target in event.targets):
                return here, event.value
            return _found_in_result(program, here, event, name)
        here = program.outer(here)
    return None


def _found_in_result(program: Program, scope: Scope, event: Event, name: str) -> _Found | None:
    """Return the expression a name gets when a result is unpacked, or None."""
    target, call = event.targets[0], event.value
    if len(event.targets) != 1 or not isinstance(target, Collection) or not isinstance(call, Call):
        return None
    number = next((at for at, item in enumerate(target.items) if is_name(item, name)), None)
    found = _of_result(program, scope, call)
    if number is None or found is None or not isinstance(found[1], Collection):
        return None
    items = found[1].items
    return (found[0], items[number]) if number < len(items) == len(target.items) else None


def _found_at_callers(program: Program, scope: Scope, name: str, number: int) -> _Found | None:
    """Return the argument that a function's only call gives for a parameter, or None."""
    callers = {(id(site.scope), site.call.number): site for site in flow_of(program).callers(scope)}
    if len(callers) != 1:
        return None
    (site,) = callers.values()
    offset = int(any(target.receiver is not None for target in site.targets))
    given = site.call.argument(number - offset, name)
    return (site.scope, given) if given is not None and not site.call.opaque and not site.open else None


def _found_by_attribute(program: Program, scope: Scope, name: str) -> _Found | None:
    owner = program.owner(scope)
    stores = [
        (where, event)
        for where, event, target in scope.module.stores()
        if target.attribute == name and is_name(target.base, "self") and program.owner(where) is owner
    ]
    if owner is None or len(stores) != 1 or stores[0][1].value is None:
        return None
    return stores[0][0], stores[0][1].value


def _of_result(program: Program, scope: Scope, call: Call) -> _Found | None:
    """Return the only expression that a called function returns, or None."""
    site = next((item for item in flow_of(program).within(scope) if item.call is call), None)
    if site is None or len(site.targets) != 1 or site.open:
        return None
    inner = site.targets[0].scope
    returned = inner.events_of("return")
    if (
        inner.kind != "function"
        or len(returned) != 1
        or returned[0].value is None
        or inner.name == "__init__"
    ):
        return None
    return inner, returned[0].value


def _counted_from_one(program: Program, counted: _Found, names: set[str]) -> tuple[Step, str] | None:
    """Return where the counted words are numbered from 1, with words for it, or None."""
    scope, expr = counted
    if not isinstance(expr, Call) or not is_name(expr.func, "len") or len(expr.args) != 1:
        return None
    words = expr.args[0]
    if isinstance(words, Call) and not words.args and words.method in ("keys", "items", "values"):
        words = words.receiver or words
    found = _only_source(program, scope, words, names)
    if found is None:
        return None
    scope, expr = found
    if isinstance(expr, Attribute) and expr.attribute in ("word_index", "index_word"):
        names.add(expr.attribute)
        made = _unlimited_tokenizer(program, scope, expr.base)
        if made is None:
            return None
        return at(made, label="it numbers its words from 1"), "Tokenizer numbers its words from 1"
    place = _numbered_from_one(expr)
    if place is None:
        return None
    return Step(scope, place, 0, "the words are numbered from 1 here"), "the words are numbered from 1"


def _is_added_to(names: set[str], scopes: tuple[Scope, ...]) -> bool:
    """Tell whether files change a vocabulary, as `index["<pad>"] = 0` does."""
    for module in {id(scope.module): scope.module for scope in scopes}.values():
        for scope in module.summary.scopes:
            for event in scope.events_of("assign", "delete"):
                for target in event.targets:
                    if isinstance(target, Subscript) and _last_name(target.base) in names:
                        return True
            for call in scope.calls_of("update", "setdefault", "pop", "popitem", "clear"):
                if call.receiver is not None and _last_name(call.receiver) in names:
                    return True
    return False


def _last_name(expr: Expr) -> str:
    return (dotted(expr) or "").rpartition(".")[2]


def _unlimited_tokenizer(program: Program, scope: Scope, expr: Expr) -> Site | None:
    """Return the call that makes a Tokenizer without a limit of words, or None."""
    found = _only_source(program, scope, expr, set())
    if found is None or not isinstance(found[1], Call):
        return None
    for site in flow_of(program).within(found[0]):
        if site.call is found[1] and site.name == _TOKENIZER:
            most = site.call.argument(0, "num_words")
            kept = most is None or (isinstance(most, Literal) and most.value is None)
            return site if kept and not site.call.opaque else None
    return None


def _numbered_from_one(expr: Expr) -> Place | None:
    """Return where a dict comprehension numbers its entries from 1, or None."""
    if not isinstance(expr, Comprehension) or expr.kind != "dict" or len(expr.generators) != 1:
        return None
    target, over, tests = expr.generators[0]
    if tests or not isinstance(target, Collection) or not isinstance(over, Call) or not target.items:
        return None
    number, value = target.items[0], expr.parts[-1]
    if not is_name(over.func, "enumerate") or not isinstance(number, Name):
        return None
    start = over.argument(1, "start")
    first = 0 if start is None else constant(start)
    if is_name(value, number.name):
        return over.place if type(first) is int and first == 1 else None
    if isinstance(value, Binary) and value.operator == "+" and type(first) is int:
        parts = (value.left, value.right)
        more = [constant(part) for part in parts if isinstance(part, Literal)]
        if any(is_name(part, number.name) for part in parts) and len(more) == 1 and type(more[0]) is int:
            return over.place if first + more[0] == 1 else None
    return None


def lookup_too_small(program: Program) -> Iterator[Hit]:
    """Find embeddings with too few rows for the lookup layer before them."""
    for model in flow_of(program).named("keras.Sequential"):
        layers = model.call.argument(0, "layers")
        if not isinstance(layers, Collection):
            continue
        values = [alternatives(item) for item in getattr(model.argument(0, "layers"), "items", ())]
        for before, after in pairwise(values):
            lookup, embedding = (_layer_call(found) for found in (before, after))
            if lookup is None or embedding is None or embedding.name != _EMBEDDING:
                continue
            if lookup.name not in _LOOKUPS or lookup.call.opaque or embedding.call.opaque:
                continue
            words, rows = lookup.call.keyword("vocabulary"), embedding.call.argument(0, "input_dim")
            if not isinstance(words, Name) or not isinstance(rows, Call) or not is_name(rows.func, "len"):
                continue
            if any(name not in ("vocabulary", "mask_token", "name") for name, _ in lookup.call.keywords):
                continue
            if len(rows.args) == 1 and is_name(rows.args[0], words.name) and not lookup.call.args:
                yield hit_in(
                    embedding.scope,
                    rows.place,
                    embedding.call.block,
                    {
                        "what": f"{lookup.name.rpartition('.')[2]} has a number more, for words that it does not know"
                    },
                    related=(at(lookup, label="the numbers come from here"),),
                )


_LOOKUPS = frozenset({"keras.layers.StringLookup", "keras.layers.IntegerLookup"})


def _layer_call(found: tuple[object, ...]) -> Site | None:
    return found[0].site if len(found) == 1 and isinstance(found[0], Made) else None


def check(program: Program) -> Iterable[Hit]:
    """Find embeddings too small for their word numbers or their lookup layer."""
    yield from too_small(program)
    yield from lookup_too_small(program)
