"""Embeddings with fewer rows than there are word numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from cfgfix.code.checks.origins import Origin, origin, origins, site_of
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
    Dictionary,
    Expr,
    Literal,
    Name,
    Place,
    Subscript,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Made, Site, alternatives
from cfgfix.rules.hit import Hit

_EMBEDDING = "keras.layers.Embedding"
_TOKENIZER = "keras.preprocessing.text.Tokenizer"


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
        counted = origin(program, Origin(given, site.scope), names)
        made = _counted_from_one(program, counted, names) if counted is not None else None
        if counted is None or made is None or _is_added_to(names, (site.scope, made[0].scope, counted.scope)):
            continue
        where, what = made
        yield hit_in(
            site.scope,
            place_of(given, site.scope) or site.call.name_place,
            site.call.block,
            {"what": what},
            related=(where,),
        )


def _counted_from_one(program: Program, counted: Origin, names: set[str]) -> tuple[Step, str] | None:
    """Return where the counted words are numbered from 1, with words for it, or None."""
    expr = counted.expr
    if not isinstance(expr, Call) or not is_name(expr.func, "len") or len(expr.args) != 1:
        return None
    words = expr.args[0]
    if isinstance(words, Call) and not words.args and words.method in ("keys", "items", "values"):
        words = words.receiver or words
    found = [item for item in origins(program, counted.at(words), names) if not _is_empty(item.expr)]
    if len(found) != 1:
        return None
    expr = found[0].expr
    if isinstance(expr, Attribute) and expr.attribute in ("word_index", "index_word"):
        names.add(expr.attribute)
        made = _unlimited_tokenizer(program, found[0].at(expr.base))
        if made is None:
            return None
        return at(made, label="it numbers its words from 1"), "Tokenizer numbers its words from 1"
    place = _numbered_from_one(expr)
    if place is None:
        return None
    step = Step(found[0].scope, place, 0, "the words are numbered from 1 here")
    return step, "the words are numbered from 1"


def _is_empty(expr: Expr) -> bool:
    """Tell whether an expression is an empty dictionary, which is filled elsewhere."""
    return isinstance(expr, Dictionary) and not expr.entries


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


def _unlimited_tokenizer(program: Program, start: Origin) -> Site | None:
    """Return the call that makes a Tokenizer without a limit of words, or None."""
    found = origin(program, start)
    site = site_of(program, found) if found is not None else None
    if site is None or site.name != _TOKENIZER:
        return None
    most = site.call.argument(0, "num_words")
    kept = most is None or (isinstance(most, Literal) and most.value is None)
    return site if kept and not site.call.opaque else None


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
