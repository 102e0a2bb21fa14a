"""Metrics that do not fit the loss or last layer of their model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from cfgfix.code.checks.models import keras_model_method
from cfgfix.code.checks.outputs import output_of
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.canonical_names import canonical_name
from cfgfix.code.model.expressions import constant, place_of
from cfgfix.code.model.hit import Step, at, hit_at, hit_in
from cfgfix.code.model.nodes import Call, Collection, Expr
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Constant, External, Instance, Items, Made, Site, Value, alternatives
from cfgfix.rules.hit import Hit

_Compiled: TypeAlias = "tuple[Scope, Call, str, list[tuple[str, Site | None]]]"

_LOSS_OF_ROWS = frozenset(
    {
        "CategoricalCrossentropy",
        "categorical_crossentropy",
        "CategoricalFocalCrossentropy",
        "categorical_focal_crossentropy",
    }
)
_LOSS_OF_NUMBERS = frozenset({"SparseCategoricalCrossentropy", "sparse_categorical_crossentropy"})
_OF_NUMBERS = frozenset(
    {
        "SparseCategoricalAccuracy",
        "sparse_categorical_accuracy",
        "SparseTopKCategoricalAccuracy",
        "sparse_top_k_categorical_accuracy",
        "SparseCategoricalCrossentropy",
        "sparse_categorical_crossentropy",
    }
)
_RAISES_FOR_NUMBERS = frozenset(
    {
        "CategoricalCrossentropy",
        "categorical_crossentropy",
        "Precision",
        "Recall",
        "AUC",
        "SpecificityAtSensitivity",
        "SensitivityAtSpecificity",
        "PrecisionAtRecall",
        "RecallAtPrecision",
    }
)
_MISCOUNTS_NUMBERS = frozenset({"CategoricalAccuracy", "categorical_accuracy"})
"""Metrics of one-hot rows, by what they do with class numbers (TensorFlow 2.21 with Keras 3.15.1, executed)."""
_OF_REGRESSION = frozenset(
    [
        "mse",
        "MSE",
        "mean_squared_error",
        "MeanSquaredError",
        "mae",
        "MAE",
        "mean_absolute_error",
        "MeanAbsoluteError",
        "mape",
        "MAPE",
        "mean_absolute_percentage_error",
        "MeanAbsolutePercentageError",
        "msle",
        "MSLE",
        "mean_squared_logarithmic_error",
        "MeanSquaredLogarithmicError",
        "huber",
        "Huber",
        "huber_loss",
        "log_cosh",
        "logcosh",
        "LogCosh",
    ]
)
_OF_CLASSES = {
    "Accuracy": "'accuracy', BinaryAccuracy or SparseCategoricalAccuracy make classes of them first",
    "MeanIoU": "sparse_y_pred=False takes the largest of each row, BinaryIoU cuts at a threshold",
    "IoU": "sparse_y_pred=False takes the largest of each row, BinaryIoU cuts at a threshold",
}
"""Metrics that take class numbers for predictions, with what is meant."""
_LOSS_OF_PAIRS = frozenset({"BinaryCrossentropy", "BinaryFocalCrossentropy"})
_TEXTS_OF_PAIRS = frozenset({"accuracy", "acc", "binary_accuracy"})
_WITH_THRESHOLD = frozenset(
    {
        "BinaryAccuracy",
        "Precision",
        "Recall",
        "TruePositives",
        "TrueNegatives",
        "FalsePositives",
        "FalseNegatives",
    }
)
"""Metrics that cut at 0.5 where nothing else is asked for."""
_ASKS_A_CLASS = re.compile(r"[<>]=?\s*0?\.50?\b|\bround\(|\.round\b|\bsign\(|accuracy_score")


def metric_against_loss(program: Program) -> Iterator[Hit]:
    """Find metrics that take another kind of labels than their model's loss."""
    known: list[_Compiled] = [
        (site.scope, site.call, loss, metrics) for site, loss, metrics in _compiles_with_loss(program)
    ]
    seen = {(id(scope), call.number) for scope, call, _, _ in known}
    for scope, call, loss, metrics in (*known, *_compiled_unknown(program, seen)):
        if loss in _LOSS_OF_ROWS:
            takes, other = "class numbers", "one-hot rows"
            wrong = _OF_NUMBERS
        elif loss in _LOSS_OF_NUMBERS:
            takes, other = "one-hot rows", "class numbers"
            wrong = _RAISES_FOR_NUMBERS | _MISCOUNTS_NUMBERS
        else:
            continue
        found = next(((name, made) for name, made in metrics if name in wrong), None)
        if found is None:
            continue
        name, made = found
        values = {
            "metric": name,
            "takes": takes,
            "loss": loss,
            "other": other,
            "line": call.name_line,
            "then": "what it counts is no accuracy"
            if name in _MISCOUNTS_NUMBERS
            else "fit raises ValueError",
        }
        if made is not None:
            compiled = Step(scope, call.name_place, call.block, "compiled here")
            yield hit_at(made, flow=(), values=values, related=(compiled,))
        else:
            yield _at_metrics(scope, call, values)


def _compiled_unknown(program: Program, seen: set[tuple[int, int]]) -> Iterator[_Compiled]:
    """Yield `compile` calls of unknown models with a Keras loss and Keras metrics."""
    for module in program.modules:
        for scope in module.summary.scopes:
            for call in scope.calls:
                if call.method != "compile" or (id(scope), call.number) in seen or call.opaque:
                    continue
                given, measured = call.keyword("loss"), call.keyword("metrics")
                if not isinstance(given, Call) or measured is None:
                    continue
                if written_for_one(program, scope):
                    continue
                loss = _made_at(program, scope, given)
                metrics = list(_made_in(program, scope, measured))
                if loss is not None and metrics:
                    yield scope, call, loss.name.rpartition(".")[2], metrics


def _made_at(program: Program, scope: Scope, call: Call) -> Site | None:
    """Return the call site of a Keras loss or metric, or None."""
    return next(
        (
            site
            for site in flow_of(program).within(scope)
            if site.call is call and site.name.startswith(("keras.losses.", "keras.metrics."))
        ),
        None,
    )


def _made_in(program: Program, scope: Scope, expr: Expr) -> Iterator[tuple[str, Site | None]]:
    """Yield the Keras metrics of a list, or of the list that a function returns."""
    if isinstance(expr, Call):
        called = next((site for site in flow_of(program).within(scope) if site.call is expr), None)
        if called is None or len(called.targets) != 1 or called.open:
            return
        scope = called.targets[0].scope
        returned = [event.value for event in scope.events() if event.kind == "return"]
        if len(returned) != 1 or returned[0] is None:
            return
        expr = returned[0]
    if isinstance(expr, Collection):
        for item in expr.items:
            made = _made_at(program, scope, item) if isinstance(item, Call) else None
            if made is not None:
                yield made.name.rpartition(".")[2], made


def accuracy_of_regression(program: Program) -> Iterator[Hit]:
    """Find `accuracy` as a metric of a model with one linear output."""
    for site, loss, metrics in _compiles_with_loss(program):
        if loss not in _OF_REGRESSION or not any(name in ("accuracy", "acc") for name, _ in metrics):
            continue
        last = output_of(program, site.receiver)
        if last is None or last[0] != "linear" or constant(last[1].call.argument(0, "units")) != 1:
            continue
        if any(
            _asks_a_class(scope)
            for scope in {id(item): item for item in (site.scope, last[1].scope)}.values()
        ):
            continue
        yield _at_metrics(site.scope, site.call, {"loss": loss, "line": last[1].call.name_line}, last[1])


def values_for_classes(program: Program) -> Iterator[Hit]:
    """Find metrics of class numbers that get a model's raw outputs."""
    for site, _, metrics in _compiles_with_loss(program):
        last = output_of(program, site.receiver)
        if last is None:
            continue
        for name, made in metrics:
            if made is None or name not in _OF_CLASSES or _takes_rows(made):
                continue
            values = {
                "metric": name,
                "activation": last[0],
                "line": last[1].call.name_line,
                "instead": _OF_CLASSES[name],
            }
            compiled = Step(site.scope, site.call.name_place, site.call.block, "compiled here")
            yield hit_at(
                made, flow=(), values=values, related=(at(last[1], label="the last layer"), compiled)
            )


def _takes_rows(made: Site) -> bool:
    """Tell whether a metric is set to take the largest value of each row."""
    written = made.call.keyword("sparse_y_pred")
    return written is not None and constant(written) is not True


def logits_cut_at_half(program: Program) -> Iterator[Hit]:
    """Find metrics that apply the threshold 0.5 to logits."""
    for site, loss, metrics in _compiles_with_loss(program):
        made = next((item for item in alternatives(site.argument(1, "loss")) if isinstance(item, Made)), None)
        if loss not in _LOSS_OF_PAIRS or made is None or made.site is None:
            continue
        written = made.site.call.argument(0, "from_logits")
        last = output_of(program, site.receiver)
        if written is None or constant(written) is not True or last is None or last[0] != "linear":
            continue
        single = constant(last[1].call.argument(0, "units")) == 1
        for name, metric in metrics:
            if metric is None and (name not in _TEXTS_OF_PAIRS or not single):
                continue
            if metric is not None and (name not in _WITH_THRESHOLD or _has_threshold(metric, name)):
                continue
            values = {"metric": name, "line": last[1].call.name_line}
            compiled = Step(site.scope, site.call.name_place, site.call.block, "compiled here")
            if metric is not None:
                yield hit_at(metric, flow=(), values=values, related=(compiled,))
            else:
                yield _at_metrics(site.scope, site.call, values, last[1])


def _has_threshold(metric: Site, name: str) -> bool:
    """Tell whether a metric is or may be given a threshold."""
    position = 2 if name == "BinaryAccuracy" else 0
    call = metric.call
    return call.opaque or any(
        call.argument(position, word) is not None for word in ("threshold", "thresholds")
    )


def _asks_a_class(scope: Scope) -> bool:
    """Tell whether a module turns model outputs into classes."""
    return _ASKS_A_CLASS.search(scope.module.source_file().text) is not None


def _at_metrics(scope: Scope, call: Call, values: dict[str, object], layer: Site | None = None) -> Hit:
    given = call.argument(2, "metrics")
    hit: Hit = hit_in(
        scope,
        (place_of(given, scope) if given is not None else None) or call.name_place,
        call.block,
        values,
        related=(at(layer, label="the last layer has no activation"),) if layer is not None else (),
    )
    return hit


def _compiles_with_loss(program: Program) -> Iterator[tuple[Site, str, list[tuple[str, Site | None]]]]:
    """Yield `compile` calls with their only loss and their metrics."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).sites:
        key = id(site.scope), site.call.number
        if site.call.method != "compile" or key in seen or keras_model_method(site.name) != "compile":
            continue
        if site.call.opaque or written_for_one(program, site.scope):
            continue
        if any(
            isinstance(model, Instance) and program.method(model.scope, "train_step") is not None
            for model in alternatives(site.receiver)
        ):
            # A step of its own gives the loss and the metrics what it wants.
            continue
        loss = _name_of_measure(site.argument(1, "loss"))
        metrics = list(_metric_names(site.argument(2, "metrics")))
        if loss is not None and metrics:
            seen.add(key)
            yield site, loss[0], metrics


def _metric_names(value: Value | None) -> Iterator[tuple[str, Site | None]]:
    found = alternatives(value)
    if len(found) != 1:
        return
    item = found[0]
    if isinstance(item, Items):
        for part in item.items:
            named = _name_of_measure(part)
            if named is not None:
                yield named
    elif isinstance(item, Constant) and isinstance(item.value, (list, tuple)):
        yield from ((text, None) for text in item.value if isinstance(text, str))


def _name_of_measure(value: Value | None) -> tuple[str, Site | None] | None:
    """Return the name of a Keras loss or metric and its call, or None."""
    found = alternatives(value)
    if len(found) != 1:
        return None
    item = found[0]
    if isinstance(item, Constant) and isinstance(item.value, str):
        return item.value, None
    if isinstance(item, (Made, External)):
        name = canonical_name(item.name)
        if name.startswith(("keras.losses.", "keras.metrics.")):
            return name.rpartition(".")[2], item.site if isinstance(item, Made) else None
    return None
