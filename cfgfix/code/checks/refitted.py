"""Scalers and encoders that are fitted again on test data."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.model.expressions import is_name, text
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import Attribute, Call, Expr, Name, Subscript
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
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
    for module in program.modules:
        for scope in module.summary.scopes:
            fits = scope.calls_of("fit_transform", "fit")
            names = {call.receiver.name for call in fits if isinstance(call.receiver, Name)}
            for name in sorted(names):
                if _makes_scaler(program, scope, name):
                    yield from _refit_hits(scope, name, fits)


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
