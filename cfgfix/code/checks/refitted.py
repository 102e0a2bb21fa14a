"""Scalers and encoders that are fitted again on test data."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import line_beside
from cfgfix.code.checks.origins import Origin, library_name, origin
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import is_name, text, walk
from cfgfix.code.model.hit import Step, at, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Expr, Name, Subscript
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Site
from cfgfix.rules.hit import Hit

_FITTED = (
    "sklearn.preprocessing.",
    "sklearn.impute.",
    "sklearn.decomposition.",
    "sklearn.feature_extraction.",
)
_HELD_OUT = re.compile(r"(?:^|_|\b)[xX]?_?(?:test|val|valid|validation)(?:$|_|[A-Z0-9]|s\b|\b)")


_FORMS = frozenset({"astype", "copy", "flatten", "ravel", "reshape", "to_numpy", "toarray"})


def fitted_on_held_out_data(program: Program) -> Iterator[Hit]:
    """Find `fit_transform` on test data by an object fitted on training data."""
    for module in program.all_modules(words=(b"fit", b"adapt(")):
        for scope in module.summary.scopes:
            fits = scope.calls_of("fit_transform", "fit")
            names = {call.receiver.name for call in fits if isinstance(call.receiver, Name)}
            for name in sorted(names):
                if _makes_scaler(program, scope, name):
                    yield from _refit_hits(scope, name, fits)
            yield from _fitted_in_each_call(program, scope)


def _makes_scaler(program: Program, scope: Scope, name: str) -> bool:
    """Tell whether a name is bound once, to a scaler or encoder of scikit-learn."""
    here: Scope | None = scope
    while here is not None and name not in here.names:
        here = program.outer(here)
    bound = here.binding(name) if here is not None else []
    if here is None or len(bound) != 1 or bound[0].kind != "assign" or not isinstance(bound[0].value, Call):
        return False
    made = program.static_name(bound[0].value.func, here)
    return made is not None and made.startswith(_FITTED)


def _refit_hits(scope: Scope, name: str, fits: list[Call]) -> Iterator[Hit]:
    ours = [call for call in fits if is_name(call.receiver, name) and call.args]
    trained = next((call for call in ours if _is_training(call.args[0])), None)
    if trained is None:
        return
    for call in ours:
        shown = text(call.args[0])
        if call.method != "fit_transform" or call.place <= trained.place or not _is_held_out(call.args[0]):
            continue
        yield hit_in(
            scope,
            call.name_place,
            call.block,
            {"name": name, "data": shown, "line": trained.line},
            needs=((scope, trained.block),),
            related=(Step(scope, trained.name_place, trained.block, "fitted on the training data"),),
        )


_LEARNS = {"fit_transform": 0, "fit": 0, "adapt": 0, "fit_on_texts": 0}
_LEARNERS = (
    *_FITTED,
    "keras.layers.TextVectorization",
    "keras.layers.Normalization",
    "keras.layers.StringLookup",
    "keras.layers.IntegerLookup",
    "keras.layers.Discretization",
    "keras.preprocessing.text.Tokenizer",
)


def _fitted_in_each_call(program: Program, scope: Scope) -> Iterator[Hit]:
    """Find functions that make and fit a scaler anew for training and for test data."""
    for call in scope.calls_of(*_LEARNS) if scope.kind == "function" else ():
        data = call.args[0] if call.args else None
        learner = call.receiver
        if data is None or learner is None or call.block != 0 or scope.loops(call.block):
            continue
        made = origin(program, Origin(learner, scope))
        if made is None or made.scope.kind == "module" or not isinstance(made.expr, Call):
            continue
        name = library_name(program, made)
        parameter = _parameter_behind(scope, data)
        if not name.startswith(_LEARNERS) or parameter is None or _is_handed_in(scope, learner):
            continue
        fitted: list[tuple[Site, Expr]] = []
        for site in flow_of(program).callers(scope):
            offset = int(any(target.receiver is not None for target in site.targets))
            given = site.call.argument(parameter - offset, scope.params[parameter].name)
            if given is not None and all(site.call is not other.call for other, _ in fitted):
                fitted.append((site, given))
        trained = next((item for item in fitted if _is_training(item[1])), None)
        if trained is None:
            continue
        for site, given in fitted:
            if _is_held_out(given) and site.scope is trained[0].scope:
                yield hit_in(
                    scope,
                    call.name_place,
                    call.block,
                    {
                        "name": f"the {name.rpartition('.')[2]} that {scope.name} makes",
                        "data": text(given),
                        "line": line_beside(scope, trained[0].scope, trained[0].call.name_line),
                    },
                    needs=((site.scope, site.call.block),),
                    related=(
                        at(trained[0], label="fitted on the training data"),
                        at(site, label="and another one on this"),
                    ),
                )
                break


def _parameter_behind(scope: Scope, data: Expr) -> int | None:
    """Return the number of the parameter that some data is, or None."""
    for _ in range(6):
        if isinstance(data, Name):
            number = next((n for n, item in enumerate(scope.params) if item.name == data.name), None)
            bound = scope.binding(data.name)
            if number is not None and all(
                event.value is not None and data.name in _names_in(event.value) for event in bound
            ):
                return number
            if len(bound) != 1 or bound[0].value is None:
                return None
            data = bound[0].value
        elif isinstance(data, Subscript):
            data = data.base
        elif isinstance(data, Call):
            inner = data.receiver if data.method in _FORMS else None
            if inner is None and len(data.args) != 1:
                return None
            data = inner if inner is not None else data.args[0]
        elif isinstance(data, Attribute) and data.attribute == "values":
            data = data.base
        else:
            return None
    return None


def _names_in(expr: Expr) -> set[str]:
    return {part.name for part in walk(expr) if isinstance(part, Name)}


def _is_handed_in(scope: Scope, learner: Expr) -> bool:
    """Tell whether a function is handed what it fits, or keeps it in its object."""
    return not isinstance(learner, (Name, Call)) or (
        isinstance(learner, Name) and any(item.name == learner.name for item in scope.params)
    )


def _is_training(expr: Expr) -> bool:
    return "train" in _data_name(expr).lower()


def _is_held_out(expr: Expr) -> bool:
    shown = _data_name(expr)
    return _HELD_OUT.search(shown) is not None and "train" not in shown.lower()


def _data_name(expr: Expr) -> str:
    """Return the name of the data that an expression slices or converts.

    Empty where there is no name.
    """
    if isinstance(expr, Subscript):
        return _data_name(expr.base)
    if isinstance(expr, Call):
        inner = expr.receiver if expr.method in _FORMS else expr.args[0] if len(expr.args) == 1 else None
        return _data_name(inner) if inner is not None else ""
    if isinstance(expr, Attribute):
        return _data_name(expr.base) if expr.attribute in ("values", "T") else expr.attribute
    return expr.name if isinstance(expr, Name) else ""
