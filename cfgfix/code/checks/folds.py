"""Cross validations that train one and the same model on all folds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.models import keras_model_method
from cfgfix.code.checks.origins import Origin, library_name, origin
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.expressions import dotted, text, walk
from cfgfix.code.model.hit import Step, hit_at
from cfgfix.code.model.nodes import Call, Expr, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit

_SPLITS = re.compile(r"sklearn\.model_selection\.(?:(?:Repeated)?(?:Stratified)?(?:Group)?(?:KFold|ShuffleSplit)|LeaveOneOut|LeaveOneGroupOut)")  # fmt: skip
_FOLDS = re.compile(r"(?i)(?:^|_)k?_?folds?(?:$|_)|crossval|cross_val")
_WRAPS = frozenset({"enumerate", "tqdm", "list", "zip"})
_ASKS = frozenset({"fit", "evaluate", "predict", "summary", "save", "save_weights", "compile", "get_layer", "count_params"})  # fmt: skip
"""Methods that leave a model its weights, or train it."""
_SHOWS = frozenset({"print", "len", "plot_model", "isinstance", "id", "str"})


def one_model_for_all(program: Program) -> Iterator[Hit]:
    """Find models made before a loop over folds and trained and judged in it."""
    told: set[tuple[int, int]] = set()
    for site in flow_of(program).sites:
        if keras_model_method(site.name) != "fit" or written_for_one(program, site.scope):
            continue
        model = site.call.receiver
        loop = _loop_of_folds(program, site)
        key = id(site.scope), site.call.number
        if loop is None or model is None or key in told:
            continue
        event, number = loop
        if not isinstance(model, Name) or not _is_judged(site.scope, model, number):
            continue
        if _made_anew(site.scope, model, number):
            continue
        made = site.scope.bound_before(model.name, event.place)
        if made is None or made.value is None:
            continue
        told.add(key)
        yield hit_at(
            site,
            flow=(),
            values={"model": model.name, "line": event.line, "made": made.line},
            related=(
                Step(site.scope, made.place, made.block, "made once, before the loop"),
                Step(site.scope, event.place, event.block, "the folds"),
            ),
        )


def _loop_of_folds(program: Program, site: Site) -> tuple[Event, int] | None:
    """Return the loop over folds around a call, with its body, or None."""
    for event in site.scope.events_of("for"):
        for number, _ in event.bodies:
            if inside(site.scope, site.call.block, number) and _goes_over_folds(program, site.scope, event):
                return event, number
    return None


def _goes_over_folds(program: Program, scope: Scope, event: Event) -> bool:
    over: Expr | None = event.value
    while isinstance(over, Call) and (dotted(over.func) or "").rpartition(".")[2] in _WRAPS and over.args:
        over = over.args[0]
    if not isinstance(over, Call):
        return False
    if over.method == "split" and over.receiver is not None:
        made = origin(program, Origin(over.receiver, scope))
        return made is not None and _SPLITS.fullmatch(library_name(program, made)) is not None
    last = (dotted(over.func) or "").rpartition(".")[2]
    named = [text(item) for item in (*event.targets, *over.args)] if last == "range" else [last]
    return any(_FOLDS.search(part) for item in named for part in re.findall(r"\w+", item))


def _is_judged(scope: Scope, model: Name, loop: int) -> bool:
    """Tell whether a loop asks a model how good it is."""
    return any(inside(scope, call.block, loop) for call in scope.calls_on(model.name, "evaluate", "predict"))


def _made_anew(scope: Scope, model: Name, loop: int) -> bool:
    """Tell whether a loop may give a model other weights, or another model its name."""
    if any(inside(scope, event.block, loop) for event in scope.binding(model.name)):
        return True
    for call in scope.calls:
        if not inside(scope, call.block, loop):
            continue
        if call.receiver is not None and isinstance(call.receiver, Name) and call.receiver.name == model.name:
            if call.method not in _ASKS:
                return True
            continue
        last = (dotted(call.func) or "").rpartition(".")[2]
        if last in _SHOWS:
            continue
        given = (*call.args, *(value for _, value in call.keywords))
        if any(isinstance(part, Name) and part.name == model.name and not _is_asked(item, part) for item in given for part in walk(item)):  # fmt: skip
            return True
    return any(
        isinstance(part, Name) and part.name == model.name
        for event in scope.events_of("for")
        if inside(scope, event.block, loop) and event.value is not None
        for part in walk(event.value)
    )


def _is_asked(expr: Expr, model: Name) -> bool:
    """Tell whether an expression has a model only as the object of its methods."""
    return any(
        isinstance(part, Call) and part.receiver is model and part.method in _ASKS for part in walk(expr)
    )
