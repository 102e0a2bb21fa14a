"""Attention that sees the very tokens that its model learns to predict."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import children, constant, is_none, text
from cfgfix.code.model.hit import Step, hit_at
from cfgfix.code.model.nodes import Binary, Collection, Compare, Expr, Literal, Slice, Subscript
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit

_ATTENTION = "keras.layers.MultiHeadAttention.__call__"
_MASKS = re.compile(
    r"(?i)causal|look_?ahead|band_part|\btri[lu]\b|subsequent|attention_mask|attn_mask|autoregressive_mask"
)


def sees_ahead(program: Program) -> Iterator[Hit]:
    """Find attention without a causal mask in models that predict the next token."""
    sites = [site for site in flow_of(program).named(_ATTENTION) if not site.call.opaque]
    if not sites or any(_says_mask(site) for site in sites):
        return
    shifted = next(_shifted_sequences(program), None)
    if shifted is None:
        return
    crossing = {id(site.scope) for site in sites if not _is_self(site)}
    seen: set[tuple[int, int]] = set()
    for site in sites:
        key = id(site.scope), site.call.number
        if key in seen or not _is_self(site) or written_for_one(program, site.scope):
            continue
        seen.add(key)
        if not crossing or id(site.scope) in crossing:
            yield hit_at(
                site,
                flow=(),
                values={
                    "layer": text(site.call.func),
                    "base": text(shifted[0].base),
                    "line": shifted[2].line,
                },
                related=(
                    Step(
                        shifted[1],
                        shifted[2].place,
                        shifted[2].block,
                        "the labels are the input, a step further",
                    ),
                ),
            )


def _says_mask(site: Site) -> bool:
    """Tell whether an attention's call or file mentions a mask."""
    given = [site.call.argument(3, "attention_mask"), site.call.keyword("use_causal_mask")]
    return any(
        item is not None and not is_none(item) and constant(item) is not False for item in given
    ) or any(
        _MASKS.search(line.partition("#")[0].replace("use_causal_mask=False", ""))
        for line in site.scope.module.source_lines()
    )


def _is_self(site: Site) -> bool:
    query, value = site.call.argument(0, "query"), site.call.argument(1, "value")
    key = site.call.argument(2, "key")
    return (
        query is not None
        and value is not None
        and text(query) == text(value)
        and (key is None or is_none(key) or text(key) == text(value))
    )


def _shifted_sequences(program: Program) -> Iterator[tuple[Subscript, Scope, Event]]:
    """Yield where a sequence is used both without its first and its last step."""
    for module in program.modules:
        for scope in module.summary.scopes:
            firsts: dict[str, Event] = {}
            lasts: dict[str, Event] = {}
            for event in scope.events_of("assign", "return", "expr", "yield"):
                for part in _not_calculated(event.value):
                    cut = _slice_cut(part)
                    if cut is None:
                        continue
                    side, flat = cut
                    if flat and not _is_pair_of_one(scope, event):
                        continue
                    name = text(part.base)
                    (firsts if side == "first" else lasts)[name] = event
                    if name in firsts and name in lasts:
                        yield part, scope, event


def _not_calculated(expr: Expr | None) -> Iterator[Subscript]:
    """Yield the subscripts of an expression that are no operands of an operator."""
    pending = [expr] if expr is not None else []
    while pending:
        here = pending.pop()
        if isinstance(here, (Binary, Compare)):
            continue
        if isinstance(here, Subscript):
            yield here
        pending += children(here)


def _slice_cut(expr: Subscript) -> tuple[str, bool] | None:
    """Return the end that a slice cuts by one, and whether it cuts the first axis.

    None for any other subscript.
    """
    index = expr.index
    flat = isinstance(index, Slice)
    if isinstance(index, Collection):
        if not 2 <= len(index.items) <= 3 or not _is_all(index.items[0]):
            return None
        if len(index.items) == 3 and not _is_all(index.items[2]):
            return None
        index = index.items[1]
    if not isinstance(index, Slice) or index.step is not None:
        return None
    if index.upper is None and constant(index.lower) == 1:
        return "first", flat
    if _is_start(index.lower) and constant(index.upper) == -1:
        return "last", flat
    return None


def _is_start(expr: Expr | None) -> bool:
    return expr is None or (isinstance(expr, Literal) and expr.value == 0)


def _is_all(expr: Expr) -> bool:
    return (isinstance(expr, Slice) and expr.lower is None and expr.upper is None) or (
        isinstance(expr, Literal) and constant(expr) is ...
    )


def _is_pair_of_one(scope: Scope, event: Event) -> bool:
    """Tell whether a function returns a pair made from its only argument."""
    if scope.kind == "lambda":
        return len(scope.params) == 1
    returned = scope.events_of("return")
    return (
        scope.kind == "function"
        and len([item for item in scope.params if item.name != "self"]) == 1
        and len(returned) == 1
        and isinstance(returned[0].value, Collection)
        and len(returned[0].value.items) == 2
        and event.kind in ("return", "assign")
    )
