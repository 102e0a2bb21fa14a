"""Estimators of TensorFlow: they call the functions that they are given with the settings that they are given."""

from __future__ import annotations

from cfgfix.code.inference.interpreter.models.outside import library_call
from cfgfix.code.inference.interpreter.objects import (
    UNKNOWN,
    FunctionObject,
    Made,
    Mapping,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call
from cfgfix.code.inference.interpreter.values import copied

_MODEL_PLACE, _PARAMS_PLACE = 0, 3
_ON_TPU = "TPUEstimator"
_FED = frozenset({"train", "evaluate", "predict", "train_and_evaluate"})
"""Methods that call a function for the data."""
_GIVEN = ("features", "labels", "mode", "params", "config")
"""What an estimator gives the function of the model, by name."""


def is_estimator(name: str) -> bool:
    """Tell whether a canonical name is that of an estimator's class."""
    head, _, last = name.rpartition(".")
    return last in ("Estimator", _ON_TPU) and head.startswith("tensorflow.")


def make_estimator(call: Call) -> Value:
    """Return an estimator, after calling its `model_fn` with its settings."""
    function = call.argument(_MODEL_PLACE, "model_fn")
    params = _params_of(call)
    if function is None or params is None:
        return library_call(call, call.name)
    followed = _call_if_own(call, function, {**dict.fromkeys(_GIVEN, UNKNOWN), "params": params})
    # Nothing reads the settings but the functions that get them.
    rest = {name: value for name, value in call.keywords.items() if name != "params" or not followed}
    made = library_call(call.handing(call.callee, call.args[:_PARAMS_PLACE], rest), call.name)
    if isinstance(made, Made):
        made.attributes["params"] = params
    return made


def _params_of(call: Call) -> Mapping | None:
    """Return a copy of an estimator's `params`, with those that a TPU estimator adds.

    None where they are not known as a mapping.
    """
    place = _PARAMS_PLACE if not call.name.endswith(_ON_TPU) else len(call.args)
    given = call.argument(place, "params")
    if not isinstance(given, Mapping):
        return None
    params = copied(given, 12)
    if call.name.endswith(_ON_TPU):
        for name in ("batch_size", "use_tpu", "context"):
            params.entries.setdefault(name, UNKNOWN)
    return params


def run_estimator(call: Call, owner: Made) -> Value | None:
    """Call the `input_fn` given to an estimator's method, and return the result.

    None for methods that take no `input_fn`.
    """
    if call.name not in _FED:
        return None
    function = call.argument(0, "input_fn")
    params = owner.attributes.get("params")
    given = {"mode": UNKNOWN, "config": UNKNOWN, "params": params or Mapping(open=True)}
    if function is not None and not _call_if_own(call, function, given):
        call.use(given["params"], deep=True)
    return library_call(call, f"{owner.name}.{call.name}")


def _call_if_own(call: Call, function: Value, given: dict[str, Value]) -> bool:
    """Call a value if it is a function of the project, and tell whether it is.

    The function gets those of the given arguments that it has parameters for.
    """
    is_partial = isinstance(function, Made) and function.name == "functools.partial" and bool(function.args)
    inner = function.args[0] if isinstance(function, Made) and is_partial else function
    if not isinstance(inner, FunctionObject):
        return False
    names = {name for name, _, _, kind in inner.scope.params if kind in ("plain", "keyword")}
    bound = {*inner.keywords, *(function.keywords if isinstance(function, Made) else ())}
    keywords = {name: value for name, value in given.items() if name in names - bound}
    call.then(function, (), keywords, opaque=True)
    return True
