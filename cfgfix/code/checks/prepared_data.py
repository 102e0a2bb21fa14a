"""Data that is scaled before it is split, and parts cut from what is left."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.model.expressions import dotted, is_name, text, walk
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Collection, Expr, Name, Slice, Subscript
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope, bind
from cfgfix.rules.hit import Hit

_SCALERS = re.compile(
    r"sklearn\.(?:preprocessing\.(?:StandardScaler|MinMaxScaler|RobustScaler|MaxAbsScaler|QuantileTransformer|PowerTransformer)"
    r"|decomposition\.(?:PCA|TruncatedSVD|FastICA|NMF))"
)
"""What keeps figures of the values it is fitted on; codes of labels say nothing of the test."""
_PIPELINES = frozenset({"sklearn.pipeline.Pipeline", "sklearn.pipeline.make_pipeline"})
_SPLITS = "train_test_split"
_TRAIN = re.compile(r"(?i)(?:^|_)(?:x_?)?train(?:ing)?(?:_|$|[A-Z0-9])")
_TEST = re.compile(r"(?i)(?:^|_)(?:x_?)?(?:test|testing|val|valid|validation)(?:_|$|[A-Z0-9])")


# Fitted before the split


def scalers_fitted_before_split(program: Program) -> Iterator[Hit]:
    """Find scalers that are fitted on data before it is split."""
    for module in program.all_modules(words=(b"fit_transform(",)):
        for scope in module.summary.scopes:
            if scope.kind == "class":
                continue
            for event in scope.events():
                value = event.value
                if event.kind not in ("assign", "expr") or value is None:
                    continue
                fit = next((part for part in walk(value) if _fits_all(program, scope, part)), None)
                if not isinstance(fit, Call) or written_for_one(program, scope):
                    continue
                cut = _cut_behind(scope, event, fit)
                if cut is None:
                    continue
                yield hit_in(
                    scope,
                    fit.name_place,
                    fit.block,
                    {
                        "name": text(fit.receiver) if fit.receiver is not None else "it",
                        "line": cut.place.line,
                    },
                    related=(Step(scope, cut.place, cut.block, "is cut into training and test data here"),),
                )


def _fits_all(program: Program, scope: Scope, part: Expr) -> bool:
    """Tell whether a call fits a scaler on data not named for training or testing."""
    if not isinstance(part, Call) or part.method not in ("fit_transform", "fit") or not part.args:
        return False
    given = text(part.args[0])
    if "train" in given.lower() or _TEST.search(given):
        return False
    made = part.receiver
    if isinstance(made, Name):
        here: Scope | None = scope
        while here is not None and made.name not in here.names:
            here = program.outer(here)
        bound = here.binding(made.name) if here is not None else []
        if here is None or len(bound) != 1 or bound[0].kind != "assign" or bound[0].value is None:
            return False
        made, scope = bound[0].value, here
    if not isinstance(made, Call):
        return False
    name = program.static_name(made.func, scope) or ""
    if name in _PIPELINES:
        return any(_SCALERS.fullmatch(found) for found in _classes_in(program, scope, made, 2))
    return _SCALERS.fullmatch(name) is not None


def _classes_in(program: Program, scope: Scope, expr: Expr, depth: int) -> Iterator[str]:
    """Yield the names of the classes and functions that an expression calls.

    Calls in lists that it names count as well.
    """
    for part in walk(expr):
        if isinstance(part, Call):
            yield program.static_name(part.func, scope) or ""
        elif isinstance(part, Name) and depth:
            bound = scope.binding(part.name)
            if len(bound) == 1 and bound[0].kind == "assign" and isinstance(bound[0].value, Collection):
                yield from _classes_in(program, scope, bound[0].value, depth - 1)


def _cut_behind(scope: Scope, fitted: Event, fit: Call) -> Event | None:
    """Return the later statement that splits the scaled data, or None."""
    known: dict[str, None] = {}
    for target in fitted.targets:
        bind(target, known)
        head = target
        while isinstance(head, Subscript):
            head = head.base
        if isinstance(head, Name) and head is not target:
            known[head.name] = None
    if fit.method == "fit":
        known = {}
    scaler = fit.receiver
    parts: dict[str, list[Event]] = {}
    for event in scope.events():
        value = event.value
        if value is None or event.place.start <= fitted.place.start or event.kind not in ("assign", "for"):
            continue
        made: dict[str, None] = {}
        for target in event.targets:
            bind(target, made)
        if isinstance(value, Call) and (dotted(value.func) or "").rpartition(".")[2] == _SPLITS:
            if any(_names_any(item, known) for item in value.args):
                return event
            continue
        transforms = any(
            isinstance(part, Call)
            and part.method == "transform"
            and isinstance(scaler, Name)
            and is_name(part.receiver, scaler.name)
            and part.args
            and "train" not in text(part.args[0]).lower()
            and not _TEST.search(text(part.args[0]))
            for part in walk(value)
        )
        if not transforms and not _names_any(value, known):
            continue
        cut = _takes_some_rows(value, known)
        for name in made:
            if cut and _TRAIN.search(name):
                parts.setdefault("train", []).append(event)
            elif cut and _TEST.search(name):
                parts.setdefault("test", []).append(event)
        if "train" in parts and "test" in parts:
            return parts["train"][0]
        if event.kind == "assign" and not cut:
            known.update(made)
    return None


def _names_any(expr: Expr, names: dict[str, None]) -> bool:
    return any(isinstance(part, Name) and part.name in names for part in walk(expr))


def _takes_some_rows(expr: Expr, names: dict[str, None]) -> bool:
    """Tell whether an expression takes the first or the last rows of some arrays."""
    for part in walk(expr):
        if not isinstance(part, Subscript):
            continue
        base = part.base
        while isinstance(base, (Attribute, Subscript)):
            base = base.base
        index = part.index
        first = index.items[0] if isinstance(index, Collection) and index.items else index
        if (
            isinstance(base, Name)
            and base.name in names
            and isinstance(first, Slice)
            and (first.lower is None) != (first.upper is None)
        ):
            return True
    return False


# Cut from what is left


def parts_cut_from_rest(program: Program) -> Iterator[Hit]:
    """Find a second part of data cut from a name that the first cut overwrote."""
    for module in program.modules:
        for scope in module.summary.scopes:
            if scope.kind == "class":
                continue
            events = [event for event in scope.events() if event.kind == "assign"]
            for number, event in enumerate(events):
                found = _cut_of_slice(event)
                if found is None or not is_name(event.targets[0], found[0]):
                    continue
                name, side, limit = found
                second = next(
                    (
                        later
                        for later in events[number + 1 : number + 6]
                        if later.block == event.block and _cut_of_slice(later) == (name, _OTHER[side], limit)
                    ),
                    None,
                )
                if second is None or is_name(second.targets[0], name):
                    continue
                again = [item for item in scope.binding(name) if event.place < item.place < second.place]
                if again or not _names_data(name, second):
                    continue
                overlaps = limit.startswith("-") if side == "head" else not limit.startswith("-")
                yield hit_in(
                    scope,
                    second.place,
                    second.block,
                    {
                        "name": name,
                        "second": text(second.targets[0]),
                        "line": event.place.line,
                        "what": f"is a part of `{name}` itself" if overlaps else "is empty",
                    },
                    related=(Step(scope, event.place, event.block, "holds only the first part since then"),),
                )


_OTHER = {"head": "tail", "tail": "head"}


def _cut_of_slice(event: Event) -> tuple[str, str, str] | None:
    """Return the name, the kept end and the limit of a slice that is assigned.

    Return None for any other assignment.
    """
    value = event.value
    if (
        len(event.targets) != 1
        or not isinstance(event.targets[0], Name)
        or not isinstance(value, Subscript)
        or not isinstance(value.base, Name)
        or not isinstance(value.index, Slice)
        or value.index.step is not None
    ):
        return None
    lower, upper = value.index.lower, value.index.upper
    if lower is None and upper is not None:
        return value.base.name, "head", text(upper)
    if upper is None and lower is not None:
        return value.base.name, "tail", text(lower)
    return None


def _names_data(name: str, second: Event) -> bool:
    """Tell whether the names of two parts are those of training and test data."""
    other = text(second.targets[0])
    return _TEST.search(other) is not None or (
        _TRAIN.search(other) is not None and _TEST.search(name) is not None
    )
