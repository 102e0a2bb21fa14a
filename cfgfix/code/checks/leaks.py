"""Rows on both sides of a split because some were repeated before the split."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import only_value
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import constant, dotted, is_true, text, walk
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Collection, Expr, Name, Slice, Subscript
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope, bind
from cfgfix.rules.hit import Hit

_OVER = re.compile(r"SMOTE|ADASYN|OverSampler")
_KEEPS = frozenset(
    [
        "fit_transform",
        "transform",
        "astype",
        "to_numpy",
        "reshape",
        "array",
        "asarray",
        "DataFrame",
        "Series",
        "concat",
        "concatenate",
        "vstack",
        "hstack",
        "append",
        "r_",
        "sample",
        "shuffle",
        "permutation",
        "reset_index",
        "drop",
        "pop",
        "to_categorical",
        "copy",
        "squeeze",
        "ravel",
        "flatten",
        "expand_dims",
        "values",
        "list",
        "tolist",
        "stack",
        "get_dummies",
    ]
)
"""Calls that hand rows on as they are, in whatever order or form."""
_FOLDS = re.compile(r"(?:KFold|ShuffleSplit)$")
_TRAIN = re.compile(r"[Tt]rain|_tr$")
_HELD = re.compile(r"[Tt]est|[Vv]al|[Hh]eld|[Ee]val|_te$|_va$|_dev$")
_DEPTH = 3
_MOST_EVENTS = 3000

_Taint = dict[str, Call]


def repeated_before_split(program: Program) -> Iterator[Hit]:
    """Find data whose rows are repeated or synthesized before a split."""
    seen: set[tuple[int, int]] = set()
    for module in program.modules:
        for scope in module.summary.scopes:
            if scope.kind not in ("module", "function"):
                continue
            for source, split, how in _splits_of_repeated_rows(program, scope):
                key = id(scope), source.number
                if key in seen:
                    continue
                seen.add(key)
                yield hit_in(
                    scope,
                    source.name_place,
                    source.block,
                    {"call": text(source.func), "how": how, "line": split.line},
                    related=(Step(scope, split.name_place, split.block, "rows are held out here"),),
                )


def _splits_of_repeated_rows(program: Program, scope: Scope) -> Iterator[tuple[Call, Call, str]]:
    """Yield a call that repeats rows, a later call that splits them, and words for it."""
    if not any(_repeats_rows(program, scope, call, _DEPTH) for call in scope.calls):
        return
    repeated: _Taint = {}
    for event in scope.events()[:_MOST_EVENTS]:
        if event.kind not in ("assign", "annotate", "expr", "for", "return") or event.value is None:
            continue
        for part in walk(event.value):
            if isinstance(part, Call):
                split = _holds_out(scope, part, event)
                source = _call_that_repeated(part, repeated) if split is not None else None
                if split is not None and source is not None:
                    yield source, part, split
        names: dict[str, None] = {}
        for target in event.targets:
            bind(target, names)
        found = (
            _source_in(program, scope, event.value, repeated, _DEPTH)
            if event.kind in ("assign", "annotate")
            else None
        )
        for name in names:
            if found is not None:
                repeated[name] = found
            else:
                repeated.pop(name, None)


def _holds_out(scope: Scope, call: Call, event: Event) -> str | None:
    """Return in words how a call splits rows off, or None."""
    last = (dotted(call.func) or "").rpartition(".")[2]
    if last == "train_test_split":
        return "train_test_split then puts some of them on either side"
    if call.method == "split" and call.receiver is not None:
        made = only_value(scope, call.receiver)
        if isinstance(made, Call) and _FOLDS.search((dotted(made.func) or "").rpartition(".")[2]):
            return "the folds then have some of them on either side"
    if call.method == "fit" and call.keyword("validation_split") is not None:
        share = constant(call.keyword("validation_split"))
        return None if share in (0, 0.0, None) else "validation_split then holds out the last of them"
    if event.value is call and event.kind == "assign":
        names: dict[str, None] = {}
        for target in event.targets:
            bind(target, names)
        if any(_TRAIN.search(name) for name in names) and any(_HELD.search(name) for name in names):
            return f"{last} then puts some of them on either side"
    return None


def _call_that_repeated(call: Call, repeated: _Taint) -> Call | None:
    """Return the call that repeated rows in an argument of a call, or None."""
    for item in (*call.args, *(value for _, value in call.keywords)):
        found = _handed_on(item, repeated)
        if found is not None:
            return found
    return None


def _handed_on(expr: Expr, repeated: _Taint, depth: int = 6) -> Call | None:
    """Return the call that repeated the rows of an expression, or None."""
    if depth == 0:
        return None
    if isinstance(expr, Name):
        return repeated.get(expr.name)
    if isinstance(expr, Attribute):
        return (
            _handed_on(expr.base, repeated, depth - 1)
            if expr.attribute in ("values", "T", "loc", "iloc")
            else None
        )
    if isinstance(expr, Subscript):
        if isinstance(expr.index, Slice):
            return None
        return _handed_on(expr.base, repeated, depth - 1) or _handed_on(expr.index, repeated, depth - 1)
    if isinstance(expr, Collection):
        return next(
            (found for item in expr.items if (found := _handed_on(item, repeated, depth - 1)) is not None),
            None,
        )
    if isinstance(expr, Call) and (dotted(expr.func) or expr.method or "").rpartition(".")[2] in _KEEPS:
        if expr.receiver is not None:
            found = _handed_on(expr.receiver, repeated, depth - 1)
            if found is not None:
                return found
        return next(
            (found for item in expr.args if (found := _handed_on(item, repeated, depth - 1)) is not None),
            None,
        )
    return None


def _source_in(program: Program, scope: Scope, expr: Expr, repeated: _Taint, depth: int) -> Call | None:
    """Return the call that repeats an expression's rows, in or before it, or None."""
    handed = _handed_on(expr, repeated)
    if handed is not None:
        return handed
    for part in walk(expr):
        if (
            isinstance(part, Call)
            and _repeats_rows(program, scope, part, depth)
            and _still_has_rows(expr, part)
        ):
            return part
    return None


def _still_has_rows(expr: Expr, call: Call, depth: int = 6) -> bool:
    """Tell whether an expression keeps the rows of a call in it."""
    if expr is call:
        return True
    if depth == 0:
        return False
    if isinstance(expr, Call) and (dotted(expr.func) or expr.method or "").rpartition(".")[2] in _KEEPS:
        return any(
            _still_has_rows(item, call, depth - 1)
            for item in (*expr.args, *((expr.receiver,) if expr.receiver is not None else ()))
        )
    if isinstance(expr, Collection):
        return any(_still_has_rows(item, call, depth - 1) for item in expr.items)
    if isinstance(expr, Subscript):
        return _still_has_rows(expr.base, call, depth - 1) or _still_has_rows(expr.index, call, depth - 1)
    return isinstance(expr, Attribute) and _still_has_rows(expr.base, call, depth - 1)


def _repeats_rows(program: Program, scope: Scope, call: Call, depth: int) -> bool:
    """Tell whether a call returns rows repeated or combined from several."""
    last = (dotted(call.func) or "").rpartition(".")[2] or (call.method or "")
    if last in ("fit_resample", "fit_sample") and call.receiver is not None:
        made = only_value(scope, call.receiver)
        return made is not None and _OVER.search(text(made)) is not None
    if last == "resample":
        name = program.static_name(call.func, scope) or ""
        return (
            name.startswith("sklearn.utils")
            and call.keyword("n_samples") is not None
            and constant(call.keyword("replace")) is not False
        )
    if last in ("choice", "sample"):
        return is_true(call.keyword("replace"))
    if last == "repeat":
        return program.static_name(call.func, scope) == "numpy.repeat" and constant(call.keyword("axis")) == 0
    if depth <= 0 or isinstance(call.func, Call):
        return False
    return any(
        target.scope.kind == "function" and _gives_repeated(program, target.scope, depth - 1)
        for site in flow_of(program).of_calls(scope, (call.number,))
        for target in site.targets
    )


@once
def _gives_repeated(program: Program, scope: Scope, depth: int) -> bool:
    """Tell whether a function returns repeated rows without holding any out."""
    if not any(_repeats_rows(program, scope, call, depth) for call in scope.calls):
        return False
    if any((dotted(call.func) or "").rpartition(".")[2] == "train_test_split" for call in scope.calls):
        return False
    repeated: _Taint = {}
    for event in scope.events()[:_MOST_EVENTS]:
        if event.value is None:
            continue
        if event.kind == "return" and _source_in(program, scope, event.value, repeated, depth) is not None:
            return True
        if event.kind in ("assign", "annotate"):
            names: dict[str, None] = {}
            for target in event.targets:
                bind(target, names)
            found = _source_in(program, scope, event.value, repeated, depth)
            for name in names:
                if found is not None:
                    repeated[name] = found
                else:
                    repeated.pop(name, None)
    return False
